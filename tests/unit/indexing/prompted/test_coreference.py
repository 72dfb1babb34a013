"""Coref with a model: suggestions beside the rules' links, never in place of them."""

from typing import Any

from abstrag.engine.searcher import Searcher
from abstrag.errors import BadReply
from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.operator import IndexDraft, ReplyFault
from abstrag.indexing.pipeline import canonical_texts, index, standard_chain
from abstrag.indexing.prompted.coreference import PromptedCoreference
from abstrag.llm.budget import Batching
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.term import Family, LicenceKind
from abstrag.search.relevance import PAPER
from tests.unit.indexing.drafts import draft_of
from tests.unit.indexing.prompted.documents import document
from tests.unit.indexing.prompted.models import given, prompts, silent

STORY = "Ann Lee met Eve Hall and Mary Poe at noon. She left early."
SHE: dict[str, Any] = {
    "segment": "doc#1",
    "mention": "She",
    "antecedent_segment": "doc#0",
    "antecedent": "Ann Lee",
    "kind": "pronoun",
    "confidence": 90,
}

LATER = {"segment": "doc#3", "antecedent_segment": "doc#2"}


def resolved(*links: dict[str, Any], text: str = STORY) -> IndexDraft:
    model = silent(coreference={"links": list(links), "unresolved": []})
    return PromptedCoreference(prompts(model)["coreference"])(draft_of(text))


def test_a_link_the_rules_left_open_is_suggested_with_its_call() -> None:
    layer = resolved(SHE).coreference
    assert layer is not None
    (suggested,) = layer.suggested
    assert (suggested.link.segment, suggested.link.start, suggested.link.end) == (1, 0, 3)
    assert (suggested.link.antecedent_start, suggested.link.antecedent_end) == (0, 7)
    assert suggested.call


def test_the_model_is_told_which_words_the_rules_left_open() -> None:
    model = silent()
    PromptedCoreference(prompts(model)["coreference"])(draft_of(STORY))
    (request,) = model.requests
    (left,) = given(request)["open"]
    assert (left["segment"], left["mention"]) == ("doc#1", "She")
    assert "Ann Lee" in left["candidates"]


def test_a_suggestion_rewrites_nothing_and_leaves_the_links_of_the_rules_alone() -> None:
    plain = ResolveCoreference()(draft_of(STORY))
    helped = resolved(SHE)
    assert plain.coreference is not None
    assert helped.coreference is not None
    assert helped.coreference.links == plain.coreference.links
    assert canonical_texts(helped) == canonical_texts(plain)


def test_a_suggestion_becomes_a_term_of_its_own_whose_edge_pays() -> None:
    bound = prompts(silent(coreference={"links": [SHE], "unresolved": []}))
    draft = draft_of(STORY)
    for op in standard_chain(prompts=bound).operators[1:6]:
        draft = op(draft)
    assert draft.concepts is not None
    (edge,) = [e for e in draft.concepts.edges if e.target == "entity:ann lee"]
    assert (edge.family, edge.truth_preserving) == (Family.EXPRESSION, False)
    assert edge.cost == 0.5  # ω 0.35, a guess 0.05, doubt 0.10
    assert edge.licence.kind is LicenceKind.MODEL
    here = [m.term for m in draft.concepts.mentions if m.segment == 1 and m.start == 0]
    assert here == [edge.source]


def test_a_search_for_a_name_finds_what_a_pronoun_says_at_a_price() -> None:
    text = document(STORY)
    link = SHE | {"segment": "s2", "antecedent_segment": "s1"}
    bound = prompts(silent(coreference={"links": [link], "unresolved": []}))
    hits = Searcher(index(text, prompts=bound), preset=PAPER).search("Ann Lee left").hits
    costs = {hit.segment: hit.trace.bridge_cost for hit in hits if hit.trace.reachable}
    assert costs["s2"] == 0.5
    plain = Searcher(index(text), preset=PAPER).explain("Ann Lee left", "s2")
    assert not plain.trace.reachable


def test_what_is_not_where_the_model_says_is_dropped_and_counted() -> None:
    draft = resolved(
        SHE | {"mention": "They"},  # not in the segment
        SHE | {"segment": "doc#99"},  # no such segment
        SHE | {"antecedent": "Ann Leigh"},  # not in the text
        SHE | {"mention": "Eve Hall", "segment": "doc#0", "kind": "description"},  # a name
        SHE | {"antecedent": "She", "antecedent_segment": "doc#1"},  # a pronoun
        SHE | {"antecedent_segment": "doc#1", "antecedent": "left"},  # it comes later
        SHE | {"confidence": 20},  # the model does not believe it
    )
    assert draft.coreference is not None
    assert draft.coreference.suggested == ()
    dropped = {s.fault: s.count for s in draft.shortfalls}
    assert dropped == {
        ReplyFault.NOT_QUOTED: 2,
        ReplyFault.UNKNOWN_ID: 1,
        ReplyFault.NOT_ALLOWED: 4,
    }


def test_what_the_rules_settled_is_not_asked_about() -> None:
    model = silent()
    operator = PromptedCoreference(prompts(model)["coreference"])
    operator(draft_of("Rust is a language. The compiler checks ownership."))
    assert model.calls == 0


def test_a_batch_shows_the_segments_before_it_but_asks_only_about_its_own() -> None:
    model = silent()
    bound = prompts(model, batching=Batching(items=2))
    PromptedCoreference(bound["coreference"], batching=bound.batching)(
        draft_of("Ada Byron met Mary Somerville. They spoke. It rained. She met her again.")
    )
    shown = [[s["id"] for s in given(r)["segments"]] for r in model.requests]
    assert shown[-1] == ["doc#0", "doc#1", "doc#2", "doc#3"]


def test_a_failed_batch_leaves_its_segments_without_and_keeps_the_rest() -> None:
    def reply(request: Any) -> Any:
        first = given(request)["segments"][-1]["id"] == "doc#1"
        return BadReply("nonsense") if first else {"links": [SHE | LATER], "unresolved": []}

    model = ScriptedModel({"coreference": reply})
    bound = prompts(model, batching=Batching(items=2))
    draft = PromptedCoreference(bound["coreference"], batching=bound.batching)(
        draft_of(STORY, STORY)
    )
    assert draft.coreference is not None
    assert [s.segment for s in draft.shortfalls if s.missed] == [0, 1]
    assert [x.link.segment for x in draft.coreference.suggested] == [3]
