"""Refining a query that fails: the timeline, what it changes, and the way back."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from abstrag.engine.library import Library
from abstrag.stores.sqlite import SqliteStore
from abstrag.workspace.tour import EVIDENCE, FAILING, LabelJudge
from tests.browser.asking import ask, quotes
from tests.browser.conftest import Opener
from tests.unit.server.running import Client, running, without_shipped_judge

REPORT = Path(str(files("abstrag.data"))) / "demo" / "water.md"


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Client]:
    """A server with the bundled report, and a judge that knows its evidence."""
    with SqliteStore.open(tmp_path / "store.db") as store:
        Library(store).index_file(REPORT)
    judge = LabelJudge(EVIDENCE)
    with running(tmp_path / "store.db", judge=judge, policy=tmp_path / "policy") as client:
        yield client


def test_a_failing_query_is_mended_and_the_patch_taken_back(visit: Opener, judged: Client) -> None:
    page = visit("doc=water", port=judged.port)
    ask(page, FAILING)
    before = quotes(page)
    page.click("#tab-refine")
    page.locator("#view-refine .offer button").click()
    page.wait_for_selector(".refinement")
    assert page.locator(".refinement h2").inner_text() == "1 patch kept"
    kept = page.locator(".refinement .timeline .accepted .diff ins")
    assert kept.inner_text().startswith("+ ")
    assert page.locator(".refinement .effect .moved.up").count() > 0
    page.click("#tab-evidence")
    page.wait_for_selector("#results .moved.up")
    after = quotes(page)
    assert after != before
    assert EVIDENCE[FAILING] in after
    assert page.locator(".hit", has_text=EVIDENCE[FAILING]).locator(".moved.up").count() == 1

    page.click("#tab-refine")
    page.locator("[aria-label=History] >> text=Revert").click()
    page.locator("[aria-label=History] .outcome >> text=later taken back").wait_for()
    page.click("#tab-evidence")
    page.locator(".hit", has_text=EVIDENCE[FAILING]).wait_for(state="detached")
    assert quotes(page) == before


def test_a_server_without_a_judge_says_so(
    visit: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_shipped_judge(monkeypatch)
    with SqliteStore.open(tmp_path / "store.db") as store:
        Library(store).index_file(REPORT)
    with running(tmp_path / "store.db", policy=tmp_path / "policy") as client:
        page = visit("doc=water", port=client.port, judge=True)
        ask(page, FAILING)
        assert page.locator(".judge input").count() == 0
        page.click("#tab-refine")
        page.locator("#view-refine .offer button").click()
        page.wait_for_selector("#view-refine .refusal")
        assert "judge's weights are missing" in page.locator("#view-refine").inner_text()
        page.close()
