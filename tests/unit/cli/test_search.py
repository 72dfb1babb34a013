"""`abstrag search` as a person meets it: the judge's part, patches in force, --refine."""

import json
import re
from math import log
from pathlib import Path

import pytest

from tests.unit.cli.command_line import printed as run
from tests.unit.refine.harbour import LOCK, SEWAGE, TEXT, evaluator

PLAIN = ("--no-judge", "-k", "3")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))
    return tmp_path / "policy"


@pytest.fixture
def mended(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Search with --refine once, and return what that printed."""
    monkeypatch.setattr(
        "abstrag.workspace.refining.packaged_evaluator", lambda *_, **__: evaluator()
    )
    return run(capsys, "search", report, SEWAGE, "--refine", *PLAIN)


def found(capsys: pytest.CaptureFixture[str], *args: object) -> list[str]:
    told = json.loads(run(capsys, "search", *args, "--json"))
    return [hit["segment"] for hit in told["hits"]]


def test_the_footer_says_how_many_the_judge_was_asked_about(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(run(capsys, "search", report, LOCK, "--json"))
    shown = run(capsys, "search", report, LOCK)
    of = told["judgements"] + told["judgements_avoided"]
    assert f"judge asked about {told['judgements']} of {of} segments · " in shown
    assert re.search(r"evidence with probability 0\.\d\d, says the judge", " ".join(shown.split()))
    assert "judge" not in run(capsys, "search", report, LOCK, "--no-judge")


def test_a_cell_of_a_table_is_shown_under_its_headers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "accounts.md"
    page.write_text("| | 2019 |\n|---|---|\n| Loss per share: | |\n| Basic | 0.07 |\n")
    question = ("search", page, "What was the loss per share?", *PLAIN)
    shown = run(capsys, *question)
    assert "\n    under 2019 · Loss per share: · Basic\n" in shown
    assert "It stands under “Loss” and “share”. Gap 0.00" in shown
    (hit,) = json.loads(run(capsys, *question, "--json"))["hits"]
    assert hit["text"] == "0.07"
    assert hit["headers"] == ["2019", "Loss per share:", "Basic"]


def test_exact_asks_about_all_that_may_get_in_and_says_how_many_may_not(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(run(capsys, "search", report, LOCK, "-k", 1, "--exact", "--json"))
    shown = run(capsys, "search", report, LOCK, "-k", 1, "--exact")
    assert f", {told['judgements_avoided']} could not get in" in shown
    everything = found(capsys, report, LOCK, "-k", 99, "--exact")
    assert found(capsys, report, LOCK, "-k", 1, "--exact") == everything[:1]


def test_no_judge_is_the_preset_fast(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = run(capsys, "search", report, LOCK, "--no-judge")
    assert short == run(capsys, "search", report, LOCK, "--preset", "fast")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--no-judge", "--preset", "paper"), "--no-judge and --preset paper are two presets"),
        (("--no-judge", "--exact"), "preset 'fast' has none"),
        (("--refine", "--no-patches"), "--refine goes on from the patches in force"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    report: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    shown = run(capsys, "search", report, LOCK, *options, code=2)
    assert said in shown
    assert "hint: leave" in shown


def test_what_the_factors_cost_adds_up_to_the_cost_of_the_hit(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "search", report, SEWAGE, "--no-judge", "-k", 1)
    (hit,) = json.loads(run(capsys, "search", report, SEWAGE, "--no-judge", "-k", 1, "--json"))[
        "hits"
    ]
    said = re.search(r"cost (−?\d+\.\d\d) = (.*)", shown)
    assert said is not None
    cost = float(said[1].replace("−", "-"))
    assert cost == pytest.approx(-log(hit["relevance"]), abs=0.006)
    parts = re.findall(r"([+−]?) ?[a-z ]+ (\d+\.\d\d)", said[2])
    signed = [(-1 if sign == "−" else 1) * round(100 * float(number)) for sign, number in parts]
    assert sum(signed) == round(100 * cost)
    assert "costs: lower is better" in shown


def test_refine_mends_the_search_and_says_what_it_kept(mended: str) -> None:
    assert "refined    kept alias wastewater → sewage (" in mended
    assert "Untreated wastewater" in mended
    assert "1 patch in force" in mended


@pytest.mark.usefixtures("mended")
def test_what_was_kept_is_in_force_for_every_command_until_it_is_left_out(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_patch = found(capsys, report, SEWAGE, *PLAIN)
    assert with_patch != found(capsys, report, SEWAGE, *PLAIN, "--no-patches")
    assert "1 patch in force" not in run(capsys, "search", report, SEWAGE, "--no-patches")
    explained = run(capsys, "explain", report, SEWAGE, "1", "--no-judge")
    assert "licence: patch: " in explained
    assert "1 patch in force" in explained
    assert "1 patch in force" in run(capsys, "budget", report, SEWAGE)
    assert "1 patch in force" in run(capsys, "ask", report, SEWAGE)
    shown = run(capsys, "why-not", report, SEWAGE, "--span", "s5", "--no-judge", "-k", 3)
    assert shown.startswith("s5 Untreated")
    assert "found: it is found, at rank" in shown


@pytest.mark.usefixtures("mended")
def test_patches_are_named_in_the_json_and_in_the_policy(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (patch,) = json.loads(run(capsys, "search", report, SEWAGE, "--json"))["patches"]
    assert f"{patch} of harbour for '{SEWAGE}'" in run(capsys, "policy", "diff")
    assert "1 patch of documents in force" in run(capsys, "policy", "list")
    assert "harbour: map: alias" in run(capsys, "policy", "log")
    run(capsys, "policy", "revert", patch)
    assert json.loads(run(capsys, "search", report, SEWAGE, "--json"))["patches"] == []


@pytest.mark.usefixtures("mended")
def test_patches_left_out_for_a_reason_are_not_hidden(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "search", report, SEWAGE, "--without", "synonym")
    assert "1 patch kept for this document left out: --without" in shown


def test_where_nothing_needs_mending_nothing_is_kept(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "abstrag.workspace.refining.packaged_evaluator", lambda *_, **__: evaluator()
    )
    shown = run(capsys, "search", report, LOCK, "--refine", *PLAIN)
    assert "refined    nothing: the first hits hold evidence already" in shown
    assert "in force" not in shown


def test_a_broken_policy_is_named_with_the_way_around_it(
    report: Path, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.mkdir()
    (policy / "log.jsonl").write_text("no log\n", encoding="utf-8")
    shown = run(capsys, "search", report, LOCK, code=24)
    assert "log.jsonl" in shown
    assert "--no-patches" in shown
    run(capsys, "search", report, LOCK, "--no-patches")


def test_a_query_in_another_language_gets_a_hint(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "search", report, "Was fressen Enten?", "--no-judge")
    assert "nothing in the document meets any part of the query" in shown
    assert "read as English; abstrag map harbour" in shown


def test_show_keeps_the_ids_however_long_the_texts_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.md"
    path.write_text("# Long\n\n" + "The committee met again and again. " * 30, encoding="utf-8")
    lines = run(capsys, "show", path).splitlines()
    assert lines[1].split()[:4] == ["id", "page", "role", "U"]
    assert lines[2].startswith("s1 ")
    shown = run(capsys, "show", path, "--segment", "s999", code=2)
    assert "'long' has no segment 's999'" in shown


def test_explain_by_alignment_prints_lines_that_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notice.md"
    path.write_text("The regulator fined the company in June.\n\nIt rained in July.\n", "utf-8")
    store = ("--store", tmp_path / "s.db")
    told = run(
        capsys, "explain", path, "Was the company punished?", "1", "--preset", "aligned", *store
    )
    (line,) = [one for one in told.splitlines() if "−log of the score" in one]
    parts, total = line.split(":")[1].split("=")
    assert f"{sum(map(float, re.findall(r'-?[0-9.]+', parts))):.4f}" == total.strip()
    assert "word punished ← “fined”" in told
    assert "word company" in told
