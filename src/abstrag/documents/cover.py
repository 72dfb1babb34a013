"""What the cover of a filing or an earnings release says: who files, which form, for which period.

A cover is recognised by what the form itself prints ("FORM 10-K", "Exact name of registrant"), or,
for a release, by its headline ("Reports Fourth Quarter Fiscal 2022 Results").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.documents.dates import find_date
from abstrag.model.document import Block, BlockKind

RELEASE: Final = "earnings release"
_FORM: Final = re.compile(
    r"\bFORM\s+(?P<form>(?:10-K|10-Q|8-K|20-F|40-F|6-K)(?:/A)?)(?![\w-])", re.IGNORECASE
)
_AGENCY: Final = re.compile(r"SECURITIES\s+AND\s+EXCHANGE\s+COMMISSION", re.IGNORECASE)
_PERIOD: Final = re.compile(
    r"(?:for\s+the\s+)?(?P<kind>fiscal\s+year|financial\s+year|year|quarterly\s+period|quarter)\s+"
    r"ended:?\s+(?P<date>[A-Za-z]+\s+\d{1,2},?\s+\d{4}|\d{1,2}\s+[A-Za-z]+\s+\d{4})",
    re.IGNORECASE,
)
_REPORTED: Final = re.compile(
    r"date\s+of\s+(?:earliest\s+event|report)[^:]{0,60}:?\s*(?P<date>[A-Za-z]+\s+\d{1,2},?\s+\d{4})",
    re.IGNORECASE,
)
_EXACT_NAME: Final = re.compile(r"\(?exact\s+name\s+of\s+(?:the\s+)?registrant", re.IGNORECASE)
_FILE_NUMBER: Final = re.compile(r"^commission\s+file\s+n(?:umber|o)\b", re.IGNORECASE)
_NOT_A_NAME: Final = re.compile(
    r"^\W*$|^\(|commission|securities\s+(?:and|exchange)|washington|form\s+\d|report\s+pursuant|"
    r"period\s+(?:from|ended)|\bended\b|^or$|mark\s+one|incorporat|employer|telephone",
    re.IGNORECASE,
)
_RELEASE: Final = re.compile(
    r"^(?P<company>[A-Z0-9][\w&.,'’ -]{1,60}?)\s+(?:announces|reports|posts|releases)\s+(?P<what>.*"
    r"\b(?:results|earnings|revenues?)\b.*)$",
    re.IGNORECASE,
)
_RELEASE_PERIOD: Final = re.compile(
    r"(?:(?:first|second|third|fourth)[\s-]+quarter|full[\s-]+year|Q[1-4])"
    r"(?:\s+and\s+(?:full|fiscal)[\s-]+year)?(?:.{0,24}?\b(?P<year>(?:fiscal\s+|FY\s?)?20\d\d))?"
    r"|fiscal\s+(?:year\s+)?20\d\d",
    re.IGNORECASE,
)
_SIGNED: Final = re.compile(r"\bSIGNATURES?\b")
_SIGNATURE_REACH: Final = 4_000  # characters below "SIGNATURES" in which the date stands
_LINES: Final = 60  # of a cover that are looked at


@dataclass(frozen=True, slots=True)
class Cover:
    """What a cover states; a part that it does not state is empty."""

    company: str
    form: str = ""
    period: str = ""
    period_end: str = ""  # ISO date

    @property
    def filed(self) -> bool:
        """Whether it has a filer and is no release, so that its title is not printed but known."""
        return bool(self.company and self.form and self.form != RELEASE)

    @property
    def title(self) -> str:
        """A title that says what a reader would call the filing."""
        named = f"Form {self.form}" if self.form[:1].isdigit() else self.form
        parts = [self.company, named]
        whole = ", ".join(part for part in parts if part)
        return f"{whole} for the {self.period}" if self.period else whole


def read_cover(lines: Sequence[str]) -> Cover | None:
    """Return what the lines of a first page state, None where they are no cover of a filing."""
    kept = [" ".join(line.split()) for line in lines[:_LINES]]
    whole = "\n".join(kept)
    form = _FORM.search(whole)
    if form is not None and (_AGENCY.search(whole) or _EXACT_NAME.search(whole)):
        company = _registrant(kept)
        period = _PERIOD.search(whole) or _REPORTED.search(whole)
        end = find_date(period["date"]) if period else None
        kind = period.groupdict().get("kind") if period else None
        said = f"{kind.casefold()} ended {period['date']}" if period and kind else ""
        if period and not kind:
            said = f"report of {period['date']}"
        return Cover(company, form["form"].upper(), " ".join(said.split()), end.iso if end else "")
    return next((made for line in kept if (made := _release(line))), None)


def cover_lines(text: str, blocks: Sequence[Block]) -> list[str]:
    """Return the lines of the first page, or of the first blocks of what has no pages."""
    front = [b for b in blocks if b.page == 1] if blocks and blocks[0].page else blocks[:_LINES]
    lines: list[str] = []
    for block in front:
        heading = block.kind is BlockKind.HEADING  # one that is wrapped reads as one line
        lines += [block.text] if heading else block.span.of(text).split("\n")
    return [line for line in lines if line.strip()]


def signing_date(text: str, after: str) -> str | None:
    """Return the first date below the last "SIGNATURES" that is not before the period's end."""
    marks = [found.end() for found in _SIGNED.finditer(text)]
    for mark in reversed(marks):
        found = find_date(text[mark : mark + _SIGNATURE_REACH])
        if found is not None and found.iso >= after:
            return found.iso
    return None


def _registrant(lines: Sequence[str]) -> str:
    """Return the name of the filer: above "(Exact name of registrant", or below the file number."""
    for i, line in enumerate(lines):
        if _EXACT_NAME.search(line):
            before = _EXACT_NAME.split(line)[0].strip(" (")
            above = [before, *reversed(lines[max(0, i - 3) : i])]
            return next((name for name in above if not _NOT_A_NAME.search(name)), "")
    for i, line in enumerate(lines):
        if _FILE_NUMBER.search(line):
            below = lines[i + 1 : i + 4]
            return next((name for name in below if not _NOT_A_NAME.search(name)), "")
    return ""


def _release(line: str) -> Cover | None:
    headline = _RELEASE.match(line)
    if headline is None or len(line) > 160:
        return None
    found = _RELEASE_PERIOD.search(headline["what"])
    return Cover(headline["company"], RELEASE, found.group() if found else "")
