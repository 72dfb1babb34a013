import json
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError, NeedsModel, WorkerLost
from abstrag.workers.processes import Processes
from abstrag.workers.protocol import LostItem
from abstrag_bench import runner
from abstrag_bench.baselines.system import Pool, Ranked
from abstrag_bench.case import Dataset
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import Options, run
from abstrag_bench.systems import SystemSpec
from tests.unit.bench.makers import make_dataset

BM25 = [SystemSpec.of("bm25")]
BOTH = [SystemSpec.of("bm25"), SystemSpec.of("bm25-stem")]
CONTRACT = (
    "dataset split case_id system query ranked scores gold gold_sets group bridge_cost clause"
    " utility tau preserved answer label seconds judgements llm_calls"
).split()


class Counting:
    """A system that counts what it is asked to do, and fails where it is told to."""

    name, fidelity = "bm25", "a stand-in"

    def __init__(self, breaks: str = "") -> None:
        self.indexed: list[str] = []
        self.asked: list[str] = []
        self.breaks = breaks

    def index(self, document: Pool) -> None:
        if document.id == self.breaks:
            raise ValueError("cannot take it in")
        self.indexed.append(document.id)

    def search(self, query: str, k: int) -> Ranked:
        self.asked.append(query)
        if query == self.breaks:
            raise InputError("cannot answer that")
        return [("1", 2.5)]


def install(monkeypatch: pytest.MonkeyPatch, system: Counting) -> None:
    monkeypatch.setattr(runner, "Builder", lambda **_: lambda spec: system)


def stable(path: Path) -> list[dict[str, Any]]:
    """Return the records without their timings."""
    lines = [json.loads(line) for line in (path / "records.jsonl").read_text("utf-8").splitlines()]
    return [{k: v for k, v in line.items() if not k.endswith("seconds")} for line in lines]


def test_a_record_has_every_field_of_the_contract(tmp_path: Path) -> None:
    run(make_dataset(1), BM25, tmp_path)
    first = stable(tmp_path)[0] | {"seconds": 0}
    assert list(first)[: len(CONTRACT) - 3] == CONTRACT[:-3]
    assert set(CONTRACT) <= set(first)
    assert first["case_id"] == "d0-q0"
    assert first["ranked"] == ["0", "1", "2"]
    assert len(first["scores"]) == 3


def test_a_document_is_indexed_once_however_many_cases_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = Counting()
    install(monkeypatch, system)
    run(make_dataset(2), BM25, tmp_path)
    assert system.indexed == ["d0", "d1"]
    assert len(system.asked) == 6


def test_running_again_scores_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(make_dataset(2), BM25, tmp_path)
    before = stable(tmp_path)
    system = Counting()
    install(monkeypatch, system)
    system.fidelity = RunFolder(tmp_path).manifest().systems["bm25"].fidelity
    outcome = run(make_dataset(2), BM25, tmp_path)
    assert (outcome.found, outcome.added) == (6, 0)
    assert system.indexed == []
    assert stable(tmp_path) == before


def test_a_torn_last_line_is_cut_off_and_scored_again(tmp_path: Path) -> None:
    run(make_dataset(2), BM25, tmp_path)
    whole = stable(tmp_path)
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-25])
    outcome = run(make_dataset(2), BM25, tmp_path)
    assert outcome.added == 1
    assert outcome.repaired > 0
    assert stable(tmp_path) == whole


def test_a_file_that_is_one_torn_line_is_emptied(tmp_path: Path) -> None:
    run(make_dataset(1), BM25, tmp_path)
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:40])
    assert run(make_dataset(1), BM25, tmp_path).added == 3


def test_a_line_broken_in_the_middle_is_named(tmp_path: Path) -> None:
    run(make_dataset(1), BM25, tmp_path)
    path = tmp_path / "records.jsonl"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], lines[1][:30], lines[2]]) + "\n", "utf-8")
    with pytest.raises(InputError, match=r"records\.jsonl', line 2: not a record"):
        run(make_dataset(1), BM25, tmp_path)


def test_a_system_joins_a_run_later(tmp_path: Path) -> None:
    run(make_dataset(2), BM25, tmp_path)
    outcome = run(make_dataset(2), BOTH, tmp_path)
    assert (outcome.found, outcome.added) == (6, 6)
    assert list(outcome.manifest.systems) == ["bm25", "bm25-stem"]


def test_a_run_is_not_mixed_with_another(tmp_path: Path) -> None:
    run(make_dataset(2), BM25, tmp_path)
    with pytest.raises(InputError, match="another digest"):
        run(make_dataset(3), BM25, tmp_path)
    other = make_dataset(2)
    changed = replace(other.cases[0], gold=("2",), gold_sets=(("2",),))
    with pytest.raises(InputError, match="another digest"):
        run(Dataset("plain", "dev", (changed, *other.cases[1:])), BM25, tmp_path)
    with pytest.raises(InputError, match="another depth"):
        run(make_dataset(2), BM25, tmp_path, Options(depth=20))
    tuned = [SystemSpec("bm25", "bm25", {"k1": 2.0})]
    with pytest.raises(InputError, match="begun with 'bm25' as another system"):
        run(make_dataset(2), tuned, tmp_path)


def test_two_runs_do_not_write_to_one_folder_at_a_time(tmp_path: Path) -> None:
    with RunFolder(tmp_path).locked(), pytest.raises(InputError, match="another run is writing"):
        run(make_dataset(1), BM25, tmp_path)


def test_many_processes_write_what_one_does(tmp_path: Path) -> None:
    run(make_dataset(4), BOTH, tmp_path / "one")
    run(make_dataset(4), BOTH, tmp_path / "two", Options(engine=Processes(2)))
    assert stable(tmp_path / "two") == stable(tmp_path / "one")


class Losing:
    """An engine that loses the first document and does the others here."""

    workers = 2

    def run(self, task: Any, items: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        perform = task.start()
        for number, item in enumerate(items):
            lost = LostItem(WorkerLost("given up: its worker died twice"))
            yield item, perform(item) if number else lost


def test_a_document_that_ends_its_worker_fails_and_can_be_tried_again(tmp_path: Path) -> None:
    run(make_dataset(3), BOTH, tmp_path / "one")
    run(make_dataset(3), BOTH, tmp_path / "two", Options(engine=Losing()))
    failed = [one for one in RunFolder(tmp_path / "two").records() if one.error]
    assert len({one.document for one in failed}) == 1
    assert "given up: its worker died twice" in str(failed[0].error)
    run(make_dataset(3), BOTH, tmp_path / "two", Options(retry_failed=True))
    assert sorted(stable(tmp_path / "two"), key=repr) == sorted(stable(tmp_path / "one"), key=repr)


def test_a_short_ranking_is_filled_up_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Counting())
    run(make_dataset(1), BM25, tmp_path)
    one = RunFolder(tmp_path).records()[0]
    assert one.ranked == ("1", "0", "2")
    assert one.scores == (2.5, 0.0, 0.0)
    assert (one.retrieved, one.pool) == (1, 3)


def test_what_a_system_cannot_do_is_recorded_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Counting(breaks="d0"))
    run(make_dataset(2), BM25, tmp_path / "documents")
    failed = [r for r in RunFolder(tmp_path / "documents").records() if r.error]
    assert [r.document for r in failed] == ["d0"] * 3
    assert failed[0].error == "ValueError: cannot take it in"
    assert failed[0].ranked == ()
    install(monkeypatch, Counting(breaks="Why is it?"))
    run(make_dataset(2), BM25, tmp_path / "queries")
    failed = [r for r in RunFolder(tmp_path / "queries").records() if r.error]
    assert [r.error for r in failed] == ["cannot answer that"] * 2


def test_progress_begins_where_the_last_run_ended(tmp_path: Path) -> None:
    run(make_dataset(2), BM25, tmp_path)
    seen: list[tuple[int, int]] = []
    run(make_dataset(2), BOTH, tmp_path, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(6, 12), (9, 12), (12, 12)]


def test_a_limit_and_a_sample_choose_cases(tmp_path: Path) -> None:
    outcome = run(make_dataset(4), BM25, tmp_path / "a", Options(limit=5))
    assert outcome.manifest.cases == 5
    sample = Options(sample=4, balance="kind")
    assert run(make_dataset(4), BM25, tmp_path / "b", sample).manifest.with_gold == 2
    with pytest.raises(InputError, match="--balance needs --sample"):
        run(make_dataset(1), BM25, tmp_path / "c", Options(balance="kind"))


def test_a_system_that_cannot_be_had_fails_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(NeedsModel, match="'hyde' asks a language model, and none is connected"):
        run(make_dataset(1), [SystemSpec.of("hyde")], tmp_path / "run")
    assert not (tmp_path / "run").exists()
