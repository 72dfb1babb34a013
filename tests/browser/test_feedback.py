"""Thumbs on hits and on single steps: what is said reaches the policy, and the next search."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Opener
from tests.browser.library import stored
from tests.unit.server.running import Client, running

QUERY = "Did Anthropic meet TSMC?"
VISIT = "Anthropic visited TSMC in May."


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Client]:
    note = tmp_path / "visits.md"
    note.write_text(f"# Visits\n\n{VISIT} The weather in Hsinchu was mild. Tea was served.\n")
    with running(stored(tmp_path, [note])) as client:
        yield client


def asked(page: Any) -> Any:
    page.wait_for_selector("#document .document-head", state="attached")
    page.fill("#query", QUERY)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    return page.locator(".hit", has_text=VISIT)


def noted(client: Client) -> list[dict[str, Any]]:
    log: list[dict[str, Any]] = client.call("GET", "/api/policy/log").data
    return [one["payload"] for one in log]


def judged(client: Client) -> list[dict[str, Any]]:
    """What people said of hits; precedents are noted besides."""
    return [one["feedback"] for one in noted(client) if "feedback" in one]


def test_a_hit_is_called_evidence_and_then_not(visit: Opener, visits: Client) -> None:
    page = visit("doc=visits", port=visits.port)
    hit = asked(page)
    yes = hit.locator(".actions button", has_text=re.compile(r"\bEvidence"))
    with page.expect_response("**/feedback"):
        yes.click()
    page.wait_for_selector(".hit .thumbs button[aria-pressed=true]")
    assert yes.get_attribute("aria-pressed") == "true"
    segment = hit.get_attribute("data-segment")
    assert [one["good"] for one in judged(visits)] == [[segment]]
    no = hit.locator(".actions button", has_text="No evidence")
    with page.expect_response("**/feedback"):
        no.click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.hit .actions .thumbs button')]"
        ".some((one) => one.textContent.includes('No') && one.ariaPressed === 'true')"
    )
    assert yes.get_attribute("aria-pressed") == "false"
    assert judged(visits)[-1]["bad"] == [segment]
    page.close()


def test_a_step_is_called_wrong_and_taken_back(visit: Opener, visits: Client) -> None:
    page = visit("doc=visits", port=visits.port)
    hit = asked(page)
    hit.locator("text=Show the steps").click()
    step = hit.locator(".step-said")
    assert "Does “visited” count as “meet”?" in step.inner_text()
    with page.expect_response("**/feedback"):
        step.locator("button", has_text="no").click()
    page.wait_for_selector(".step-said >> text=Take it back")
    applied = [one for one in noted(visits) if one["action"] == "apply"]
    assert [one["said"] for one in applied] == ["a person calls this step wrong"]
    with page.expect_response("**/policy/revert"):
        page.locator(".step-said >> text=Take it back").click()
    page.wait_for_selector(".step-said >> text=Take it back", state="detached")
    assert noted(visits)[-1]["action"] == "revert"
    page.close()


def test_steps_stay_open_when_a_document_is_complete_only_after_the_question(
    visit: Opener, visits: Client
) -> None:
    page = visit("", port=visits.port)
    held: list[Any] = []
    page.route("**/map?*", lambda route: held.append(route))
    page.goto(f"http://127.0.0.1:{visits.port}/#doc=visits&judge=0")
    page.reload()
    hit = asked(page)
    hit.locator("text=Show the steps").click()
    step = hit.locator(".step-said")
    step.wait_for()
    assert held
    with page.expect_response("**/edits"):
        for route in held:
            route.continue_()
    page.wait_for_timeout(300)
    assert step.count() == 1
    page.close()
