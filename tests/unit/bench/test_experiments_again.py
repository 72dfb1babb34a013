"""Experiments run again: the same page, whatever is remembered, killed or shared out."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from abstrag.errors import InputError
from abstrag.indexing.operator import Layer
from abstrag.indexing.segment import SegmentLayout
from abstrag.model.record import from_json, to_json
from abstrag.neural.aligner import Aligner, default_aligner
from abstrag.neural.judge import EvidenceJudge, default_judge
from abstrag.stores.sqlite import SqliteStore
from abstrag_bench.cli.experiments import bench_experiments
from abstrag_bench.experiments.page import render
from abstrag_bench.experiments.plan import plan
from abstrag_bench.experiments.runner import run_experiments
from abstrag_bench.experiments.setting import Experiment, ExperimentKind, Setting
from abstrag_bench.experiments.sweep import label, points_of
from abstrag_bench.experiments.tables import effort, tokens
from abstrag_bench.experiments.timing import RECORDED, Timing, record_times
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.shared import VARIABLE, layer_cache, share_only, shared
from tests.unit.bench.experiment_makers import MAIN, make_setting, page_of
from tests.unit.bench.makers import make_record, write_plain

JUDGED = MAIN.replace('["bm25", "bm25-stem"]', '["dense", "rerank", "abstrag", "abstrag@smooth"]')
JUDGED = JUDGED.replace('reference = "bm25"', 'reference = "abstrag"')


def timeless(records: Sequence[CaseRecord]) -> list[str]:
    """Return records as they are written, less what a clock said."""
    return [to_json(replace(one, seconds=None, index_seconds=None)) for one in records]


def fresh(tmp_path: Path, name: str, *, workers: int = 1) -> Setting:
    setting = make_setting(tmp_path, ("main", JUDGED))
    setting.out, setting.workers = tmp_path / name, workers
    return setting


def records_of(setting: Setting) -> list[str]:
    return timeless(RunFolder(setting.out / "local-rankings-plain-mine").records())


# --- What is remembered ---------------------------------------------------------------------------


def test_a_second_run_asks_no_model_and_gives_the_same_to_the_last_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, cold, warm = (fresh(tmp_path, name) for name in ("plain", "cold", "warm"))
    _, page = page_of(plain)
    with shared(tmp_path / "cache.db"):
        _, cold_page = page_of(cold)
        monkeypatch.setattr(EvidenceJudge, "_read", forbidden)
        monkeypatch.setattr(Aligner, "_read", forbidden)
        monkeypatch.setattr(SegmentLayout, "__call__", forbidden)
        _, warm_page = page_of(warm)
    assert page == cold_page == warm_page
    assert records_of(plain) == records_of(cold) == records_of(warm)


def forbidden(*_: object) -> None:
    raise AssertionError("a model was asked again")


def test_two_workers_share_the_file_and_make_the_same_records(tmp_path: Path) -> None:
    one, two = fresh(tmp_path, "one"), fresh(tmp_path, "two", workers=2)
    _, page = page_of(one)
    with shared(tmp_path / "cache.db"):
        _, again = page_of(two)
    assert again == page
    assert records_of(two) == records_of(one)
    with SqliteStore.open(tmp_path / "cache.db", create=False) as store:
        assert store.remembered("judgements", "")[default_judge().fingerprint]
        assert store.remembered("embeddings", "")[default_aligner().fingerprint]


def test_nothing_is_shared_after_the_block(tmp_path: Path) -> None:
    with shared(tmp_path / "cache.db"):
        assert default_judge().memory is not None
        assert layer_cache() is not None
    assert default_judge().memory is None
    assert default_aligner().memory is None
    assert layer_cache() is None
    assert VARIABLE not in os.environ


def test_a_process_may_share_some_layers_only(tmp_path: Path) -> None:
    with shared(tmp_path / "cache.db"):
        whole = layer_cache()
        assert whole is not None
        whole.put_layer("document", Layer.MAP, "chain", b"priced")
        share_only({Layer.SEGMENTS})
        try:
            some = layer_cache()
            assert some is not None
            some.put_layer("document", Layer.EVENTS, "chain", b"other price")
            some.put_layer("document", Layer.SEGMENTS, "chain", b"text")
            assert some.get_layer("document", Layer.MAP, "chain") is None
            assert some.get_layer("document", Layer.SEGMENTS, "chain") == b"text"
        finally:
            share_only(None)
        assert whole.get_layer("document", Layer.EVENTS, "chain") is None


def test_a_sweep_shares_no_layer_that_has_prices_in_it(tmp_path: Path) -> None:
    sweep = Experiment(
        "sweep",
        "Sweep",
        "How far?",
        ExperimentKind.SWEEP,
        datasets=("plain",),
        systems=("abstrag@smooth",),
        constants={"DELTA_ABS_BASELINE": (0.9,)},
    )
    found = []
    for name, cache in (("with", True), ("without", False)):
        setting = make_setting(tmp_path)
        setting.out = tmp_path / name
        setting.folder = replace(setting.folder, experiments=(sweep,))
        if cache:
            with shared(tmp_path / "cache.db"):
                run_experiments(setting)
        else:
            run_experiments(setting)
        top = setting.out / "sweep-plain-mine"
        found.append([timeless(RunFolder(top / label(p)).records()) for p in points_of(sweep)])
    assert found[0] == found[1]
    with SqliteStore.open(tmp_path / "cache.db", create=False) as store:
        kept = {layer for layer in (*Layer, "parses") if any(store.layers_named(layer))}
    assert kept == {Layer.SEGMENTS, Layer.COREFERENCE, "parses"}


# --- Killed ---------------------------------------------------------------------------------------


def command(tmp_path: Path, out: str) -> list[str]:
    code = "from abstrag_bench.cli.experiments import bench_experiments as b; b()"
    options = f"--data {tmp_path / 'data'} --out {tmp_path / out} --configs {tmp_path / 'configs'}"
    return [sys.executable, "-c", code, *options.split()]


def lines(folder: Path) -> int:
    path = folder / "local-rankings-plain-mine" / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_killed_run_goes_on_to_the_same_page(tmp_path: Path) -> None:
    ranked = MAIN.replace('["bm25", "bm25-stem"]', '["bm25", "abstrag@smooth"]')
    make_setting(tmp_path, ("main", ranked))
    write_plain(tmp_path / "data" / "mine.jsonl", 60)
    process = subprocess.Popen(command(tmp_path, "killed"), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while lines(tmp_path / "killed") < 8 and time.monotonic() < deadline:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 8 <= lines(tmp_path / "killed") < 240, "the run was not caught half-way"
    for out in ("killed", "whole"):
        subprocess.run(command(tmp_path, out), capture_output=True, check=True)
    pages = [
        {path.name: path.read_text() for path in (tmp_path / out / "pages").iterdir()}
        for out in ("killed", "whole")
    ]
    assert pages[0] == pages[1]
    assert lines(tmp_path / "killed") == lines(tmp_path / "whole") == 240


# --- Plan, effort and times -----------------------------------------------------------------------


def test_the_plan_says_what_is_wanted_and_what_is_there(tmp_path: Path) -> None:
    setting = make_setting(tmp_path, ("main", MAIN))
    at_hand, missing = plan(setting)
    assert (at_hand.cases, at_hand.runs, at_hand.wanted, at_hand.done) == (4, 2, 8, 0)
    assert missing.not_run
    run_experiments(setting)
    assert plan(setting)[0].done == 8


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    make_setting(tmp_path, ("main", MAIN))
    ran = CliRunner().invoke(
        bench_experiments, [*command(tmp_path, "run")[3:], "--dry-run"], catch_exceptions=False
    )
    assert ran.exit_code == 0
    assert "main" in ran.output
    assert not (tmp_path / "run").exists()


def test_the_cold_time_is_printed_and_not_on_the_page(tmp_path: Path) -> None:
    make_setting(tmp_path, ("main", MAIN))
    printed = [
        CliRunner().invoke(bench_experiments, command(tmp_path, "run")[3:], catch_exceptions=False)
        for _ in range(2)
    ]
    assert all("since OUT was begun" in one.output for one in printed)
    spent = json.loads((tmp_path / "run" / "times.json").read_text())
    assert set(spent) == {"main"}
    pages = [page.read_text() for page in (tmp_path / "run" / "pages").iterdir()]
    assert pages
    assert all("begun" not in page for page in pages)


def test_effort_counts_tokens_and_names_who_was_not_asked() -> None:
    told = {"tokens_in": 100, "tokens_out": 20, "generation": {"tokens_in": 30, "tokens_out": 6}}
    asked = make_record(system="hyde", llm_calls=3, details=told)
    local = make_record(system="bm25")
    assert tokens(asked) == 156
    assert tokens(local) == 0
    (shown,) = effort({"hyde": [asked], "bm25": [local]}, away=("crag",))
    assert "| `hyde` | – | – | 3.00 | 156.00 | 3.0 |" in shown
    assert "| `bm25` | – | – | 0 | 0 | 3.0 |" in shown
    assert "| `crag` | – | – | not run: needs an endpoint | not run: needs an endpoint |" in shown


def test_pairs_are_avoided_of_segments_not_of_elements() -> None:
    whole = make_record(system="exact", judgements=4, details={"segments": 4})
    half = make_record(system="some", judgements=2, details={"segments": 4})
    plain = make_record(system="rerank", judgements=3)
    (shown,) = effort({"exact": [whole], "some": [half], "rerank": [plain]}, away=())
    assert "| `exact` | 4.0 | 0.0 % |" in shown  # of three elements, one of which is cut
    assert "| `some` | 2.0 | 50.0 % |" in shown
    assert "| `rerank` | 3.0 | 0.0 % |" in shown


def test_times_are_shown_as_they_were_kept(tmp_path: Path) -> None:
    timed = MAIN + "timed = 2\n"
    setting = make_setting(tmp_path, ("main", timed))
    results, page = page_of(setting)
    assert "Not measured yet" in page
    record_times(setting)
    kept = from_json(Timing, (tmp_path / "configs" / RECORDED).read_bytes())
    assert [(one.dataset, one.system, one.cases) for one in kept.rows] == [
        ("plain", "bm25", 2),
        ("plain", "bm25-stem", 2),
    ]
    with_times = render(results, setting)
    assert f"| plain | `bm25` | 2 | {kept.rows[0].query_ms:.1f} | 1 |" in with_times["main.md"]
    assert render(results, setting) == with_times


def test_a_measurement_of_nothing_does_not_replace_one(tmp_path: Path) -> None:
    setting = make_setting(tmp_path, ("main", MAIN))
    page_of(setting)
    with pytest.raises(InputError, match="none of these experiments is timed"):
        record_times(setting)
    assert not (tmp_path / "configs" / RECORDED).exists()
