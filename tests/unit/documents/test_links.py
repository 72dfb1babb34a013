"""Links between pages of a folder are read as names, and never followed."""

import pytest

from abstrag.documents.assemble import MAX_LINKS, local_target, target_words
from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.model.document import Document
from abstrag.model.record import from_json, to_json

MARKDOWN = b"""# Contract guide

A customer who pays after 30 days owes interest, see [the fees](fees/late-fees.md#when-due).

Ask [our site](https://example.org/a.md), [mail](mailto:a@b.c), [here](#below), [root](/etc/x.md).
"""
HTML = b"""<html><body><main><h1>Contract guide</h1>
<p>A customer who pays after 30 days owes interest, see <a href="late-fees.html">the fees</a>.</p>
<p>Ask <a href="//example.org/a.html">our site</a> or <a href="a.zip">this</a>.</p>
</main></body></html>"""


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("a.md", "a.md"),
        ("./sub/../b.html?x=1", "b.html"),
        ("../up.md", "../up.md"),
        ("late%20fees.md", "late fees.md"),
        ("https://example.org/a.md", None),
        ("//example.org/a.md", None),
        ("/etc/notes.md", None),
        ("file:///etc/notes.md", None),
        ("javascript:alert(1).md", None),
        ("a.md\x00", None),
        ("a\\b.md", None),
        ("#here", None),
        ("a.zip", None),
        ("http://[bad.md", None),
        ("x" * 300 + ".md", None),
    ],
)
def test_only_pages_of_the_same_folder_are_targets(address: str, target: str | None) -> None:
    assert local_target(address) == target


def test_the_name_of_a_target_says_what_it_is_about() -> None:
    assert target_words("fees/late-fees.md#when_due") == "late fees when due"


@pytest.mark.parametrize(
    ("data", "name", "target"),
    [
        (MARKDOWN, "guide.md", "fees/late-fees.md#when-due"),
        (HTML, "guide.html", "late-fees.html"),
    ],
)
def test_links_of_a_page_are_kept_with_their_block(data: bytes, name: str, target: str) -> None:
    document = load_bytes(data, name=name)
    (link,) = document.links
    assert (link.text, link.target) == ("the fees", target)
    assert "owes interest" in document.quote(link.span)


def test_a_link_is_context_of_what_it_stands_in() -> None:
    made = index(load_bytes(MARKDOWN, name="guide.md"))
    owes = next(r for r in made.records if "owes interest" in r.segment.text)
    found = [value for value in owes.context.scope if value.name == "link"]
    assert {value.value for value in found} == {"fees/late-fees.md#when-due"}
    assert "concept:late fee" in {value.term for value in found}
    others = [r for r in made.records if r is not owes]
    assert not any(value.name == "link" for r in others for value in r.context.scope)


def test_a_page_of_too_many_links_keeps_the_first() -> None:
    page = "\n\n".join(f"[a{i}](b{i}.md)" for i in range(MAX_LINKS + 5)).encode()
    assert len(load_bytes(page, name="many.md").links) == MAX_LINKS


def test_a_document_without_links_is_the_content_it_was() -> None:
    plain = load_bytes(b"The pier was mended.", name="a.md")
    linked = load_bytes(b"The pier was [mended](b.md).", name="a.md")
    assert plain.content_hash != linked.content_hash
    assert from_json(Document, to_json(linked)) == linked
    other = load_bytes(b"The pier was [mended](c.md).", name="a.md")
    assert other.content_hash != linked.content_hash
