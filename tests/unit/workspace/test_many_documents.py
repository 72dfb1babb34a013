"""Many documents are asked and refined as each of them would be alone, with a model or without."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.collection.filters import Filters
from abstrag.errors import InputError
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.answer import Answer, AnswerMode, Label
from abstrag.model.record import from_json, to_json
from abstrag.refine.outcome import Refinement
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.refining import CollectionRefinement
from abstrag.workspace.tour import EVIDENCE, FAILING, LabelJudge, tour_document
from tests.unit.cli.model_server import QUERY_SIDE
from tests.unit.indexing.prompted.models import given

TEXTS = {
    "harbour": "# Harbour report 2023\n\nThe ferry company Nordline carried 18,400 passengers in "
    "2023. Its captain Ida Holm retired in May. Berth fees rose by 4% in 2023.",
    "almanac": "# Port almanac\n\nThe almanac says that Nordline carried 21,000 passengers in "
    "2023. Nordline was founded in 1950.",
    "hounds": "# Hounds\n\nHounds need long walks. A puppy sleeps twenty hours.",
}
CONFLICT = "How many passengers did Nordline carry in 2023?"
PUPPY = "How long does a puppy sleep?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    with AbstRAG(folder / "store.db") as rag:
        assert {one.status for one in rag.index_many([folder])} == {"indexed"}
        rag.prepare()
    return folder / "store.db"


@pytest.fixture
def rag(store: Path, tmp_path: Path) -> Iterator[AbstRAG]:
    with AbstRAG(store, policy=tmp_path / "policy") as made:
        yield made


def with_model(store: Path, policy: Path, **replies: Any) -> tuple[AbstRAG, ScriptedModel]:
    model = ScriptedModel(replies)
    roles = {
        CallRole.INDEX: "normalize_query",
        CallRole.JUDGE: "entailment",
        CallRole.ANSWER: "answer",
        CallRole.REFINE: "refine",
    }
    models = Models({role: model for role, stage in roles.items() if stage in replies})
    return AbstRAG(store, policy=policy, models=models), model


def said(*cited: tuple[int, str]) -> Any:
    quotes = [{"number": number, "quote": quote} for number, quote in cited]
    return {
        "status": "answered",
        "sentences": [{"text": "The documents say so.", "citations": quotes}],
        "missing": [],
    }


def test_the_answer_is_the_one_its_document_gives_alone(rag: AbstRAG) -> None:
    made = rag.ask_all(PUPPY)
    assert made == rag.ask(PUPPY, document="hounds")
    assert (made.document, made.text) == ("hounds", "A puppy sleeps twenty hours.")
    assert {one.document for one in made.citations} == {"hounds"}
    assert from_json(Answer, to_json(made)) == made


def test_documents_that_answer_differently_are_all_shown(rag: AbstRAG) -> None:
    made = rag.ask_all(CONFLICT)
    every = {one.document: one.text for one in (made, *made.others)}
    assert set(every) == {"harbour", "almanac"}
    assert "18,400" in every["harbour"]
    assert "21,000" in every["almanac"]
    for one in (made, *made.others):
        document = rag.open(one.document).index.document
        assert [document.quote(cited.span) for cited in one.citations] == [
            cited.quote for cited in one.citations
        ]
    assert from_json(Answer, to_json(made)) == made


def test_a_filter_leaves_the_other_document_out(rag: AbstRAG) -> None:
    made = rag.ask_all(CONFLICT, filters=Filters(title="almanac"))
    assert (made.document, made.others) == ("almanac", ())


def test_what_no_document_answers_is_no_answer_and_the_closest_passages_name_theirs(
    rag: AbstRAG,
) -> None:
    made = rag.ask_all("How many penguins did Aeroflot carry?")
    assert (made.found, made.document) == (False, "")
    assert made.note == "nothing in these documents answers this with confidence"
    assert made.missing == ("penguin", "Aeroflot")
    assert made.evidence
    assert {one.document for one in made.evidence} <= set(TEXTS)


def test_a_claim_gets_the_verdict_of_the_document_that_takes_a_side(rag: AbstRAG) -> None:
    made = rag.ask_all("Berth fees fell in 2023.")
    assert made.verdict is not None
    assert (made.document, made.verdict.label) == ("harbour", Label.REFUTES)


def test_a_document_that_refutes_a_claim_is_shown_beside_the_one_that_supports_it(
    rag: AbstRAG,
) -> None:
    made = rag.ask_all("Nordline carried 18,400 passengers in 2023.")
    labels = {one.document: one.verdict.label for one in (made, *made.others) if one.verdict}
    assert labels == {"harbour": Label.SUPPORTS, "almanac": Label.REFUTES}


def test_a_model_writes_from_passages_of_several_documents_and_quotes_each(
    store: Path, tmp_path: Path
) -> None:
    seen: list[dict[str, Any]] = []

    def reply(request: Any) -> Any:
        seen.extend(given(request)["passages"])
        numbers = {one["document"]: one["number"] for one in seen}
        return said(
            (numbers["Harbour report 2023"], "18,400 passengers"),
            (numbers["Port almanac"], "carried 21,000 passengers"),
        )

    made_with, model = with_model(store, tmp_path / "policy", answer=reply)
    with made_with as rag:
        made = rag.ask_all(CONFLICT)
        quotes = {one.document: one.quote for one in made.citations}
        assert quotes == {"harbour": "18,400 passengers", "almanac": "carried 21,000 passengers"}
        for one in made.citations:
            assert rag.open(one.document).index.document.quote(one.span) == one.quote
    assert (made.mode, made.document, made.sentences[0].supported) == (
        AnswerMode.GENERATED,
        "",
        True,
    )
    assert "Where documents differ, say what each of them says" in model.requests[-1].system
    assert len(seen) == 3


def test_a_quotation_of_no_document_is_marked(store: Path, tmp_path: Path) -> None:
    made_with, _ = with_model(store, tmp_path / "policy", answer=said((1, "carried 99 penguins")))
    with made_with as rag:
        (sentence,) = rag.ask_all(CONFLICT).sentences
    assert sentence.doubt == "its quotation 'carried 99 penguins' is not in the documents"


def test_a_model_reads_the_query_and_judges_the_hits_of_all_as_of_one(
    store: Path, tmp_path: Path
) -> None:
    made_with, model = with_model(store, tmp_path / "policy", **QUERY_SIDE)
    with made_with as rag:
        many = rag.collection()
        found = many.search(CONFLICT)
        stages = {request.stage for request in model.requests}
        assert stages == set(QUERY_SIDE)
        assert found.judgements
        assert any("of the model's conditions" in note for note in many.notes)
        for one in found.hits[:2]:
            alone = rag.search(CONFLICT, document=one.hit.document)
            assert one.hit == next(h for h in alone.hits if h.segment == one.hit.segment)
    asked = [(r.stage, r.system, r.user) for r in model.requests]
    with with_model(store, tmp_path / "policy", **QUERY_SIDE)[0] as rag:
        assert to_json(rag.collection().search(CONFLICT)) == to_json(found)
    assert len({one for one in asked if one[0] == "normalize_query"}) == 1


def test_an_estimate_of_a_search_of_many_is_a_maximum(store: Path, tmp_path: Path) -> None:
    made_with, model = with_model(store, tmp_path / "policy", **QUERY_SIDE)
    with made_with as rag:
        planned = rag.collection().estimate(CONFLICT)
        assert (model.calls, planned.most) == (0, True)
        rag.search_all(CONFLICT)
    assert 0 < model.calls <= planned.calls


def test_refining_many_keeps_what_refining_the_one_keeps(tmp_path: Path) -> None:
    def refined(name: str, *, many: bool) -> tuple[Refinement, Any]:
        judge = LabelJudge(EVIDENCE)
        with AbstRAG(
            tmp_path / f"{name}.db", policy=tmp_path / name, judge=judge, preset="fast"
        ) as rag:
            rag.index(tour_document())
            for other, text in TEXTS.items():
                (tmp_path / f"{other}.md").write_text(text, "utf-8")
                rag.index(tmp_path / f"{other}.md")
            if not many:
                return rag.refine(FAILING, document="water"), None
            made = rag.refine_all(FAILING)
            assert from_json(CollectionRefinement, to_json(made)) == made
            assert to_json(rag.search_all(FAILING)) == to_json(made.after)
            return next(one for one in made.documents if one.document == "water"), made

    alone, _ = refined("one", many=False)
    among, whole = refined("many", many=True)
    assert alone.accepted
    assert among.patches == alone.patches
    assert whole.patches[: len(among.patches)] == among.patches
    before, after = ([one.hit.text for one in r.hits] for r in (whole.before, whole.after))
    assert (EVIDENCE[FAILING] in before, EVIDENCE[FAILING] in after) == (False, True)


def test_gold_names_a_document_and_its_segment_or_the_words_of_one(rag: AbstRAG) -> None:
    (only,) = rag.refine_all(PUPPY, gold=["hounds:s2"]).documents
    assert only.document == "hounds"
    (only,) = rag.refine_all(PUPPY, gold=["A puppy sleeps twenty hours."]).documents
    assert only.document == "hounds"
    with pytest.raises(InputError, match="no document that was opened has a segment 'nowhere'"):
        rag.refine_all(PUPPY, gold=["nowhere"])


def test_a_model_criticizes_each_document_that_is_opened_as_it_would_the_one(
    store: Path, tmp_path: Path
) -> None:
    def criticized(name: str, *, many: bool) -> list[tuple[str, str]]:
        model = ScriptedModel({"critic": {"sufficient": True, "failure": None}})
        models = Models({CallRole.CRITIC: model})
        with AbstRAG(store, policy=tmp_path / name, models=models) as rag:
            opened = [one.document for one in rag.search_all(CONFLICT).documents]
            if many:
                assert [one.document for one in rag.refine_all(CONFLICT).documents] == opened
            else:
                for document in opened:
                    rag.refine(CONFLICT, document=document)
        return [(request.stage, request.user) for request in model.requests]

    asked = criticized("many", many=True)
    assert asked
    assert asked == criticized("single", many=False)


def test_where_no_document_passes_a_filter_nothing_is_found(rag: AbstRAG) -> None:
    made = rag.ask_all(PUPPY, filters=Filters(title="nowhere"))
    assert (made.found, made.evidence) == (False, ())
    assert made.note == "no passage of these documents holds anything of the query"
