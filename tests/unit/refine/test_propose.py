"""Local proposals: only what text, lexicon, Background or embeddings license; cheapest first."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from abstrag.documents.load import load
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.background import EMPTY, Background, EventRule
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    Diagnosis,
    EventMapping,
    Failure,
    HypernymRestriction,
    Patch,
    RoleRule,
    Stage,
    TimeWindow,
)
from abstrag.model.query import LiteralKind
from abstrag.model.term import LicenceKind
from abstrag.neural.encoder import Vectors
from abstrag.refine.explain import LocalExplainer
from abstrag.refine.feedback import Episode
from abstrag.refine.licensing import Licensing
from abstrag.refine.propose import LocalProposer, mined
from abstrag.search.scoring import Scoring
from tests.unit.refine.harbour import EMPLOYEE, PRESET, SEWAGE, evaluator, refiner
from tests.worlds import literal


class Letters:
    """An encoder by counts of letters, so that anagrams are the same."""

    fingerprint = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.array(
            [[text.casefold().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts],
            dtype=np.float32,
        )
        made: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return made


def _failure(
    query: str, *, gold: tuple[str, ...] = (), tau: float = 1.5
) -> tuple[Failure, Scoring]:
    one = refiner()
    one.tau = tau
    scoring = one.system.scoring(query, one.initial)
    explain = LocalExplainer(evaluator())
    return explain(Episode("harbour", query, gold), scoring, scoring.ranking(3)), scoring


def _proposed(query: str, stage: Stage, **options: object) -> list[Patch]:
    failure, scoring = _failure(query, **options)  # type: ignore[arg-type]
    made = LocalProposer()(failure, stage, scoring)
    return [patch for patch in made if isinstance(patch, Patch)]


def test_an_embedding_licenses_an_alias() -> None:
    (made,) = _proposed(SEWAGE, Stage.MAP)
    assert isinstance(made.delta, Alias)
    assert (made.delta.source, made.delta.target) == ("concept:wastewater", "concept:sewage")
    assert made.licence.kind is LicenceKind.MODEL
    assert made.cost == round(0.65 + made.delta.distance, 4)


def test_an_office_or_its_kind_makes_a_role_rule() -> None:
    made = _proposed(EMPLOYEE, Stage.MAP)
    assert [type(patch.delta) for patch in made] == [RoleRule]
    assert made[0].cost == 1.3


def test_words_that_stand_in_the_text_are_licensed_by_it() -> None:
    # the map has a date and no such concept; the word is there all the same
    (made,) = _proposed("What is february?", Stage.MAP, gold=("s14",))
    assert made.delta == Alias("entity:february", "concept:february", 0.05, surface="february")
    assert made.licence.kind is LicenceKind.TEXT
    assert made.licence.span is not None
    assert made.cost == 0.4


def test_a_noun_that_the_parser_takes_for_a_verb_needs_no_patch() -> None:
    assert _proposed("What is quay?", Stage.MAP, gold=("s12",)) == []


def test_a_name_the_map_missed_is_only_given_its_mentions() -> None:
    made, repaired, *_ = _proposed("What about the Divers?", Stage.MAP, gold=("s6",))
    assert isinstance(made.delta, Alias)
    assert made.delta.source == made.delta.target == "entity:divers"
    assert isinstance(repaired.delta, Alias)  # or the word may count as the concept it is read as
    assert repaired.delta.source == "concept:diver"
    assert "was read as concept" in repaired.licence.reference


def test_initials_a_heading_and_company_suggest_aliases() -> None:
    one = Searcher(_clinic(), preset=PRESET)
    scoring = one.scoring("What about the Monetary Policy Committee?")
    asked = literal("entity:monetary policy committee", kind=LiteralKind.ENTITY)
    found = {step.source: step.licence.reference for step in mined(asked, scoring, scoring.hit(1))}
    assert any("initials" in said for said in found.values())
    pay = literal("concept:pay")
    found = {step.source: step.licence.reference for step in mined(pay, scoring, scoring.hit(2))}
    assert any("under the heading “Pay”" in said for said in found.values())


def _clinic() -> DocumentIndex:
    text = (
        "# The bank\n\nThe bank is old. The MPC met in May.\n\n## Pay\n\n"
        "Bonuses of the staff rose by half.\n"
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bank.md"
        path.write_text(text, encoding="utf-8")
        return index(load(path))


def test_a_stop_word_is_never_read_off_the_text() -> None:
    assert _proposed("What about the into?", Stage.MAP, gold=("s5",)) == []


def test_an_event_is_mapped_where_wordnet_relates_the_verbs() -> None:
    made = _proposed("Who improved nets?", Stage.EVENT, gold=("s12",))
    assert [type(patch.delta) for patch in made] == [EventMapping]
    assert made[0].licence.kind is LicenceKind.LEXICON
    assert "WordNet" in made[0].licence.reference


def test_a_time_near_by_widens_the_window() -> None:
    (made,) = _proposed("Who resigned in 2023?", Stage.CONTEXT, gold=("s14",))
    assert isinstance(made.delta, TimeWindow)
    assert made.delta.window.end == "2024-02-03"
    assert made.licence.span is not None


def test_a_time_far_away_does_not() -> None:
    assert _proposed("Who resigned in 2019?", Stage.CONTEXT, gold=("s14",)) == []


def test_a_budget_is_proposed_where_the_joint_cost_alone_is_too_high() -> None:
    query = "Is there a structure with a vessel?"
    assert _query(query, "s13") == []  # it has neither, so no budget helps
    (delta,) = [p.delta for p in _query(query, "s3") if isinstance(p.delta, ClauseCost)]
    assert delta == ClauseCost(query=query, tau=1.8476)


def _query(query: str, segment: str) -> list[Patch]:
    """Proposals at stage query for a failure that is about this segment."""
    failure, scoring = _failure(query, tau=1.0)
    trace = scoring.hit(int(segment[1:]) - 1).trace
    seen = Diagnosis(over_budget_by=trace.over_budget_by)
    about = replace(failure, segment=segment, diagnosis=seen)
    made = LocalProposer()(about, Stage.QUERY, scoring)
    return [patch for patch in made if isinstance(patch, Patch)]


def test_a_bridge_that_only_lets_unfit_segments_in_is_barred() -> None:
    failure, scoring = _failure("Is there a structure?", gold=("s13",))
    assert failure.diagnosis.over_expansion
    made = list(LocalProposer()(failure, Stage.QUERY, scoring))
    barred = {
        (p.delta.source, p.delta.target)
        for p in made
        if isinstance(p, Patch) and isinstance(p.delta, HypernymRestriction)
    }
    assert barred <= {(o.source, o.target) for o in failure.diagnosis.over_expansion}
    assert barred


def test_nothing_is_proposed_for_a_failure_without_a_segment() -> None:
    failure, scoring = _failure("Who flies aeroplanes?")
    assert failure.segment is None
    for stage in Stage:
        assert list(LocalProposer()(failure, stage, scoring)) == []


def test_proposals_come_cheapest_first() -> None:
    made = _proposed("Is there a structure with an animal?", Stage.QUERY, gold=("s13",))
    assert [p.cost for p in made] == sorted(p.cost for p in made)


@pytest.mark.parametrize(
    ("background", "asked", "own", "kind", "entry"),
    [
        (
            Background(aliases={"TSMC": ("Taiwan Semi",)}),
            "entity:taiwan semi",
            "entity:tsmc",
            LiteralKind.ENTITY,
            "aliases.TSMC",
        ),
        (
            Background(classes={"TSMC": ("chip supplier",)}),
            "concept:chip supplier",
            "entity:tsmc",
            LiteralKind.CONCEPT,
            "classes.TSMC",
        ),
        (
            Background(roles={"CTO": ("executive",)}),
            "concept:executive",
            "role:cto",
            LiteralKind.CONCEPT,
            "roles.CTO",
        ),
        (
            Background(events=(EventRule("visit", "collaboration"),)),
            "event:collaboration",
            "event:visit",
            LiteralKind.EVENT,
            "events.visit",
        ),
    ],
)
def test_the_background_licenses_what_it_states(
    background: Background, asked: str, own: str, kind: LiteralKind, entry: str
) -> None:
    steps = list(Licensing(background, Letters()).steps(literal(asked, kind=kind), [own], {}))
    assert [(s.source, s.licence.kind, s.licence.reference) for s in steps] == [
        (own, LicenceKind.BACKGROUND, entry)
    ]


def _licences(asked: str, own: str, kind: LiteralKind) -> list[str]:
    steps = Licensing(EMPTY, Letters()).steps(literal(asked, kind=kind), [own], {})
    return [step.licence.reference for step in steps]


def test_a_name_inside_a_name_is_licensed_by_the_text() -> None:
    assert _licences("entity:anthropic", "entity:anthropic pbc", LiteralKind.ENTITY) == [
        "the text writes 'anthropic pbc'"
    ]
    assert _licences("entity:ant", "entity:anthropic pbc", LiteralKind.ENTITY) == []


def test_a_broader_word_never_serves_a_narrower_one() -> None:
    assert _licences("concept:vehicle", "concept:car", LiteralKind.CONCEPT) != []
    assert _licences("concept:car", "concept:vehicle", LiteralKind.CONCEPT) == []


def test_opposites_are_not_proposed_however_similar() -> None:
    near = Licensing(EMPTY)  # the packaged embedder finds them alike
    steps = near.steps(literal("concept:increase"), ["concept:decrease"], {})
    assert list(steps) == []


def test_the_similarity_that_licenses_is_three_quarters() -> None:
    asked = literal("concept:listen")
    same = list(Licensing(EMPTY, Letters()).steps(asked, ["concept:silent"], {}))
    assert [step.distance for step in same] == [0.0]
    assert list(Licensing(EMPTY, Letters()).steps(asked, ["concept:hug"], {})) == []
