"""The page itself: nothing runs that a document says, and everybody can use it."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.asking import ask, quotes, set_budget
from tests.browser.conftest import Opener, Studio
from tests.browser.paper import QUERY
from tests.unit.server.running import running, store_with_demo

VIEWS = ("evidence", "answer", "compare", "map", "refine")


def test_markup_in_a_document_and_its_name_is_only_text(
    visit: Opener, studio: Studio, script: Path
) -> None:
    page = visit()
    page.wait_for_selector(".document-head")
    page.set_input_files("#file", script)
    page.wait_for_selector(".text .segment")
    ask(page, "Who visited the factory in 2024?")
    assert "onerror" in quotes(page)[0]
    page.locator(".hit >> text=Show the steps").first.click()
    for view in VIEWS:
        page.click(f"#tab-{view}")
    page.click("#shelf-button")
    page.locator("#shelf li", has_text="onerror").or_(
        page.locator("#shelf li", has_text="Report on")
    ).first.wait_for()
    assert page.locator("#document img, #results img, #shelf img, main script").count() == 0
    assert page.title() != "ran"
    page.locator(".shelf li[aria-current] >> text=Remove").click()
    page.locator("text=Really remove?").click()
    page.wait_for_selector(".shelf li:only-child")


def test_a_removal_begun_before_the_list_came_can_be_finished_after(visit: Opener) -> None:
    page = visit()
    page.wait_for_selector(".document-head")
    held: list[Any] = []
    page.route("**/api/documents?*", lambda route: held.append(route))
    page.click("#shelf-button")
    page.locator("#shelf label", has_text="Title has").locator("input").fill("orders")
    remove = page.locator(".shelf li[aria-current] .link")
    remove.click()
    for route in held:
        route.continue_()
    page.locator("#shelf .count", has_text="1 document").wait_for()
    assert remove.inner_text() == "Really remove?"
    page.click("#shelf .close")
    page.click("#shelf-button")
    assert remove.inner_text() == "Remove"


def test_the_keys_alone_are_enough(visit: Opener) -> None:
    page = visit()
    page.wait_for_selector(".document-head")
    page.keyboard.press("/")
    page.keyboard.type(QUERY)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.keyboard.press("Escape")
    first = page.locator(".hit[aria-current] .number").inner_text()
    page.keyboard.press("j")
    assert (first, page.locator(".hit[aria-current] .number").inner_text()) == ("1", "2")
    assert page.evaluate("document.activeElement.matches('.hit[aria-current]')")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit[aria-current] .trace")
    page.keyboard.press("k")
    assert page.locator(".hit[aria-current] .number").inner_text() == "1"
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help:not([open])", state="attached")
    page.keyboard.press("]")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Answer"


def test_the_keyboard_keeps_its_place_when_a_part_of_the_answer_comes_late(visit: Opener) -> None:
    page, held = visit(), []
    page.route("**/sweep", lambda route: held.append(route))
    page.wait_for_selector(".document-head")
    page.fill("#query", QUERY)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    control = page.evaluate("document.activeElement.textContent")
    with page.expect_response("**/sweep"):
        held[0].continue_()
    page.wait_for_selector(".chart svg")
    assert page.evaluate("document.activeElement.textContent") == control
    assert page.evaluate("document.activeElement.closest('.hit').matches('[aria-current]')")


def test_what_was_typed_stays_when_the_map_is_drawn_anew(visit: Opener) -> None:
    page = visit()
    page.click("#tab-map")
    page.wait_for_selector(".term-panel")
    page.fill("#find-term", "visit")
    page.locator(".term-item", has_text="visit").first.click()
    page.wait_for_selector(".term-panel[aria-label='visit']")
    assert page.locator("#find-term").input_value() == "visit"
    assert page.locator(".term-item").count() == 0


def test_a_segment_of_the_text_is_asked_about_by_key(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.locator(".choice >> text=Text").click()
    page.locator(".text").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("w")
    page.wait_for_selector(".why-not .cause")


def test_what_is_found_is_said_aloud(visit: Opener) -> None:
    page = visit()
    ask(page)
    said = page.locator("#said").inner_text()
    assert said.startswith("10 hits at budget 1.5. First: Everybody")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, select, [role=tab]")]
          .filter((one) => !one.closest("[hidden], dialog:not([open])"))
          .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length))
          .map((one) => one.outerHTML)"""
    )
    assert unnamed == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(visit: Opener, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    ask(page)
    page.locator(".hit >> text=Show the steps").first.click()
    page.wait_for_selector(".trace")
    pale = page.evaluate(CONTRAST)
    assert pale == []


CONTRAST = """() => {
  const channel = (v) => (v /= 255, v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const read = (text) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (read(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const texts = [...document.querySelectorAll("body *")].filter((one) =>
    [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) &&
    one.checkVisibility() && !one.closest(".unseen, .skip, svg, figure, :disabled"));
  return texts.flatMap((one) => {
    const [a, b] = [light(read(getComputedStyle(one).color)), light(read(ground(one)))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const words = `${one.className}: ${one.textContent.slice(0, 30)}`;
    return ratio < 4.5 ? [`${ratio.toFixed(2)} ${words}`] : [];
  });
}"""


def test_colours_follow_the_system_until_the_switch_says_otherwise(visit: Opener) -> None:
    page = visit(color_scheme="dark")
    dark = _ground(page)
    page.click("#theme")
    light = _ground(page)
    assert sum(dark) < 120
    assert sum(light) > 600
    page.reload()
    assert _ground(page) == light


def _ground(page: Any) -> list[int]:
    script = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    found: list[int] = page.evaluate(script)
    return found


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_has_to_be_scrolled_sideways(visit: Opener, width: int) -> None:
    page = visit(viewport={"width": width, "height": 760})
    ask(page)
    page.locator(".hit >> text=Show the steps").first.click()
    for view in VIEWS:
        page.click(f"#tab-{view}")
        page.wait_for_selector(f"#view-{view} > :not(:empty)")
        assert page.evaluate(WIDER) == [], view
    page.evaluate("document.body.dataset.pane = 'document'")
    page.wait_for_selector(".sheet-page.drawn")
    assert page.evaluate(WIDER) == []


WIDER = """() => ["html", ".side", ".document"].filter((name) => {
  const one = document.querySelector(name);
  return one.scrollWidth > one.clientWidth;
})"""


def test_a_phone_shows_one_part_at_a_time(visit: Opener) -> None:
    page = visit(viewport={"width": 360, "height": 760}, has_touch=True)
    ask(page)
    assert not page.locator("#document").is_visible()
    page.locator(".hit >> text=Go to it").first.click()
    page.wait_for_selector(".box.active")
    assert page.locator("#document").is_visible()
    assert not page.locator("#results").is_visible()
    page.locator(".panes >> text=Evidence").click()
    assert page.locator("#results").is_visible()


def test_cards_glide_unless_less_movement_is_asked_for(visit: Opener) -> None:
    for motion, gliding in (("no-preference", True), ("reduce", False)):
        page = visit(reduced_motion=motion)
        ask(page)
        set_budget(page, 0)
        moving = page.evaluate(
            "document.getAnimations().filter((a) => a.effect.target?.matches('.hit')).length"
        )
        assert (moving > 0) is gliding


def test_a_token_is_asked_for_once_and_kept_for_the_tab(visit: Opener, tmp_path: Path) -> None:
    store = store_with_demo(tmp_path / "store.db")
    with running(store, token="open sesame") as client:
        page = visit("doc=chips", port=client.port)
        for guess in ("open barley", "open sesame"):
            page.wait_for_selector("#key[open]")
            page.fill("#key-field", guess)
            page.keyboard.press("Enter")
        page.wait_for_selector(".text .segment")
        page.reload()
        page.wait_for_selector(".text .segment")
        assert not page.locator("#key").is_visible()
        page.close()

        page = visit("key=open%20sesame", port=client.port, judge=True)
        page.wait_for_selector(".text .segment")
        assert "sesame" not in page.url
        page.close()


def test_a_query_asked_too_early_is_put_to_the_document_that_comes(
    visit: Opener, tmp_path: Path
) -> None:
    store = tmp_path / "empty.db"
    note = tmp_path / "note.md"
    note.write_text("# Visits\n\nThe engineer visited the factory in 2024.\n")
    with running(store) as client:
        page = visit("nothing", port=client.port)
        page.fill("#query", "Who visited the factory?")
        page.keyboard.press("Enter")
        page.locator("#query-error >> text=no document to ask yet").wait_for()
        page.set_input_files("#file", note)
        page.wait_for_selector(".hit")
        assert "The engineer visited the factory" in quotes(page)[0]
        assert page.locator("#query-error .refusal").count() == 0
        page.close()


def test_the_page_says_that_the_server_is_gone_and_comes_back(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.route("**/api/**", lambda route: route.abort())
    page.fill("#query", "Who visited whom?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#query-error .refusal")
    assert "abstrag serve" in page.locator("#notice").inner_text()
    assert page.locator("#query").input_value() == "Who visited whom?"
    page.unroute("**/api/**")
    page.locator("#query-error >> text=Try again").click()
    page.wait_for_selector("#notice[hidden]", state="attached")
    page.wait_for_selector("#query-error .refusal", state="detached")
    assert quotes(page)
