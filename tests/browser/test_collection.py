"""All documents asked at once on the page: hits by document, filters, the list, the address."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import Opener
from tests.browser.library import filled
from tests.unit.server.running import Client, running

QUERY = "Who passes the lock?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(filled(tmp_path_factory.mktemp("library"))) as client:
        yield client


def ask_all(page: Any, query: str = QUERY) -> None:
    page.wait_for_selector("#scope button")
    page.fill("#query", query)
    page.keyboard.press("Enter")
    page.wait_for_selector(".group .hit")
    page.wait_for_selector(".hit[aria-current]")


def test_a_store_with_documents_can_be_asked_at_once(visit: Opener, library: Client) -> None:
    page = visit("x", port=library.port)
    page.wait_for_selector("#document >> text=4 documents to ask")
    ask_all(page)
    assert "no document to ask" not in page.inner_text("body")
    best = page.locator(".group").first
    assert best.locator("h3").inner_text() == "The lock of Esbjerg"
    assert "lock.md · 2019-04-01" in best.locator("header").inner_text()
    assert "Cargo vessels pass the lock" in best.locator(".hit .quote").first.inner_text()
    # the best hit is shown in its document, and the hits of all stay
    assert page.locator(".document-head h2").inner_text() == "The lock of Esbjerg"
    assert "Cargo vessels" in page.locator(".text .segment.active").inner_text()
    assert page.locator(".group").count() >= 2
    page.close()


def test_ranks_are_those_of_all_hits_and_why_not_agrees(visit: Opener, library: Client) -> None:
    page = visit("x", port=library.port)
    ask_all(page)
    numbers = [int(text) for text in page.locator(".hit .number").all_inner_texts()]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    hit = page.locator(".hit", has_text="The ferry waits at the lock")
    rank = hit.locator(".number").inner_text()
    hit.locator("text=Go to it").click()
    page.locator(".text .segment.active").click()
    page.locator("#popup button").click()
    page.wait_for_selector(".why-not .cause")
    assert f"rank {rank} of all" in page.locator(".why-not .cause").inner_text()
    page.close()


def test_filters_are_in_the_address_and_a_pasted_one_opens(visit: Opener, library: Client) -> None:
    page = visit("x", port=library.port)
    ask_all(page)
    page.locator("summary", has_text="Only some of them").click()
    page.fill("[name=title]", "ferry")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelectorAll('.group').length === 1")
    assert page.locator(".group h3").inner_text() == "The ferry of Esbjerg"
    page.wait_for_url(re.compile("all=1.*title=ferry"))
    address = page.url
    page.close()
    again = visit(address.split("#")[1], port=library.port)
    again.wait_for_selector(".group .hit")
    assert again.locator(".group h3").all_inner_texts() == ["The ferry of Esbjerg"]
    # another address in the same tab is only another fragment
    again.evaluate("location.hash = 'doc=hounds&q=Who needs walks?&judge=0'")
    again.wait_for_selector(".hit >> text=Hounds need long walks")
    assert again.locator(".document-head h2").inner_text() == "Hounds"
    assert again.locator(".group").count() == 0
    again.close()


def test_an_address_of_no_document_says_so(visit: Opener, library: Client) -> None:
    page = visit("doc=nothing", port=library.port)
    page.wait_for_selector("#document .refusal")
    assert "'nothing'" in page.locator("#document .refusal").inner_text()
    page.close()


def test_keys_go_through_the_hits_right_after_enter(visit: Opener, library: Client) -> None:
    page = visit("x", port=library.port)
    ask_all(page)
    page.wait_for_function("() => document.activeElement.matches('.hit')")
    first = page.evaluate("document.activeElement.querySelector('.number').textContent")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.querySelector('.number').textContent")
    assert (first, second != first) == ("1", True)
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.querySelector('.number').textContent") == "1"
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit .trace")
    assert page.locator("#query").input_value() == QUERY
    page.close()


def test_the_list_has_files_sizes_and_dates_filtered_and_sorted(
    visit: Opener, library: Client
) -> None:
    page = visit("x", port=library.port)
    page.wait_for_selector("#scope button")
    page.click("#shelf-button")
    page.wait_for_selector(".shelf li >> text=lock.md")
    facts = page.locator(".shelf li", has_text="The lock").locator("small").inner_text()
    assert re.search(r"lock\.md · in harbour · \d+ bytes · 2019-04-01", facts)
    page.select_option(".shelf-tools select", "date")
    page.wait_for_function(
        "() => document.querySelector('.shelf li span').textContent === 'The ferry of Esbjerg'"
    )
    page.locator(".shelf-tools input").first.fill("hounds")
    page.wait_for_function("() => document.querySelectorAll('.shelf li').length === 1")
    assert page.locator(".shelf li span").inner_text() == "Hounds"
    page.close()


def test_a_row_is_shown_in_its_table_and_equal_rows_once(visit: Opener, library: Client) -> None:
    page = visit("doc=accounts", port=library.port)
    page.wait_for_selector(".document-head")
    page.fill("#query", "What did the repair of the lock cost in 2023?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit .table.small")
    first = page.locator(".hit", has=page.locator(".own", has_text=re.compile("^35$"))).first
    assert first.locator(".its-header").all_inner_texts() == ["2023", "Repair of the lock"]
    assert "the same words again: hit" in first.locator(".same").inner_text()
    assert page.locator(".hit .own", has_text=re.compile("^35$")).count() == 1
    # and in the document its headers are marked too
    first.locator(".quote").click()
    page.wait_for_selector(".text .its-header >> text=Repair of the lock")
    assert page.locator(".text .its-header").all_inner_texts() == ["2023", "Repair of the lock"]
    page.close()
