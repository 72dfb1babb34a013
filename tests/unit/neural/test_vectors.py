"""What was said once is not asked again, and comes back to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from abstrag.errors import StoreCorrupt
from abstrag.model.query import Query
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import JUDGEMENTS, CachedJudge
from abstrag.neural.vectors import CachedEncoder
from abstrag.stores.sqlite import SqliteStore
from tests.unit.neural.letters import Letters
from tests.unit.stores.samples import sample_index

THIRD = 1 / 3  # no float32


class Lengths:
    """Scores a passage by its length and remembers what it was asked."""

    def __init__(self, fingerprint: str = "lengths:1", *, wants_title: bool = False) -> None:
        self.fingerprint = fingerprint
        self.wants_title = wants_title
        self.asked: list[tuple[str, str]] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked += [(query, one) for one in passages]
        return [THIRD / (1 + len(one)) for one in passages]


class Wide(Letters):
    """Says more about a text than `Letters`, under the same name."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.repeat(super().embed(texts), 2, axis=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "store.db") as opened:
        yield opened


def test_a_text_is_embedded_once(store: SqliteStore) -> None:
    first, second = Letters(), Letters()
    made = CachedEncoder(first, store, content_hash="c1").embed(["aab", "c", "aab"])
    assert first.asked == ["aab", "c"]
    again = CachedEncoder(second, store, content_hash="c1").embed(["d", "c", "aab", "aab"])
    assert second.asked == ["d"]
    assert np.array_equal(again, Letters().embed(["d", "c", "aab", "aab"]))
    assert np.array_equal(made, Letters().embed(["aab", "c", "aab"]))
    assert again.dtype == np.float32


def test_no_texts_have_no_vectors(store: SqliteStore) -> None:
    assert CachedEncoder(Letters(), store, content_hash="c1").embed([]).shape == (0, 4)


def test_documents_and_models_do_not_mix(store: SqliteStore) -> None:
    CachedEncoder(Letters(), store, content_hash="c1").embed(["a"])
    other = Letters()
    CachedEncoder(other, store, content_hash="c2").embed(["a"])
    assert other.asked == ["a"]
    third = Letters()
    third.fingerprint = "letters:2"
    CachedEncoder(third, store, content_hash="c1").embed(["a"])
    assert third.asked == ["a"]


def test_vectors_of_two_models_never_come_back_together(store: SqliteStore) -> None:
    narrow, wide = Letters(), Wide()
    wide.fingerprint = "wide:1"
    texts = ["aab", "c", "bd"]
    for some in (texts[:2], texts):  # first made, then recalled and made
        for model in (narrow, wide):
            found = CachedEncoder(model, store, content_hash="c1").embed(some)
            assert np.array_equal(found, type(model)().embed(some))
    assert narrow.asked == wide.asked == texts
    assert store.models()["embeddings"] == {"letters:1": 3, "wide:1": 3}
    store.forget_models("embeddings", keep=["wide:1"])
    again = Letters()
    CachedEncoder(again, store, content_hash="c1").embed(texts)
    CachedEncoder(wide, store, content_hash="c1").embed(texts)
    assert (again.asked, wide.asked) == (texts, texts)


def test_a_pair_is_judged_once(store: SqliteStore) -> None:
    first, second = Lengths(), Lengths()
    made = CachedJudge(first, store, content_hash="c1").score("q", ["one", "three", "one"])
    assert first.asked == [("q", "one"), ("q", "three")]
    again = CachedJudge(second, store, content_hash="c1")
    assert again.score("q", ["three", "one", "three"]) == [made[1], made[0], made[1]]
    assert second.asked == []
    assert made == [THIRD / 4, THIRD / 6, THIRD / 4]
    again.score("qo", ["ne"])  # the same letters, split elsewhere
    assert second.asked == [("qo", "ne")]
    assert again.score("q", []) == []


def test_a_recalibrated_judge_is_asked_again(store: SqliteStore) -> None:
    CachedJudge(Lengths(), store, content_hash="c1").score("q", ["one"])
    other = Lengths("lengths:2")
    CachedJudge(other, store, content_hash="c1").score("q", ["one"])
    assert other.asked == [("q", "one")]


def test_it_judges_segments_and_passes_titles_on(store: SqliteStore) -> None:
    segments = [one.segment for one in sample_index().records]
    inner = Lengths(wants_title=True)
    judge = CachedJudge(inner, store, content_hash="c1").reading("News")
    assert judge(Query("q", ()), segments) == judge(Query("q", ()), segments)
    assert len(inner.asked) == len(segments)
    assert all(text.startswith("News: ") for _, text in inner.asked)
    plain = CachedJudge(Lengths(), store, content_hash="c1").reading("News")
    assert plain.title == ""


def test_they_are_called_what_the_model_is_called(store: SqliteStore) -> None:
    encoder, judge = Letters(), Lengths()
    assert repr(CachedEncoder(encoder, store, content_hash="c1")) == repr(encoder)
    assert repr(CachedJudge(judge, store, content_hash="c1")) == repr(judge)
    assert CachedEncoder(encoder, store, content_hash="c1").fingerprint == "letters:1"
    assert CachedJudge(judge, store, content_hash="c1").fingerprint == "lengths:1"


def test_values_that_cannot_be_right_are_a_broken_store(store: SqliteStore) -> None:
    CachedEncoder(Letters(), store, content_hash="c1").embed(["a"])
    with pytest.raises(StoreCorrupt, match="not all of one length"):
        CachedEncoder(Wide(), store, content_hash="c1").embed(["a", "b"])
    judge = CachedJudge(Lengths(), store, content_hash="c1")
    judge.score("q", ["one"])
    store._connection.execute(f"UPDATE {JUDGEMENTS} SET value = x'00'")
    with pytest.raises(StoreCorrupt, match="has 1 bytes, not 8"):
        judge.score("q", ["one"])
