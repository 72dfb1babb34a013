"""What every judge promises, as tests; give one of your own as the fixture `judge`."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

from collections.abc import Sequence

from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.search.judging import Judge
from abstrag.search.query.normalize import normalize
from abstrag.search.query.vocabulary import Vocabulary

_TEXT = b"The minister toured the factory in May. It rained. The plant makes 900 pumps a year."
_QUESTION = "Who visited the plant?"


class JudgeConformance:
    """Everything that `abstrag.search.judging.Judge` says."""

    def test_each_segment_gets_a_probability(self, judge: Judge) -> None:
        query, segments = _asked()
        said = judge(query, segments)
        assert len(said) == len(segments)
        assert all(0.0 <= value <= 1.0 for value in said)

    def test_a_pair_is_judged_the_same_in_any_company(self, judge: Judge) -> None:
        query, segments = _asked()
        together = judge(query, segments)
        alone = [judge(query, [segment])[0] for segment in segments]
        turned = judge(query, segments[::-1])[::-1]
        for one in (alone, turned):
            assert all(abs(a - b) < 1e-4 for a, b in zip(together, one, strict=True))

    def test_no_segments_get_no_probabilities(self, judge: Judge) -> None:
        assert list(judge(_asked()[0], [])) == []


def _asked() -> tuple[Query, Sequence[Segment]]:
    """Return a question and the segments of a small text."""
    made = index(load_bytes(_TEXT, name="plant.txt"))
    return normalize(_QUESTION, Vocabulary.of(made)), made.segments
