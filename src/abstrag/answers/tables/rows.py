"""Tables of records: the rows that a question describes, told with the columns it asks for.

A question names some cells of a row ("in 2009", "for the Texas Brahmas") and asks for others. Rows
are found in two ways: by the names and years of the question that their cells hold, and by what the
evidence judge says of each row as text. Each way proposes rows, with what speaks for them; how
probably they answer is for the confidence model to say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from abstrag.answers.question_form import Form, stems, wanted
from abstrag.answers.quotable import lists_contents
from abstrag.answers.tables.figures import read_figure
from abstrag.model.document import Cell, Document, Grid, Table

MOST_ROWS: Final = 8
MOST_WORDS: Final = 75
MOST_READ: Final = 80  # rows of one table that the judge reads
MOST_TABLES: Final = 3  # whose rows it reads
FIGURES: Final = 0.8  # of the cells of a table that is no list of records
HALF: Final = 0.5  # of the judge's best row that others need to be told with it
_ORDER: Final = re.compile(
    r"\b(?:first|last|latest|earliest|most|least|highest|lowest|largest|smallest|best|worst|longest|shortest|"
    r"oldest|youngest|total|average|difference|more|less|fewer|many|before|after|prior|since|rank\w*|top|"
    r"next|previous|follow\w*|both|only|never|ever|any|reprise\w*|compare\w*|times|once|twice|second|third|not|"
    r"beat\w*|defeat\w*|margin|majority|close|succeed\w*|behind|ahead)\b",
    re.I,
)
_HOW: Final = re.compile(r"^\W*how\b", re.I)
_MANY: Final = re.compile(r"\bhow\s+(?:many|much|long|often|well)\b", re.I)
_YES_NO: Final = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.I
)
_WHO: Final = re.compile(r"^\W*(?:who|whom|whose)\b", re.I)
_ACTOR: Final = re.compile(
    r"^\W*(?:which|what)\s+(?:actor|actress|player|athlete|singer|artist)\b", re.I
)
_REASON: Final = re.compile(r"^\s*(?:why|how come)\b", re.I)
_ASKED: Final = {
    "when": ("year", "date", "season", "period", "born", "died"),
    "where": ("venue", "location", "place", "city", "country"),
    "who": ("name", "player", "candidate", "winner", "director", "artist"),
}
_VERBS: Final = frozenset(
    stems(
        "play win won appear perform compete receive star act release record score finish "
        "hold serve make"
        " go get take give become work write direct nominate happen role team time year event"
    )
)
_YEAR: Final = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?!\d|,\d)")
_RANGE: Final = re.compile(
    r"(?<![\d.,])(?P<a>(?:1[5-9]|20)\d\d)\s?(?:-|–|—|to|through|until|and)\s?(?P<b>(?:1[5-9]|20)\d\d|\d\d)(?!\d)"
)
_DECADE: Final = re.compile(r"\b(?P<a>1[5-9]\d|20\d|[2-9])0['’]?s\b")
_LONGEST_RANGE: Final = 60
_FISCAL: Final = re.compile(r"\bFY\s?\d\d|\b(?:three|six|nine|twelve)\s+months\b|\bquarter\b", re.I)
_KIND: Final = re.compile(r"\b(?:which|what)\s+([a-z]+)(?:\s+([a-z]+))?\b", re.I)
_NAME: Final = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w'’-]+")
_NOTES: Final = re.compile(
    r"^\W*(?:notes?|ref(?:erence)?s?|remarks?|comments?|image|portrait|source)\W*$", re.I
)
_NOW: Final = re.compile(r"^\W*(?:who|which|what)\b[^?]*?\b(?:is|are)\b", re.I)
_THEN: Final = re.compile(r"\b(?:other|previous(?:ly)?|prior|former(?:ly)?|past)\b", re.I)
_KEPT: Final = 3  # the worth of a column that is always told
_EMPTY: Final = re.compile(r"^\W*$")

Reads = Callable[[str, Sequence[str]], Sequence[float]]  # how probably texts are evidence


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
class RowSet:
    """Rows that may answer, and what speaks for them.

    `subject` is the document's title where that is who or what is asked for: "Who played Benny?" of
    the films of an actor.
    """

    records: tuple[Record, ...]
    features: Mapping[str, float]
    subject: str = ""

    @property
    def text(self) -> str:
        """All rows in words."""
        rows = " · ".join(one.text for one in self.records)
        return f"{self.subject} – {rows}" if self.subject else rows


@dataclass(frozen=True, slots=True)
class _Line:
    block: int
    row: int
    cells: tuple[tuple[str, Cell], ...]
    words: frozenset[str]
    years: frozenset[str]


def row_sets(document: Document, question: str, reads: Reads | None) -> list[RowSet]:
    """Return the sets of rows that may answer a question; `reads` is the evidence judge."""
    asked = frozenset(stems(question)) | years_named(question)
    if not asked or _REASON.match(question):
        return []
    tables = []
    for number, block in enumerate(document.blocks):
        if block.table is None or len(block.table.cells) < 4 or lists_contents(block):
            continue
        lines = _lines(number, block.table, _THEN if _NOW.match(question) else None)
        if not lines or _by_period(block.table):
            continue
        titles = (document.title, *block.section)
        known = _tokens(" ".join(titles)) | {w for line in lines for w in line.words | line.years}
        heads = _tokens(" ".join(head for line in lines for head, _ in line.cells))
        shared = len(asked & (known | heads)) / len(asked)
        tables.append((shared, -number, _Table(titles, lines, block.table)))
    tables.sort(key=lambda one: one[:2], reverse=True)
    made = []
    for shared, _, table in tables[:MOST_TABLES]:
        lead = shared - max((s for s, _, other in tables if other is not table), default=0.0)
        made += [
            RowSet(one.records, {**one.features, "lead": max(-0.5, min(0.5, lead))}, one.subject)
            for one in _Proposals(table, question, asked, reads)()
        ]
    return made


def row_text(titles: Sequence[str], line: _Line) -> str:
    """Return a row as the judge reads it: title, section, each cell with its head."""
    cells = "; ".join(f"{head}: {cell.text}" if head else cell.text for head, cell in line.cells)
    return ": ".join((titles[0], titles[-1] if len(titles) > 1 else "", cells))


class _Table:
    """One table of records."""

    def __init__(self, titles: Sequence[str], lines: Sequence[_Line], table: Table) -> None:
        self.titles = titles
        self.lines = lines
        self.of_figures = _of_figures(table)
        self.title_words = _tokens(" ".join(titles))
        self.heads = _tokens(" ".join(head for line in lines for head, _ in line.cells))
        self.counts: defaultdict[str, int] = defaultdict(int)
        for line in lines:
            for word in line.words:
                self.counts[word] += 1


class _Proposals:
    """The sets of rows of one table that may answer one question."""

    def __init__(
        self, table: _Table, question: str, asked: frozenset[str], reads: Reads | None
    ) -> None:
        self._table = table
        self._question = question
        self._asked = asked
        self._years = years_named(question)
        self._reads = reads

    def __call__(self) -> list[RowSet]:
        """Return them, each once."""
        lines = self._table.lines
        groups = self._groups()
        met = [sum(weight for rows, weight in groups if i in rows) for i in range(len(lines))]
        whole = sum(weight for _, weight in groups)
        judged = self._judged()
        proposed: dict[tuple[int, ...], None] = {}
        named = [i for i, score in enumerate(met) if groups and score >= max(met) - 1e-9]
        proposed[tuple(named)] = None
        if judged:
            top = max(judged.values())
            good = [i for i in sorted(judged) if judged[i] >= HALF * top]
            proposed[tuple(good)] = None
            proposed[tuple(i for i in named if judged.get(i, 0.0) >= HALF * top)] = None
            proposed[(max(judged, key=lambda i: judged[i]),)] = None
        made = []
        title = self._table.titles[0]
        who = _WHO.match(self._question) or _ACTOR.search(self._question)
        subject = title if who and not frozenset(stems(title)) & self._asked else ""
        for chosen in proposed:
            if not 0 < len(chosen) <= MOST_ROWS:
                continue
            records = self._told([lines[i] for i in chosen])
            if records is None:
                continue
            share = min(met[i] for i in chosen) / whole if whole else 0.0
            features = self._features(chosen, named, share, bool(groups), judged)
            features["named"] = float(chosen == tuple(named))
            made.append(RowSet(records, features, subject))
        return made

    def _groups(self) -> list[tuple[frozenset[int], float]]:
        """Return the conditions that a question sets, as the rows that meet each and its weight.

        Names that stand in one column are one condition, met by the rows that hold as many of them
        as any row does; the years of the question are one.
        """
        table = self._table
        kind = _kind(self._question)
        named = [
            w
            for w in self._asked
            if w in table.counts and w not in table.title_words and w not in kind
        ]
        columns: defaultdict[int, list[str]] = defaultdict(list)
        for word in named:
            places: defaultdict[int, int] = defaultdict(int)
            for line in table.lines:
                for _, cell in line.cells:
                    if word in stems(cell.text):
                        places[cell.column] += 1
            if places:
                columns[max(places, key=lambda c: (places[c], -c))].append(word)
        made = []
        for column, words in columns.items():
            held = [
                frozenset(
                    w
                    for _, cell in line.cells
                    if cell.column == column
                    for w in stems(cell.text)
                    if w in words
                )
                for line in table.lines
            ]
            rows = frozenset(
                i for i, own in enumerate(held) if own and not any(own < other for other in held)
            )
            made.append((rows, log(1 + len(table.lines) / max(1, len(rows)))))
        if self._years:
            rows = frozenset(i for i, line in enumerate(table.lines) if line.years & self._years)
            if rows:
                made.append((rows, log(1 + len(table.lines) / len(rows))))
        return made

    def _judged(self) -> dict[int, float]:
        """Return what the judge says of the rows; of a long table it reads the likeliest."""
        if self._reads is None:
            return {}
        lines = self._table.lines
        order = sorted(
            range(len(lines)),
            key=lambda i: -len((lines[i].words | lines[i].years) & self._asked),
        )[:MOST_READ]
        texts = [row_text(self._table.titles, lines[i]) for i in order]
        return dict(zip(order, self._reads(self._question, texts), strict=True))

    def _features(
        self,
        chosen: Sequence[int],
        named: Sequence[int],
        share: float,
        conditions: bool,
        judged: Mapping[int, float],
    ) -> dict[str, float]:
        table, question = self._table, self._question
        lines = [table.lines[i] for i in chosen]
        held = {w for line in lines for w in line.words | line.years}
        titles = table.title_words | years_named(" ".join(table.titles))
        known = titles | table.heads | held | _VERBS
        order = {stem for found in _ORDER.findall(question) for stem in stems(found)}
        names = _names(question)
        kind = _kind(question)
        words = self._asked - self._years
        inside = [judged.get(i, 0.0) for i in chosen]
        outside = [p for i, p in judged.items() if i not in chosen]
        made = {
            "covered": len(words & known) / max(1, len(words)),
            "strange": float(min(3, len(names - known))),
            "met": share,
            "unconditional": float(not conditions),
            "years": float(bool(self._years) and not self._years & (held | titles)),
            "excess": sum(i not in named for i in chosen) / len(chosen),
            "table": log(1 + len(table.lines)),
            "order": float(bool(order - table.heads - table.counts.keys())),
            "how": float(bool(_HOW.match(question))),
            "many": float(bool(_MANY.search(question))),
            "yes": float(bool(_YES_NO.match(question))),
            "who": float(bool(_WHO.match(question))),
            "head": float(bool(kind & table.heads)),
            "figures": float(table.of_figures),
            "number": float(wanted(question).form not in (Form.TEXT, Form.YES_NO)),
        }
        if judged:
            made["judged"] = sum(inside) / len(inside)
            made["outside"] = max(outside, default=0.0)
        return made

    def _told(self, lines: Sequence[_Line]) -> tuple[Record, ...] | None:
        """Return the rows with the cells to tell; None where that is more than an answer holds.

        Where whole rows are too much, columns that nobody asked for are left out: what the question
        has said itself, notes, then figures.
        """
        told = [_filled(line) for line in lines]
        columns = {cell.column: head for cells in told for head, cell in cells}
        first = self._question.split()[0].casefold()
        desired = self._asked | {w for name in _ASKED.get(first, ()) for w in stems(name)}

        def worth(column: int) -> int:
            texts = [cell.text for cells in told for _, cell in cells if cell.column == column]
            if _tokens(columns[column]) & desired:
                return _KEPT
            if all(_tokens(text) <= self._asked for text in texts):
                return 0
            if _NOTES.match(columns[column]):
                return 1
            return 2 if all(read_figure(text) is not None for text in texts) else _KEPT

        for column in sorted(columns, key=lambda c: (worth(c), -c)):
            if _length(told) <= MOST_WORDS or worth(column) == _KEPT:
                break
            told = [tuple(one for one in cells if one[1].column != column) for cells in told]
        if _length(told) > MOST_WORDS or not all(told):
            return None
        return tuple(
            Record(line.block, line.row, cells) for line, cells in zip(lines, told, strict=True)
        )


def _length(rows: Sequence[Sequence[tuple[str, Cell]]]) -> int:
    return sum(len(f"{head} {cell.text}".split()) for cells in rows for head, cell in cells)


def _filled(line: _Line) -> tuple[tuple[str, Cell], ...]:
    """Return the cells of a row that say something."""
    told = tuple((head, cell) for head, cell in line.cells if not _EMPTY.match(cell.text))
    return told or line.cells


def years_named(text: str) -> frozenset[str]:
    """Return the years a text names; a range or a decade names all in between."""
    made = set(_YEAR.findall(text))
    for found in _RANGE.finditer(text):
        first = int(found["a"])
        last = int(found["b"]) if len(found["b"]) > 2 else first // 100 * 100 + int(found["b"])
        if " and " in found.group() and "between" not in text.casefold():
            continue
        if first < last <= first + _LONGEST_RANGE:
            made.update(map(str, range(first, last + 1)))
    for found in _DECADE.finditer(text):
        first = int(found["a"]) * 10 if len(found["a"]) > 1 else 1900 + int(found["a"]) * 10
        made.update(map(str, range(first, first + 10)))
    return frozenset(made)


def _tokens(text: str) -> frozenset[str]:
    return frozenset((*stems(text), *_YEAR.findall(text)))


def _kind(question: str) -> frozenset[str]:
    """Return the words for the kind of thing a question asks for: "series" of "which series".

    A name is none of them: "which French films" are those that are French.
    """
    found = (one.group(1, 2) for one in _KIND.finditer(question))
    kinds = (word for words in found for word in words if word and word.islower())
    return frozenset(stem for word in kinds for stem in stems(word))


def _names(question: str) -> frozenset[str]:
    """Return the words of a question that are names."""
    return frozenset(stem for found in _NAME.findall(question) for stem in stems(found))


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


def _lines(number: int, table: Table, unasked: re.Pattern[str] | None) -> list[_Line]:
    """Return the rows, less the columns that are not asked for: offices held before, of who is."""
    grid = Grid(table)
    made = []
    for row, cells in sorted(grid.rows.items()):
        named = tuple(
            (head, cell)
            for head, cell in _named(grid, cells)
            if unasked is None or not unasked.search(head)
        )
        if all(head == cell.text for head, cell in named):
            continue  # the heads once more
        headed = 2 * sum(bool(head) for head, _ in named) >= len(named)
        if len(named) > 1 and headed and not all(cell.header for cell in cells if cell.column > 0):
            text = " ".join(cell.text for _, cell in named)
            spelled = frozenset(y for _, cell in named for y in years_named(cell.text))
            made.append(_Line(number, row, named, frozenset(stems(text)), spelled))
    return made


def _named(grid: Grid, cells: Sequence[Cell]) -> Iterator[tuple[str, Cell]]:
    """Return the filled cells of a row with the heads of their columns, each text once."""
    told = set()
    for cell in cells:
        if cell.text.strip() and cell.text not in told:
            told.add(cell.text)
            above = " ".join(dict.fromkeys(" ".join(q.text for q in grid.above(cell)).split()))
            yield above.strip("-– "), cell
