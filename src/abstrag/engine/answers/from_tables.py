"""An answer from tables as it is told: sentences, each with the cells it rests on as quotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from abstrag.engine.answers.calculate import CalculatedAnswer
from abstrag.engine.answers.confidence import AnswerWay
from abstrag.engine.answers.proposal import ProposedAnswer, ToldAnswer
from abstrag.engine.answers.records import Reads, RowSet, row_sets
from abstrag.engine.answers.short import TableFigures, cells_of, figure_features, from_figures, told
from abstrag.engine.citations import Citations, CitedPassage
from abstrag.engine.extractive import strangers
from abstrag.engine.searcher import Searcher
from abstrag.model.answer import AnswerSentence, ShortAnswer
from abstrag.model.ranking import Ranking
from abstrag.search.query.instructions import read_request


@dataclass(frozen=True, slots=True)
class TableAnswers:
    """Proposes answers to one question from the tables of one document.

    A row that search did not find becomes one more passage, at the end of the list it is given.
    """

    searcher: Searcher
    ranking: Ranking
    passages: list[CitedPassage]
    citations: Citations
    reads: Reads | None

    def __call__(self) -> Iterator[ProposedAnswer]:
        """Go through what tables say to the question."""
        index, query = self.searcher.index, self.ranking.query
        if not any(block.table for block in index.document.blocks):
            return
        if strangers(self.ranking.hits, index.document):
            return
        tables = TableFigures.of(index.document)
        found = from_figures(tables, index, query, self.ranking.hits)
        if found is not None:
            features = figure_features(found, query)
            yield ProposedAnswer(
                AnswerWay.FIGURES, features, found.text, lambda: self._figured(found)
            )
        for rows in row_sets(index.document, read_request(query.text).question, self.reads):
            tell = partial(self._listed, rows)
            way = AnswerWay.NAMED_ROWS if self.reads is None else AnswerWay.ROWS
            yield ProposedAnswer(way, rows.features, rows.text, tell)

    def _figured(self, found: CalculatedAnswer) -> ToldAnswer:
        numbers = []
        for one in cells_of(found.used):
            passage = self._row(one.block, one.row, one.column)
            headers = tuple(dict.fromkeys((*one.above, *one.over, one.label)))
            numbers.append(self.citations.cell(passage, one.text, one.span, headers).number)
        period = ", ".join(dict.fromkeys(one.period for one in found.used if one.period))
        short = ShortAnswer(found.form.value, found.text, found.formula, period)
        return ToldAnswer((AnswerSentence(told(found), tuple(numbers)),), short)

    def _listed(self, rows: RowSet) -> ToldAnswer:
        sentences = []
        for row in rows.records:
            cited = [
                self.citations.cell(
                    self._row(row.block, row.row, cell.column),
                    cell.text,
                    cell.span,
                    (head,) if head else (),
                )
                for head, cell in row.cells
            ]
            sentences.append(AnswerSentence(row.text, tuple(one.number for one in cited)))
        if rows.subject:
            first = sentences[0]
            sentences[0] = AnswerSentence(f"{rows.subject} – {first.text}", first.citations)
        return ToldAnswer(tuple(sentences), ShortAnswer("row", rows.text))

    def _row(self, block: int, row: int, column: int) -> CitedPassage:
        """Return the passage a cell belongs to, beside those that were found if it is none."""
        segments = self.searcher.index.segments
        fit = [
            i
            for i, one in enumerate(segments)
            if one.block == block and one.row == row and one.column in (None, column)
        ]
        position = fit[0] if fit else next(i for i, s in enumerate(segments) if s.block == block)
        for passage in self.passages:
            if passage.hit.position == position:
                return passage
        hit = self.searcher.explain(self.ranking.query.text, segments[position].id)
        made = CitedPassage(len(self.passages) + 1, hit, segments[position])
        self.passages.append(made)
        return made


def best_of(proposed: Sequence[ProposedAnswer]) -> ProposedAnswer | None:
    """Return the proposal that is most probably right, if any is probable enough to be told."""
    sure = [one for one in proposed if one.probability >= one.floor]
    return max(sure, key=lambda one: one.probability, default=None)
