"""What a person does on the page again and again."""

from typing import Any

from tests.browser.paper import QUERY


def ask(page: Any, query: str = QUERY) -> None:
    """Write a query, send it, and wait for hits and the slider's rankings."""
    page.wait_for_selector("#document .document-head", state="attached")
    page.fill("#query", query)
    with page.expect_response("**/budget"), page.expect_response("**/sweep"):
        page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.wait_for_selector(".chart svg")


def quotes(page: Any) -> list[str]:
    """Return the quotes of the hits, best first."""
    found: list[str] = page.locator(".hit .quote").all_inner_texts()
    return found


def rank(page: Any, words: str) -> int:
    """Return the rank of the hit that holds these words, counted from 1."""
    return next(n for n, quote in enumerate(quotes(page), 1) if words in quote)


def set_budget(page: Any, tau: float) -> None:
    """Move the slider as a hand does."""
    page.evaluate(
        """(tau) => {
          const slider = document.getElementById("tau-slider");
          slider.value = tau;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        tau,
    )


def select(page: Any, segment: str) -> None:
    """Drag the mouse over a segment of the text, from its first letter to its last."""
    spot = page.locator(f".text [data-segment='{segment}']")
    spot.scroll_into_view_if_needed()
    first, last = spot.evaluate(
        """(element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          const rects = [...range.getClientRects()];
          const [a, b] = [rects[0], rects.at(-1)];
          return [[a.left + 1, a.top + a.height / 2], [b.right - 1, b.top + b.height / 2]];
        }"""
    )
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*last, steps=4)
    page.mouse.up()
