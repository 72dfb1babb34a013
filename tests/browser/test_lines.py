"""The page of a hit comes first, and the trace is drawn on it as lines with prices."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.asking import ask
from tests.browser.conftest import Opener
from tests.browser.library import SENTENCE, TARGET, report, stored
from tests.browser.paper import VISIT, place
from tests.unit.server.running import Client, running


@pytest.fixture(scope="module")
def long_report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder: Path = tmp_path_factory.mktemp("report")
    (folder / "report.pdf").write_bytes(report())
    with running(stored(folder, [folder / "report.pdf"])) as client:
        yield client


def test_the_page_of_the_hit_is_drawn_before_any_other(visit: Opener, long_report: Client) -> None:
    page = visit("doc=report", port=long_report.port)
    page.wait_for_selector(".sheet-page[data-page='1'].drawn")
    drawn: list[int] = []
    page.on("request", lambda request: _note(request, drawn))
    page.fill("#query", "Who replaced the turbine of the dam?")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".sheet-page[data-page='{TARGET}'].drawn .box.active")
    assert SENTENCE in page.locator(".hit .quote").first.inner_text()
    assert drawn[0] == TARGET
    assert all(abs(number - TARGET) <= 3 for number in drawn), drawn
    page.close()


def _note(request: Any, drawn: list[int]) -> None:
    found = re.search(r"/pages/(\d+)\.png", request.url)
    if found:
        drawn.append(int(found[1]))


def test_lines_lead_from_words_of_the_question_to_words_on_the_page(visit: Opener) -> None:
    page = visit()
    ask(page, "Who visited the head of TSMC?")
    hit = page.locator(".hit", has_text=VISIT)
    hit.locator("text=Go to it").click()
    page.wait_for_selector(".sheet-page[data-page='2'] .spot")
    page.wait_for_function("() => document.querySelectorAll('.wires path').length >= 2")
    words = page.locator(".question .word").all_inner_texts()
    assert any("TSMC" in word and "free" in word for word in words), words
    prices = page.locator(".wires text").all_text_contents()
    assert all(re.fullmatch(r"free|\d\.\d\d", price) for price in prices)
    # the end of a line stands over the very word
    sheet = page.locator(".sheet-page[data-page='2']").bounding_box()
    x0, _, x1, y1 = place(2, "TSMC on 14 May")
    spots = [one.bounding_box() for one in page.locator(".spot").all()]
    assert sheet is not None
    left, bottom = sheet["x"] + x0 * sheet["width"], sheet["y"] + y1 * sheet["height"]
    assert x1 > x0
    near = [
        spot
        for spot in spots
        if abs(spot["x"] - left) < 6 and abs(spot["y"] + spot["height"] - bottom) < 8
    ]
    assert near, (spots, left, bottom)


def test_lines_can_be_put_away(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.wait_for_selector(".wires path", state="attached")
    page.locator(".question button", has_text="Hide the lines").click()
    page.wait_for_selector(".wires path", state="detached")
    page.locator(".question button", has_text="Show the lines").click()
    page.wait_for_selector(".wires path", state="attached")


def test_in_text_the_lines_end_at_marked_words(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.locator(".choice >> text=Text").click()
    page.wait_for_selector(".text mark")
    page.wait_for_selector(".wires path", state="attached")
    tops = [one.bounding_box()["y"] for one in page.locator(".segment.active mark").all()]
    ends = [one.bounding_box()["y"] for one in page.locator(".wires circle").all()]
    assert ends
    for end in ends:
        assert any(abs(end - top) < 8 for top in tops), (end, tops)
