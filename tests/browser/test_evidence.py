"""Dropping a document, asking it, and moving the budget."""

import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.browser.asking import ask, quotes, rank, set_budget
from tests.browser.conftest import Opener, Studio
from tests.browser.paper import EVERYBODY, RARE, VISIT, paper, place

DROP = """(content) => {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], "dropped.pdf", { type: "application/pdf" }));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    document.body.dispatchEvent(
      new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


def test_a_dropped_pdf_is_indexed_and_shown_page_by_page(visit: Opener, studio: Studio) -> None:
    page = visit()
    page.wait_for_selector(".document-head")
    page.evaluate(DROP, b64encode(paper("Orders dropped on a page")).decode())
    page.wait_for_url(re.compile("#doc=dropped"))
    page.wait_for_selector(".sheet-page.drawn")
    assert page.locator("#shelf-title").inner_text() == "Orders dropped on a page"
    assert page.locator(".sheet-page").count() == 2
    assert page.locator(".job").count() == 0
    page.click("#shelf-button")
    assert page.locator(".shelf li").count() == 2
    page.locator(".shelf li[aria-current] >> text=Remove").click()
    page.locator("text=Really remove?").click()
    page.wait_for_selector(".shelf li:only-child")
    assert len(studio.client.get("/api/documents").data) == 1


def test_the_quote_is_boxed_over_its_words(visit: Opener) -> None:
    page = visit()
    ask(page)
    hit = page.locator(".hit", has_text=VISIT)
    assert "p. 2" in hit.locator(".place").inner_text()
    hit.locator("text=Go to it").click()
    sheet = page.locator(".sheet-page[data-page='2'].drawn")
    sheet.locator(".box.active").first.wait_for()
    frame = sheet.bounding_box()
    boxes = [one.bounding_box() for one in sheet.locator(".box.active").all()]
    assert frame is not None
    for words in ("The chief engineer of", "Anthropic visited the head of TSMC on 14 May 2024."):
        x0, y0, x1, y1 = place(2, words)
        expected = (
            frame["x"] + x0 * frame["width"],
            frame["y"] + y0 * frame["height"],
            frame["x"] + x1 * frame["width"],
            frame["y"] + y1 * frame["height"],
        )
        assert any(_covers(box, expected) for box in boxes), (words, expected, boxes)
    assert len(boxes) == 2
    assert 0 <= boxes[0]["y"] <= 860, "it is not in view"


def _covers(box: dict[str, float], words: tuple[float, float, float, float]) -> bool:
    """True when a box holds the words and little more."""
    x0, y0, x1, y1 = words
    left, top = box["x"], box["y"]
    right, bottom = left + box["width"], top + box["height"]
    near = 6  # pixels of play
    return (
        abs(left - x0) < near
        and abs(right - x1) < near
        and y0 - 2 * near < top <= y0 + 1
        and y1 - 1 <= bottom < y1 + near
    )


def test_the_page_is_drawn_with_ink_where_the_box_is(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.wait_for_selector(".drawn .box.active")
    darkest = page.evaluate(
        """() => {
          const box = document.querySelector(".box.active").getBoundingClientRect();
          const canvas = document.querySelector(".sheet-page canvas");
          const frame = canvas.getBoundingClientRect();
          const scale = canvas.width / frame.width;
          const { data } = canvas.getContext("2d").getImageData(
            (box.left - frame.left) * scale, (box.top - frame.top) * scale,
            box.width * scale, box.height * scale);
          return Math.min(...data.filter((_, at) => at % 4 === 0));
        }"""
    )
    assert darkest < 80


def test_the_budget_re_ranks_without_the_server(visit: Opener) -> None:
    page = visit()
    ask(page)
    assert EVERYBODY in quotes(page)[0]
    page.route("**/api/**", lambda route: route.abort())
    set_budget(page, 0)
    assert RARE in quotes(page)[0]
    assert page.locator(".tau output").inner_text() == "0"
    page.wait_for_selector("#notice:not([hidden])")  # the sentences cannot follow, and it says so
    assert RARE in quotes(page)[0]
    page.unroute("**/api/**")
    set_budget(page, 2)
    page.wait_for_selector("#notice[hidden]", state="attached")
    assert EVERYBODY in quotes(page)[0]


def test_the_judge_has_its_say_from_the_start(visit: Opener) -> None:
    page = visit(judge=True)
    ask(page)
    assert page.locator(".judge input").is_checked()
    page.wait_for_selector(".hit .judgement")
    page.locator(".judge input").uncheck()
    page.wait_for_selector(".hit .judgement", state="detached")
    page.wait_for_url(re.compile("judge=0"))


def test_everything_the_page_asks_is_ranked_with_its_switch(visit: Opener) -> None:
    for judge in (True, False):
        page = visit(judge=judge)
        sent: dict[str, Any] = {}
        page.on("request", lambda request, sent=sent: _note(request, sent))
        ask(page)
        assert page.locator(".judge input").is_checked() is judge
        set_budget(page, 0)
        page.locator(".hit").last.locator("text=Show the steps").click()
        page.click("#tab-answer")
        page.wait_for_selector(".answer .note")
        page.click("#tab-compare")
        page.wait_for_selector(".systems")
        page.click("#tab-refine")
        page.locator("#view-refine .offer button").click()
        page.wait_for_selector(".refinement")
        assert {"search", "sweep", "budget", "ask", "compare", "refine"} <= set(sent)
        assert {said["judge"] for said in sent.values()} == {judge}
        page.close()


def _note(request: Any, sent: dict[str, Any]) -> None:
    asked = request.url.rsplit("/", 1)[-1]
    if request.method == "POST" and "/documents/" in request.url and asked != "edges":
        sent[asked] = request.post_data_json


def test_the_slider_keeps_the_order_that_a_judged_search_gives(
    visit: Opener, studio: Studio
) -> None:
    page = visit(judge=True)
    ask(page)
    page.route("**/search", lambda route: route.abort())  # so that the order stays the slider's
    for tau in (0, 1, 4):
        set_budget(page, tau)
        body = {"query": page.locator("#query").input_value(), "k": 10, "tau": tau}
        found = studio.client.post(f"/api/documents/{studio.document}/search", body).data
        assert [hit["text"] for hit in found["hits"]] == quotes(page)


def test_a_hit_says_at_which_budget_it_enters(visit: Opener) -> None:
    page = visit()
    ask(page)
    first = page.locator(".hit").first
    assert first.locator(".enters").inner_text() == "meets the whole question at τ 0.5"
    assert page.locator(".dot.in").count() == 1
    set_budget(page, 0.2)
    hit = page.locator(".hit", has_text=EVERYBODY)
    assert hit.locator(".enters").inner_text() == "meets the whole question from τ 0.5 on"
    assert "the next enters at 0.5" in page.locator(".tau .note").inner_text()
    page.locator(".dot").click()
    assert page.locator(".tau output").inner_text() == "0.5"
    assert EVERYBODY in quotes(page)[0]


def test_steps_are_shown_with_words_family_and_price(visit: Opener) -> None:
    page = visit()
    ask(page)
    first = page.locator(".hit").first
    first.locator("text=Show the steps").click()
    time = page.locator(".hit").first.locator(".row", has_text="time")
    assert time.locator(".step .tag").inner_text() == "context"
    assert time.locator(".step .price").inner_text() == "0.50"
    assert "2024-05-15" in time.inner_text()
    assert "All met for 0.50" in page.locator(".hit").first.locator(".sum").inner_text()
    said = page.locator(".hit .factors").first.inner_text()
    cost = re.match(r"cost (\d+\.\d\d) = (.*)", said)
    assert cost, said
    parts = [
        (-1 if sign == "−" else 1) * round(100 * float(number))
        for sign, number in re.findall(r"([=+−]) [a-z ]+ (\d+\.\d\d)", f"= {cost[2]}")
    ]
    assert round(100 * float(cost[1])) == sum(parts), "what is shown does not add up to the cost"


def test_an_answer_leads_to_its_quote(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.click("#tab-answer")
    page.locator(".answer .cite").first.click()
    page.wait_for_selector(".box.active")
    assert page.locator(".sources .quote").first.inner_text() == f"“{EVERYBODY}”"
    assert "p. 1" in page.locator(".sources").inner_text()


def test_the_comparison_joins_what_is_the_same(visit: Opener) -> None:
    page = visit()
    ask(page)
    page.click("#tab-compare")
    page.wait_for_selector(".joins path")
    assert page.locator(".system h3").all_inner_texts() == ["AbstRAG", "BM25", "Dense"]
    first = page.locator(".system[data-system='bm25'] li").first
    assert RARE in first.inner_text()
    assert "AbstRAG 2" in first.inner_text()
    first.hover()
    assert page.locator("li.lit").count() >= 2
    assert page.locator(".joins .lit").count() >= 1


def test_a_cell_of_a_table_is_shown_under_its_headers(visit: Opener, tmp_path: Path) -> None:
    accounts = tmp_path / "accounts.md"
    accounts.write_text("| | 2019 |\n|---|---|\n| Loss per share: | |\n| Basic | 0.07 |\n")
    page = visit()
    page.set_input_files("#file", accounts)
    page.wait_for_url(re.compile("#doc=accounts"))
    page.wait_for_selector(".text [data-segment]")
    ask(page, "What was the loss per share?")
    places = page.locator(".hit", has_text="0.07").first.locator(".place").all_inner_texts()
    assert places[0] == "under 2019 · Loss per share: · Basic"
    page.click("#shelf-button")
    page.locator(".shelf li[aria-current] >> text=Remove").click()
    page.locator("text=Really remove?").click()
    page.wait_for_selector(".shelf li:only-child")


def test_a_heading_of_the_document_can_be_asked_at_once(visit: Opener) -> None:
    page = visit()
    page.locator(".suggestions button", has_text="A trip to Hsinchu").click()
    page.wait_for_selector(".hit")
    assert page.locator("#query").input_value() == "A trip to Hsinchu"
    assert "Hsinchu" in quotes(page)[0]


def test_the_address_brings_the_page_back(visit: Opener) -> None:
    page = visit()
    ask(page)
    set_budget(page, 0)
    assert rank(page, RARE) == 1
    page.reload()
    page.wait_for_selector(".hit")
    assert page.locator(".tau output").inner_text() == "0"
    assert RARE in quotes(page)[0]


def test_a_file_that_cannot_be_read_is_refused_in_place(visit: Opener, tmp_path: Any) -> None:
    page = visit()
    ask(page)
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and then nothing")
    page.set_input_files("#file", broken)
    page.wait_for_selector(".job.failed .refusal")
    assert "broken.pdf" in page.locator(".job.failed").inner_text()
    assert quotes(page), "what was there is lost"
    page.locator(".job.failed button.quiet").click()
    assert page.locator(".job").count() == 0
