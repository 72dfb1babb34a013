"""The tool that tunes the blend ranks as the product does, given what a judge says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abstrag.bench.abstrag_system import Indexer
from abstrag.bench.case import Case
from abstrag.bench.datasets.load import load_dataset
from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.rank.relevance import GENERAL
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.bench.makers import make_cases, write_plain
from tools.tune_blend import (
    FIELDS,
    asked,
    calibration,
    judged_cases,
    numbers,
    preset_of,
    read_logits,
)
from training.sources import SOURCES

SHIPPED = ",".join(f"{name}={getattr(GENERAL, field)}" for name, field in FIELDS.items())
LOGITS = np.array([-2.0, 3.0, 0.5])


def cases() -> list[Case]:
    return [case for case in make_cases(documents=2) if case.gold]


def test_general_can_be_written_as_weights() -> None:
    assert preset_of(SHIPPED) == replace(GENERAL, name=SHIPPED)
    assert preset_of("judged=0").judged is None
    assert [signal for signal, weight in preset_of("").weights.items() if weight] == ["judge"]
    with pytest.raises(argparse.ArgumentTypeError, match="lexicon"):
        preset_of("lexicon=1")


@pytest.mark.parametrize("text", [SHIPPED, f"{SHIPPED},judged=1", "judged=0", "judge=0,dense=1"])
def test_the_order_is_that_of_a_search_with_the_same_judge(text: str) -> None:
    calibrated = calibration(0.5, -1.0)

    def judge(query: Query, segments: Sequence[Segment]) -> list[float]:
        places = [names[segment.id] for segment in segments]
        return [float(said) for said in calibrated(LOGITS[places])]

    indexer = Indexer()
    for one in asked(((case, LOGITS) for case in cases()), calibrated):
        pooled, made = indexer(one.case.document)
        elements = pooled.element_ids(made)
        names = {s.id: int(e) for s, e in zip(made.segments, elements, strict=True)}
        options = SearchOptions(preset=preset_of(text))
        with Workspace(WorkspaceConfig(store=":memory:"), judge=judge) as workspace:
            document = workspace.document(made, options)
            shown = document.search(one.case.query).hits
            every = document.search(one.case.query, fill=True).hits
        order = dict.fromkeys(elements[hit.position] for hit in (*shown, *every))
        assert one.ranked(preset_of(text)) == tuple(order)


def test_a_judge_that_reads_everything_decides_alone() -> None:
    one = next(asked(iter([(cases()[1], LOGITS)]), calibration(1.0, 0.0)))
    assert one.ranked(preset_of("judged=0")) == ("1", "2", "0")
    assert one.ndcg(preset_of("judged=0")) == 1.0


def test_logits_are_found_by_the_number_of_their_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plain(tmp_path / "dev.jsonl", 8)
    monkeypatch.setitem(SOURCES, "ours", ("plain", "dev"))
    count = len(load_dataset("plain", tmp_path, "dev:tune").cases)
    documents = np.array([(0, 0, 3, 0), (1, 3, 6, 0)])  # one query of another source comes first
    about = np.array([(0, -1), *[(1, -1)] * count])
    np.savez(tmp_path / "examples.npz", names=["else", "ours"], documents=documents, asked=about)
    np.savez(tmp_path / "said.npz", q=[0, 2], n=[3, 3], l=[9, 9, 9, *LOGITS])
    known = numbers(tmp_path / "examples.npz")["ours"]
    assert known == range(1, count + 1)
    logits = read_logits([tmp_path / "said.npz"])
    ((case, said),) = judged_cases("ours", tmp_path, known, logits)
    assert case.query == "spring museum"  # the second case
    assert said.tolist() == LOGITS.tolist()
    with pytest.raises(InputError, match="file of examples"):
        list(judged_cases("ours", tmp_path, range(1, count), logits))
