"""What was said once is not asked again, and comes back to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from abstrag.errors import StoreCorrupt
from abstrag.model.query import Query
from abstrag.neural import vectors
from abstrag.neural.bundle import TOKENIZER, WEIGHTS
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import JUDGEMENTS, CachedJudge
from abstrag.neural.vectors import (
    FUNCTION_WORDS,
    AlignedText,
    CachedEncoder,
    WordTable,
    grouped,
    has_content,
    name_of,
    rounded,
    spread,
    words_of,
)
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.unit.neural.letters import Letters
from training import words

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


# Words are cut at run time as training, which does without the package, cuts them.

WORDED = (
    "Did the physician's sales decline by 3,250.5 % in FY2018?",
    "Antihypertensives, e.g. lisinopril (10 mg), cost $4.20 each.",
    "p53-dependent apoptosis; write-ahead log, 1.2.3",
    "",
)


@pytest.mark.parametrize("text", WORDED)
def test_words_and_their_content_are_those_of_training(text: str) -> None:
    found = Tokenizer.from_file(str(WEIGHTS / TOKENIZER)).encode(text, add_special_tokens=False)
    marks = [0] * len(found.ids)
    for word in words_of(text, found.word_ids, found.offsets):
        content = words.CONTENT if has_content(text[word.start : word.end].lower()) else 0
        for place in range(word.first, word.last):
            marks[place] = content + (words.STARTS if place == word.first else 0)
    assert marks == words.marks(text, found)


def test_function_words_are_those_of_training() -> None:
    assert FUNCTION_WORDS == words.FUNCTION_WORDS


# The table of a document's words: what is read comes back from its file, and groups are sound.

TEXTS = ("The harbour was dredged.", "", "Sales fell\nby 40 tons.")


def read(texts: Sequence[str]) -> list[AlignedText]:
    chance = np.random.default_rng(0)
    made = []
    for text in texts:
        spans, at = [], 0
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            spans.append((start, at))
        rows = chance.normal(size=(len(spans), 8)).astype(np.float32)
        rows = spread(rounded(rows / np.linalg.norm(rows, axis=1, keepdims=True)))
        made.append(
            AlignedText(
                np.array(spans, np.int32).reshape(-1, 2),
                rows,
                np.ones(len(spans), np.float32),
                np.full(4, 0.5, np.float32),
            )
        )
    return made


def test_a_table_comes_back_from_its_file_as_it_was() -> None:
    table = WordTable.read(TEXTS, read)
    again = WordTable.mapped(memoryview(b"".join(table.parts())))
    for name in (
        "starts",
        "spans",
        "numbers",
        "vectors",
        "gists",
        "letters",
        "middles",
        "groups",
        "added",
    ):
        assert np.array_equal(getattr(again, name), getattr(table, name)), name
    assert again.vocabulary == [
        "The",
        "harbour",
        "was",
        "dredged.",
        "Sales",
        "fell",
        "by",
        "40",
        "tons.",
    ]
    assert again.starts.tolist() == [0, 4, 4, 9]


@pytest.mark.parametrize("cut", [5, 40, -64])
def test_a_file_that_was_cut_off_is_no_table(cut: int) -> None:
    data = b"".join(WordTable.read(TEXTS, read).parts())
    with pytest.raises(ValueError, match=r".*"):
        WordTable.mapped(memoryview(data[:cut]))


def test_cosines_are_those_of_the_vectors_whatever_the_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", 2)
    table = WordTable.read(TEXTS, read)
    (asked,) = read(["one two"])
    whole = asked.vectors @ spread(table.vectors).T
    assert np.allclose(table.cosines(asked.vectors), whole)
    some = np.array([1, 6])
    assert np.allclose(table.cosines(asked.vectors, some), whole[:, some])
    assert np.allclose(table.nearness(asked.gist), spread(table.gists) @ asked.gist)


def test_the_name_of_a_file_changes_with_the_model_and_with_every_text() -> None:
    names = {
        name_of(TEXTS, "model"),
        name_of(TEXTS, "another"),
        name_of(TEXTS[:2], "model"),
        name_of(("".join(TEXTS),), "model"),
    }
    assert len(names) == 4


def test_a_word_is_in_the_group_whose_middle_is_nearest() -> None:
    drawn = np.random.default_rng(1).normal(size=(3000, 8)).astype(np.float32)
    rows = rounded(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    middles, groups = grouped(rows)
    near = spread(rows) @ spread(middles).T
    assert np.array_equal(near.argmax(axis=1), groups)
