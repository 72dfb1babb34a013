"""Running headers, footers and page numbers: what a page repeats at its edges.

Rows are taken off a page from the outside in, so that a repeated row counts only where everything
beyond it is furniture too. A row goes when it returns on other pages and each number in it either
stays the same or counts with the pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from abstrag.documents.pdf_layout.lines import Page, PdfLine, Word

Row = list[PdfLine]

_DEPTH: Final = 3  # rows at an edge that may be furniture
_REPEATS: Final = 3  # pages that must agree; all of them in a shorter document
_LARGE: Final = 1.15  # of the body's size; running headers are not set larger than this
_PARTS: Final = 3  # left, middle and right; what has more is the head of a table
_LONG: Final = 150  # letters; what is longer is text
_EDGE: Final = 0.15  # of the page's height, where a lone page's number stands
_APART: Final = 1.6  # ems that separate it from the text
_NUMBER: Final = re.compile(r"\d+|(?<![\w.])(?:[ivxlc]+|[IVXLC]+)(?![\w.])")
_PAGE_NUMBER: Final = re.compile(
    r"[\s|\[(–—-]*(?:page|p\.|seite)?\s*(?:[A-Z]{1,2}[-.]?|\d{1,3}[-.])?(?:\d{1,4}|[ivxlc]+)"
    r"(?:\s*(?:of|/|von)\s*\d{1,4})?[\s|\])–—-]*",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def without_furniture(pages: Sequence[Page], rows: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Return the rows of each page less its running headers, footers and page numbers."""
    body = body_size(rows)
    kept = [list(r) for r in rows]
    for edge in (0, -1):
        for _ in range(_DEPTH):
            outermost = {i: r[edge] for i, r in enumerate(kept) if len(r) > 1}
            apart = {i for i in outermost if _apart(kept[i], edge)}
            gone = _repeated(outermost, apart, len(pages), body)
            if len(pages) < _REPEATS:
                gone |= {i for i in apart if _lone_number(outermost[i], pages[i], edge)}
            if not gone:
                break
            for i in gone:
                del kept[i][edge]
    return kept


def running_head(rows: Sequence[Row], kept: Sequence[Row]) -> str:
    """Return what a page has over its text besides a page number."""
    over = [row for row in rows if not kept or row[0].base < kept[0][0].base]
    parts = (line.text for row in over for line in row)
    return " ".join(part for part in parts if not _PAGE_NUMBER.fullmatch(part))


def body_size(rows: Sequence[Sequence[Row]]) -> float:
    """Return the size most of a document's letters have."""
    letters: Counter[float] = Counter()
    for page in rows:
        for row in page:
            for line in row:
                letters[line.size] += line.letters
    return max(sorted(letters), key=lambda size: letters[size], default=10.0)


def _apart(rows: list[Row], edge: int) -> bool:
    """True when the outermost row keeps its distance from the next."""
    row, inner = (rows[0], rows[1]) if edge == 0 else (rows[-1], rows[-2])
    return abs(row[0].base - inner[0].base) > _APART * max(line.size for line in row)


def _repeated(outermost: dict[int, Row], apart: set[int], pages: int, body: float) -> set[int]:
    """Return the pages whose outermost row returns on enough other pages.

    On most pages it may be anything; on fewer it must stand apart and be no sentence, or a heading
    that three chapters share would go.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for i, row in outermost.items():
        text = _text(row)
        small = max(line.size for line in row) <= _LARGE * body
        if small and len(text) <= _LONG and len(row) <= _PARTS:
            alike[_NUMBER.sub("#", text)].append(i)
    enough = _REPEATS if pages > _REPEATS else max(2, pages)
    gone: set[int] = set()
    for text, where in alike.items():
        if 2 * len(where) < pages:
            where = [i for i in where if i in apart and not text.endswith(".")]
        if len(where) < enough:
            continue
        numbers = {i: [_value(n) for n in _NUMBER.findall(_text(outermost[i]))] for i in where}
        columns = zip(*(numbers[i] for i in where), strict=True)
        regular = [_regular(column, where, enough) for column in columns]
        gone |= {i for at, i in enumerate(where) if all(fits[at] for fits in regular)}
    return gone


def _regular(column: Sequence[int], where: Sequence[int], enough: int) -> list[bool]:
    """Say for each page whether a number stays, or grows by one a page, on enough pages."""
    same = Counter(column)
    steps = Counter(v - i for v, i in zip(column, where, strict=True))
    return [same[v] >= enough or steps[v - i] >= enough for v, i in zip(column, where, strict=True)]


def _lone_number(row: Row, page: Page, edge: int) -> bool:
    """True for a page number that no other page confirms, but whose place speaks for it."""
    y = row[0].base / page.height
    if not (y < _EDGE if edge == 0 else y > 1 - _EDGE) or len(row) > 2:
        return False
    return any(_PAGE_NUMBER.fullmatch(p.text) and not _YEAR.fullmatch(p.text) for p in row)


def _text(row: Row) -> str:
    return " ".join(line.text for line in row)


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    digits = [_ROMAN[c] for c in number.lower()]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-d if d < after else d for d, after in pairs)


def sideways(page: Page, rows: Sequence[Row]) -> tuple[list[list[Word]], str]:
    """Tell turned text inside of the page's text from stamps in its margins.

    Returns the runs of turned words to keep, and what the stamps say.
    """
    left = min((line.x0 for row in rows for line in row), default=0.0)
    right = max((line.x1 for row in rows for line in row), default=page.width)
    kept: list[list[Word]] = []
    stamps: list[str] = []
    for run in _runs(page.turned):
        outside = max(w.x1 for w in run) <= left or min(w.x0 for w in run) >= right
        if outside:
            stamps.append(" ".join(w.text for w in run))
        else:
            kept.append(run)
    return kept, " ".join(stamps)


def _runs(words: Sequence[Word]) -> list[list[Word]]:
    """Put turned words that stand in one line together."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and abs(word.x0 - runs[-1][-1].x0) < 0.5 * word.style.size:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs
