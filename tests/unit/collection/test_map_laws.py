"""Laws of the map: order does not matter, nothing is free, nothing outlives its document."""

from itertools import permutations
from random import Random
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.collection.entries import Entries, NamedThing
from abstrag.collection.homonyms import BearerKind, kinds_clash, same_long_form
from abstrag.collection.map import CollectionMap
from abstrag.collection.map_data import map_data
from abstrag.collection.merge import DocumentTerm
from abstrag.config import COST_UNIT, OMEGA
from tests.unit.collection.things import entries, entry

CONTEXT = ("entity:ardent steel", "entity:borden mills", "concept:high street")
LABELS = ("Paris", "Jane Smith", "John Smith", "J. Smith", "HRX", "Acme Steel")
LONG = ("Heart Rate", "Hazard Ratio", "Hazards Ratio")

_entry = st.one_of(
    st.builds(
        entry,
        st.sampled_from(LABELS),
        kinds=st.sets(st.sampled_from(BearerKind), max_size=1),
        classes=st.sets(st.sampled_from(("prince", "town")), max_size=1),
        near=st.sets(st.integers(0, len(CONTEXT) - 1)),
    ),
    st.builds(entry, st.sampled_from(LONG), short=st.sampled_from((None, "HRX"))),
)


def _document(made: list[NamedThing]) -> Entries:
    return entries(*{e.term: e for e in made}.values(), context=CONTEXT)


_documents = st.lists(st.lists(_entry, min_size=1, max_size=3).map(_document), max_size=6).map(
    lambda found: {f"d{i}": made for i, made in enumerate(found)}
)


@settings(max_examples=60, deadline=None)
@given(_documents, st.randoms(use_true_random=False))
def test_documents_may_come_in_any_order(documents: dict[str, Entries], random: Random) -> None:
    wanted = map_data(CollectionMap(documents))
    names = list(documents)
    random.shuffle(names)
    made = CollectionMap()
    for name in names:
        made.add(name, documents[name])
        list(made.merges())  # looking at it in between changes nothing
    assert map_data(made) == wanted


@settings(max_examples=60, deadline=None)
@given(_documents, _documents)
def test_a_document_that_goes_takes_all_it_brought(
    documents: dict[str, Entries], more: dict[str, Entries]
) -> None:
    made = CollectionMap(documents)
    before = map_data(made)
    for name, one in more.items():
        made.add(f"x{name}", one)
    list(made.refusals())
    for name in more:
        made.remove(f"x{name}")
    assert map_data(made) == before


@settings(max_examples=60, deadline=None)
@given(_documents)
def test_a_changed_document_counts_as_it_is_now(documents: dict[str, Entries]) -> None:
    made = CollectionMap(documents)
    for name in documents:
        made.add(name, entries(entry("Acme Steel")))
    assert map_data(made) == map_data(
        CollectionMap({name: entries(entry("Acme Steel")) for name in documents})
    )


@settings(max_examples=40, deadline=None)
@given(_documents)
def test_what_is_kept_of_the_work_changes_nothing(documents: dict[str, Entries]) -> None:
    made = CollectionMap(documents)
    wanted = map_data(made)
    with patch("abstrag.collection.map._MOST_NODES", 0):
        assert map_data(CollectionMap(documents)) == wanted
    assert [m.name for m in made.merges()] == [m["name"] for m in wanted["merges"]]


@settings(max_examples=80, deadline=None)
@given(_documents)
def test_no_merge_is_free_and_chains_add_up(documents: dict[str, Entries]) -> None:
    made = CollectionMap(documents)
    for merge in made.merges():
        assert merge.cost >= OMEGA["expression"]
        assert not merge.truth_preserving
        assert len({node.document for node in merge.members}) > 1
    nodes = [node for name in made.documents for node in made.nodes(name)]
    merge_paths = {node: made.merge_paths(node) for node in nodes}
    for node, found in merge_paths.items():
        for other, path in found.items():
            assert path.units == sum(step.units for step in path.steps) > 0
            assert len(path.through) == len(path.steps) - 1
            assert merge_paths[other][node].units == path.units
    for a, b, c in permutations(nodes, 3):
        if (
            b in merge_paths[a]
            and c in merge_paths[b]
            and merge_paths[a][b].units + merge_paths[b][c].units <= 4 * COST_UNIT
        ):
            assert merge_paths[a][c].units <= merge_paths[a][b].units + merge_paths[b][c].units


@settings(max_examples=80, deadline=None)
@given(_documents)
def test_nothing_taken_for_one_thing_clashes(documents: dict[str, Entries]) -> None:
    made = CollectionMap(documents)
    seen: list[DocumentTerm] = []
    for thing in made.things():
        seen += thing.nodes
        found = [made.entry(node) for node in thing.nodes]
        for one in found:
            for other in found:
                assert not kinds_clash(one.kinds, other.kinds)
                if len(one.names) > 1 and len(other.names) > 1:  # both state what HRX stands for
                    assert same_long_form(one.label, other.label)
        people = {e.label for e in found} & {"Jane Smith", "John Smith"}
        shown = [e for e in found if e.label in people and e.kinds == (BearerKind.PERSON,)]
        assert len({e.label for e in shown}) < 2
    assert sorted(seen) == sorted(node for name in documents for node in made.nodes(name))
