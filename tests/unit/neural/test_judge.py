"""The evidence judge: what it makes of a pair, and what must not matter to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.query import Query
from abstrag.model.record import to_json
from abstrag.neural import judge as module
from abstrag.neural.bundle import MANIFEST, MODEL, TOKENIZER, Bundle, Judging
from abstrag.neural.embedder import Embedder
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import EvidenceJudge, PairReader, SegmentJudge, default_judge, windows
from abstrag.neural.runtime import Ids
from abstrag.testing.sample_index import sample_index
from tests.unit.neural import tiny
from tests.unit.neural.conftest import QUERY_TOKENS
from tests.unit.neural.tiny import POSITIONS, WORDS

# A query and a passage, put together and cut where they must be.

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


PASSAGES = ["a hound barks.", "a", "", "dog dog dog", "a dog barking . a hound", "dog " * 40]


@pytest.fixture
def judge(judge_folder: Path) -> EvidenceJudge:
    return EvidenceJudge.load(judge_folder, threads=1)


def resettled(folder: Path, **settings: object) -> EvidenceJudge:
    """Return the judge of a folder under other settings."""
    bundle = Bundle.open(folder)
    judging = replace(bundle.manifest.judging or Judging(), **settings)  # type: ignore[arg-type]
    text = to_json(replace(bundle.manifest, judging=judging))
    (folder / MANIFEST).write_text(text, "utf-8")
    return EvidenceJudge.load(folder, threads=1)


def logit(query: str, passage: str) -> float:
    weights = {**tiny.tensors(), **tiny.head("linear", 1)}
    words = ["[CLS]", *query.split(), "[SEP]", *passage.split(), "[SEP]"]
    types = [0] * (len(query.split()) + 2) + [1] * (len(passage.split()) + 1)
    return float(tiny.logits(weights, [tiny.WORDS.index(word) for word in words], types)[0])


def test_a_score_is_the_calibrated_logit_of_the_network(judge: EvidenceJudge) -> None:
    expected = [1 / (1 + exp(-(2.0 * logit("a dog", text) + 0.5))) for text in ("a", "hound .")]
    assert judge.score("a dog", ["a", "hound ."]) == pytest.approx(expected, abs=1e-5)


def test_a_pair_scores_the_same_in_any_company(judge: EvidenceJudge, judge_folder: Path) -> None:
    together = judge.score("a dog", PASSAGES)
    assert [judge.score("a dog", [one])[0] for one in PASSAGES] == together
    assert judge.score("a dog", PASSAGES[::-1])[::-1] == together
    assert EvidenceJudge.load(judge_folder, threads=3).score("a dog", PASSAGES) == together


def test_without_words_there_is_no_evidence(judge: EvidenceJudge) -> None:
    assert judge.score("a dog", ["", " \n", "\u200b"]) == [0.0, 0.0, 0.0]
    assert judge.score("", ["a dog"]) == [0.0]
    assert judge.score("a dog", []) == []


def test_a_long_passage_scores_as_its_best_window(judge: EvidenceJudge) -> None:
    # a query of one token leaves room for eight, of which two are read again
    words = "dog . hound a bark dog a a . dog hound bark a dog".split()
    pieces = [" ".join(words[start : start + 8]) for start in (0, 6)]
    whole = judge.score("a", [" ".join(words)])
    assert whole == [max(judge.score("a", pieces))]
    assert len(set(judge.score("a", pieces))) == 2


def test_no_logit_is_too_large(judge_folder: Path) -> None:
    assert resettled(judge_folder, slope=0.0, offset=-5000.0).score("a", ["dog"]) == [0.0]
    assert resettled(judge_folder, slope=0.0, offset=5000.0).score("a", ["dog"]) == [1.0]


def test_segments_are_read_after_their_section(judge: EvidenceJudge) -> None:
    segment = sample_index().records[0].segment
    segment = replace(segment, text="dog", section=("bark",), headers=())
    assert judge(Query("a", ()), [segment]) == judge.score("a", ["bark: dog"])


def test_a_title_is_shown_to_a_judge_that_wants_it_alone(judge_folder: Path) -> None:
    segment = replace(sample_index().records[0].segment, text="dog", section=("bark",), headers=())
    plain = EvidenceJudge.load(judge_folder, threads=1)
    assert plain.reading("hound")(Query("a", ()), [segment]) == plain.score("a", ["bark: dog"])
    titled = resettled(judge_folder, title=True)
    assert titled.wants_title
    assert titled(Query("a", ()), [segment]) == titled.score("a", ["bark: dog"])
    there = titled.reading(" hound ")
    assert there(Query("a", ()), [segment]) == titled.score("a", ["hound: bark: dog"])
    assert titled.title == ""


class Naming(SegmentJudge):
    """A judge who only believes in a name, and keeps what it has read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.read += passages
        return [0.9 if "Northgate" in passage else 0.2 for passage in passages]


def test_a_canonical_text_is_read_too_where_it_names_what_is_asked() -> None:
    segment = replace(sample_index().records[0].segment, section=(), headers=())
    told, other = (
        replace(segment, id="s1", text="It restarted."),
        replace(segment, id="s2", text="She slept."),
    )
    judge = Naming().resolving({"s1": "Northgate restarted.", "s2": "Dr Wu slept."})
    query = Query("Did Northgate restart?", ())
    assert judge(query, [told, other]) == [0.9, 0.2]
    assert judge.read == ["It restarted.", "She slept.", "Northgate restarted."]


def test_what_stands_there_counts_where_the_canonical_text_is_no_better() -> None:
    segment = replace(sample_index().records[0].segment, section=(), headers=())
    told = replace(segment, id="s1", text="Northgate said so.")
    judge = Naming().resolving({"s1": "The plant said so."})
    assert judge(Query("What did the plant say?", ()), [told]) == [0.9]


def test_the_fingerprint_changes_with_the_calibration(judge_folder: Path) -> None:
    before = EvidenceJudge.load(judge_folder).fingerprint
    after = resettled(judge_folder, slope=1.5)
    assert before.startswith("tiny-judge:")
    assert after.fingerprint != before
    assert repr(after) == f"EvidenceJudge({after.fingerprint!r})"
    assert (after.max_tokens, after.threads) == (tiny.POSITIONS, 1)


def test_it_says_when_a_query_is_too_long(judge: EvidenceJudge) -> None:
    assert judge.truncates("dog " * 5)
    assert not judge.truncates("dog " * 4)


@pytest.mark.parametrize("name", [MODEL, TOKENIZER, MANIFEST])
def test_missing_and_damaged_files_are_errors(judge_folder: Path, name: str) -> None:
    data = (judge_folder / name).read_bytes()
    (judge_folder / name).write_bytes(data[:-40])
    with pytest.raises(ResourceMissing, match=f"{name}.* is damaged"):
        EvidenceJudge.load(judge_folder)
    (judge_folder / name).unlink()
    with pytest.raises(ResourceMissing, match=f"cannot read .*{name}"):
        EvidenceJudge.load(judge_folder)


def test_a_model_for_something_else_is_refused(judge_folder: Path, bundle: Path) -> None:
    with pytest.raises(InputError, match="is for the task 'embed', not 'judge'"):
        EvidenceJudge.load(bundle)
    with pytest.raises(InputError, match="is for the task 'judge', not 'embed'"):
        Embedder.load(judge_folder)


def test_a_judge_without_its_calibration_is_damaged(judge_folder: Path) -> None:
    manifest = replace(Bundle.open(judge_folder).manifest, judging=None)
    (judge_folder / MANIFEST).write_text(to_json(manifest), "utf-8")
    with pytest.raises(ResourceMissing, match="how to read a logit"):
        EvidenceJudge.load(judge_folder)


def test_the_packaged_one_is_loaded_once(
    judge_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [EvidenceJudge.load(judge_folder), EvidenceJudge.load(judge_folder)]
    monkeypatch.setattr(module.EvidenceJudge, "load", lambda **_: made.pop())
    default_judge.cache_clear()
    try:
        assert default_judge() is default_judge()
    finally:
        default_judge.cache_clear()
    assert len(made) == 1


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, abstrag.neural.judge, abstrag.neural.verdict\n"
        "import abstrag.neural.resolve, abstrag.neural.vectors\n"
        "loaded = {'onnxruntime', 'tokenizers', 'sentence_transformers', 'torch'}\n"
        "sys.exit(bool(loaded & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
