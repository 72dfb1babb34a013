"""A query and a passage, put together and cut where they must be."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.record import to_json
from abstrag.neural.bundle import MANIFEST, Bundle
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import PairReader, windows
from abstrag.neural.runtime import Ids
from tests.unit.neural.conftest import QUERY_TOKENS
from tests.unit.neural.tiny import POSITIONS, WORDS

CLS, SEP = WORDS.index("[CLS]"), WORDS.index("[SEP]")
A, DOG, HOUND = (WORDS.index(word) for word in ("a", "dog", "hound"))


@pytest.fixture
def reader(judge_folder: Path) -> PairReader:
    return PairReader(Bundle.open(judge_folder), query_tokens=QUERY_TOKENS, threads=1)


def seen(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch, query: str, *passages: str
) -> list[tuple[list[int], list[int]]]:
    """Return what the model is shown."""
    shown: list[tuple[list[int], list[int]]] = []

    def run(ids: Ids, types: Ids) -> Vectors:
        shown.append((ids.tolist(), types.tolist()))
        return np.zeros(1, dtype=np.float32)

    monkeypatch.setattr(reader, "_run", run)
    reader.read(query, passages)
    return shown


@given(st.integers(1, 500), st.integers(1, 90))
def test_windows_cover_everything_and_overlap(length: int, room: int) -> None:
    cuts = list(windows(length, room))
    assert {i for cut in cuts for i in range(length)[cut]} == set(range(length))
    assert all(cut.stop - cut.start == min(room, length) for cut in cuts)
    for one, two in pairwise(cuts):
        assert one.start < two.start
        assert one.stop - two.start >= room // 4


def test_the_query_comes_first_and_the_passage_is_marked(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seen(reader, monkeypatch, "a dog", "a hound") == [
        ([CLS, A, DOG, SEP, A, HOUND, SEP], [0, 0, 0, 0, 1, 1, 1])
    ]


def test_a_long_query_leaves_room_and_it_says_so(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((ids, _),) = seen(reader, monkeypatch, "dog " * 50, "a hound")
    assert ids == [CLS, DOG, DOG, DOG, DOG, SEP, A, HOUND, SEP]
    assert reader.truncates("dog " * 5)
    assert not reader.truncates("dog " * 4)


def test_a_long_passage_is_read_to_its_end(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = seen(reader, monkeypatch, "dog", "a " * 30 + "hound")
    assert all(len(ids) == POSITIONS for ids, _ in shown)
    assert [HOUND in ids for ids, _ in shown] == [False] * (len(shown) - 1) + [True]
    assert len(shown) == 5  # 31 tokens, 8 at a time, 2 of them again


def test_a_passage_of_100_000_tokens_is_read_to_its_end(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = seen(reader, monkeypatch, "dog", "a " * 99_999 + "hound")
    assert len(shown) == 1 + -(-(100_000 - 8) // 6)
    assert [i for i, (ids, _) in enumerate(shown) if HOUND in ids] == [len(shown) - 1]


def test_a_passage_given_twice_is_read_once(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(seen(reader, monkeypatch, "dog", "a dog", "a", "a dog")) == 2


def test_logits_follow_the_passages(reader: PairReader) -> None:
    found = reader.read("dog", ["a hound", "", "a dog", "a hound"])
    assert [len(one) for one in found] == [1, 0, 1, 1]
    assert found[0][0] == found[3][0] != found[2][0]
    assert reader.read(" ", ["a dog"]) == [[]]
    assert reader.read("dog", []) == []


def test_one_string_is_not_taken_for_its_letters(reader: PairReader) -> None:
    with pytest.raises(InputError, match="got one string"):
        reader.read("dog", "a hound")


def test_a_model_that_answers_no_number_is_damaged(
    reader: PairReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_run", lambda *_: np.array([np.nan], dtype=np.float32))
    with pytest.raises(ResourceMissing, match="no number"):
        reader.read("dog", ["a hound"])


@pytest.mark.parametrize("tokens", [0, POSITIONS - 3])
def test_a_query_must_leave_room_for_a_passage(judge_folder: Path, tokens: int) -> None:
    with pytest.raises(ResourceMissing, match=f"gives the query {tokens}"):
        PairReader(Bundle.open(judge_folder), query_tokens=tokens, threads=1)


def test_a_graph_of_another_kind_is_refused(judge_folder: Path) -> None:
    bundle = Bundle.open(judge_folder)
    manifest = replace(bundle.manifest, dimensions=3)
    (judge_folder / MANIFEST).write_text(to_json(manifest), "utf-8")
    with pytest.raises(ResourceMissing, match=r"gives \[\[1\]\]; expected were 2 inputs"):
        PairReader(Bundle.open(judge_folder), query_tokens=4, threads=1).load()
