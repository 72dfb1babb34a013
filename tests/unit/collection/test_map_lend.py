"""Lending: what one document knows serves a search of another, at a cost and with its words."""

import pytest

from abstrag.collection.entries import entries_of
from abstrag.collection.map import CollectionMap
from abstrag.collection.map_lend import lend, lent
from abstrag.collection.merge import DocumentTerm
from abstrag.engine.searcher import Searcher
from abstrag.errors import UnknownDocument
from abstrag.model.ranking import Hit
from abstrag.model.term import Family, LicenceKind, Relation
from abstrag.search.relevance import FAST
from tests.unit.collection.things import collection, entries, entry, indexed

STATING = (
    "# Vaccines\n\nThe World Health Organization (WHO) approved the vaccine. "
    "The World Health Organization, a charity, works with the Gates Foundation.\n"
)
BARE = "# Malaria\n\nBread was cheap. In 2023 the WHO praised the nets.\n"
QUERY = "the World Health Organization"


def best(text: str, made: CollectionMap | None, query: str = QUERY) -> Hit:
    document = indexed("bare", text)
    document = document if made is None else lent(document, made)
    return Searcher(document, preset=FAST).search(query).hits[0]


def test_a_name_stated_elsewhere_reaches_a_document_that_only_has_the_short_form() -> None:
    made = collection(stating=STATING, bare=BARE)
    alone = Searcher(indexed("bare", BARE), preset=FAST).search(QUERY)
    assert not any(hit.trace.share for hit in alone.hits)
    hit = best(BARE, made)
    assert "the WHO praised" in hit.text
    assert hit.trace.reachable
    assert hit.gap == pytest.approx(1.28)
    (bridge,) = hit.trace.bridges
    assert (bridge.source, bridge.target) == ("entity:who", "entity:world health organization")
    assert bridge.family is Family.EXPRESSION
    assert bridge.relation is Relation.IMPLIES
    assert not bridge.truth_preserving


def test_the_licence_is_read_aloud() -> None:
    hit = best(BARE, collection(stating=STATING, bare=BARE))
    assert (
        "“WHO” is read as “World Health Organization” (another expression: stating states "
        "“World Health Organization (WHO)” at 16, and no document gives the short form another "
        "meaning, 1.28)"
    ) in hit.reading
    (bridge,) = hit.trace.bridges
    assert bridge.licence is not None
    assert bridge.licence.kind is LicenceKind.COLLECTION
    assert bridge.licence.span is None  # it would point into the wrong document


def test_a_short_form_stated_elsewhere_reaches_the_name_in_full() -> None:
    full = "# Malaria\n\nBread was cheap. The World Health Organization praised the nets.\n"
    made = collection(stating=STATING, bare=full)
    hit = best(full, made, "What did the WHO praise?")
    assert "another expression: stating states" in hit.reading
    assert hit.trace.bridges[0].cost == pytest.approx(0.40)


def test_a_class_stated_elsewhere_is_lent_for_a_named_thing() -> None:
    hit = best(BARE, collection(stating=STATING, bare=BARE), "Which charities praised nets?")
    assert "the WHO praised" in hit.text
    assert "stating states “World Health Organization, a charity”" in hit.reading


def test_nothing_lent_is_free_and_all_of_it_names_another_document() -> None:
    made = collection(stating=STATING, bare=BARE)
    edges = lend(made, indexed("bare", BARE))
    assert edges
    for edge in edges:
        assert edge.cost > 0
        assert edge.licence.reference.startswith("stating states “")
    assert lend(made, indexed("stating", STATING)) == ()  # the other one states nothing


def test_an_index_that_is_lent_nothing_stays_as_it_is() -> None:
    made = collection(bare=BARE)
    document = indexed("bare", BARE)
    assert lent(document, made) is document


def test_what_is_lent_goes_with_the_document_that_lent_it() -> None:
    made = collection(stating=STATING, bare=BARE)
    made.remove("stating")
    assert lend(made, indexed("bare", BARE)) == ()


def test_a_second_meaning_ends_the_loan() -> None:
    made = collection(stating=STATING, bare=BARE)
    other = indexed("other", "# Radio\n\nThe Western Housing Office (WHO) closed. The WHO moved.\n")
    made.add("other", entries_of(other))
    assert lend(made, indexed("bare", BARE)) == ()


def test_a_contested_short_form_is_not_lent() -> None:
    made = collection(
        a="# A\n\nThe hazard ratio (HRX) was low. The HRX fell.\n",
        b="# B\n\nMean heart rate (HRX) rose. The HRX was normal.\n",
        bare="# C\n\nWe report the hazard ratio.\n",
    )
    assert lend(made, indexed("bare", "# C\n\nWe report the hazard ratio.\n")) == ()


def test_a_chain_of_merges_costs_the_sum_and_names_the_document_between() -> None:
    context = ("entity:ardent steel", "entity:borden mills")
    made = CollectionMap(
        {
            "stating": entries(entry("Emergency Room", short="ER", near=[0]), context=context),
            "middle": entries(entry("ER", near=[0, 1]), context=context),
            "bare": entries(entry("ER", near=[1]), context=context),
        }
    )
    ((node, path),) = made.informative_paths(DocumentTerm("bare", "entity:er")).items()
    assert node == DocumentTerm("stating", "entity:emergency room")
    assert path.cost == pytest.approx(2 * 0.40)
    assert [step.shared for step in path.steps] == ["borden mills", "ardent steel"]
    assert [between.document for between in path.through] == ["middle"]
    made.remove("middle")
    assert made.informative_paths(DocumentTerm("bare", "entity:er")) == {}


def test_a_document_the_map_does_not_have_is_refused() -> None:
    with pytest.raises(UnknownDocument, match="'bare'"):
        lent(indexed("bare", BARE), CollectionMap())
