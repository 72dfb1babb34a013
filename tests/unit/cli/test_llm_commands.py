"""The commands with a model behind them, over HTTP on this machine."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.cli.main import main
from tests.unit.cli.model_server import Fault, ModelServer, model_server
from tests.unit.llm.faulty import Behaviour, says, status

ARTICLE = """# Memory prices

Acme and Initech sell memory chips to phone makers. It raised its prices in May 2024.
The chief executive of Acme visited a foundry of Globex. They agreed on a larger order.

## Buyers

Umbrella Mobile bought memory chips worth 40 million dollars. This surprised its rivals.
Globex delivers wafers to Acme Memory Systems. Analysts expect that Acme Memory System will grow.
"""
QUERY = "Which companies bought memory chips?"


@pytest.fixture
def article(tmp_path: Path) -> Path:
    path = tmp_path / "chips.md"
    path.write_text(ARTICLE, "utf-8")
    return path


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


class Console:
    """Runs commands against a server and reads what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, server: ModelServer | None, *args: object) -> tuple[int, str, str]:
        where = () if server is None else ("--llm", "tester", "--base-url", server.url)
        code = 0
        try:
            main([str(a) for a in (*args, *where)])
        except SystemExit as done:
            code = int(done.code or 0)
        out, err = self.capsys.readouterr()
        return code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(capsys)


def test_indexing_says_what_the_models_took(
    run: Console, server: ModelServer, article: Path
) -> None:
    code, out, err = run(server, "index", article)
    assert code == 0
    assert "indexed" in out
    assert f"{server.asked} calls" in err


def test_a_second_run_of_index_and_search_makes_no_call(
    run: Console, server: ModelServer, article: Path
) -> None:
    run(server, "index", article)
    _, first, _ = run(server, "search", article, QUERY)
    asked = server.asked
    code, out, err = run(server, "index", article)
    assert (code, server.asked) == (0, asked)
    assert "unchanged" in out
    code, second, err = run(server, "search", article, QUERY)
    assert (code, server.asked, second) == (0, asked, first)
    assert "0 calls" in err


def test_an_index_that_a_model_made_stays_in_use_without_one(
    run: Console, server: ModelServer, article: Path
) -> None:
    run(server, "index", article)
    made = json.loads(run(None, "map", article, "--json")[1])
    assert any("model" in json.dumps(edge) for edge in made["edges"])
    assert "unchanged" in run(None, "index", article)[1]


def test_a_dry_run_of_index_asks_nothing_and_is_within_a_fifth(
    run: Console, server: ModelServer, article: Path
) -> None:
    code, out, _ = run(server, "index", article, "--dry-run")
    assert (code, server.asked) == (0, 0)
    planned = int(re.findall(r"about ([\d,]+) calls", out)[0])
    run(server, "index", article)
    assert abs(planned - server.asked) <= 0.2 * server.asked
    again = json.loads(run(server, "index", article, "--dry-run", "--json")[1])["estimate"]
    assert (again["calls"], again["cached"]) == (0, 0)


@pytest.mark.parametrize("command", ["search", "why-not", "budget", "explain"])
def test_a_dry_run_of_a_search_is_a_maximum(
    run: Console, server: ModelServer, article: Path, command: str
) -> None:
    more = {"why-not": ("--span", "s3"), "explain": ("s3",)}.get(command, ())
    code, out, _ = run(server, command, article, QUERY, *more, "--dry-run", "--json")
    assert (code, server.asked) == (0, 0)
    planned = json.loads(out)
    most = planned["estimate"]
    assert most["most"]
    assert planned["indexing"]["calls"] > 0
    run(server, "index", article)
    indexed = server.asked
    code, out, _ = run(server, command, article, QUERY, *more, "--json")
    assert code == 0
    assert json.loads(out)["ledger"]["roles"]
    assert indexed < server.asked <= indexed + most["calls"]


def test_a_search_carries_ledger_and_notes(
    run: Console, server: ModelServer, article: Path
) -> None:
    run(server, "index", article)
    before = server.asked
    found = json.loads(run(server, "search", article, QUERY, "--json")[1])
    assert found["judgements"] > 0
    assert found["hits"][0]["judgement"] is not None
    roles = {role["role"]: role["calls"] for role in found["ledger"]["roles"]}
    assert sum(roles.values()) == server.asked - before
    assert set(roles) == {"index", "judge"}
    assert any("the query does not say it" in note for note in found["notes"])
    assert any("free text" in note for note in found["notes"])


def test_one_role_can_have_a_model_and_the_others_none(
    run: Console, server: ModelServer, article: Path
) -> None:
    where = ("--llm", "judge=tester", "--base-url", server.url)
    code, _, _ = run(None, "search", article, QUERY, *where)
    assert code == 0
    assert set(server.stages) == {"entailment"}


def once(stage: str, behaviour: Behaviour) -> Fault:
    """Misbehave at the first two requests of a stage: a call and its repair."""
    return lambda at, number: behaviour if at == stage and number <= 2 else None


def test_a_reply_that_stays_nonsense_is_said_and_asked_again_next_time(
    run: Console, article: Path
) -> None:
    with model_server(once("extract_events", says("certainly! here you go"))) as server:
        code, out, err = run(server, "index", article)
        assert code == 0
        assert re.search(r"\d+ segments? without events", out)
        assert "again" in err
        asked = server.asked
        code, out, _ = run(server, "index", article)
        assert (code, "without" in out) == (0, False)
        assert set(server.stages) >= {"align_events"}
        assert server.asked - asked == 2  # the events, and how they are to be aligned
        assert "unchanged" in run(server, "index", article)[1]


def test_nobody_at_the_address_is_one_sentence_and_its_exit_code(
    run: Console, article: Path
) -> None:
    with model_server(lambda _stage, _number: status(401, "no such key")) as server:
        code, _, err = run(server, "index", article)
    assert code == 20
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1


def test_a_spent_budget_stops_and_the_next_run_goes_on(
    run: Console, server: ModelServer, article: Path, tmp_path: Path
) -> None:
    code, _, err = run(server, "index", article, "--max-calls", 5)
    assert code == 22
    assert server.asked <= 5
    assert "allowed" in err
    first = server.asked
    code, _, _ = run(server, "index", article)
    assert code == 0
    assert server.asked > first
    apart = ("--store", tmp_path / "apart.db", "--calls", tmp_path / "apart-calls.db")
    with model_server() as fresh:
        run(fresh, "index", article, *apart)
        assert server.asked == fresh.asked  # together as many as in one go


def test_without_a_model_nothing_is_asked_and_a_dry_run_says_so(
    run: Console, article: Path
) -> None:
    code, out, _ = run(None, "index", article, "--dry-run")
    assert code == 0
    assert "about 0 calls" in out
    code, out, _ = run(None, "search", article, QUERY, "--json")
    assert code == 0
    assert "ledger" not in json.loads(out)
