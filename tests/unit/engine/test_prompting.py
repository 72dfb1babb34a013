"""Prompting: which models do what, and what that is worth to a search."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.prompting import Prompting
from abstrag.engine.searcher import Searcher
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Prompt
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.term import LicenceKind
from abstrag.search.calibration import ModelCalibration, fitted, program_hash, save_calibration
from abstrag.search.relevance import ALIGNED, FAST, GENERAL, PAPER, PRESETS, SMOOTH, judged_preset
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.tour import DEMO_QUERY, demo_document, demo_index
from tests.unit.cli.model_server import QUERY_SIDE
from tests.unit.indexing.prompted.encoders import Letters
from tests.unit.indexing.prompted.models import diligent


def model(**replies: Any) -> ScriptedModel:
    return ScriptedModel({**diligent()._replies, **QUERY_SIDE, **replies})


def prompting(models: Mapping[CallRole, ScriptedModel]) -> Prompting:
    return Prompting.of(Models(models), encoder=Letters())


def test_without_the_index_role_documents_and_queries_are_read_by_rule() -> None:
    judge = model()
    made = prompting({CallRole.JUDGE: judge})
    assert made.index is None
    searcher = made.searcher(demo_index(), preset=GENERAL)
    searcher.search(DEMO_QUERY, k=3)
    assert {r.stage for r in judge.requests} == {"entailment"}


def test_without_the_judge_role_nothing_is_judged() -> None:
    reader = model()
    searcher = prompting({CallRole.INDEX: reader}).searcher(demo_index(), preset=SMOOTH)
    ranking = searcher.search(DEMO_QUERY, k=3)
    assert ranking.judgements == 0
    assert {r.stage for r in reader.requests} == {"normalize_query", "expand_query"}


def test_the_index_model_judges_what_it_proposed_when_there_is_no_judge() -> None:
    own = model()
    bound = prompting({CallRole.INDEX: own}).index
    assert bound is not None
    assert bound["truth_eval"].model is own
    both = prompting({CallRole.INDEX: own, CallRole.JUDGE: (judge := model())}).index
    assert both is not None
    assert both["truth_eval"].model is judge
    assert both["coreference"].model is own


def test_a_query_is_read_once_however_often_it_is_asked() -> None:
    reader = model()
    searcher = prompting({CallRole.INDEX: reader}).searcher(demo_index(), preset=GENERAL)
    for _ in range(2):
        searcher.search(DEMO_QUERY, k=3)
        searcher.clauses(DEMO_QUERY)
    assert reader.calls == 2


def test_what_a_model_proposes_shows_in_the_trace_with_its_call() -> None:
    def expand(request: Any) -> Any:
        edge = {
            "literal": "q1",
            "operator": "event",
            "source": "visit",
            "confidence": 90,
        }
        return {"clauses": [{"edges": [edge]}]}

    rest = {"negated": False, "slots": []}
    marks = [{"kind": "event", "quote": "mergers", **rest}]
    read = {"literals": marks, "answer_type": ""}
    reader = model(normalize_query=read, expand_query=expand)
    searcher = Prompting.of(Models({CallRole.INDEX: reader}), encoder=_Same()).searcher(
        demo_index(), preset=FAST
    )
    hits = searcher.search("mergers", k=5).hits
    bridges = [b for hit in hits for b in hit.trace.bridges if b.operator == "expand_query"]
    assert bridges
    assert all(b.licence and b.licence.kind is LicenceKind.MODEL and b.cost > 0 for b in bridges)


class _Same(Letters):
    """Shows the model whatever begins with a v first."""

    def embed(self, texts: Any) -> Any:
        return super().embed(["vi" if t.startswith(("v", "merger")) else "zz" for t in texts])


def test_notes_say_what_could_not_be_used() -> None:
    searcher = prompting(dict.fromkeys(CallRole, model(entailment={"judgements": []}))).searcher(
        demo_index(), preset=GENERAL
    )

    searcher.search(DEMO_QUERY, k=3)
    said = " ".join(searcher.notes)
    assert "the query does not say it: 1 of the" in said
    assert "free text or over the budget:" in said
    assert "without a judgement" in said


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda p: p.name)
def test_a_judge_gets_its_say_in_every_preset(preset: Any) -> None:
    made = judged_preset(preset)
    assert made.judge_weight > 0
    assert judged_preset(made) == made


def test_in_the_papers_presets_the_judge_is_all_of_match_and_elsewhere_half() -> None:
    assert judged_preset(PAPER).coverage_weight == 0.0
    assert judged_preset(FAST).judge_weight == sum(FAST.weights.values())
    assert judged_preset(ALIGNED).judge_weight == 1.0  # in a product it is one factor more


def test_a_searcher_asks_no_more_than_was_said_to_be_the_most() -> None:
    judge = model(entailment={"judgements": []})
    made = prompting(dict.fromkeys(CallRole, judge))
    most = made.estimate_search(demo_index())
    assert most.most
    made.searcher(demo_index(), preset=GENERAL).search(DEMO_QUERY, k=30)
    assert judge.calls <= most.calls


def test_a_search_reads_the_judge_by_the_curve_kept_for_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path))
    made = prompting({CallRole.JUDGE: model()})
    bare = made.searcher(demo_index(), preset=GENERAL).search(DEMO_QUERY, k=3)
    prompt = Prompt(made.programs["entailment"], made.models[CallRole.JUDGE], CallRole.JUDGE)
    curve = ModelCalibration(prompt.model.fingerprint, program_hash(prompt), slope=0.0, offset=-1.0)
    save_calibration(curve)
    fitted = made.searcher(demo_index(), preset=GENERAL).search(DEMO_QUERY, k=3)
    assert {hit.judgement for hit in bare.hits} != {hit.judgement for hit in fitted.hits}
    assert [hit.judgement for hit in fitted.hits] == pytest.approx([curve(0.5)] * 3, abs=1e-6)


def test_a_judge_whose_word_says_nothing_leaves_the_local_one_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path))
    judge = model()
    made = prompting({CallRole.JUDGE: judge})
    prompt = Prompt(made.programs["entailment"], made.models[CallRole.JUDGE], CallRole.JUDGE)
    shares, marked = [0.1, 0.9, 0.2, 0.8] * 20, [True, False, False, True] * 20
    save_calibration(fitted(prompt.model.fingerprint, program_hash(prompt), shares, marked))
    found = made.searcher(demo_index(), preset=GENERAL).search(DEMO_QUERY, k=3)
    assert judge.calls == 0
    assert found.hits == Searcher(demo_index(), preset=GENERAL).search(DEMO_QUERY, k=3).hits


def test_the_facade_takes_models() -> None:
    scripted = model()
    with AbstRAG(":memory:", models=Models.of(scripted)) as rag:
        made = rag.index(demo_document())
        assert any(e.licence.kind is LicenceKind.MODEL for e in made.map.edges)
        assert rag.search(DEMO_QUERY, k=2).judgements > 0
        calls = scripted.calls
        rag.index(demo_document())
        assert scripted.calls == calls


def test_a_model_that_is_not_to_judge_does_not_whatever_the_preset() -> None:
    judge = model()
    made = prompting({CallRole.JUDGE: judge})
    ranking = made.searcher(demo_index(), preset=SMOOTH, judge=False).search(DEMO_QUERY, k=3)
    assert (ranking.judgements, judge.requests) == (0, [])
