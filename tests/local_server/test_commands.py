"""Index, search and ask as a user runs them, against a real model over HTTP, and all of it twice.

The model says next to nothing of sense, so what is checked is that every reply has its shape, that
nothing is spent unseen, and that the second time costs nothing.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from abstrag.cli.main import main
from abstrag.llm.log import CallLog
from tests.local_server.brevity import brief_policy
from tests.local_server.server import LocalServer

ARTICLE = (
    "Ann Hill and Eve Reed run a bakery. She sells rye bread. The shop opened in Leeds in 2021.\n"
)
QUERY = "Who sells bread in Leeds?"


class Console:
    """Runs commands and reads what they print."""

    def __init__(self, calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.calls = calls
        self.capsys = capsys

    def __call__(self, *arguments: object) -> str:
        """Return what a command that goes well says in JSON, or in words where it has none."""
        code: Any = 0
        try:
            main([str(one) for one in arguments])
        except SystemExit as done:
            code = done.code or 0
        out, err = self.capsys.readouterr()
        assert code == 0, err
        return out + err

    def spent(self) -> int:
        """Return how many calls the log holds, of which none may have failed."""
        with CallLog.open(self.calls) as log:
            kept = list(log.calls())
        assert [call.id for call in kept if call.error] == []
        return len(kept)


@pytest.fixture
def console(
    local_server: LocalServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Console:
    calls = tmp_path / "calls.db"
    variables = {
        **local_server.environment(tmp_path, reply_tokens=256),
        "ABSTRAG_POLICY": str(brief_policy(tmp_path / "policy")),
        "ABSTRAG_CALLS": str(calls),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Console(calls, capsys)


def test_the_first_time_is_within_the_estimate_and_the_second_makes_no_call(
    console: Console, tmp_path: Path
) -> None:
    article = tmp_path / "bakery.md"
    article.write_text(ARTICLE, "utf-8")
    planned = int(re.findall(r"about (\d+) calls", console("index", article, "--dry-run"))[0])
    assert console.spent() == 0
    told = console("index", article)
    assert "3 segments" in told
    indexed = console.spent()
    replies = int(re.findall(r"models: (\d+) calls", told)[0])
    assert indexed <= replies <= 2 * indexed  # a reply that does not fit is asked for once more
    assert 0.5 * planned <= indexed <= planned  # whoever has little to say is asked less

    most = json.loads(console("search", article, QUERY, "--dry-run", "--json"))["estimate"]
    found = console("search", article, QUERY)
    searched = console.spent() - indexed
    assert 1 <= searched <= most["calls"]

    console("ask", article, QUERY)
    asked = console.spent()
    assert asked == indexed + searched + 1

    assert "unchanged" in console("index", article)
    again = console("search", article, QUERY)
    assert "models: 0 calls" in again
    assert again.splitlines()[:3] == found.splitlines()[:3]
    assert "0 calls" in console("ask", article, QUERY)
    assert console.spent() == asked


def test_a_store_is_searched_and_asked_with_a_model_within_the_estimate_and_once(
    console: Console, tmp_path: Path
) -> None:
    texts = {
        "bakery": ARTICLE,
        "mill": "The mill in Leeds grinds rye. Bread is sold beside it by Tom Hall.\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    files = [tmp_path / f"{name}.md" for name in texts]
    store = ("--store", tmp_path / "library.db")
    console("index", *files, *store, "--llm", "none")
    for command in ("search", "ask"):
        question = (command, "--all", QUERY, *store)
        before = console.spent()
        most = json.loads(console(*question, "--dry-run", "--json"))["estimate"]
        assert console.spent() == before
        first = console(*question)
        made = console.spent() - before
        assert 1 <= made <= most["calls"]
        again = console(*question)
        assert "models: 0 calls" in again
        assert again.split("models:")[0] == first.split("models:")[0]
        assert console.spent() - before == made
