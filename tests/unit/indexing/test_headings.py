"""What a heading names, whatever stands under it may lean on."""

import pytest

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.lift import Headings
from abstrag.indexing.pipeline import index
from abstrag.language.spelling import lowered
from abstrag.model.index import DocumentIndex, FieldValue
from abstrag.model.term import Term, TermKind
from abstrag.search.relevance import FAST

REPORT = """# Segments of Acme Inc.

Acme Inc. sells shoes in North America and in Greater China.

## GREATER CHINA

Revenue rose by 24 %.

### Costs of Shipping

Fuel was dear.

## NORTH AMERICA

Revenue rose by 3 %.

| | 2020 | 2021 |
|---|---|---|
| SHOES | 1 | 2 |
"""


@pytest.fixture(scope="module")
def report() -> DocumentIndex:
    return index(load_bytes(REPORT.encode(), name="report.md"))


def scope(report: DocumentIndex, text: str) -> list[FieldValue]:
    (found,) = (r for r in report.records if text in r.segment.text)
    return list(found.context.scope)


def test_the_longest_known_names_and_all_concepts_are_found_in_any_case() -> None:
    known = [
        Term("entity:china", TermKind.ENTITY, "China", ("China",)),
        Term("entity:greater china", TermKind.ENTITY, "Greater China", ("Greater China",)),
        Term("concept:revenue", TermKind.CONCEPT, "revenue", ("revenue",)),
    ]
    headings = Headings(["REVENUES IN GREATER CHINA", "Trends in China", "1."], known)
    assert headings.entities("REVENUES IN GREATER CHINA") == ("entity:greater china",)
    assert headings.entities("Trends in China") == ("entity:china",)
    assert "concept:revenue" in headings.terms("REVENUES IN GREATER CHINA")
    assert "concept:trend" in headings.terms("Trends in China")
    assert headings.terms("1.") == ()


def test_a_segment_leans_on_its_heading_and_on_entities_further_out(report: DocumentIndex) -> None:
    under = {(v.name, v.term) for v in scope(report, "Fuel was dear")}
    assert ("section", "concept:shipping") in under
    assert ("section", "concept:cost") in under
    assert ("outer section", "entity:greater china") in under
    assert ("outer section", "concept:segment") not in under  # of the outer ones, entities only


def test_a_heading_that_names_several_terms_is_read_once(report: DocumentIndex) -> None:
    (record,) = (r for r in report.records if "Fuel was dear" in r.segment.text)
    values = [v.value for _, v in record.context.values()]
    read = [v.value for _, v in record.context.to_read()]
    assert values.count("Costs of Shipping") > 1
    assert read.count("Costs of Shipping") == 1
    assert set(values) == set(read)


def test_what_only_the_heading_says_is_met_at_the_price_of_a_context(report: DocumentIndex) -> None:
    ranking = Searcher(report, preset=FAST).search("Did revenue rise in Greater China?", k=9)
    (hit,) = (one for one in ranking.hits if one.text == "Revenue rose by 24 %.")
    (leaning,) = (one for one in hit.trace.literals if one.context is not None)
    assert leaning.context is not None
    assert (leaning.context.name, leaning.context.value) == ("section", "GREATER CHINA")
    assert leaning.distance == 0.5
    (other,) = (one for one in ranking.hits if one.text == "Revenue rose by 3 %.")
    assert other.gap > hit.gap


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("REVENUES OF IBM", "revenues OF IBM"),
        ("Net Income of IBM", "net income of IBM"),
        ("GPT-4 Results", "GPT-4 results"),
        ("eBay's Sales", "eBay's sales"),
        ("İSTANBUL", "İSTANBUL"),  # its small letters would be one more
    ],
)
def test_headings_are_read_in_small_letters_but_for_acronyms(written: str, read: str) -> None:
    assert lowered(written) == read


def test_a_name_heads_a_column_in_capitals() -> None:
    text = "Shoes are sold in Greater China.\n\n| | GREATER CHINA |\n|---|---|\n| REVENUES | 8 |\n"
    made = index(load_bytes(text.encode(), name="table.md"))
    heads = {m.term for m in made.mentions if m.header is not None}
    assert "entity:greater china" in heads
    made = index(load_bytes(text.replace("GREATER", "Lesser").encode(), name="table.md"))
    assert not any("greater" in m.term for m in made.mentions if m.header is not None)


def test_a_header_in_capitals_is_a_noun_not_a_name() -> None:
    made = index(load_bytes(b"| | REVENUES |\n|---|---|\n| Shoes | 8 |\n", name="table.md"))
    assert "concept:revenue" in {m.term for m in made.mentions if m.header is not None}
