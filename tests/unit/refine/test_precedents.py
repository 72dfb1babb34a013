"""Precedents: where three documents had the answer, a fourth of the genre is looked at too."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abstrag.engine.refinement import precedent_of
from abstrag.model.patch import Precedent
from abstrag.refine.critic import in_force
from abstrag.refine.lessons import CandidatePrecedent, PrecedentReplay, sifted
from abstrag.refine.limits import RefineBudget, objection
from abstrag.refine.patch_log import PatchInForce
from abstrag.refine.state import State
from abstrag.search.precedents import (
    direction,
    lead,
    led,
    moved,
    opened,
    openings,
    packed,
    pull,
    pulled,
    together,
    unpacked,
    word_weights,
    wording,
)
from abstrag.search.relevance import ALIGNED
from abstrag.stores.sqlite import MEMORY
from abstrag.workspace.lessons import learn
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace

QUERY = "What is forbidden on the lake?"
NAMES = ("Basel", "Como", "Garda", "Thun")


def text(name: str) -> str:
    return (
        f"# Rules of {name}\n\nThe lake of {name} is open all year. The ferry sails at noon. Nobody"
        f" may fish from the pier of {name}. Tickets are sold in the square. Children sail in"
        " summer. The rules hang at the landing stage.\n"
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(
        WorkspaceConfig(MEMORY, policy=tmp_path / "policy", options=SearchOptions(preset=ALIGNED))
    )
    for name in NAMES:
        path = tmp_path / f"{name.lower()}.md"
        path.write_text(text(name), encoding="utf-8")
        made.document(path)
    return made


def evidence(workspace: Workspace, name: str) -> str:
    segments = workspace.document(name).index.segments
    return next(s.id for s in segments if "Nobody" in s.text)


def say(workspace: Workspace, *names: str) -> None:
    for name in names:
        workspace.document(name).feedback(QUERY, good=[evidence(workspace, name)])


def score(workspace: Workspace) -> float:
    return workspace.document("thun").explain(QUERY, evidence(workspace, "thun")).relevance


def shown(workspace: Workspace, name: str) -> list[PatchInForce]:
    kept = workspace.document(name).patches
    return [one for one in kept if isinstance(one.patch.delta, Precedent)]


def test_three_documents_show_a_fourth_where_to_look_and_two_do_not(workspace: Workspace) -> None:
    before = score(workspace)
    say(workspace, "basel", "como")
    assert learn(workspace) == ()
    assert score(workspace) == before
    say(workspace, "garda")
    entries = learn(workspace)
    assert [entry.accepted for entry in entries] == [True] * 3
    assert "3 documents were asked nearly the same" in entries[0].reason
    assert score(workspace) > before
    assert learn(workspace) == ()  # nothing new


def test_a_precedent_that_is_taken_back_does_not_come_again(workspace: Workspace) -> None:
    before = score(workspace)
    say(workspace, "basel", "como", "garda")
    learn(workspace)
    for kept in shown(workspace, "thun"):
        workspace.patches.revert(kept.id)
    assert score(workspace) == before
    say(workspace, "thun")
    assert all(entry.payload["query"] == QUERY for entry in learn(workspace))
    others = [one for one in shown(workspace, "basel") if one.name != "basel"]
    assert [one.name for one in others] == ["thun"]  # and none that was taken back


def test_a_question_that_is_settled_for_a_document_is_not_moved_there(
    workspace: Workspace,
) -> None:
    before = score(workspace)
    say(workspace, "basel", "como", "garda", "thun")
    learn(workspace)
    assert score(workspace) == before


def test_who_takes_the_evidence_back_withdraws_what_it_showed(workspace: Workspace) -> None:
    say(workspace, "basel", "como", "garda")
    workspace.document("garda").feedback(QUERY, bad=[evidence(workspace, "garda")])
    assert len(workspace.patches.patch_log.precedents()) == 2
    assert learn(workspace) == ()


def test_nothing_is_shown_where_no_vectors_are_compared(workspace: Workspace) -> None:
    document = workspace.document("thun")
    made = precedent_of(document.searcher, QUERY, [evidence(workspace, "thun")])
    assert made is not None
    every = [segment.id for segment in document.index.segments]
    assert precedent_of(document.searcher, QUERY, every) is None  # nothing else to tell it from


def _taught(document: str, asked: list[float], told: list[float]) -> CandidatePrecedent:
    vectors = packed(np.array(asked)), packed(np.array(told))
    return CandidatePrecedent(
        "plain", document, Precedent(f"of {document}", document, ("s1",), "m", *vectors), ""
    )


def test_only_near_questions_of_three_documents_move_a_question() -> None:
    asked = np.array([1.0, 0.0], np.float32)
    near = [_taught(name, [1.0, 0.0], [0.0, 1.0]).precedent for name in "abc"]
    far = [_taught(name, [0.0, 1.0], [0.0, 1.0]).precedent for name in "def"]
    assert (moved(asked, (*near[:2], *far), "m") == asked).all()
    assert (moved(asked, (*near,), "another model") == asked).all()
    found = moved(asked, (*near, *far), "m")
    assert found.tolist() == [1.0, pytest.approx(3 / 8)]  # 3 of them against a doubt of 5


def test_words_of_three_documents_evidence_speak_for_a_segment_and_those_of_two_do_not() -> None:
    asked = np.array([1.0, 0.0], np.float32)
    said = wording([["ban", "fish", "lake"], ["lake", "open"], ["lake"]], [0], [1, 2])
    assert said == (("ban", 1.0, 0.0), ("fish", 1.0, 0.0), ("lake", 1.0, 1.0))
    shown = [_taught(name, [1.0, 0.0], [0.0, 1.0]).precedent for name in "abc"]
    told = [replace(one, words=said) for one in shown[:2]]
    third = replace(shown[2], words=said[1:])
    weights = word_weights(asked, (*told, third), "m")
    assert set(weights) == {"fish", "lake"}  # "ban" is in the evidence of two
    assert weights["fish"] > weights["lake"] == 0  # "lake" tells evidence from nothing
    assert word_weights(asked, tuple(told), "m") == {}


def test_what_is_worded_like_evidence_elsewhere_says_so_in_its_lines(workspace: Workspace) -> None:
    say(workspace, "basel", "como", "garda")
    learn(workspace)
    document = workspace.document("thun")
    lines = {
        hit.segment: {line.name: line.units for line in hit.lines}
        for hit in document.search(QUERY).hits
    }
    own = evidence(workspace, "thun")
    name = "evidence elsewhere"
    assert name not in lines[own]
    assert all(told[name] > 0 for segment, told in lines.items() if segment != own)
    told_a_model = in_force(document.searcher.scoring(QUERY))
    assert told_a_model == ["3 documents have shown where the answer to this stands"]


def test_where_evidence_stood_together_a_segment_comes_up_to_the_better_one_beside_it() -> None:
    assert together([3, 4, 9]) == pytest.approx(2 / 3)
    asked = np.array([1.0, 0.0], np.float32)
    shown = [_taught(name, [1.0, 0.0], [0.0, 1.0]).precedent for name in "abc"]
    assert pull(asked, tuple(shown), "m") == 0
    side_by_side = tuple(replace(one, beside=2 / 3) for one in shown)
    share = pull(asked, side_by_side, "m")
    assert share == pytest.approx(1.5 * 2 / 8)
    assert pull(asked, side_by_side[:2], "m") == 0  # two documents are too few
    assert pulled(np.array([8.0, 0.0, 4.0, 4.0]), 0.25).tolist() == [2, 0, 1, 0]


def test_the_direction_leads_from_what_is_near_to_the_evidence() -> None:
    segments = np.array([[0.0, 1.0], [0.9, 0.1], [0.8, 0.0]], np.float32)
    found = direction(segments, [0], [1, 2])
    assert direction(segments, [0], []) is None
    assert found is not None
    assert found.tolist() == pytest.approx([-0.85, 0.95])
    assert unpacked(packed(found)).tolist() == pytest.approx(found.tolist(), abs=1e-3)


def test_what_does_more_harm_than_good_near_it_is_left_out_and_the_rest_is_kept() -> None:
    good = [_taught(name, [1.0, 0.0], [0.0, 1.0]) for name in "abc"]
    worst = _taught("d", [0.0, 1.0], [0.0, -1.0])
    lost, won = (f"e {packed(np.array(vector))}" for vector in ([0.0, 1.0], [1.0, 0.0]))

    def replay(some: tuple[CandidatePrecedent, ...]) -> PrecedentReplay:
        return PrecedentReplay({lost: "a query"} if worst in some else {}, {won: "another"})

    left, refused = sifted((*good, worst), replay)
    assert left == tuple(good)
    assert "1 queries lose their evidence and 1 gain" in refused[worst.id]
    nobody, all_of_them = sifted(good, lambda some: PrecedentReplay({won: "a query"}, {}))
    assert nobody == ()
    assert len(all_of_them) == 3
    everybody, none = sifted(good, lambda some: PrecedentReplay({won: "a query"}, {won: "another"}))
    assert everybody == tuple(good)
    assert none == {}


def test_nobody_proposes_a_precedent(workspace: Workspace) -> None:
    document = workspace.document("thun").index
    patch = _taught("a", [1.0], [1.0]).patch
    assert "not proposed" in (objection(patch, State(""), document, budget=RefineBudget()) or "")


LIST = (
    "The parties have met.",
    "The Recipient shall:",
    "(a) keep it secret;",
    "whatever it is worth; and",
    "(b) return it.",
    "Nothing else is agreed except",
    "1. what the law demands.",
    "2) See above.",
)


def test_an_item_belongs_to_the_words_that_open_its_list() -> None:
    assert openings(LIST).tolist() == [-1, -1, 1, -1, 1, -1, 5, 5]
    assert openings(("It is so.", "(a) A heading of its own.")).tolist() == [-1, -1]
    assert openings(()).tolist() == []


def test_evidence_tells_whether_an_item_comes_with_the_opening_of_its_list() -> None:
    where = openings(LIST)
    assert opened([1, 2], where) == 1.0
    assert opened([1, 2, 6], where) == 0.5
    assert opened([0, 1], where) is None  # no item among it


def test_an_opening_comes_up_to_its_best_item_where_evidence_had_both() -> None:
    asked = np.array([1.0, 0.0], np.float32)
    plain = [_taught(name, [1.0, 0.0], [0.0, 0.0]).precedent for name in "abcde"]
    assert lead(asked, tuple(plain), "m") == 0.0
    both = tuple(replace(one, opened=1.0) for one in plain)
    assert lead(asked, both, "m") == pytest.approx(0.75)  # 1.5 · 5 against a doubt of 5
    units = np.array([9.0, 8.0, 2.0, 4.0, 6.0, 1.0, 5.0, 3.0])
    gained = led(units, openings(LIST), 0.5)
    assert gained.tolist() == [0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.5]


def test_what_a_list_gains_is_told_and_no_score_exceeds_its_bound(tmp_path: Path) -> None:
    made = Workspace(
        WorkspaceConfig(MEMORY, policy=tmp_path / "policy", options=SearchOptions(preset=ALIGNED))
    )
    for name in NAMES:
        path = tmp_path / f"{name.lower()}.md"
        rules = f"A guest of {name} shall:\n\n(a) not fish in the lake;\n\n(b) pay at noon.\n\n"
        path.write_text(f"# {name}\n\n{rules}Boats cross in May.\n\nAll is well.\n", "utf-8")
        made.document(path)
    query = "Is it allowed to fish in the lake?"

    def ids(name: str) -> list[str]:
        segments = made.document(name).index.segments
        return [next(s.id for s in segments if word in s.text) for word in ("fish", "shall")]

    item, opening = ids("thun")
    before = made.document("thun").explain(query, opening)
    for name in ("basel", "como", "garda"):
        made.document(name).feedback(query, good=ids(name))
    learn(made)
    after = made.document("thun").explain(query, opening)
    assert after.relevance > before.relevance
    assert all(0 <= hit.match <= 1 for hit in made.document("thun").search(query).hits)
    assert [hit.segment for hit in made.document("thun").search(query, k=2).hits] == [item, opening]
