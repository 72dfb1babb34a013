"""Experiments: configs that cover the paper, runs that resume, constants that do not leak."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from abstrag import config
from abstrag.errors import InputError
from abstrag.llm.connect import Models
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.background import Background
from abstrag.model.patch import ClauseCost, HypernymRestriction, Patch, Stage
from abstrag.model.term import Licence, LicenceKind
from abstrag.policy.load import load_programs
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.datasets import plain
from abstrag_bench.experiments import with_constants
from abstrag_bench.experiments.runner import (
    ADAPTIVE,
    OTHER,
    TWO,
    WITH,
    WITHOUT,
    BudgetProposer,
    run_calibration,
    run_experiments,
    summary_tables,
)
from abstrag_bench.experiments.setting import (
    Experiment,
    ExperimentKind,
    Folder,
    Setting,
    load_folder,
    same_settings,
)
from abstrag_bench.experiments.sweep import label, points_of
from abstrag_bench.metrics.catalogue import NDCG, SUFF
from abstrag_bench.metrics.metric import values
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.systems import system_names
from tests.unit.bench.experiment_makers import MAIN, make_setting, page_of
from tests.unit.bench.makers import make_record
from tools import paper_map

ROOT = Path(__file__).parents[3]
CONFIGS = ROOT / "experiments"
RESULTS = {  # what the paper reports results under
    "tab:main",
    "tab:cross-ci",
    "fig:cross-ci-forest",
    "tab:ablation",
    "tab:strat",
    "apx:refinement-stress",
    "apx:ablation-fine",
    "apx:toyb",
    "apx:gap",
    "apx:hyperparams",
}


@pytest.fixture
def shipped() -> Folder:
    return load_folder(CONFIGS)


def test_every_table_and_figure_of_the_paper_has_its_config(shipped: Folder) -> None:
    answered = {label for one in shipped.experiments for label in one.paper}
    assert answered >= RESULTS
    assert answered <= set(paper_map.load()["labels"])
    assert {one.kind for one in shipped.experiments} == set(ExperimentKind)


def test_configs_name_systems_and_constants_that_exist(shipped: Folder) -> None:
    bases = {name.partition("@")[0] for name in system_names()}
    for one in shipped.experiments:
        for system in (*one.systems, *one.model_systems):
            assert system.partition("@")[0] in bases, (one.name, system)
        assert all(hasattr(config, name) for name in one.constants)


def test_the_sweep_covers_every_distance_constant_and_the_budget(shipped: Folder) -> None:
    (sweep,) = (one for one in shipped.experiments if one.kind is ExperimentKind.SWEEP)
    distances = {name for name in vars(config) if name.startswith("DELTA_")}
    assert set(sweep.constants) == distances | {"TAU"}
    points = points_of(sweep)
    assert points[0] is None
    assert len(points) == 1 + sum(map(len, sweep.constants.values()))  # none is the default's own


def test_the_toy_taxonomy_is_the_size_of_the_papers() -> None:
    background = Background.load(CONFIGS / "toy/background.toml")
    sizes = len(background.aliases), len(background.roles), len(background.events)
    assert sizes == (4, 18, 5)
    assert len(plain.load(CONFIGS / "toy/cases.jsonl", "cases").cases) == 30


# --- Running --------------------------------------------------------------------------------------


def test_a_page_says_what_was_run_with_which_command_and_what_was_not(tmp_path: Path) -> None:
    _, page = page_of(make_setting(tmp_path, ("main", MAIN)))
    assert "$ abstrag bench experiments --data DATA --out RUN main" in page
    assert "Records: `RUN/local-rankings-plain-mine`" in page
    assert "cases with gold evidence" in page
    assert "all cases (without gold: nDCG 0, Suff 1)" in page
    assert "Not run on scifact: see [why](index.md#not-run)." in page
    assert "| hyde | needs a language model, and none is named (`--llm MODEL`) | main |" in page
    assert str(tmp_path) not in page


def test_figures_of_the_paper_stand_beside_ours_with_a_word_on_the_data(tmp_path: Path) -> None:
    _, page = page_of(make_setting(tmp_path, ("main", MAIN)))
    assert "the same data" in page
    assert "| `bm25` | 100.0 | 12.5 |" in page
    assert "| `hyde` | not run | 1.0 | not run | 2.0 |" in page
    assert "printed in the paper; the same data*\n\n| group | n |" in page
    _, page = page_of(make_setting(tmp_path, ("main", MAIN), limit=2))
    assert "**other data**" in page
    assert "a trial, no result" in page


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    setting = make_setting(tmp_path, ("main", MAIN))
    _, whole = page_of(setting)
    records = setting.out / "local-rankings-plain-mine" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:3]) + lines[3][:20])
    _, again = page_of(make_setting(tmp_path, ("main", MAIN)))
    assert again == whole
    assert len(records.read_text().splitlines()) == len(lines)
    kept = records.read_bytes()
    page_of(make_setting(tmp_path, ("main", MAIN)))
    assert records.read_bytes() == kept


def test_experiments_on_the_same_data_share_their_records(tmp_path: Path) -> None:
    other = MAIN.replace('["bm25", "bm25-stem"]', '["bm25"]').replace('"contrasts", ', "")
    setting = make_setting(tmp_path, ("main", MAIN), ("other", other))
    results, _ = page_of(setting)
    first, second = (result.sections[0] for result in results)
    assert first.records == second.records
    assert "bm25-stem" in "".join(first.tables)
    assert "bm25-stem" not in "".join(second.tables)


def test_a_model_adds_the_systems_that_ask_one(tmp_path: Path) -> None:
    setting = make_setting(tmp_path, ("main", MAIN))
    model = ScriptedModel({"hyde": {"passage": "Lions sleep in the shade."}})
    setting.backing = Backing(Models.of(model), load_programs())
    results, page = page_of(setting)
    section = results[0].sections[0]
    assert section.records == "llm-rankings-plain-mine"  # apart from what local mode recorded
    assert "| `hyde` | 100.0 | 1.0 |" in page
    assert "needs a language model" not in page


def test_times_add_up_over_runs(tmp_path: Path) -> None:
    setting = make_setting(tmp_path)
    for _ in range(2):
        with setting.timed("one"):
            pass
    assert set(setting.times()) == {"one"}


def test_mistakes_in_configs_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no experiment is called 'nothing'"):
        run_experiments(make_setting(tmp_path, ("main", MAIN)), ["nothing"])
    with pytest.raises(InputError, match=r"main\.toml"):
        make_setting(tmp_path, ("main", MAIN.replace('kind = "systems"', 'kind = "magic"')))
    with pytest.raises(InputError, match="'elsewhere'"):
        make_setting(tmp_path, ("main", MAIN.replace('"scifact"', '"elsewhere"')))
    with pytest.raises(InputError, match="no view 'pie'"):
        page_of(make_setting(tmp_path, ("main", MAIN.replace('"effort"', '"pie"'))))
    with pytest.raises(InputError, match=r"has no datasets\.toml"):
        load_folder(tmp_path)


def test_records_of_other_settings_are_not_gone_on_with(tmp_path: Path) -> None:
    same_settings(tmp_path, {"preset": "smooth"})
    same_settings(tmp_path, {"preset": "smooth"})
    with pytest.raises(InputError, match="other settings"):
        same_settings(tmp_path, {"preset": "paper"})


# --- Constants ------------------------------------------------------------------------------------


def test_a_constant_is_changed_in_its_own_process_only(tmp_path: Path) -> None:
    sweep = Experiment(
        "sweep",
        "Sweep",
        "How far?",
        ExperimentKind.SWEEP,
        datasets=("plain",),
        systems=("abstrag@smooth",),
        constants={"TAU": (0.5, config.TAU)},
    )
    assert points_of(sweep) == (None, ("TAU", 0.5))
    setting = make_setting(tmp_path)
    setting.folder, setting.workers = replace(setting.folder, experiments=(sweep,)), 2
    (result,) = run_experiments(setting)
    top = setting.out / result.sections[0].records
    found = {p: RunFolder(top / label(p)).records() for p in points_of(sweep)}
    assert {one.tau for one in found[None]} == {1.5}
    assert {one.tau for one in found["TAU", 0.5]} == {0.5}
    assert config.TAU == 1.5
    assert "| `TAU` | 0.5 |" in result.sections[0].tables[0]


def test_a_constant_that_was_read_already_is_not_changed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'TAU' has been read already"):
        with_constants.change({"TAU": 1.0})
    with pytest.raises(InputError, match="no number called 'OMICRON'"):
        with_constants.change({"OMICRON": 1.0})
    assert config.TAU == 1.5
    request = with_constants.ChildRun({}, "plain", "d", "s", ("bm25",), str(tmp_path))
    assert with_constants.ChildRun(**json.loads(json.dumps(asdict(request)))).dataset == "plain"


# --- Beyond systems -------------------------------------------------------------------------------


def test_the_toy_background_gets_used_and_hurts_nothing(tmp_path: Path, shipped: Folder) -> None:
    one = replace(shipped.named("10-toy-background"), datasets=())
    setting = Setting(replace(shipped, experiments=(one,)), tmp_path, tmp_path / "run")
    (result,) = run_experiments(setting)
    records = RunFolder(setting.out / result.sections[0].records).records()
    used = {s for r in records if r.system == WITH for s in r.details["activated"]}
    assert used >= {"role operator", "time operator", "concept, stated by B", "event, stated by B"}
    stated = {s for r in records if r.system == WITHOUT for s in r.details["activated"]}
    assert not any(name.endswith("stated by B") for name in stated)
    for metric in (SUFF @ 10, NDCG @ 10):
        was = values(metric, [r for r in records if r.system == WITHOUT]).mean
        now = values(metric, [r for r in records if r.system == WITH]).mean
        assert was is not None
        assert now is not None
        assert now >= was


def test_only_budgets_are_proposed_where_only_budgets_are_wanted() -> None:
    licence = Licence(LicenceKind.TEXT, "the text")
    raised = Patch(Stage.QUERY, ClauseCost(query="q", tau=2.0), licence, 0.5)
    barred = Patch(Stage.QUERY, HypernymRestriction("a", "b"), licence, 0.5)
    proposer = BudgetProposer(lambda *_: [barred, raised])
    assert list(proposer(None, Stage.QUERY, None)) == [raised]  # type: ignore[arg-type]
    assert list(proposer(None, Stage.MAP, None)) == []  # type: ignore[arg-type]


def test_adaptive_budgets_are_compared_on_two_bridge_cases_and_on_the_others() -> None:
    records = [
        make_record("two", system="fixed τ 1.5", ranked=("b", "a"), group=TWO, tau=1.5),
        make_record("two", system=ADAPTIVE, ranked=("a", "b"), group=TWO, tau=2.25),
        make_record("one", system="fixed τ 1.5", group=OTHER, tau=1.5),
        make_record("one", system=ADAPTIVE, group=OTHER, tau=1.5),
    ]
    two, other, granted = summary_tables(records, "paper")
    assert "| adaptive τ | 100.0 [100.0, 100.0] | +36.9" in two
    assert "+0.0" in other
    assert granted == "Queries that the gate granted a budget of their own: 1."


def test_a_query_that_needs_two_bridges_gets_a_budget_of_its_own(
    tmp_path: Path, shipped: Folder
) -> None:
    one = replace(shipped.named("12-adaptive-budget"), datasets=(), presets=("paper_hard",))
    setting = Setting(replace(shipped, experiments=(one,)), tmp_path, tmp_path / "run")
    (result,) = run_experiments(setting)
    records = RunFolder(setting.out / result.sections[0].records).records()
    assert {r.group for r in records} == {TWO}  # each literal is affordable, all together are not
    assert not any(r.ranked for r in records if r.system == "fixed τ 1.5")
    granted = [r for r in records if r.system == ADAPTIVE and r.tau != config.TAU]
    assert granted
    assert all(r.ranked[0] in r.gold for r in granted)


def test_every_budget_is_run_on_every_case(tmp_path: Path) -> None:
    one = Experiment(
        "budgets",
        "Budgets",
        "Which?",
        ExperimentKind.ADAPTIVE,
        datasets=("plain",),
        presets=("paper",),
        budgets=(3.0,),
    )
    setting = make_setting(tmp_path)
    setting.folder = replace(setting.folder, experiments=(one,))
    (result,) = run_experiments(setting)
    records = RunFolder(setting.out / result.sections[0].records).records()
    assert {r.system for r in records} == {"fixed τ 1.5", "fixed τ 3", ADAPTIVE}
    assert len(records) == 3 * 4


def test_a_schedule_is_made_of_ratings_or_said_not_to_be(tmp_path: Path) -> None:
    one = Experiment(
        "ratings",
        "Ratings",
        "Which?",
        ExperimentKind.CALIBRATION,
        ratings="ratings.jsonl",
        rubric={"is the main contribution": 1.0},
    )
    setting = make_setting(tmp_path)
    (section,) = run_calibration(one, setting)
    assert "no ratings file" in section.not_run
    line = {"paper": "p", "section": "4", "role": "results", "rating": 0.9}
    (setting.data / "ratings.jsonl").write_text(json.dumps(line) + "\n")
    (section,) = run_calibration(one, setting)
    assert not section.not_run
    assert "| results | 0.90 | 0.91 |" in section.tables[1]
