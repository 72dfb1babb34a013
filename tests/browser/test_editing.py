"""Asking why a passage is missing, and changing the map so that it is not."""

from typing import Any

from tests.browser.asking import ask, quotes, rank, select
from tests.browser.conftest import Opener, Studio
from tests.browser.paper import VISIT, place


def segment_of(studio: Studio, words: str) -> str:
    """Return the id of the segment with these words."""
    shown = studio.client.get(f"/api/documents/{studio.document}").data
    return next(str(one["id"]) for one in shown["segments"] if words in one["text"])


def ask_why_not(page: Any, studio: Studio) -> None:
    """Select the passage in the text and ask why it is not there."""
    page.locator(".choice >> text=Text").click()
    select(page, segment_of(studio, VISIT))
    page.locator("#popup >> text=Why not this?").click()
    page.wait_for_selector(".why-not .cause")


def test_a_selected_passage_is_told_its_cause_and_lifted(visit: Opener, studio: Studio) -> None:
    page = visit()
    ask(page)
    before = rank(page, VISIT)
    ask_why_not(page, studio)
    told = page.locator(".why-not").inner_text()
    assert "No licensed edge" in told
    assert "visit → collaboration" in told
    page.locator(".offer >> text=Add that edge").click()
    page.wait_for_selector(".edit-bar")
    page.wait_for_selector(".moved.up")
    after = rank(page, VISIT)
    assert after < before
    hit = page.locator(".hit", has_text=VISIT)
    assert hit.locator(".moved").inner_text() == f"▲{before - after}"
    page.locator(".edit-bar >> text=Take back").click()
    page.wait_for_selector(".edit-bar", state="detached")
    page.wait_for_selector(".moved.down")
    assert rank(page, VISIT) == before


def test_a_passage_on_a_page_is_picked_with_a_click(visit: Opener, studio: Studio) -> None:
    page = visit()
    ask(page)
    page.locator(".hit", has_text=VISIT).locator("text=Go to it").click()
    page.locator(f".box.active[data-segment='{segment_of(studio, VISIT)}']").first.wait_for()
    page.locator(".sheet-page.drawn .box.active").last.click()
    page.locator("#popup >> text=Why not this?").click()
    page.wait_for_selector(".why-not .cause")
    assert VISIT in page.locator(".why-not .quote").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".why-not").count() == 0


def test_a_passage_without_a_mark_is_picked_where_it_stands(visit: Opener) -> None:
    page = visit()
    sheet = page.locator(".sheet-page.drawn").first
    sheet.wait_for()
    size = sheet.bounding_box()
    left, top, right, bottom = place(1, "chip suppliers raised prices")
    at = ((left + right) / 2 * size["width"], (top + bottom) / 2 * size["height"])
    sheet.click(position=dict(zip("xy", at, strict=True)))
    page.locator("#popup >> text=Why not this?").wait_for()


def test_words_that_are_not_in_the_document_are_said_to_be_missing(visit: Opener) -> None:
    page = visit()
    page.locator(".choice >> text=Text").click()
    page.evaluate(
        """() => {
          const place = document.querySelector(".facts");
          getSelection().selectAllChildren(place);
          place.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
        }"""
    )
    page.locator("#popup >> text=Why not this?").click()
    assert "Ask one first" in page.locator(".why-not").inner_text()


def test_an_edge_added_on_the_map_changes_the_ranking(visit: Opener, studio: Studio) -> None:
    page = visit()
    ask(page)
    before = quotes(page)
    page.click("#tab-map")
    page.fill("#find-term", "visit")
    page.locator(".term-item", has_text="visit").first.click()
    page.wait_for_selector(".term-panel[aria-label='visit']")
    page.fill(".edge-form [name=other]", "event:collaboration")
    page.select_option(".edge-form [name=family]", "event")
    page.click(".edge-form [type=submit]")
    page.wait_for_selector(".effect .moved.up")
    assert VISIT in page.locator(".effect").inner_text()
    page.click("#tab-evidence")
    assert quotes(page) != before

    page.click("#tab-map")
    edge = page.locator(".edges tr", has_text="added by hand")
    assert "0.90" in edge.inner_text()
    edge.locator("text=Remove").click()
    page.wait_for_selector(".edges tr:has-text('added by hand')", state="detached")
    page.click("#tab-evidence")
    page.wait_for_selector(".moved.down")
    assert quotes(page) == before


def test_an_edge_of_the_document_is_hidden_and_put_back(visit: Opener, studio: Studio) -> None:
    page = visit()
    ask(page)
    page.click("#tab-map")
    page.fill("#find-term", "TSMC")
    page.locator(".term-item", has_text="TSMC").first.click()
    edge = page.locator(".edges tr", has_text="Chip supplier TSMC").first
    edge.wait_for()
    count = page.locator(".edges tbody tr").count()
    edge.locator("text=Remove").click()
    page.locator("#view-map .edit", has_text="removed").wait_for()
    page.wait_for_selector(f".edges tbody tr:nth-child({count})", state="detached")
    page.locator("#view-map .edit >> text=Put back").click()
    page.wait_for_selector(f".edges tbody tr:nth-child({count})")
    edits = studio.client.get(f"/api/documents/{studio.document}/edits").data
    assert edits == {"edges": [], "removed": []}


def test_a_term_shows_its_names_neighbours_and_licences(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.click("#tab-map")
    page.fill("#find-term", "Anthropic")
    page.locator(".term-item", has_text="Anthropic").first.click()
    page.wait_for_selector(".term-panel[aria-label='Anthropic'] .neighbour")
    assert "Anthropic, an LLM company" in page.locator(".edges").inner_text()
    page.locator(".graph .neighbour", has_text="company").first.click()
    page.wait_for_selector(".term-panel:not([aria-label='Anthropic'])")
    name = page.locator(".term-panel").get_attribute("aria-label")
    assert name in page.locator(".graph .centre title").text_content()


def test_an_edge_that_says_nothing_is_refused_beside_the_form(visit: Opener) -> None:
    page = visit()
    page.click("#tab-map")
    page.fill("#find-term", "visit")
    page.locator(".term-item", has_text="visit").first.click()
    page.wait_for_selector(".term-panel[aria-label='visit']")
    page.fill(".edge-form [name=other]", "a word nobody knows")
    page.click(".edge-form [type=submit]")
    page.wait_for_selector(".edge-form .refusal")
    assert page.locator(".edge-form [name=other]").input_value() == "a word nobody knows"
