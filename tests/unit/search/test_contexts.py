"""Contexts of words: how they are used ranks, and takes no part in what meets what."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp

import numpy as np
import pytest

from abstrag.config import MAX_GAP
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.model.segment import Segment
from abstrag.neural.aligned_text import AlignedText
from abstrag.neural.bundle import Aligning
from abstrag.search.relevance import ALIGNED, GENERAL, Preset

TEXT = (
    "The bank was flooded by the river. The bank raised its interest rates. "
    "The lawyer filed a claim in 2018. Nothing else was reported about it."
)
GATE = 0.5
CONSTANTS = Aligning(
    10.0, 8.0, 10.0, 8.0, 0.25, 8.0, 1.0, 4,
    context_dimensions=4, context_steep=10.0, context_offset=8.0, context_gate=GATE,
)  # fmt: skip
SUBJECTS = (("river", "flooded", "water"), ("interest", "rates", "loan"))


class InContext:
    """Gives a word a vector of its own, and a context by the subject of its sentence."""

    fingerprint = "in-context"
    constants = CONSTANTS

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> AlignedText:
        spans, at = [], 0
        for word in text.split():
            bare = word.strip(".,?")
            start = text.index(bare, at)
            at = start + len(bare)
            if len(bare) > 3:
                spans.append((start, at))
        words = [text[start:end].lower() for start, end in spans]
        vectors = np.zeros((len(spans), 512), np.float32)
        for row, word in enumerate(words):
            vectors[row, sum(map(ord, word)) % 512] = 1.0
        near = [i for i, some in enumerate(SUBJECTS) if set(some) & set(words)]
        contexts = np.zeros((len(spans), 4), np.float32)
        contexts[:, near[0] if near else 3] = 1.0
        return AlignedText(
            np.array(spans, np.int32).reshape(-1, 2),
            vectors,
            np.full(len(spans), 1 / max(len(spans), 1), np.float32),
            np.array([1, 0, 0, 0], np.float32),
            contexts,
        )


class WithoutContexts(InContext):
    """The same, of an aligner that gives no contexts."""

    constants = replace(CONSTANTS, context_dimensions=0)

    def _one(self, text: str) -> AlignedText:
        return replace(super()._one(text), contexts=None)


@pytest.fixture(scope="module")
def made() -> DocumentIndex:
    return index(load_bytes(TEXT.encode(), name="text.md"))


def hits(
    monkeypatch: pytest.MonkeyPatch,
    made: DocumentIndex,
    aligner: type[InContext],
    query: str = "Did the bank offer a loan?",
    preset: Preset = ALIGNED,
    without: frozenset[str] = frozenset(),
) -> dict[str, Hit]:
    monkeypatch.setattr("abstrag.engine.searcher.default_aligner", aligner)
    judge = contrary if preset.judge_weight else None
    searcher = Searcher(made, preset=preset, without=without, judge=judge)
    return {hit.quote: hit for hit in searcher.search(query, k=10, fill=True).hits}


def contrary(query: Query, segments: Sequence[Segment]) -> list[float]:
    return [0.0 if "2018" in segment.text else 1.0 for segment in segments]


def units(hit: Hit, name: str = "words in context") -> int:
    return next(line.units for line in hit.lines if line.name == name)


def test_of_two_places_of_a_word_the_one_that_is_used_alike_comes_first(
    monkeypatch: pytest.MonkeyPatch, made: DocumentIndex
) -> None:
    first, *_ = hits(monkeypatch, made, InContext)
    assert first == "The bank raised its interest rates."


def test_how_words_are_used_is_no_part_of_what_meets_them_or_of_gap(
    monkeypatch: pytest.MonkeyPatch, made: DocumentIndex
) -> None:
    told, plain = hits(monkeypatch, made, InContext), hits(monkeypatch, made, WithoutContexts)
    assert told.keys() == plain.keys()
    for quote, hit in told.items():
        other = plain[quote]
        assert hit.gap == other.gap
        assert hit.trace == other.trace
        assert [replace(w, units=0) for w in hit.words] == [
            replace(w, units=0) for w in other.words
        ]
        assert hit.reading == other.reading
        assert not any(line.name == "words in context" for line in other.lines)


def test_the_lines_add_up_with_contexts(
    monkeypatch: pytest.MonkeyPatch, made: DocumentIndex
) -> None:
    for hit in hits(monkeypatch, made, InContext).values():
        assert sum(word.units for word in hit.words) == hit.lines[0].units
        total = sum(line.units for line in hit.lines)
        assert hit.relevance == pytest.approx(exp(-total / 10_000), abs=1e-15)


def test_a_context_counts_as_much_as_the_preset_says_and_costs_more_at_another_word(
    monkeypatch: pytest.MonkeyPatch, made: DocumentIndex
) -> None:
    lone = replace(ALIGNED, rarity_power=0.0, gist_share=0.0, fit_share=1.0, alignment_weight=1.0)
    found = hits(monkeypatch, made, InContext, "loan", lone)
    alike, far = np.log1p(np.exp(8.0 - 10.0)), MAX_GAP  # of a context that is alike, or is not
    costs = {quote: units(hit) / 10_000 for quote, hit in found.items()}
    # nobody says "loan": its context is found at another word, which costs as another meaning does
    assert costs["The bank raised its interest rates."] == pytest.approx(
        alike + GATE * MAX_GAP, abs=1e-4
    )
    assert costs["The bank was flooded by the river."] == pytest.approx(
        far + GATE * MAX_GAP, abs=1e-4
    )
    bank = hits(monkeypatch, made, InContext, "bank", lone)["The bank was flooded by the river."]
    assert units(bank) / 10_000 == pytest.approx(far, abs=1e-4)  # the word itself: nothing on top


def test_bridges_taken_away_leave_contexts_as_they_are(
    monkeypatch: pytest.MonkeyPatch, made: DocumentIndex
) -> None:
    told = hits(monkeypatch, made, InContext)
    bare = hits(monkeypatch, made, InContext, without=frozenset({"align_words"}))
    assert {q: units(h) for q, h in told.items()} == {q: units(h) for q, h in bare.items()}


@pytest.mark.parametrize("preset", [ALIGNED, GENERAL, replace(GENERAL, fit_share=1.0)])
def test_what_meets_everything_for_free_stays_above_what_meets_nothing(
    monkeypatch: pytest.MonkeyPatch, made: DocumentIndex, preset: Preset
) -> None:
    query = "The lawyer filed a claim in 2018."
    found = hits(monkeypatch, made, InContext, query, preset)
    free = found["The lawyer filed a claim in 2018."]
    assert free.trace.gap == 0
    nothing = [h for h in found.values() if not h.trace.share and not any(w.met for w in h.words)]
    assert nothing
    for hit in nothing:
        cost, least = (
            sum(line.units for line in one.lines if line.name != "utility") for one in (hit, free)
        )
        assert least < cost


def test_what_is_kept_of_a_text_has_its_contexts() -> None:
    (read,) = InContext().read([TEXT])
    back = AlignedText.from_bytes(read.to_bytes())
    assert back.contexts is not None
    assert read.contexts is not None
    assert (back.contexts == read.contexts).all()
    kept = np.arange(len(read)) % 2 == 0
    some = read.keeping(kept).contexts
    assert some is not None
    assert (some == read.contexts[kept]).all()
    with pytest.raises(ValueError, match="bytes"):
        AlignedText.from_bytes(read.to_bytes() + b"x")
