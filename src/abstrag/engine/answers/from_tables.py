"""An answer from tables as it is told: sentences, each with the cells it rests on as quotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstrag.engine.answers.calculate import CalculatedAnswer
from abstrag.engine.answers.records import Record
from abstrag.engine.answers.short import TableFigures, cells_of, from_figures, from_records, told
from abstrag.engine.citations import Citations, CitedPassage
from abstrag.engine.extractive import strangers
from abstrag.engine.searcher import Searcher
from abstrag.model.answer import AnswerSentence, ShortAnswer
from abstrag.model.ranking import Ranking


@dataclass(frozen=True, slots=True)
class FromTables:
    """What tables say to a question."""

    sentences: tuple[AnswerSentence, ...]
    short: ShortAnswer


class TableAnswers:
    """Answers one question from the tables of one document.

    A row that search did not find becomes one more passage, at the end of the list it is given.
    """

    def __init__(
        self,
        searcher: Searcher,
        ranking: Ranking,
        passages: list[CitedPassage],
        citations: Citations,
    ) -> None:
        self._searcher = searcher
        self._ranking = ranking
        self._passages = passages
        self._citations = citations

    def __call__(self) -> FromTables | None:
        """Return the answer; None where tables give none that is sure enough."""
        index, query = self._searcher.index, self._ranking.query
        if not any(block.table for block in index.document.blocks):
            return None
        if strangers(self._ranking.hits, index.document):
            return None
        tables = TableFigures.of(index.document)
        found = from_figures(tables, index, query, self._ranking.hits)
        if found is not None:
            return self._figured(found)
        rows = from_records(tables, query)
        return self._listed(rows) if rows else None

    def _figured(self, found: CalculatedAnswer) -> FromTables:
        numbers = []
        for one in cells_of(found.used):
            passage = self._row(one.block, one.row, one.column)
            headers = tuple(dict.fromkeys((*one.above, *one.over, one.label)))
            numbers.append(self._citations.cell(passage, one.text, one.span, headers).number)
        period = ", ".join(dict.fromkeys(one.period for one in found.used if one.period))
        short = ShortAnswer(found.form.value, found.text, found.formula, period)
        return FromTables((AnswerSentence(told(found), tuple(numbers)),), short)

    def _listed(self, rows: Sequence[Record]) -> FromTables:
        sentences = []
        for row in rows:
            cited = [
                self._citations.cell(
                    self._row(row.block, row.row, cell.column),
                    cell.text,
                    cell.span,
                    (head,) if head else (),
                )
                for head, cell in row.cells
            ]
            sentences.append(AnswerSentence(row.text, tuple(one.number for one in cited)))
        text = " · ".join(row.text for row in rows)
        return FromTables(tuple(sentences), ShortAnswer("row", text))

    def _row(self, block: int, row: int, column: int) -> CitedPassage:
        """Return the passage a cell belongs to, beside those that were found if it is none."""
        segments = self._searcher.index.segments
        fit = [
            i
            for i, one in enumerate(segments)
            if one.block == block and one.row == row and one.column in (None, column)
        ]
        position = fit[0] if fit else next(i for i, s in enumerate(segments) if s.block == block)
        for passage in self._passages:
            if passage.hit.position == position:
                return passage
        hit = self._searcher.explain(self._ranking.query.text, segments[position].id)
        made = CitedPassage(len(self._passages) + 1, hit, segments[position])
        self._passages.append(made)
        return made
