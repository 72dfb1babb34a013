"""Lessons: three documents of a genre ask for a step, and then it holds for all of the genre."""

from pathlib import Path

import pytest

from abstrag.errors import PolicyError
from abstrag.model.patch import Alias, ClauseCost, Patch, Stage, StepPrice
from abstrag.model.term import Licence, LicenceKind
from abstrag.policy.check import check
from abstrag.refine.feedback import Episode, SaidStep
from abstrag.refine.lessons import base, travelling
from abstrag.search.relevance import ALIGNED
from abstrag.stores.sqlite import MEMORY
from abstrag.workspace.lessons import gold_evaluator, learn
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace

QUERY = "Is there sewage in the lake?"
STEP = SaidStep("sewage", "effluent")
LICENCE = Licence(LicenceKind.TEXT, "by hand")


def text(name: str) -> str:
    return (
        f"# The lake of {name}\n\nBoats cross the lake of {name}. Effluent reached the lake of"
        f" {name} in June. Nobody swims there. The {name} ferry was painted. Sewage is a word here"
        " for nothing but old pipes. Children sail in summer.\n"
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(
        WorkspaceConfig(MEMORY, policy=tmp_path / "policy", options=SearchOptions(preset=ALIGNED))
    )
    for name in ("Basel", "Como", "Garda", "Thun"):
        path = tmp_path / f"{name.lower()}.md"
        path.write_text(text(name), encoding="utf-8")
        made.document(path)
    return made


def say(workspace: Workspace, *names: str, right: bool = True) -> None:
    for name in names:
        given = {"right" if right else "wrong": [STEP]}
        workspace.document(name).feedback(QUERY, **given)  # type: ignore[arg-type]


def price(workspace: Workspace, name: str) -> float:
    hit = workspace.document(name).explain(QUERY, "s2")
    return next(word.price for word in hit.words if word.asked == "sewage")


def test_three_documents_teach_the_fourth_and_two_do_not(workspace: Workspace) -> None:
    before = price(workspace, "thun")
    say(workspace, "basel", "como")
    say(workspace, "como")  # a second vote of one document is none
    assert learn(workspace) == ()
    assert price(workspace, "thun") == before
    say(workspace, "garda")
    (entry,) = learn(workspace)
    assert entry.accepted
    assert price(workspace, "thun") == min(before, 0.35)
    assert "3 documents ask for it ('basel', 'como', 'garda')" in entry.reason


def test_a_lesson_says_who_voted_and_is_taken_back_for_good(workspace: Workspace) -> None:
    before = price(workspace, "thun")
    say(workspace, "basel", "como", "garda", right=False)
    learn(workspace)
    (lesson,) = workspace.patches.patch_log.lessons()
    assert [vote.name for vote in lesson.votes] == ["basel", "como", "garda"]
    assert price(workspace, "thun") > before
    workspace.patches.revert(lesson.id)
    assert price(workspace, "thun") == before
    say(workspace, "thun", right=False)
    assert learn(workspace) == ()  # nobody has to take the same lesson out twice
    with pytest.raises(PolicyError):
        workspace.patches.revert(lesson.id)


def test_what_costs_a_solved_query_its_evidence_is_not_promoted(workspace: Workspace) -> None:
    document = workspace.document("thun")
    assert "s2" in [hit.segment for hit in document.search(QUERY, k=3).hits]
    episode = Episode("thun", QUERY, ("s2",))
    workspace.patches.patch_log.note_solved(episode, document.index)
    say(workspace, "basel", "como", "garda", right=False)
    (entry,) = learn(workspace, evaluator=gold_evaluator(k=3))
    assert not entry.accepted
    assert "1 solved queries lose their evidence" in entry.reason
    assert learn(workspace, evaluator=gold_evaluator(k=3)) == ()  # not before there is a new vote


def test_another_genre_does_not_learn_from_it(workspace: Workspace, tmp_path: Path) -> None:
    say(workspace, "basel", "como", "garda")
    learn(workspace)
    path = tmp_path / "licence.md"
    path.write_text(
        "# Licence Agreement\n\n1. The Licensee shall keep the effluent out of the lake.\n\n"
        "2. This Agreement is governed by the laws of Thun. The parties hereto agree.\n",
        encoding="utf-8",
    )
    document = workspace.document(path)
    taught = [kept for kept in document.patches if "lesson" in kept.patch.licence.reference]
    assert bool(taught) == (document.index.genre.value == "plain")


def test_a_thousand_lines_of_hostile_feedback_on_one_document_teach_no_other(
    workspace: Workspace, tmp_path: Path
) -> None:
    before = [hit.segment for hit in workspace.document("thun").search(QUERY).hits]
    document = workspace.document("basel")
    for number in range(200):
        steps = [SaidStep("sewage", word) for word in ("boat", "ferry", "children", "summer")]
        wrong = [SaidStep("lake", "lake")]
        document.feedback(f"{QUERY} {number % 3}", right=steps, wrong=wrong)
    assert learn(workspace) == ()
    assert [hit.segment for hit in workspace.document("thun").search(QUERY).hits] == before
    assert check(tmp_path / "policy") == ()


def test_a_thousand_lies_of_three_documents_cost_nobody_what_is_known_to_be_evidence(
    workspace: Workspace, tmp_path: Path
) -> None:
    """They agree, so each has its votes; the evidence that an honest person named decides."""
    honest = workspace.document("thun")
    honest.feedback(QUERY, good=["s2"])
    assert "s2" in [hit.segment for hit in honest.search(QUERY, k=3).hits]
    lies = [SaidStep("sewage", word) for word in ("effluent", "june", "reach")]
    lies += [SaidStep("lake", word) for word in ("lake", "effluent")]
    for name in ("basel", "como", "garda"):
        document = workspace.document(name)
        for number in range(67):
            document.feedback(f"{QUERY} {number % 2}", wrong=lies)
    entries = learn(workspace, evaluator=gold_evaluator(k=3))
    assert any(not entry.accepted for entry in entries)
    assert all("lose their evidence" in e.reason for e in entries if not e.accepted)
    assert "s2" in [hit.segment for hit in workspace.document("thun").search(QUERY, k=3).hits]
    assert check(tmp_path / "policy") == ()


@pytest.mark.parametrize(
    "delta",
    [
        ClauseCost(query=QUERY, tau=2.0),
        Alias("entity:basel", "entity:bale", 0.1),
        Alias("concept:effluent", "concept:sewage", 0.1, surface="effluent"),
        StepPrice("swim", "swims", at_most=0.35),
    ],
)
def test_what_is_about_one_document_or_restates_a_direct_match_stays_at_home(
    delta: ClauseCost | Alias | StepPrice,
) -> None:
    assert travelling(Patch(Stage.MAP, delta, LICENCE, 0.5)) is None


def test_an_accepted_alias_of_words_is_a_vote_for_a_step() -> None:
    patch = Patch(Stage.MAP, Alias("concept:effluent", "concept:sewage", 0.1), LICENCE, 0.5)
    assert travelling(patch) == StepPrice("sewage", "effluent", at_most=0.35)


def test_inflections_vote_together() -> None:
    assert base("visited") == base("visits") == "visit"
