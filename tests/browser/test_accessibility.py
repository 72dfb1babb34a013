"""axe looks at every view, light and dark, wide and narrow, and finds nothing serious."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from tests.browser.asking import ask
from tests.browser.conftest import Opener
from tests.browser.library import filled
from tests.unit.server.running import Client, running

VIEWS = ("evidence", "answer", "compare", "map", "refine")
SERIOUS = ("serious", "critical")
SIZES = {"wide": {"width": 1280, "height": 860}, "narrow": {"width": 390, "height": 780}}


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(filled(tmp_path_factory.mktemp("accessible"))) as client:
        yield client


def serious(page: Any, axe: str) -> list[str]:
    """Return what axe calls serious or worse, each with the first element it is about."""
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


def opened(page: Any) -> None:
    """Open the steps of the first hit, and press a thumb of it."""
    page.locator(".hit >> text=Show the steps").first.click()
    page.wait_for_selector(".hit .trace")
    page.locator(".hit .actions .thumbs button").first.click()
    page.wait_for_selector(".hit .thumbs button[aria-pressed=true]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
def test_no_view_of_a_document_has_a_serious_finding(
    visit: Opener, axe: str, size: str, scheme: str
) -> None:
    page = visit(viewport=SIZES[size], color_scheme=scheme)
    ask(page)
    opened(page)
    page.evaluate("document.body.dataset.pane = 'document'")
    page.wait_for_selector(".sheet-page.drawn .spot", state="attached")
    if size == "wide":
        page.wait_for_selector(".wires path", state="attached")
    assert serious(page, axe) == [], "lines on the page"
    page.evaluate("document.body.dataset.pane = 'evidence'")
    for view in VIEWS:
        page.click(f"#tab-{view}")
        page.wait_for_selector(f"#view-{view} > :not(:empty)")
        assert serious(page, axe) == [], view
    page.evaluate("document.body.dataset.pane = 'document'")
    page.wait_for_selector(".sheet-page.drawn")
    assert serious(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_search_over_all_and_the_list_have_no_serious_finding(
    visit: Opener, axe: str, library: Client, scheme: str
) -> None:
    page = visit("x", port=library.port, color_scheme=scheme)
    page.wait_for_selector("#scope button")
    assert serious(page, axe) == []
    page.fill("#query", "Who passes the lock?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit[aria-current]")
    page.locator("summary", has_text="Only some of them").click()
    opened(page)
    assert serious(page, axe) == []
    page.click("#shelf-button")
    page.wait_for_selector(".shelf li small")
    assert serious(page, axe) == []
    page.keyboard.press("Escape")
    page.evaluate("location.hash = 'doc=accounts&q=What did the repair of the lock cost?&judge=0'")
    page.wait_for_selector(".hit .table.small")
    assert serious(page, axe) == []
    page.close()
