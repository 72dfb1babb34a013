"""Clauses of contracts and policies: their numbers and headings, whatever the format.

"2.2 Degree of Care. The Receiving Party shall …" is one block on the page. Here it is found to be
clause 2.2, headed "Degree of Care", inside clause 2; blocks get section paths that say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from abstrag.model.document import Block, BlockKind, Document

_CUES: Final = re.compile(
    r"\b(?:shall|hereby|herein|hereto|hereunder|hereof|thereof|party|parties|agreement)\b", re.I
)
_WORD: Final = re.compile(r"\w+")
_CUES_PER_THOUSAND: Final = 15  # words; papers and reports have less than five
_FEWEST: Final = 3  # top-level clauses that follow one another

_PART: Final = re.compile(
    r"(?P<kind>ARTICLE|SECTION|CLAUSE|SCHEDULE|EXHIBIT|ANNEX|APPENDIX|PART)\s+"
    r"(?P<number>\d{1,2}(?:\.\d{1,2})*|[IVXLC]+|[A-Z])\b[.:)]?\s*[-–—:]?\s*",
    re.I,
)
_NUMBER: Final = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})(?P<mark>[.)]{0,2})\s+(?=\S)")
_LETTER: Final = re.compile(r"\(?(?P<letter>[a-z]|[ivx]{1,5})[.)]\s+(?=\S)")
_LONGEST_HEADING: Final = 80  # characters
_RUN_IN: Final = re.compile(
    r"(?P<words>[A-Z“\"](?:[^.:;]|;(?=\s[A-Z])){2,80}?)(?:(?:\.|:|\s[–—-])\s+(?=[A-Z“\"(\[\d])|\s(?=\d+\.\d))"
)
_SMALL: Final = frozenset(
    "a after against all an and any as at before between by concerning during for from in into its "
    "no not of on or other regarding relating respect such than the their this through to under "
    "upon with within without".split()
)
_VERBS: Final = frozenset(
    "shall will may must is are was were has have agrees agree means includes does do".split()
)
_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_OWN_NUMBERS: Final = frozenset({"schedule", "exhibit", "annex", "appendix"})


@dataclass(frozen=True, slots=True)
class ContractClause:
    """A clause: the block it begins with, its number, how that is printed, its heading if any.

    `part` is what counts for itself: "schedule 1", or "" for the body. Clause (a) of 2.02 has the
    number "2.2(a)".
    """

    block: int
    part: str
    number: str
    printed: str
    heading: str

    @property
    def name(self) -> str:
        """What stands in a section path."""
        shown = self.printed or f"{self.part[:1].upper()}{self.part[1:]}"
        return f"{shown} {self.heading}".strip()


def with_clauses(document: Document) -> Document:
    """Return a document whose blocks stand under the clauses they belong to.

    Anything that is no contract or policy stays as it is. Blocks before the first clause do too.
    """
    found = clauses_of(document)
    if not found:
        return document
    starts = {clause.block: clause for clause in found}
    blocks: list[Block] = []
    open_: list[ContractClause] = []
    above: tuple[str, ...] = ()
    for number, block in enumerate(document.blocks):
        clause = starts.get(number)
        if clause is not None:
            if not open_ or clause.part != open_[-1].part:
                above = _kept_headings(document, block)
            open_ = [*_enclosing(open_, clause), clause]
        elif _ends_clauses(block):
            open_ = []
        if not open_:
            blocks.append(block)
            continue
        path = open_[:-1] if clause is not None and block.kind is BlockKind.HEADING else open_
        names = tuple(each.name for each in path if each.heading or (each.part and not each.number))
        blocks.append(replace(block, section=(*above, *names)))
    return replace(document, blocks=tuple(blocks))


def clauses_of(document: Document) -> tuple[ContractClause, ...]:
    """Return the clauses of a contract or policy in reading order; none of any other document."""
    if not _reads_like_contract(document.text):
        return ()
    found = tuple(_numbered(document))
    tops = [c.number for c in found if not c.part and c.number.isdigit()]
    run = sum(int(later) == int(number) + 1 for number, later in pairwise(tops))
    return found if run + 1 >= _FEWEST else ()


def _reads_like_contract(text: str) -> bool:
    words = sum(1 for _ in _WORD.finditer(text))
    cues = sum(1 for _ in _CUES.finditer(text))
    return words > 0 and 1000 * cues >= _CUES_PER_THOUSAND * words


class _Counting:
    """Follows the numbers of a document, and takes only one that can come next for a clause."""

    def __init__(self) -> None:
        self.part = ""
        self._last: tuple[int, ...] = (0,)
        self._letters = ""

    def clause(self, at: int, raw: str, *, alone: bool) -> ContractClause | None:
        """Return the clause that a block begins, if it begins one; `alone`: it is a line."""
        if match := _PART.match(raw):
            return self._named(at, match, raw[match.end() :], alone=alone)
        if match := _NUMBER.match(raw):
            marked = bool(match["mark"]) or "." in match["number"]
            return self._next(at, match["number"], raw[match.end() :]) if marked else None
        if (match := _LETTER.match(raw)) and self._last != (0,):
            return self._lettered(at, match["letter"], raw[match.end() :])
        return None

    def _named(
        self, at: int, match: re.Match[str], rest: str, *, alone: bool
    ) -> ContractClause | None:
        kind = match["kind"].casefold()
        if kind not in _OWN_NUMBERS:
            return self._next(at, match["number"], rest)
        if not alone:
            return None  # "Schedule 1 lists the goods."
        self.part, self._last, self._letters = f"{kind} {match['number'].upper()}", (0,), ""
        return ContractClause(at, self.part, "", "", _heading(rest))

    def _next(self, at: int, printed: str, rest: str) -> ContractClause | None:
        number = _value(printed)
        if number is None or not _follows(self._last, number):
            return None
        self._last, self._letters = number, ""
        return ContractClause(at, self.part, _shown(number), printed, _heading(rest))

    def _lettered(self, at: int, letter: str, rest: str) -> ContractClause | None:
        first = letter in ("a", "i")
        if not first and not (self._letters and _next_letter(self._letters, letter)):
            return None
        self._letters = letter
        number = f"{_shown(self._last)}({letter})"
        return ContractClause(at, self.part, number, number, _run_in(rest))


def _numbered(document: Document) -> Iterator[ContractClause]:
    """Go through the blocks that begin with a number that can follow those before."""
    counting = _Counting()
    for at, block in enumerate(document.blocks):
        if block.table is not None or block.kind is BlockKind.FOOTNOTE:
            continue
        raw = document.text[block.span.start : block.span.end]
        alone = block.kind is BlockKind.HEADING or _is_line(raw)
        if (clause := counting.clause(at, raw, alone=alone)) is not None:
            yield clause


def _value(number: str) -> tuple[int, ...] | None:
    if number[0].isdigit():
        parts = tuple(int(each) for each in number.split("."))
        return parts if all(parts[:1]) else None
    if set(number.upper()) <= _ROMAN.keys():
        values = [_ROMAN[each] for each in number.upper()]
        signed = (-v if v < w else v for v, w in zip(values, [*values[1:], 0], strict=True))
        return (sum(signed),)
    return None


def _follows(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """True for a number that can come next: 2.3 or 3 or 2.2.1 after 2.2, one left out at most."""
    if len(number) > len(last):
        return last == (0,) or (number[: len(last)] == last and number[len(last)] in (0, 1))
    kept = number[:-1] == last[: len(number) - 1]
    return kept and 0 < number[-1] - last[len(number) - 1] <= 2


def _next_letter(last: str, letter: str) -> bool:
    if len(last) == len(letter) == 1 and ord(letter) - ord(last) == 1:
        return True
    one, other = _value(last.upper()), _value(letter.upper())
    return one is not None and other is not None and other[0] - one[0] == 1


def _shown(number: Sequence[int]) -> str:
    return ".".join(map(str, number))


def _heading(rest: str) -> str:
    """Return the heading that a clause begins with, or all of a short line that is one."""
    line = " ".join(rest.split()).rstrip(" .:").strip('“”"')
    return _run_in(rest) or (line if len(line) <= _LONGEST_HEADING and _names(line) else "")


def _run_in(rest: str) -> str:
    """Return the heading that the text of a clause follows in the same line, if there is one."""
    match = _RUN_IN.match(" ".join(rest.split()))
    words = match["words"].strip(' “”"') if match else ""
    return words if _names(words) else ""


def _names(words: str) -> bool:
    """True for words that name a clause: few, capitalized beside small ones, and no sentence."""
    parts = re.findall(r"[^\W\d_][\w’'&/-]*", words)
    if not 0 < len(parts) <= 12 or any(part.casefold() in _VERBS for part in parts):
        return False
    telling = [part for part in parts if part.casefold() not in _SMALL]
    small = sum(part[0].islower() for part in telling)
    return bool(telling) and parts[0][0].isupper() and (small == 0 or len(parts) <= 4)


def _is_line(raw: str) -> bool:
    return len(raw) <= 120 and not raw.rstrip().endswith((".", ";", ","))


def _enclosing(open_: Sequence[ContractClause], clause: ContractClause) -> list[ContractClause]:
    """Return the open clauses that a new one stands inside."""
    return [
        each
        for each in open_
        if each.part == clause.part
        and each.number != clause.number
        and (not each.number or clause.number.startswith((f"{each.number}.", f"{each.number}(")))
    ]


def _kept_headings(document: Document, block: Block) -> tuple[str, ...]:
    """Return the headings above the first clause that may head all: capitals, or the title."""
    title = document.title.casefold()
    return tuple(
        heading for heading in block.section if heading.isupper() or heading.casefold() == title
    )[:1]


def _ends_clauses(heading: Block) -> bool:
    """True for a heading in capitals without a number, such as SIGNATURES."""
    headed = heading.kind is BlockKind.HEADING and heading.text.isupper()
    return headed and not heading.text[:1].isdigit()
