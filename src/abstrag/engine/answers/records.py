"""Tables of records: the rows that a question describes, told with the columns it asks for.

A question names some cells of a row ("in 2009", "for the Texas Brahmas") and asks for others. The
rows are those that hold all the named cells; where a word of the question is in no row, no head and
no title, or where too many rows fit, nothing is answered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from abstrag.engine.answers.figures import read_figure
from abstrag.engine.answers.words import stems
from abstrag.model.document import Document
from abstrag.model.table import Cell, Grid, Table

MOST_ROWS: Final = 5
MOST_WORDS: Final = 75
COVERED: Final = 0.75  # of the weight of a question's words that row, heads and titles have to hold
FIGURES: Final = 0.8  # of the cells of a table that is no list of records
_ORDER: Final = re.compile(
    r"\b(?:first|last|latest|earliest|most|least|highest|lowest|largest|smallest|best|worst|longest|shortest|"
    r"oldest|youngest|total|average|difference|more|less|fewer|many|before|after|prior|since|rank\w*|top)\b",
    re.I,
)
_REASON: Final = re.compile(r"^\s*(?:why|how come)\b", re.I)
_ASKED: Final = {
    "when": ("year", "date", "season", "period", "born", "died"),
    "where": ("venue", "location", "place", "city", "country"),
    "who": ("name", "player", "candidate", "winner", "director", "artist"),
}


@dataclass(frozen=True, slots=True)
class Record:
    """A row that answers, as its cells with their heads."""

    block: int
    row: int
    cells: tuple[tuple[str, Cell], ...]

    @property
    def text(self) -> str:
        """The row in words."""
        return "; ".join(f"{head}: {cell.text}" if head else cell.text for head, cell in self.cells)


@dataclass(frozen=True, slots=True)
class _Line:
    block: int
    row: int
    cells: tuple[tuple[str, Cell], ...]
    words: frozenset[str]


_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_FISCAL: Final = re.compile(r"\bFY\s?\d\d|\b(?:three|six|nine|twelve)\s+months\b|\bquarter\b", re.I)
_KIND: Final = re.compile(r"\b(?:which|what)\s+([a-z]+)(?:\s+([a-z]+))?\b", re.I)
_NAME: Final = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w'’-]+")


def _tokens(text: str) -> frozenset[str]:
    return frozenset((*stems(text), *_YEAR.findall(text)))


def _kind(question: str) -> frozenset[str]:
    """Return the words for the kind of thing a question asks for: "series" of "which series"."""
    found = (one.group(1, 2) for one in _KIND.finditer(question))
    return frozenset(stem for words in found for word in words if word for stem in stems(word))


def _names(question: str) -> frozenset[str]:
    """Return the words of a question that are names."""
    return frozenset(stem for found in _NAME.findall(question) for stem in stems(found))


def records(document: Document, question: str) -> tuple[Record, ...]:
    """Return the rows of a document's tables that answer a question; none where that is unsure."""
    asked = _tokens(question)
    if not asked or _REASON.match(question):
        return ()
    best: tuple[float, tuple[Record, ...]] = 0.0, ()
    for number, block in enumerate(document.blocks):
        if block.table is None or len(block.table.cells) < 4:
            continue
        titles = _tokens(" ".join((document.title, *block.section)))
        found = _of_table(number, block.table, titles, asked, question)
        best = max(best, found, key=lambda one: one[0])
    return best[1]


def _of_table(
    number: int, table: Table, titles: frozenset[str], asked: frozenset[str], question: str
) -> tuple[float, tuple[Record, ...]]:
    lines = _lines(number, table)
    if not lines or _by_period(table) or _of_figures(table):
        return 0.0, ()
    counts: defaultdict[str, int] = defaultdict(int)
    for line in lines:
        for word in line.words:
            counts[word] += 1
    heads = _tokens(" ".join(head for line in lines for head, _ in line.cells))
    order = {stem for found in _ORDER.findall(question) for stem in stems(found)}
    if order - heads - counts.keys():
        return 0.0, ()
    kind = _kind(question)
    named = [w for w in asked if w in counts and w not in titles and w not in kind]
    if not named:
        return 0.0, ()
    weight = {word: log(1 + len(lines) / counts[word]) for word in named}
    scores = [sum(weight[word] for word in named if word in line.words) for line in lines]
    top = max(scores)
    chosen = [line for line, score in zip(lines, scores, strict=True) if score >= top - 1e-9]
    known = titles | heads | {w for line in chosen for w in line.words} | _VERBS
    covered = sum(word in known for word in asked) / len(asked)
    unmet = [word for word in named if not all(word in line.words for line in chosen)]
    if len(chosen) > MOST_ROWS or covered < COVERED or unmet or not _names(question) <= known:
        return 0.0, ()
    made = tuple(Record(line.block, line.row, _told(line, asked, question)) for line in chosen)
    if sum(len(one.text.split()) for one in made) > MOST_WORDS:
        return 0.0, ()
    return covered * top, made


_VERBS: Final = frozenset(
    stems(
        "play win won appear perform compete receive star act release record score finish "
        "hold serve make"
        " go get take give become work write direct nominate happen role team time year event"
    )
)


def _of_figures(table: Table) -> bool:
    """Tell whether a table is of figures: beside the names of its rows there is hardly a word."""
    body = [c.text for c in table.cells if not c.header and c.column > 0 and c.text.strip()]
    return bool(body) and sum(read_figure(text) is not None for text in body) > FIGURES * len(body)


def _by_period(table: Table) -> bool:
    """Tell whether the columns of a table are periods: its cells are figures, not records."""
    heads = [c.text for c in table.cells if c.header and c.column > 0 and c.row <= 1]
    named = [head for head in heads if head.strip()]
    return bool(named) and 2 * sum(
        bool(_YEAR.search(h) or _FISCAL.search(h)) for h in named
    ) >= len(named)


def _told(line: _Line, asked: frozenset[str], question: str) -> tuple[tuple[str, Cell], ...]:
    """Return the cells to tell: all of a short row, else those that are named or asked for."""
    if sum(len(cell.text.split()) for _, cell in line.cells) <= 20:
        return line.cells
    first = question.split()[0].casefold() if question.split() else ""
    extra = {stem for word in _ASKED.get(first, ()) for stem in stems(word)}
    told = tuple(
        (head, cell)
        for head, cell in line.cells
        if _tokens(cell.text) & asked or _tokens(head) & (asked | extra)
    )
    return told if len(told) > 1 else line.cells


def _lines(number: int, table: Table) -> list[_Line]:
    grid = Grid(table)
    made = []
    for row, cells in sorted(grid.rows.items()):
        named = _named(grid, cells)
        if all(head == cell.text for head, cell in named):
            continue  # the heads once more
        headed = 2 * sum(bool(head) for head, _ in named) >= len(named)
        if len(named) > 1 and headed and not all(cell.header for cell in cells if cell.column > 0):
            words = _tokens(" ".join(cell.text for _, cell in named))
            made.append(_Line(number, row, named, words))
    return made


def _named(grid: Grid, cells: Sequence[Cell]) -> tuple[tuple[str, Cell], ...]:
    """Return the filled cells of a row with the heads of their columns, each text once."""
    told: dict[str, tuple[str, Cell]] = {}
    for cell in cells:
        if cell.text.strip():
            above = " ".join(dict.fromkeys(" ".join(q.text for q in grid.above(cell)).split()))
            told.setdefault(cell.text, (above.strip("-– "), cell))
    return tuple(told.values())
