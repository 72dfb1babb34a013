import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from abstrag.errors import InputError
from abstrag_bench.cli.bench import bench_command
from tests.unit.bench import test_feverous as feverous
from tests.unit.bench.makers import write_plain


def call(*arguments: object) -> Result:
    return CliRunner().invoke(bench_command, [str(one) for one in arguments])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_plain(tmp_path / "dev.jsonl", 12)
    return tmp_path


def run_options(data: Path, out: Path) -> tuple[object, ...]:
    return ("run", "--dataset", "plain", "--data", data, "--split", "dev", "--out", out)


def test_one_command_runs_reports_and_prints(data: Path) -> None:
    out = data / "run"
    result = call(
        *run_options(data, out), "--systems", "bm25,bm25-stem", "--reference", "bm25-stem"
    )
    assert result.exit_code == 0, result.output
    assert "48 records added" in result.output
    words = " ".join(result.output.split())
    for title in ("Results, gold_only", "Contrasts with bm25-stem, all_cases"):
        assert title in words
        assert f"{title}, shown only" in words
    for name in ("report.md", "report.json", "report.tex", "report.html", "records.jsonl"):
        assert (out / name).is_file()


def test_the_summary_comes_as_json_too(data: Path) -> None:
    result = call(*run_options(data, data / "run"), "--systems", "bm25", "--json")
    assert json.loads(result.stdout)["manifest"]["cases"] == 24


def test_report_compare_and_export_work_on_what_run_wrote(data: Path) -> None:
    for name in ("one", "two"):
        assert call(*run_options(data, data / name), "--systems", "bm25,bm25-stem").exit_code == 0
    assert call("report", data / "one", "--reference", "bm25").exit_code == 0
    compared = json.loads(call("compare", data / "one", data / "two", "--json").stdout)
    assert all(change["difference"]["mean"] == 0 for change in compared["changes"])
    printed = call("compare", data / "one", data / "two").output
    assert "0 cases gained" in printed
    assert "of what is shown of these: 0 gained, 0 lost" in printed
    assert {change["metric"] for change in compared["changes"]} == {
        *("Suff@5", "Suff@10", "nDCG@10"),
        *("Suff@5 shown", "Suff@10 shown", "nDCG@10 shown"),
    }
    exported = call("export", data / "one", "--trec").output.split()
    assert [Path(one).name for one in exported] == ["bm25.run", "bm25-stem.run", "qrels.txt"]
    assert call("export", data / "one").exit_code != 0


def test_tuned_values_are_frozen_and_kept_from_what_they_saw(data: Path) -> None:
    frozen = data / "frozen.json"
    options = ("--dataset", "plain", "--data", data, "--system", "bm25", "--trials", 3)
    tuned = call("tune", *options, "--split", "dev", "--out", frozen)
    assert tuned.exit_code == 0, tuned.output
    seen = call(*run_options(data, data / "run"), "--frozen", frozen)
    assert isinstance(seen.exception, InputError)
    assert "was tuned on" in str(seen.exception)
    assert not (data / "run").exists()
    report_part = ("run", "--dataset", "plain", "--data", data, "--split", "dev:report")
    unseen = call(*report_part, "--out", data / "run", "--frozen", frozen, "--systems", "bm25")
    assert unseen.exit_code == 0, unseen.output
    assert "bm25+tuned" in unseen.output
    refused = call("tune", *options, "--split", "dev:report", "--out", data / "other.json")
    assert "never tuned on" in str(refused.exception)


def test_feverous_runs_on_pages_in_the_official_format(tmp_path: Path) -> None:
    claims = feverous.data(
        tmp_path, feverous.claim(1, [feverous.CELL]), feverous.claim(2, [feverous.SENTENCE])
    )
    options = (
        "--dataset",
        "feverous",
        "--data",
        claims,
        "--split",
        "dev",
        "--out",
        tmp_path / "run",
    )
    result = call("run", *options, "--systems", "bm25,bm25-stem", "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["manifest"]["depth"] == 30
    assert summary["systems"][0]["feverous"]["cases"] == 2
    assert summary["systems"][0]["feverous"]["recall"] == 1.0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "no system is named"),
        (("--systems", "bm25,bm25"), "system 'bm25' is named twice"),
        (("--systems", "bm26"), "no system is called 'bm26'"),
    ],
)
def test_a_wrong_list_of_systems_is_named(
    data: Path, options: tuple[str, ...], problem: str
) -> None:
    result = call(*run_options(data, data / "run"), *options)
    assert isinstance(result.exception, InputError)
    assert problem in str(result.exception)
