"""`abstrag ask` as a person meets it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from abstrag.cli import options as cli_models
from abstrag.cli.ask import ask_command
from abstrag.errors import FileMissing, InputError, ModelUnreachable
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.llm.scripted import ScriptedModel

TEXT = """# Harbour report

## Ferries

The ferry company Nordline carried 18,400 passengers in 2023. Its captain Ida Holm retired in May.

## Fees

Berth fees rose by 4% in 2023.
"""
QUESTION = "How many passengers did Nordline carry?"
CLAIM = "Berth fees fell in 2023."


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.md"
    path.write_text(TEXT, "utf-8")
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(ask_command, [str(one) for one in arguments])


def connect(monkeypatch: pytest.MonkeyPatch, **replies: Any) -> ScriptedModel:
    model = ScriptedModel(replies)
    monkeypatch.setattr(
        cli_models.LlmOptions, "connect", lambda _: Models({CallRole.ANSWER: model})
    )
    return model


def reply(*sentences: tuple[str, str], missing: Sequence[str] = ()) -> Any:
    return {
        "status": "answered" if sentences else "not_in_document",
        "sentences": [
            {"text": text, "citations": [{"number": 1, "quote": quote}] if quote else []}
            for text, quote in sentences
        ],
        "missing": list(missing),
    }


def test_without_a_model_the_document_is_quoted_and_that_is_said(report: Path) -> None:
    result = call(report, QUESTION)
    assert result.exit_code == 0, result.output
    assert "  1  “The ferry company Nordline carried 18,400 passengers in 2023.”" in result.output
    assert "Ferries" in result.output
    assert "quoted from the document; no language model was asked" in result.output


def test_what_is_not_there_is_said_with_what_is_missing(report: Path) -> None:
    result = call(report, "How many penguins did Aeroflot carry?")
    assert result.exit_code == 0
    assert "nothing in this document answers this with confidence" in result.output
    assert "missing: penguin, Aeroflot" in result.output
    assert "the closest passages:" in result.output


def test_a_written_answer_has_numbers_and_marks_what_is_unsupported(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(
        monkeypatch,
        answer=reply(("It carried 18,400.", "carried 18,400 passengers"), ("A record [sic].", "")),
    )
    result = call(report, QUESTION)
    assert "It carried 18,400. [1]" in result.output
    assert "  1  “carried 18,400 passengers”" in result.output
    assert "A record [sic]." in result.output
    assert "unsupported: it cites nothing" in result.output
    assert "written by scripted from" in result.output


def test_a_model_that_finds_nothing_says_what_is_missing(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, answer=reply(missing=["passengers of 2024"]))
    output = call(report, QUESTION).output
    assert output.startswith("not in this document")
    assert "missing: passengers of 2024" in output


def test_a_claim_gets_its_verdict(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cited = [{"number": 1, "quote": "fees rose by 4%"}]
    told = {"label": "REFUTES", "citations": cited, "reason": "They rose.", "missing": []}
    connect(monkeypatch, verdict=told)
    result = call(report, CLAIM)
    assert result.output.startswith("REFUTES  in the opinion of scripted")
    assert "They rose. [1]" in result.output
    told["citations"] = [{"number": 1, "quote": "fees fell"}]
    assert "none of its quotations stands in the evidence" in call(report, CLAIM).output


def test_the_local_judge_gives_its_opinion(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Judge:
        threshold = 0.5

        def __call__(self, claim: str, evidence: Sequence[str]) -> tuple[float, float, float]:
            return 0.1, 0.8, 0.1

    monkeypatch.setattr("abstrag.answers.verdicts.installed_verdicts", Judge)
    output = call(report, CLAIM).output
    assert output.startswith("REFUTES  in the opinion of the local judge, 80% sure")
    assert "“Berth fees rose by 4% in 2023.”" in output


def test_the_answer_comes_as_json_with_spans_and_ledger(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = json.loads(call(report, QUESTION, "--json").stdout)
    span = told["citations"][0]["span"]
    assert TEXT[span["start"] : span["end"]] == told["citations"][0]["quote"]
    assert (told["mode"], told["ledger"]) == ("extractive", None)
    connect(monkeypatch, answer=reply(("It carried many.", "carried")))
    told = json.loads(call(report, QUESTION, "--json").stdout)
    assert (told["mode"], told["usage"]["calls"]) == ("generated", 1)
    assert told["ledger"] is not None


def test_k_is_how_many_passages_are_used(report: Path) -> None:
    assert len(json.loads(call(report, QUESTION, "--k", 1, "--json").stdout)["evidence"]) == 1
    assert call(report, QUESTION, "--k", 0).exit_code == 2


def test_the_wording_can_be_overruled(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = connect(monkeypatch, answer=reply())
    assert call(report, CLAIM, "--as", "question").exit_code == 0
    assert model.requests[0].stage == "answer"


def test_a_dry_run_asks_nothing(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "at most 0 calls" in call(report, QUESTION, "--dry-run").output
    model = connect(monkeypatch, answer=reply())
    assert "at most 1 call," in call(report, QUESTION, "--dry-run").output
    nothing = call(report, "penguins in Antarctica", "--no-judge", "--dry-run")
    assert "at most 0 calls" in nothing.output
    assert model.calls == 0


def test_the_models_find_what_is_answered_from(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = ScriptedModel({})
    models = Models({CallRole.INDEX: reader, CallRole.ANSWER: ScriptedModel({"answer": reply()})})
    monkeypatch.setattr(cli_models.LlmOptions, "connect", lambda _: models)
    call(report, QUESTION)
    assert reader.requests  # a searcher without models would have asked it nothing


def test_a_model_for_another_role_does_not_write(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_critic = Models({CallRole.CRITIC: ScriptedModel({})})
    monkeypatch.setattr(cli_models.LlmOptions, "connect", lambda _: only_critic)
    assert "no language model was asked" in call(report, QUESTION).output


def test_errors_have_their_classes(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(call(report, " ").exception, InputError)
    assert isinstance(call(report, QUESTION, "--tau", 9).exception, InputError)
    assert isinstance(call("nowhere.md", QUESTION).exception, FileMissing)
    connect(monkeypatch, answer=ModelUnreachable("no reply"))
    assert isinstance(call(report, QUESTION).exception, ModelUnreachable)
