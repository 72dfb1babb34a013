"""A name may tell what it names: a company by its legal form, one of several by its number."""

import pytest

from abstrag.indexing.concepts import AbstractConcepts, variant_of
from abstrag.indexing.layers import Concepts
from abstrag.language.names import names_company
from abstrag.model.term import Edge, LicenceKind
from tests.unit.indexing.readied import readied


@pytest.mark.parametrize(
    "name",
    [
        "Widget Ltd.",
        "Acme Corp.",
        "Acme Corporation",
        "Acme, Inc.",
        "Taiwan Semiconductor Manufacturing Company",
        "Acme Company Limited",
        "Bosch GmbH",
        "Ford Motor Co.",
    ],
)
def test_a_legal_form_is_a_companys(name: str) -> None:
    assert names_company(name)


@pytest.mark.parametrize(
    "name", ["Acme", "Acme Group", "Luxury Spa", "Ltd.", "the company", "Widget"]
)
def test_other_words_at_the_end_say_nothing(name: str) -> None:
    assert not names_company(name)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("ISO 27001", "ISO"),
        ("ISO/IEC 27001:2022", "ISO/IEC"),
        ("Llama 2", "Llama"),
        ("GPT-4", "GPT"),
        ("COVID-19", "COVID"),
        ("Boeing 737-800", "Boeing"),
        ("Falcon Heavy v2.1", "Falcon Heavy"),
        ("GPT-4o", "GPT"),
        ("Greater China", "China"),
        ("MAINLAND CHINA", "CHINA"),
    ],
)
def test_a_number_or_extent_is_put_to_a_name(name: str, base: str) -> None:
    assert variant_of(name) == base


@pytest.mark.parametrize(
    "name",
    [
        "ISO",
        "27001",
        "7-Eleven",
        "H2",
        "CD4",
        "T 34",
        "two 2",
        "3M",
        "Word2Vec",
        "Fig 3",
        "Greater",
    ],
)
def test_other_names_are_variants_of_none(name: str) -> None:
    assert variant_of(name) is None


def step(layer: Concepts, source: str, target: str) -> Edge:
    (edge,) = (e for e in layer.edges if (e.source, e.target) == (source, target))
    return edge


def concepts(text: str, *names: str) -> Concepts:
    layer = AbstractConcepts()(readied(text, names=names)).concepts
    assert layer is not None
    return layer


def test_that_a_name_is_a_companys_is_a_premise_that_quotes_it() -> None:
    text = "Acme bought Widget Ltd. for a song."
    layer = concepts(text, "Widget Ltd.")
    for class_ in ("concept:company", "concept:firm"):
        edge = step(layer, "entity:widget ltd", class_)
        assert edge.truth_preserving
        assert (edge.licence.kind, edge.licence.reference) == (LicenceKind.TEXT, "Widget Ltd.")
        assert edge.licence.span is not None
        assert text[edge.licence.span.start : edge.licence.span.end] == "Widget Ltd."
    assert any(e.source == "concept:company" for e in layer.edges)  # and so what a company is


def test_a_variant_stands_for_its_name_at_a_cost() -> None:
    edge = step(concepts("They hold ISO 27001.", "ISO 27001"), "entity:iso 27001", "entity:iso")
    assert not edge.truth_preserving
    assert edge.cost > 0
    assert edge.confidence < 1
