"""Feedback: an episode and a control, a floor under a refused step, and cases to train on."""

from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag.model.patch import EffectKind, Patch, Stage, StepPrice
from abstrag.model.term import Licence, LicenceKind
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.feedback import REFUSED, Episode, Feedback, SaidStep, parse_step
from abstrag.refine.patch_log import text_hash
from abstrag.refine.state import classify
from abstrag.search.relevance import ALIGNED, FAST
from abstrag.stores.sqlite import MEMORY
from abstrag.workspace.lessons import export_packs
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.datasets.load import load_dataset
from tests.unit.refine.harbour import LOCK, SEWAGE, TEXT

STEP = SaidStep("sewage", "wastewater")


def opened(folder: Path, preset: object = ALIGNED) -> Workspace:
    path = folder / "harbour.md"
    path.write_text(TEXT, encoding="utf-8")
    options = SearchOptions(preset=preset)  # type: ignore[arg-type]
    workspace = Workspace(WorkspaceConfig(MEMORY, policy=folder / "policy", options=options))
    workspace.document(path)
    return workspace


def price(workspace: Workspace, asked: str = "sewage") -> float:
    hit = workspace.document("harbour").explain(SEWAGE, "s5")
    return next(word.price for word in hit.words if word.asked == asked)


def test_a_refused_step_costs_all_there_is_from_then_on(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        before = price(workspace)
        noted = workspace.document("harbour").feedback(SEWAGE, wrong=[STEP])
        after = workspace.document("harbour").explain(SEWAGE, "s5")
        (word,) = [w for w in after.words if w.asked == "sewage"]
        assert before < 1.0
        assert word.said != "wastewater"
        assert word.price > before
        workspace.patches.revert(noted.patches[0].id)
        assert price(workspace) == before


def test_an_inflection_of_a_refused_word_is_refused_too(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        workspace.document("harbour").feedback(SEWAGE, wrong=[SaidStep("employee", "workers")])
        hit = workspace.document("harbour").explain("Which employee raised the alarm?", "s11")
        assert "worker" not in [w.said for w in hit.words if w.asked == "employee"]


def test_a_refused_step_is_a_floor_for_bridges_of_the_map_too(tmp_path: Path) -> None:
    query = "Which boat was sold?"
    with opened(tmp_path, FAST) as workspace:
        document = workspace.document("harbour")
        before = document.explain(query, "s15").trace
        steps = {(b.source, b.target) for t in before.literals for b in t.bridges}
        assert ("concept:ferry", "concept:boat.n.01") in steps
        document.feedback(query, wrong=[SaidStep("boat", "ferry")])
        after = workspace.document("harbour").explain(query, "s15").trace
        assert after.share < before.share


def test_a_confirmed_step_is_a_bridge_where_words_are_not_aligned(tmp_path: Path) -> None:
    with opened(tmp_path, FAST) as workspace:
        document = workspace.document("harbour")
        assert document.explain(SEWAGE, "s5").trace.share == 0.0
        document.feedback(SEWAGE, right=[STEP])
        after = workspace.document("harbour").explain(SEWAGE, "s5").trace
        assert after.share > 0.0
        licences = [b.licence for t in after.literals for b in t.bridges]
        assert "wastewater → sewage" in [one.reference for one in licences if one]


def test_a_number_is_never_confirmed_for_another(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        noted = workspace.document("harbour").feedback(SEWAGE, right=[SaidStep("2023", "2021")])
        assert noted.patches == ()
        assert "met by itself alone" in noted.refused[0]


def test_the_last_word_on_a_segment_counts(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        document = workspace.document("harbour")
        document.feedback(SEWAGE, good=["s5", "s1"])
        document.feedback(SEWAGE, bad=["s1"])
        assert workspace.patches.patch_log.feedback() == (
            Episode("harbour", SEWAGE, ("s5",), ("s1",)),
        )


def test_what_a_person_calls_evidence_is_gold_for_refinement(tmp_path: Path) -> None:
    with opened(tmp_path, FAST) as workspace:
        document = workspace.document("harbour")
        document.feedback(LOCK, good=["s7"])
        document.feedback(SEWAGE, good=["s5"])
        made = document.refine(SEWAGE)
        patch_log = workspace.patches.patch_log
        held = {e.query: e.gold for e in patch_log.episodes(text_hash(document.index))}
        assert held[LOCK] == ("s7",)
        assert held[SEWAGE] == ("s5",)
        assert made.sufficient == ("s5" in [hit.segment for hit in made.after.hits])


def test_a_segment_called_bad_is_no_evidence_whatever_a_judge_says(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        document = workspace.document("harbour")
        yes = Evaluator(lambda _query, segments: [1.0] * len(segments), k=3)
        ranking = document.search(SEWAGE, k=3)
        first = ranking.hits[0].segment
        episode = Episode("harbour", SEWAGE, bad=(first,))
        assert first not in yes.signals(episode, ranking, document.index.segments).evidence


def test_feedback_is_exported_as_a_pack_that_the_bench_reads(tmp_path: Path) -> None:
    folder = tmp_path / "training"
    folder.mkdir()
    with opened(tmp_path) as workspace:
        with pytest.raises(InputError, match="no feedback names a segment"):
            export_packs(workspace, folder / "said.jsonl.gz")
        workspace.document("harbour").feedback(SEWAGE, good=["s5"], bad=["s1"])
        assert export_packs(workspace, folder / "said.jsonl.gz") == 1
        (case,) = load_dataset("packs", tmp_path, "said").cases
        assert case.query == SEWAGE
        (text,) = [e.text for e in case.document.elements if e.id in case.gold]
        assert text.startswith("Untreated wastewater")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "says nothing"),
        ({"good": ("s1",), "bad": ("s1",)}, "both good and bad"),
        ({"right": (STEP,), "wrong": (STEP,)}, "both right and wrong"),
    ],
)
def test_feedback_that_contradicts_itself_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Feedback("Who paid?", **given)  # type: ignore[arg-type]


def test_a_segment_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with (
        opened(tmp_path) as workspace,
        pytest.raises(InputError, match="no segment 's999'"),
    ):
        workspace.document("harbour").feedback(SEWAGE, good=["s999"])


@pytest.mark.parametrize("text", ["visit", "=visit", "collaboration="])
def test_a_step_needs_two_words(text: str) -> None:
    with pytest.raises(InputError, match="is no step"):
        parse_step(text)


def test_a_price_outside_the_scale_is_refused() -> None:
    with pytest.raises(InputError, match="costs"):
        StepPrice("a", "b", at_least=REFUSED + 1)


def test_a_step_price_is_a_change_of_prices() -> None:
    step = StepPrice("sewage", "wastewater", at_most=0.35)
    licence = Licence(LicenceKind.TEXT, "by hand")
    assert classify(Patch(Stage.MAP, step, licence, 0.9)) is EffectKind.BRIDGE_WEIGHT
    assert classify(Patch(Stage.QUERY, step, licence, 0.9)) is EffectKind.NO_OP
