import json
from dataclasses import replace
from typing import Any

import pytest

from abstrag.documents.json_form import load_json
from abstrag.documents.latex import load_latex
from abstrag.documents.markdown import load_markdown
from abstrag.errors import AbstragError, Damaged, UnknownFormat
from abstrag.model.document import BlockKind, Document, OffsetMap, Span
from abstrag.model.record import to_data, to_json
from tests.unit.documents.soundness import check_document, rows, table


def read(data: object) -> Document:
    return load_json(json.dumps(data).encode(), "doc.json")


def short(**fields: object) -> dict[str, object]:
    return {"blocks": [{"text": "The CTO visited the fab."}], **fields}


def test_the_short_form_gets_its_text_and_spans_made() -> None:
    document = check_document(
        read(
            {
                "title": "Visit",
                "date": "15 May 2024",
                "blocks": [
                    {"kind": "heading", "text": "News", "level": 1},
                    {"text": "The CTO  visited\nthe fab."},
                    {"kind": "list_item", "text": "one", "section": ["Else", "Where"]},
                    {"kind": "table", "rows": [["Name", "Age"], ["Ann", "41"]], "caption": "Staff"},
                ],
            }
        )
    )
    assert (document.id, document.title, document.metadata.date) == ("doc", "Visit", "2024-05-15")
    assert document.blocks[1].text == "The CTO visited the fab."
    assert document.blocks[1].section == ("News",)
    assert document.blocks[2].section == ("Else", "Where")
    assert rows(document) == [["#Name", "#Age"], ["Ann", "41"]]
    caption = table(document).caption
    assert caption is not None
    assert document.quote(caption.span) == "Staff"


def test_a_written_document_reads_back_the_same() -> None:
    document = load_markdown(b"# A\n\n*b* &amp; c\n\n| d | e |\n|---|---|\n| 1 | 2 |\n", "x.md")
    assert load_json(to_json(document).encode(), "other.json") == document


def test_a_document_with_decoded_formulas_reads_back_too() -> None:
    source = (
        rb"\begin{document}Let $\alpha\leq\beta$ be \textbf{small} and J\"urgen sing.\end{document}"
    )
    document = load_latex(source, "x.tex")
    assert load_json(to_json(document).encode(), "x.json") == document


def broken(change: dict[str, Any]) -> dict[str, object]:
    document = read(short())
    block = replace(document.blocks[0], **change)
    data: dict[str, object] = to_data(replace(document, blocks=(block,)))
    return data


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"span": Span(0, 99)}, "behind the text"),
        ({"span": Span(0, 3)}, "leaves its span"),
        ({"text": "Another text altogether."}, "not what its alignment points at"),
        ({"alignment": OffsetMap(((0, 5),))}, "leaves its span"),
        ({"alignment": OffsetMap(((0, 4), (2, 1)))}, "does not grow"),
        ({"alignment": OffsetMap(((0, -1),))}, "does not grow"),
        ({"alignment": OffsetMap(())}, "does not grow"),
    ],
)
def test_spans_that_do_not_fit_are_named_by_their_block(
    change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(Damaged, match=rf"block 0 \(paragraph\) .*{problem}"):
        read(broken(change))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (short(date="yesterday"), "no date"),
        (short(blocks=[{"text": "x"}, {"text": " "}]), "block 1 has no text"),
        (short(blocks=[{"kind": "table", "text": "x"}]), "block 0 has no text"),
        (short(blocks=[{"text": "x", "colour": 1}]), "colour"),
        (short(blocks=[{"text": "x", "kind": "poem"}]), "kind"),
        (short(text="x"), "id"),
    ],
)
def test_what_does_not_fit_the_form_is_named(data: object, problem: str) -> None:
    with pytest.raises(Damaged, match=problem):
        read(data)


def test_broken_json_is_damaged_and_other_json_is_unknown() -> None:
    with pytest.raises(Damaged, match="not valid JSON"):
        load_json(b'{"blocks": [', "x.json")
    with pytest.raises(UnknownFormat):
        load_json(b'{"cells": []}', "x.json")


def test_nesting_and_lone_surrogates_are_refused() -> None:
    for data in (b'{"blocks":' + b"[" * 100_000, b'{"blocks":[{"text":"\\ud800"}]}'):
        with pytest.raises(AbstragError):
            load_json(data, "x.json")


def test_a_block_may_carry_a_page() -> None:
    document = read(short(blocks=[{"text": "x", "page": 7}]))
    assert document.blocks[0].page == 7
    assert document.blocks[0].kind is BlockKind.PARAGRAPH
