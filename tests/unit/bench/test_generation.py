"""Answers and labels in the harness: one generator for all, from each system's own passages."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from abstrag.answers.generator import CitedWords, Given, VerdictReply
from abstrag.cli import options as cli_models
from abstrag.errors import BadReply, InputError, ModelUnreachable, NotComputable, OverBudget
from abstrag.llm.connect import Models
from abstrag.llm.model import ModelRequest
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.answer import Asked, Label
from abstrag.policy.load import load_programs
from abstrag.workers.processes import Processes
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.case import Case, Dataset
from abstrag_bench.cli.bench import bench_command
from abstrag_bench.datasets import qasper, tatqa
from abstrag_bench.generation import UNANSWERABLE, ModelWriter, asked_of, quotes_held
from abstrag_bench.local_writer import LocalWriter
from abstrag_bench.metrics.catalogue import ANSWER_F1
from abstrag_bench.metrics.label import ACCURACY, class_scores, macro_f1
from abstrag_bench.record import CaseRecord
from abstrag_bench.report import report
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import Options, run, worst_requests
from abstrag_bench.systems import SystemSpec
from tests.unit.bench.makers import make_pool, make_record, write_json, write_lines

BM25 = SystemSpec.of("bm25")
BOTH = [BM25, SystemSpec.of("bm25-stem")]
CLAIM = "Lions sleep for most of the day."


def case(name: str, query: str, **gold: Any) -> Case:
    return Case("plain", "dev", name, make_pool("d1"), query, **gold)


def dataset(*cases: Case) -> Dataset:
    return Dataset("plain", "dev", cases)


MIXED = dataset(
    case("q1", "When do lions sleep?", answers=("for most of the day",), gold=("0",)),
    case("q2", "What does a shark hunt?", answers=("seals", "seals near the coast")),
    case("c1", CLAIM, label="SUPPORTS", gold=("0",)),
    case("c2", "Sharks sleep all day.", label="NEI"),
    case("none", "Why is it?"),
)


def told(request: ModelRequest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.user.removeprefix("<data>").removesuffix("</data>"))
    return found


def answering(request: ModelRequest) -> Any:
    """Answer with the first words of the first passage."""
    words = " ".join(told(request)["passages"][0]["text"].split()[:6])
    sentence = {"text": words, "citations": [{"number": 1, "quote": words}]}
    return {"status": "answered", "sentences": [sentence], "missing": []}


def judging(request: ModelRequest) -> Any:
    """Support what stands there word for word."""
    asked = told(request)
    text = asked["passages"][0]["text"]
    label = "SUPPORTS" if text.startswith(asked["claim"][:20]) else "NOT_ENOUGH_INFO"
    return {"label": label, "citations": [], "reason": "", "missing": []}


def scripted(**changes: Any) -> tuple[Backing, ScriptedModel]:
    model = ScriptedModel({"answer": answering, "verdict": judging, **changes})
    return Backing(Models.of(model), load_programs()), model


def generated(
    data: Dataset, specs: list[SystemSpec], out: Path, backing: Backing, **options: Any
) -> dict[tuple[str, str], CaseRecord]:
    run(data, specs, out, Options(**options), backing=backing, writer=ModelWriter(backing))
    return {one.key: one for one in RunFolder(out).records()}


def test_a_case_is_asked_for_what_people_gave() -> None:
    wanted = [Asked.QUESTION, Asked.QUESTION, Asked.CLAIM, Asked.CLAIM, None]
    assert [asked_of(one) for one in MIXED.cases] == wanted
    assert asked_of(case("x", "q", label="blue", answers=("a",))) is Asked.QUESTION
    assert asked_of(case("x", "q", answers=(" ",))) is None  # an annotation without its words


def test_every_system_answers_from_its_own_first_three(tmp_path: Path) -> None:
    backing, model = scripted()
    found = generated(MIXED, BOTH, tmp_path, backing)
    assert found["bm25", "q1"].answer == "Lions sleep for most of the"
    assert found["bm25-stem", "c1"].label == "SUPPORTS"
    assert found["bm25", "c2"].label == "NOT ENOUGH INFO"
    nothing = found["bm25", "none"]
    assert (nothing.answer, nothing.label, nothing.llm_calls) == (None, None, None)
    assert found["bm25", "q1"].llm_calls == 1
    assert model.calls == 2 * 4
    first = told(model.requests[0])
    assert [one["number"] for one in first["passages"]] == [1, 2, 3]
    assert first["passages"][0]["text"] == make_pool().elements[0].text
    assert found["bm25", "q1"].details["generation"]["quotes"] == [1, 1]


def test_the_scores_are_in_the_report(tmp_path: Path) -> None:
    backing, _ = scripted()
    generated(MIXED, BOTH, tmp_path, backing)
    summary, files = report(tmp_path, reference="bm25")
    line = summary.systems[0]
    assert [(one.label, one.gold, one.recall) for one in line.classes] == [
        ("SUPPORTS", 1, 1.0),
        ("NOT ENOUGH INFO", 1, 1.0),
    ]
    assert line.macro_f1 == 1.0
    scores = {one.metric: one for one in summary.scores if one.system == "bm25"}
    assert scores["Accuracy"].interval is not None
    assert scores["Accuracy"].interval.n == 2
    assert scores["Answer-F1"].interval is not None
    assert scores["Answer-F1"].interval.n == 2
    assert sum(scores["Answer-F1"].not_computable.values()) == 3
    text = next(path for path in files if path.suffix == ".md").read_text("utf-8")
    assert "NOT ENOUGH INFO" in text
    assert "Answer-F1" in text
    assert summary.manifest.generator.startswith("scripted ")


def test_an_answer_that_is_not_there_is_unanswerable(tmp_path: Path) -> None:
    backing, _ = scripted(answer={"status": "not_in_document", "sentences": [], "missing": []})
    found = generated(MIXED, [BM25], tmp_path, backing)
    assert found["bm25", "q1"].answer == UNANSWERABLE


def test_a_failed_call_is_an_error_of_its_case_and_the_run_goes_on(tmp_path: Path) -> None:
    backing, _ = scripted(verdict=ModelUnreachable("no reply"))
    found = generated(MIXED, [BM25], tmp_path, backing)
    failed = found["bm25", "c1"]
    assert failed.error == "no answer: no reply"
    assert failed.ranked[0] == "0"  # the ranking stands
    assert failed.label is None
    assert found["bm25", "q2"].error is None
    summary, _ = report(tmp_path, reference="bm25")
    assert summary.systems[0].failures == 2
    scores = {one.metric: one for one in summary.scores}
    assert scores["Accuracy"].interval is None


def test_what_failed_is_scored_again_when_that_is_wanted(tmp_path: Path) -> None:
    broken, _ = scripted(verdict=BadReply("nonsense"))
    before = generated(MIXED, [BM25], tmp_path, broken)
    works, model = scripted()
    again = generated(MIXED, [BM25], tmp_path, works)
    assert model.calls == 0
    assert again == before
    mended = generated(MIXED, [BM25], tmp_path, works, retry_failed=True)
    assert model.calls == 2
    assert mended["bm25", "c1"].label == "SUPPORTS"
    assert len(mended) == len(MIXED.cases)


def test_a_spent_budget_ends_the_run_and_finished_documents_are_kept(tmp_path: Path) -> None:
    second = replace(MIXED.cases[0], case_id="late", document=make_pool("d2"))
    data = dataset(MIXED.cases[0], second)
    left = [OverBudget("spent"), None]
    backing, _ = scripted(answer=lambda request: left.pop() or answering(request))
    with pytest.raises(OverBudget):
        generated(data, [BM25], tmp_path, backing)
    assert [one.case_id for one in RunFolder(tmp_path).records()] == ["q1"]
    works, model = scripted()
    assert len(generated(data, [BM25], tmp_path, works)) == 2
    assert model.calls == 1


def test_a_budget_spent_while_searching_ends_the_run_too(tmp_path: Path) -> None:
    backing, _ = scripted(ircot=OverBudget("spent"))
    with pytest.raises(OverBudget):
        generated(MIXED, [SystemSpec.of("ircot")], tmp_path, backing)


def test_a_run_has_one_generator(tmp_path: Path) -> None:
    backing, _ = scripted()
    generated(MIXED, [BM25], tmp_path, backing)
    with pytest.raises(InputError, match="another generator"):
        run(MIXED, [BM25], tmp_path)
    changed = {**backing.programs, "verdict": replace(backing.programs["verdict"], rules=("No.",))}
    with pytest.raises(InputError, match="another generator"):
        generated(MIXED, [BM25], tmp_path, Backing(backing.models, changed))


def test_processes_and_a_model_do_not_go_together(tmp_path: Path) -> None:
    backing, _ = scripted()
    with pytest.raises(InputError, match="--workers 2"):
        generated(MIXED, [BM25], tmp_path, backing, engine=Processes(2))


def greedy() -> dict[str, Any]:
    return {
        "ircot": {"thought": "More.", "query": "spring museum", "done": False},
        "crag": {"grades": [], "rewritten_query": "museum"},
        "self_rag": {"should_retrieve": True, "passages": [], "follow_up": "museum"},
    }


def test_the_most_that_is_foretold_is_never_exceeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from abstrag_bench.baselines import registry
    from abstrag_bench.baselines.bm25 import Bm25

    for name in ("self-rag", "crag"):  # with a retriever that needs no weights
        entry = registry.BASELINES[name]
        assert entry.build is not None
        made: Callable[..., Any] = entry.build
        lexical = replace(entry, build=lambda backing, made=made: made(backing, Bm25()))
        monkeypatch.setitem(registry.BASELINES, name, lexical)
    names = ("bm25", "ircot", "self-rag", "crag")
    specs = [SystemSpec.of(name) for name in names]
    backing, model = scripted(**greedy())
    writer = ModelWriter(backing)
    most = worst_requests(MIXED, specs, tmp_path / "run", backing=backing, writer=writer)
    assert model.calls == 0
    assert not (tmp_path / "run").exists()
    found = generated(MIXED, specs, tmp_path / "run", backing)
    for name in names:
        made_calls = sum(one.llm_calls or 0 for key, one in found.items() if key[0] == name)
        assert 0 < made_calls <= len(most[name]), name
    assert sum(one.llm_calls or 0 for one in found.values()) == model.calls
    left = worst_requests(MIXED, specs, tmp_path / "run", backing=backing, writer=writer)
    assert not any(left.values())


def test_quotations_are_counted_with_those_that_hold() -> None:
    cited = tuple(CitedWords(1, quote) for quote in ("red  fox", "blue fox", "", "Revenue"))
    said = VerdictReply("SUPPORTS", cited, "", ())
    assert quotes_held(said, [Given("The red fox.", headers=("Revenue",))]) == [2, 4]


def test_ours_quotes_its_answer_without_a_model(tmp_path: Path) -> None:
    class Sure:
        threshold = 0.5

        def __call__(self, claim: str, evidence: Any) -> tuple[float, float, float]:
            return (0.9, 0.0, 0.1) if claim == CLAIM else (0.3, 0.4, 0.3)

    data = dataset(*MIXED.cases[:4], case("far", "Who founded Acme Corporation?", answers=("Bo",)))
    ours = SystemSpec.of("abstrag")
    run(data, [ours, BM25], tmp_path, writer=LocalWriter(Sure()))
    found = {one.key: one for one in RunFolder(tmp_path).records()}
    assert found["abstrag", "q1"].answer == make_pool().elements[0].text
    assert found["abstrag", "c1"].label == "SUPPORTS"
    assert found["abstrag", "c2"].label is None  # not sure enough
    assert found["abstrag", "far"].answer == UNANSWERABLE
    assert found["bm25", "q1"].answer is None
    assert not any(one.llm_calls for one in found.values())


def test_a_label_counts_in_any_spelling() -> None:
    records = [
        make_record("1", label="SUPPORTS", gold_label="Entailment"),
        make_record("2", label="NOT ENOUGH INFO", gold_label="NEI"),
        make_record("3", label="SUPPORTS", gold_label="Contradiction"),
        make_record("4", label=None, gold_label="NEI"),
    ]
    assert [ACCURACY(one) for one in records[:3]] == [1.0, 1.0, 0.0]
    with pytest.raises(NotComputable, match="needs a predicted label"):
        ACCURACY(records[3])
    by_label = {one.label: one for one in class_scores(records)}
    assert list(by_label) == [label.value for label in Label]
    supports, refutes = by_label["SUPPORTS"], by_label["REFUTES"]
    assert (supports.gold, supports.said, supports.right) == (1, 2, 1)
    assert (supports.precision, supports.recall) == (0.5, 1.0)
    assert (refutes.precision, refutes.recall, refutes.f1) == (None, 0.0, 0.0)
    assert macro_f1(records) == pytest.approx((2 / 3 + 0 + 1) / 3)


def test_a_reference_without_words_is_not_computable() -> None:
    said = make_record(answer="Lions sleep.", gold_answers=("", "Lions do"))
    assert ANSWER_F1(said) == pytest.approx(2 / 4)
    with pytest.raises(NotComputable, match="needs a reference answer"):
        ANSWER_F1(replace(said, gold_answers=("", " ")))


def test_references_are_what_people_wrote_and_nothing_else(tmp_path: Path) -> None:
    blank = {"answer": {"free_form_answer": " ", "extractive_spans": [], "evidence": []}}
    full = {"answer": {"free_form_answer": "so ", "extractive_spans": [], "evidence": []}}
    asked = {"question": "How?", "question_id": "q", "answers": [blank, full]}
    paper = {"title": "t", "abstract": "a", "full_text": [], "qas": [asked]}
    write_json(tmp_path / "qasper" / "qasper-dev.json", {"1": paper})
    assert qasper.load(tmp_path, "dev").cases[0].answers == ("so",)
    question = {"uid": "u", "question": "How much?", "answer": ["4.5"], "scale": "percent"}
    table = {"uid": "t", "table": [["Fee"], ["4.5"]]}
    write_json(
        tmp_path / "tatqa" / "tatqa-dev.json",
        [{"table": table, "paragraphs": [], "questions": [{**question, "mapping": {}}]}],
    )
    assert tatqa.load(tmp_path, "dev").cases[0].answers == ("4.5", "4.5 percent")


# the command


def call(*arguments: object) -> Result:
    return CliRunner().invoke(bench_command, [str(one) for one in arguments])


@pytest.fixture
def command(tmp_path: Path) -> tuple[object, ...]:
    lines: list[dict[str, Any]] = [
        {"document": "d", "elements": [element.text for element in make_pool().elements]},
        {"case": "q", "document": "d", "query": "When do lions sleep?", "answers": ["all day"]},
        {"case": "c", "document": "d", "query": CLAIM, "gold": ["0"], "label": "SUPPORTS"},
    ]
    path = write_lines(tmp_path / "dev.jsonl", lines)
    options = ("--dataset", "plain", "--data", path, "--split", "dev", "--out", tmp_path / "run")
    return ("run", *options)


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    backing, model = scripted(**greedy())
    monkeypatch.setattr(cli_models.LlmOptions, "connect", lambda _: backing.models)
    return model


def test_one_command_generates_and_reports(
    command: tuple[object, ...], connected: ScriptedModel
) -> None:
    result = call(
        *command, "--systems", "bm25,ircot", "--generate", "--reference", "bm25", "--json"
    )
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["systems"][0]["classes"][0]["label"] == "SUPPORTS"
    assert "ledger" in summary
    assert connected.calls > 4


def test_a_dry_run_says_the_most_and_asks_nothing(
    command: tuple[object, ...], connected: ScriptedModel, tmp_path: Path
) -> None:
    dry = (*command, "--systems", "bm25,ircot", "--generate", "--dry-run")
    result = call(*dry)
    assert "ircot: at most 10 calls" in result.output
    assert "at most 12 calls" in result.output
    assert json.loads(call(*dry, "--json").stdout)["total"]["calls"] == 12
    assert connected.calls == 0
    assert not (tmp_path / "run").exists()


def test_no_model_is_connected_where_none_is_asked(
    command: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> Models:
        raise AssertionError("nobody asked for a model")

    monkeypatch.setattr(cli_models.LlmOptions, "connect", refuse)
    assert call(*command, "--systems", "bm25", "--workers", 2).exit_code == 0


def test_failures_are_told_with_the_way_on(
    command: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    backing, _ = scripted(verdict=BadReply("nonsense"))
    monkeypatch.setattr(cli_models.LlmOptions, "connect", lambda _: backing.models)
    result = call(*command, "--systems", "bm25", "--generate")
    assert "1 cases failed; --retry-failed scores them again" in result.output
