"""The published schemas describe what is printed, and nothing else."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from abstrag import AbstRAG, Hit, Ranking
from abstrag.cli.main import main
from abstrag.errors import InputError
from abstrag.model.answer import Answer
from tests.unit.refine.harbour import SEWAGE, TEXT


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))
    folder = tmp_path / "files"
    folder.mkdir()
    path = folder / "harbour.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def printed(capsys: pytest.CaptureFixture[str], *args: object) -> Any:
    capsys.readouterr()
    main([str(arg) for arg in args])
    return json.loads(capsys.readouterr().out)


COMMANDS = {
    "search": ["search", "FILE", SEWAGE, "--no-judge"],
    "search of many": ["search", "FOLDER", SEWAGE, "--no-judge"],
    "search, mended first": ["search", "FILE", SEWAGE, "--refine"],
    "explain": ["explain", "FILE", SEWAGE, "1", "--no-judge"],
    "explain of many": ["explain", "FOLDER", SEWAGE, "1", "--no-judge"],
    "why-not": ["why-not", "FILE", SEWAGE, "--text", "nowhere to be found", "--no-judge"],
    "why-not of many": ["why-not", "FOLDER", SEWAGE, "--text", "nowhere", "--no-judge"],
    "budget": ["budget", "FILE", SEWAGE],
    "ask": ["ask", "FILE", SEWAGE],
    "ask of many": ["ask", "FOLDER", SEWAGE],
    "refine": ["refine", "FILE", SEWAGE],
    "refine of many": ["refine", "FOLDER", SEWAGE],
    "store-list": ["store", "list"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_is_what_its_schema_says(
    name: str, report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", str(report.parent)])
    places = {"FILE": str(report), "FOLDER": str(report.parent)}
    told = printed(capsys, *(places.get(arg, arg) for arg in COMMANDS[name]), "--json")
    schema = printed(capsys, "schema", re.split("[ ,]", name)[0])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(told, schema)
    assert told


def test_a_field_that_no_schema_knows_is_refused(
    report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = printed(capsys, "budget", report, SEWAGE, "--json")
    schema = printed(capsys, "schema", "budget")
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        jsonschema.validate({**told, "surprise": 1}, schema)


def test_every_field_of_a_hit_is_in_the_schema_of_all_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    every = printed(capsys, "schema")["$defs"]
    assert set(every["Hit"]["properties"]) == {each.name for each in fields(Hit)}


def test_an_unknown_name_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema", "serve"])
    assert ended.value.code == InputError.exit_code
    assert "why-not" in capsys.readouterr().err


def test_results_become_plain_data_and_come_back() -> None:
    with AbstRAG.from_text(TEXT) as rag:
        ranking, answer = rag.search(SEWAGE), rag.ask(SEWAGE)
    data = json.loads(json.dumps(ranking.to_dict()))
    assert Ranking.from_dict(data) == ranking
    assert Hit.from_dict(data["hits"][0]) == ranking.hits[0]
    assert Answer.from_dict(answer.to_dict()) == answer
    with pytest.raises(InputError, match="tau"):
        Ranking.from_dict({**data, "tau": "much"})
