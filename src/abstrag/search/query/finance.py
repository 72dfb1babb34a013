"""What people call figures of a report, put beside what its statements print.

"Capex" stands in no cash flow statement: it says "purchases of property, plant and equipment". A
margin or ratio stands in no statement at all, but the rows it is made of do. A question about a
report is therefore read with the printed names beside the asked ones.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from abstrag.errors import BackgroundError
from abstrag.language.statements import FinancialStatement, statement_named
from abstrag.model.segment import CELL_SEPARATOR, Segment, SegmentKind

VARIABLE: Final = "ABSTRAG_FINANCE"
_MARK: Final = re.compile(r"\s*\([^()]{1,12}\)\s*$")  # of a footnote, or an abbreviation
_PARTS: Final = re.compile(  # of a company: their figures stand in no primary statement
    r"\b(?:segments?|regions?|geograph\w+|categor(?:y|ies)|divisions?|product lines?|brands?|"
    r"business units?|countr(?:y|ies))\b",
    re.IGNORECASE,
)
_MORE_WORDS: Final = 5  # "net income attributable to NAME common shareholders"


Knows = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class FinanceReading:
    """A question with printed names in brackets, and with one in place of each unknown one."""

    glossed: str
    literal: str
    figures: tuple[str, ...] = ()  # what statements print of all that is asked for


@dataclass(frozen=True, slots=True)
class FinanceTerms:
    """Names of line items and derived figures, each with what statements print."""

    printed: dict[str, tuple[str, ...]]
    source: str
    abbreviations: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """What finds any of the names, the longest first; None without names."""
        names = sorted(self.printed, key=lambda name: (-len(name), name))
        return _pattern(tuple(names)) if names else None

    def read(self, text: str, prints: Knows, knows: Knows) -> FinanceReading:
        """Read a question with the names that a document prints.

        Args:
            text: The question.
            prints: Tells whether a row of the document's tables is called so.
            knows: Tells whether the document says a name as it is asked.
        """
        pattern = self.pattern
        if pattern is None:
            return FinanceReading(text, text)
        asked = text.casefold()

        def names(found: re.Match[str]) -> list[str]:
            every = self.printed[" ".join(found["name"].casefold().split())]
            new = [name for name in every if name not in asked]
            return [name for name in new if prints(name)] or new[:1]

        def gloss(found: re.Match[str]) -> str:
            new = names(found)
            return f"{found.group()} ({'; '.join(new)})" if new else found.group()

        def replaced(found: re.Match[str]) -> str:
            own = found["name"]
            if knows(own) or prints(own):
                return found.group()
            folded = " ".join(own.casefold().split())
            within = (name for name in self.printed[folded] if _holds(folded, name))
            part = next((name for name in within if prints(name) or knows(name)), None)
            if part is not None:  # the gross profit margin is about the gross profit
                return part
            new = names(found)
            return new[0] if new else found.group()

        figures: list[str] = []
        for found in pattern.finditer(text):
            asked_as = " ".join(found["name"].casefold().split())
            figures += [name for name in (asked_as, *self.printed[asked_as]) if prints(name)]
        printed = () if _PARTS.search(text) else tuple(dict.fromkeys(figures))
        return FinanceReading(pattern.sub(gloss, text), pattern.sub(replaced, text), printed)


@lru_cache(maxsize=8)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    joined = "|".join(r"\s+".join(map(re.escape, name.split())) for name in names)
    return re.compile(rf"(?<![\w&])(?P<name>{joined})s?(?![\w&])", re.IGNORECASE)


def _holds(name: str, part: str) -> bool:
    return f" {part} " in f" {name} "


class RowNames:
    """What the rows of a document's tables are called; a name is looked for as whole words."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        rows = (s for s in segments if s.kind is SegmentKind.TABLE_ROW)
        names = {_bare(s.text.partition(CELL_SEPARATOR)[0]) for s in rows}
        self._names = " " + " \n ".join(sorted(names)) + " "

    def __call__(self, name: str) -> bool:
        """Tell whether a row is called by a name, alone or with other words around it."""
        return f" {_bare(name)} " in self._names


class StatementRows:
    """The rows of a report's primary statements, by what they are called."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._rows: list[tuple[int, str, FinancialStatement]] = []
        for position, segment in enumerate(segments):
            if segment.kind is SegmentKind.TABLE_ROW:
                kind = _statement_of(segment)
                if kind is not None and kind is not FinancialStatement.NOTES:
                    printed = segment.text.partition(CELL_SEPARATOR)[0]
                    self._rows.append((position, _bare(_MARK.sub("", printed)), kind))

    def __call__(self, names: Sequence[str], sources: Sequence[str] = ()) -> tuple[int, ...]:
        """Return where the rows stand that print some figures.

        Args:
            names: What the figures may be called. Of names that are wordings of one another all
                rows count; a row may say more behind the name, such as "net" or a share's owner.
            sources: Statements to rely on; others do not count where these have such a row.
        """
        wanted = tuple(_bare(name) for name in names)
        found = [row for row in self._rows if any(_called(row[1], name) for name in wanted)]
        asked = {kind for kind in map(statement_named, sources) if kind is not None}
        relied = [row for row in found if row[2] in asked]
        return tuple(position for position, _, _ in relied or found)


def _called(row: str, name: str) -> bool:
    """Tell whether a row is called by a name: that alone, its total, or with a few words behind."""
    row = row.removeprefix("total ") if not name.startswith("total ") else row
    if row == name:
        return True
    return row.startswith(f"{name} ") and len(row.split()) <= len(name.split()) + _MORE_WORDS


def _statement_of(segment: Segment) -> FinancialStatement | None:
    titles = (*segment.section[-1:], *(header.text for header in segment.headers))
    return next((kind for title in titles if (kind := statement_named(title))), None)


def _bare(name: str) -> str:
    return " ".join(re.findall(r"[a-z0-9&]+", name.casefold()))


def finance_terms() -> FinanceTerms:
    """Return the bundled names, or those of the file that ABSTRAG_FINANCE names."""
    return _read(os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=4)
def _read(path: str) -> FinanceTerms:
    bundled = files("abstrag.data") / "finance" / "terms.toml"
    try:
        text = Path(path).read_text("utf-8") if path else bundled.read_text("utf-8")
        data = tomllib.loads(text)
        short = {
            name: tuple(map(str, long)) for name, long in data.get("abbreviations", {}).items()
        }
        folded = {name.casefold(): long for name, long in short.items()}
        printed = {}
        for table in (data.get("items", {}), data.get("figures", {})):
            for name, names in table.items():
                asked = " ".join(name.casefold().split())
                printed[asked] = (*map(str, names), *folded.get(asked, ()))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise BackgroundError(
            f"finance terms {path!r} cannot be read: {error}",
            hint='TOML with tables abbreviations, items, figures: "capex" = ["capital spending"]',
        ) from error
    return FinanceTerms(printed, path or "bundled finance terms", short)
