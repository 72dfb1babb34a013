"""`ask`, `refine` and `search --llm` over a whole store, as a person meets them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.cli.main import main
from tests.unit.cli.command_line import printed as run
from tests.unit.cli.model_server import ModelServer, model_server
from tests.unit.llm.faulty import Behaviour, says

TEXTS = {
    "harbour": "# Harbour report 2023\n\nThe ferry company Nordline carried 18,400 passengers in "
    "2023. Its captain Ida Holm retired in May.",
    "almanac": "# Port almanac\n\nThe almanac says that Nordline carried 21,000 passengers in "
    "2023. Nordline was founded in 1950.",
    "hounds": "# Hounds\n\nHounds need long walks. A puppy sleeps twenty hours.",
}
CONFLICT = "How many passengers did Nordline carry in 2023?"


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    main(["index", str(folder), "--store", str(folder / "library.db")])
    return folder / "library.db"


def test_every_quotation_names_its_document_and_differing_answers_are_all_printed(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "ask", library, CONFLICT)
    assert shown.startswith("documents answer differently")
    assert "carried 18,400 passengers in 2023.”\n     harbour · s1" in shown
    assert "carried 21,000 passengers in 2023.”\n     almanac · s1" in shown
    made = json.loads(run(capsys, "ask", "--all", CONFLICT, "--store", library, "--json"))
    assert {made["document"], *(one["document"] for one in made["others"])} == {
        "harbour",
        "almanac",
    }
    only = json.loads(run(capsys, "ask", library, CONFLICT, "--title", "almanac", "--json"))
    assert (only["document"], only["others"]) == ("almanac", [])


def test_what_is_in_none_of_them_is_said_with_the_closest_passages(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "ask", library, "How many penguins did Aeroflot carry?")
    assert "nothing in these documents answers this with confidence" in shown
    assert "not an answer yet; the closest passages:" in shown
    assert "missing: penguin, Aeroflot" in shown


def test_each_document_that_is_opened_is_refined(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "refine", library, "How long does a puppy rest?", "--forget")
    assert "\nhounds\n" in shown
    assert "documents refined, " in shown
    gold = ("--gold", "hounds:s2", "--json")
    made = json.loads(run(capsys, "refine", "--all", "Dogs", *gold, "--store", library))
    assert [one["document"] for one in made["documents"]] == ["hounds"]
    assert made["before"]["hits"]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (("refine", "--all"), "refine needs a TARGET and a QUERY"),
        (("refine", "--all", "--episodes", "e.jsonl"), "--episodes names its targets itself"),
        (("refine", "--all", "Dogs", "--gold", "hound:s1"), "has a segment 'hound:s1'"),
        (("refine", "--all", "Dogs", "--workers", "2"), "several workers need several documents"),
        (("ask", "--all", "Dogs", "--granularity", "sentence"), "searched as it was indexed"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_a_hint(
    library: Path, capsys: pytest.CaptureFixture[str], given_: tuple[str, ...], said: str
) -> None:
    shown = run(capsys, *given_, "--store", library, code=2)
    assert said in shown
    assert "hint: " in shown


class Asking:
    """Commands over the library, with a model behind them whose calls are logged in a folder."""

    def __init__(
        self, library: Path, server: ModelServer, calls: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.library, self.server, self.capsys = library, server, capsys
        self.model = ("--llm", "tester", "--base-url", server.url, "--calls", calls)

    def __call__(self, command: str, *args: object, code: int = 0) -> str:
        return run(self.capsys, command, self.library, *args, *self.model, code=code)


def _answers(stage: str, _number: int) -> Behaviour | None:
    """Let the server quote the first passage it is shown."""
    if stage != "answer":
        return None

    quote = {"number": 1, "quote": "carried"}
    sentence = {"text": "It carried passengers.", "citations": [quote]}
    return says({"status": "answered", "sentences": [sentence], "missing": []})


@pytest.fixture
def asking(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Asking]:
    with model_server(_answers) as server:
        yield Asking(library, server, tmp_path / "calls.db", capsys)


def without_ledger(told: str) -> Any:
    found = json.loads(told[: told.rindex("}") + 1])
    return {name: value for name, value in found.items() if name not in ("ledger", "usage")}


@pytest.mark.parametrize("command", ["search", "ask"])
def test_the_second_time_asks_nothing_and_prints_the_same_bytes(
    asking: Asking, command: str
) -> None:
    planned = json.loads(asking(command, CONFLICT, "--dry-run", "--json"))["estimate"]
    assert asking.server.asked == 0
    first = asking(command, CONFLICT, "--json")
    asked = asking.server.asked
    assert 0 < asked <= planned["calls"]
    stages = set(asking.server.stages)
    assert {"normalize_query", "expand_query", "entailment"} <= stages
    assert ("answer" in stages) == (command == "ask")
    second = asking(command, CONFLICT, "--json")
    assert asking.server.asked == asked
    assert without_ledger(second) == without_ledger(first)
    assert "models: 0 calls" in asking(command, CONFLICT)


def test_a_recording_gives_the_same_bytes_without_a_server(
    asking: Asking, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = asking("search", CONFLICT)
    recording = tmp_path / "calls.jsonl"
    run(capsys, "calls", "export", recording, "--calls", tmp_path / "calls.db")
    asked = asking.server.asked
    again = run(capsys, "search", asking.library, CONFLICT, "--replay", recording)
    assert asking.server.asked == asked
    assert again.split("models:")[0] == first.split("models:")[0]


def test_a_cap_on_calls_ends_the_search_of_many(asking: Asking) -> None:
    shown = asking("search", CONFLICT, "--max-calls", "3", code=22)
    assert asking.server.asked <= 3
    assert "hint: " in shown


def test_the_models_shown_passages_name_their_documents(asking: Asking) -> None:
    made = json.loads(asking("ask", CONFLICT, "--json").split("\nmodels")[0])
    assert made["mode"] == "generated"
    assert made["citations"][0]["document"] in TEXTS
