"""The evidence judge: what it makes of a pair, and what must not matter to it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from math import exp
from pathlib import Path

import pytest

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.query import Query
from abstrag.model.record import to_json
from abstrag.neural import judge as module
from abstrag.neural.bundle import MANIFEST, MODEL, TOKENIZER, Bundle, Judging
from abstrag.neural.embedder import Embedder
from abstrag.neural.judge import EvidenceJudge, default_judge
from tests.unit.neural import tiny
from tests.unit.stores.samples import sample_index

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
        "import abstrag.neural.resolve, abstrag.neural.cached\n"
        "loaded = {'onnxruntime', 'tokenizers', 'sentence_transformers', 'torch'}\n"
        "sys.exit(bool(loaded & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
