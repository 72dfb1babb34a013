import json
import random
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError, NotComputable
from abstrag_bench.metrics.metric import Convention
from abstrag_bench.record import CaseRecord
from abstrag_bench.render.table import contrasts_of
from abstrag_bench.report import report
from abstrag_bench.stats import holm
from abstrag_bench.summary import Summary
from tests.unit.bench.makers import make_record, write_run

GOLD_ONLY, ALL_CASES = Convention.GOLD_ONLY, Convention.ALL_CASES


def two_systems(cases: int = 40) -> list[CaseRecord]:
    """`good` has the gold span first, `bad` third; every fourth case has no gold."""
    made = []
    for i in range(cases):
        gold = () if i % 4 == 0 else ("a",)
        group = {"label": "SUPPORTS" if i % 2 else "REFUTES"}
        fields: dict[str, Any] = {
            "gold": gold,
            "gold_sets": (gold,) if gold else (),
            "groups": group,
        }
        made.append(make_record(f"c{i}", system="abstrag", seconds=0.5, **fields))
        worse = ("b", "c", "a") if i % 3 else ("a", "b", "c")
        made.append(make_record(f"c{i}", system="bad", ranked=worse, seconds=0.1, **fields))
    return made


def score(summary: Summary, system: str, metric: str, convention: Convention = GOLD_ONLY) -> float:
    for one in summary.scores:
        if (one.system, one.metric, one.convention) == (system, metric, convention):
            assert one.interval is not None
            return one.interval.mean
    raise AssertionError(f"no {metric} for {system}")


def made(folder: Path, records: list[CaseRecord], **options: Any) -> Summary:
    return report(write_run(folder, records, options.pop("cases", None)), **options)[0]


def test_both_conventions_are_reported_with_their_denominators(tmp_path: Path) -> None:
    summary = made(tmp_path, two_systems())
    assert score(summary, "abstrag", "nDCG@10") == 1.0
    assert score(summary, "abstrag", "nDCG@10", ALL_CASES) == 0.75
    assert score(summary, "abstrag", "Suff@5", ALL_CASES) == 1.0
    sizes = {
        one.convention: one.interval.n
        for one in summary.scores
        if one.interval and one.metric == "nDCG@10"
    }
    assert sizes == {GOLD_ONLY: 30, ALL_CASES: 40}
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "nDCG@10 (n=30)" in text
    assert "nDCG@10 (n=40)" in text
    assert "30 of 40 cases have gold evidence" in text


def fewer_shown() -> list[CaseRecord]:
    """Of `abstrag` two of three ranks are shown, and in every second case gold is the third."""
    return [
        make_record(
            f"c{i}",
            system="abstrag",
            ranked=("b", "c", "a") if i % 2 else ("a", "b", "c"),
            retrieved=2,
            groups={"label": "SUPPORTS"},
        )
        for i in range(4)
    ] + [make_record(f"c{i}", system="other", groups={"label": "SUPPORTS"}) for i in range(4)]


def test_figures_over_all_ranks_and_over_what_is_shown_stand_side_by_side(tmp_path: Path) -> None:
    summary = made(tmp_path, fewer_shown())
    for metric, ranks, shown in (
        ("nDCG@10", 0.75, 0.5),
        ("Suff@5", 1.0, 0.5),
        ("Suff@10", 1.0, 0.5),
        ("R@5", 1.0, 0.5),
        ("R@10", 1.0, 0.5),
        ("MRR@10", 2 / 3, 0.5),
    ):
        assert score(summary, "abstrag", metric) == pytest.approx(ranks)
        assert score(summary, "abstrag", f"{metric} shown") == pytest.approx(shown)
        assert score(summary, "other", f"{metric} shown") == 1.0
    found = {one.metric: one.difference.mean for one in summary.contrasts}
    assert found["Suff@10"] == 0.0
    assert found["Suff@10 shown"] == -0.5
    grouped = {(one.system, one.metric): one.interval.mean for one in summary.groups}
    assert grouped["abstrag", "nDCG@10"] == pytest.approx(0.75)
    assert grouped["abstrag", "nDCG@10 shown"] == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["report.md", "report.html", "report.tex", "report.json"])
def test_both_figures_are_in_every_format_under_their_names(tmp_path: Path, name: str) -> None:
    made(tmp_path, fewer_shown())
    text = (tmp_path / name).read_text("utf-8")
    for metric in ("Suff@5", "Suff@10", "nDCG@10"):
        assert metric in text.replace(f"{metric} shown", "")
        assert f"{metric} shown" in text
    if name == "report.md":
        head = next(line for line in text.splitlines() if "Suff@10 shown (n=4)" in line)
        assert "MRR@10 shown (n=4)" in head
        assert "## Results, gold_only, shown only" in text
        assert "## Contrasts with abstrag, all_cases, shown only" in text


def test_a_run_of_an_earlier_release_is_reported_without_figures_it_cannot_tell(
    tmp_path: Path,
) -> None:
    write_run(tmp_path, fewer_shown(), marks_shown=False)
    manifest = json.loads((tmp_path / "run.json").read_text("utf-8"))
    for info in manifest["systems"].values():
        del info["marks_shown"]  # as it was written then
    (tmp_path / "run.json").write_text(json.dumps(manifest), "utf-8")
    summary, _ = report(tmp_path)
    assert score(summary, "abstrag", "nDCG@10") == pytest.approx(0.75)
    assert score(summary, "other", "nDCG@10 shown") == 1.0  # others always told what they return
    untold = next(
        one for one in summary.scores if (one.system, one.metric) == ("abstrag", "nDCG@10 shown")
    )
    assert untold.interval is None
    assert list(untold.not_computable.values()) == [4]
    assert not any(one.metric.endswith("shown") for one in summary.contrasts)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "| nDCG@10 shown | gold_only | abstrag | 4 | nDCG@10 shown needs to know" in text


def test_a_clear_difference_is_significant_and_none_is_not(tmp_path: Path) -> None:
    contrasts = {
        (one.metric, one.convention): one for one in made(tmp_path, two_systems()).contrasts
    }
    clear = contrasts["nDCG@10", GOLD_ONLY]
    assert (clear.reference, clear.baseline, clear.difference.n) == ("abstrag", "bad", 30)
    assert clear.significant
    assert clear.difference.low > 0
    none = contrasts["Suff@5", GOLD_ONLY]
    assert (none.difference.mean, none.adjusted_p, none.significant) == (0.0, 1.0, False)


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize("convention", Convention)
def test_p_is_corrected_over_ranks_and_over_what_is_shown_separately(
    tmp_path: Path, convention: Convention, shown: bool
) -> None:
    inside = contrasts_of(made(tmp_path, two_systems()), convention, shown=shown)
    assert {one.metric.endswith(" shown") for one in inside} == {shown}
    assert [one.adjusted_p for one in inside] == holm([one.difference.p for one in inside])
    assert any(one.adjusted_p > one.difference.p for one in inside)


def test_changing_one_gold_id_changes_the_figures(tmp_path: Path) -> None:
    records = two_systems()
    before = made(tmp_path / "a", records)
    at = next(i for i, one in enumerate(records) if one.gold and one.system == "abstrag")
    records[at] = replace(records[at], gold=("c",), gold_sets=(("c",),))
    after = made(tmp_path / "b", records)
    assert score(after, "abstrag", "nDCG@10") == pytest.approx(1 - 0.5 / 30)
    assert score(after, "bad", "nDCG@10") == score(before, "bad", "nDCG@10")
    assert after.contrasts != before.contrasts


def test_dropping_one_record_lowers_the_denominators_and_says_so(tmp_path: Path) -> None:
    records = two_systems()
    dropped = next(one for one in records if one.gold and one.system == "abstrag")
    summary = made(tmp_path, [one for one in records if one is not dropped], cases=40)
    lines = {line.name: line for line in summary.systems}
    assert (lines["abstrag"].records, lines["abstrag"].missing) == (39, 1)
    assert lines["bad"].missing == 0
    contrast = next(one for one in summary.contrasts if one.convention is GOLD_ONLY)
    assert contrast.difference.n == 29
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "Provisional" in text
    assert "n=29" in text
    assert "n=30" in text


def test_shuffling_ranks_lowers_what_depends_on_them(tmp_path: Path) -> None:
    generator = random.Random(5)
    records = two_systems()
    shuffled = [
        replace(one, ranked=tuple(generator.sample(one.ranked, 3)))
        if one.system == "abstrag"
        else one
        for one in records
    ]
    before, after = made(tmp_path / "a", records), made(tmp_path / "b", shuffled)
    assert score(after, "abstrag", "nDCG@10") < score(before, "abstrag", "nDCG@10")
    assert score(after, "abstrag", "MRR@10") < 1.0
    assert score(after, "abstrag", "Suff@5") == score(before, "abstrag", "Suff@5")


def test_the_order_of_the_records_does_not_matter(tmp_path: Path) -> None:
    records = two_systems()
    first = made(tmp_path / "a", records)
    second = made(tmp_path / "b", sorted(records, key=lambda one: (one.system, one.case_id)))
    assert first.contrasts == second.contrasts
    assert first.scores == second.scores


def test_what_cannot_be_computed_is_listed_with_its_reason(tmp_path: Path) -> None:
    summary = made(tmp_path, two_systems())
    lacking = [one for one in summary.scores if one.metric == "Cost/τ" and one.system == "bad"]
    assert all(one.interval is None for one in lacking)
    assert lacking[0].not_computable == {"Cost/τ needs the cost of an accepted clause": 40}
    assert "| Cost/τ | gold_only | bad | 40 |" in (tmp_path / "report.md").read_text("utf-8")


def test_groups_are_broken_down_and_small_ones_marked(tmp_path: Path) -> None:
    groups = made(tmp_path, two_systems()).groups
    found = {(one.group, one.system): one for one in groups if one.metric == "nDCG@10"}
    assert found["SUPPORTS", "abstrag"].interval.n == 20
    assert found["REFUTES", "abstrag"].interval.n == 10
    assert found["REFUTES", "abstrag"].small


def test_failures_count_as_nothing_retrieved_and_are_shown(tmp_path: Path) -> None:
    records = two_systems()
    for i, one in enumerate(records):
        if one.system == "bad":
            records[i] = replace(one, ranked=(), scores=(), error="out of memory")
    summary = made(tmp_path, records)
    assert score(summary, "bad", "Suff@5") == 0.0
    assert "first failure: out of memory" in (tmp_path / "report.md").read_text("utf-8")


def test_ablations_get_their_gain_over_what_the_bridges_cost(tmp_path: Path) -> None:
    whole = [make_record(f"c{i}", system="abstrag", bridge_cost=1.0) for i in range(4)]
    part = [
        make_record(f"c{i}", system="abstrag-no-alias", ranked=("x",) if i else ("a",))
        for i in range(4)
    ]
    (gain,) = made(tmp_path, [*whole, *part]).gains
    assert gain.without == "abstrag-no-alias"
    assert gain.interval is not None
    assert gain.interval.mean == pytest.approx(0.75 / 2)


def test_a_reference_nobody_ran_is_an_error(tmp_path: Path) -> None:
    assert made(tmp_path / "a", two_systems(), reference="bad").reference == "bad"
    with pytest.raises(InputError, match="the run has no system 'dense'"):
        made(tmp_path / "b", two_systems(), reference="dense")


def test_a_run_without_records_has_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(NotComputable, match="no records yet"):
        made(tmp_path, [])


def test_a_folder_that_is_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no run: it has no run\.json"):
        report(tmp_path)


def test_a_case_scored_twice_is_named_with_its_line(tmp_path: Path) -> None:
    write_run(tmp_path, [make_record(), make_record()])
    with pytest.raises(InputError, match=r"line 2: case 'c1' is scored twice for 'one'"):
        report(tmp_path)


class _Checker(HTMLParser):
    """Sees to it that tags close in order, and notes what the page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.outside += [str(value) for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_by_itself_and_draws_every_contrast(tmp_path: Path) -> None:
    records = [
        replace(one, system="a<b" if one.system == "bad" else one.system) for one in two_systems()
    ]
    summary = made(tmp_path, records)
    page = (tmp_path / "report.html").read_text("utf-8")
    checker = _Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.outside == []
    assert page.count("<svg") == 4
    assert page.count("<title>") == 1 + len(summary.contrasts)
    assert page.count("★") == sum(one.significant for one in summary.contrasts)
    assert "a&lt;b" in page
    assert "a<b" not in page


def test_systems_that_do_not_differ_at_all_can_be_drawn_too(tmp_path: Path) -> None:
    same = [make_record(f"c{i}", system=name) for i in range(3) for name in ("abstrag", "twin")]
    made(tmp_path, same)
    assert "NaN" not in (tmp_path / "report.html").read_text("utf-8")


def test_the_other_formats_hold_the_same_figures(tmp_path: Path) -> None:
    summary = made(tmp_path, two_systems())
    data = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert data["reference"] == "abstrag"
    assert len(data["contrasts"]) == len(summary.contrasts)
    tex = (tmp_path / "report.tex").read_text("utf-8")
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") == 4
    assert r"\textbf{100.0}" in tex
    assert "gold\\_only" in tex
