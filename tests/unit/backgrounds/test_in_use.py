"""A compiled Background from a file to a hit: indexed, found, explained, remembered."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.backgrounds.compiled import CompiledBackground
from abstrag.backgrounds.source import BackgroundSource
from abstrag.engine.library import Library
from abstrag.engine.searcher import Searcher
from abstrag.errors import BackgroundError
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Hit
from abstrag.model.term import Edge, LicenceKind, Relation
from abstrag.search.relevance import PRESETS
from abstrag.stores.sqlite import SqliteStore
from tests.unit.backgrounds.samples import TURTLE, compiled, table

ALIASES = """alias,name
Tall Pine,Norrland Paper
Mercury,Mercury Systems
Mercury,Freddie Mercury
"""
TEXT = """# Trial

Tall Pine paid for the trial. Patients who took zorvatin slept longer. Mercury opened a plant
in Boston. The CTO of Norrland Paper left.
"""


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with SqliteStore.open(":memory:") as opened:
        yield opened


@pytest.fixture
def sources(tmp_path: Path) -> CompiledBackground:
    (tmp_path / "drugs.ttl").write_text(TURTLE)
    (tmp_path / "trial.md").write_text(TEXT)
    classes = table(tmp_path, "thing,class\nNorrland Paper,paper maker\n", "classes.csv")
    roles = table(tmp_path, "role,type\nCTO,decider\n", "roles.csv", 0.1)
    drugs = BackgroundSource.of(tmp_path / "drugs.ttl")
    return compiled(tmp_path, table(tmp_path, ALIASES), classes, roles, drugs)


@pytest.fixture
def index(store: SqliteStore, sources: CompiledBackground, tmp_path: Path) -> DocumentIndex:
    return Library(store, sources).open(str(tmp_path / "trial.md"))


def edge(index: DocumentIndex, source: str, target: str) -> Edge:
    (found,) = [e for e in index.map.edges if (e.source, e.target) == (source, target)]
    return found


def best(index: DocumentIndex, query: str) -> Hit:
    return Searcher(index, preset=PRESETS["fast"]).search(query, k=1).hits[0]


def test_what_is_stated_is_free_and_names_its_line(index: DocumentIndex) -> None:
    alias = edge(index, "entity:tall pine", "entity:norrland paper")
    assert (alias.cost, alias.relation) == (0, Relation.EQUIVALENT)
    assert alias.licence.reference == "aliases.csv line 2: aliases.Norrland Paper"
    member = edge(index, "entity:norrland paper", "concept:paper maker")
    assert (member.cost, member.relation) == (0, Relation.IMPLIES)
    assert member.licence.reference == "classes.csv line 2: classes.Norrland Paper"
    assert "Norrland Paper paid for the trial." in [r.canonical for r in index.records]


def test_what_a_vocabulary_suggests_pays_and_names_its_entry(index: DocumentIndex) -> None:
    alias = edge(index, "concept:zorvatin", "concept:zorvatinic acid")
    assert (alias.cost, alias.truth_preserving) == (0.45, False)
    assert alias.licence.kind is LicenceKind.BACKGROUND
    assert alias.licence.reference == (
        "drugs.ttl, http://drugs.example/1: Zorvatin = zorvatinic acid"
    )
    assert edge(index, "concept:zorvatin", "concept:calming agent").cost == 0.9
    assert edge(index, "concept:zorvatin", "concept:medicine").cost == 1.0


def test_a_homonym_leads_to_both_things_and_merges_neither(index: DocumentIndex) -> None:
    for name in ("mercury systems", "freddie mercury"):
        step = edge(index, "entity:mercury", f"entity:{name}")
        assert step.cost == pytest.approx(1.0431)
        assert (step.relation, step.confidence) == (Relation.IMPLIES, 0.5)
    assert "Mercury opened a plant in Boston." in " ".join(r.canonical for r in index.records)


def test_a_role_leads_to_its_type(index: DocumentIndex) -> None:
    found = [e for e in index.map.edges if e.target == "role:decider"]
    assert [e.cost for e in found] == [0.9]


@pytest.mark.parametrize(
    ("query", "said", "gap"),
    [
        ("Who took ZVA?", "zorvatin", 0.45),
        ("Who took zorvatinic acid?", "zorvatin", 0.45),
        ("Who took a calming agent?", "zorvatin", 0.9),
        ("Which paper maker paid?", "Tall Pine", 0.0),
    ],
)
def test_a_query_in_the_words_of_a_source_finds_the_text(
    index: DocumentIndex, query: str, said: str, gap: float
) -> None:
    hit = best(index, query)
    assert said in hit.quote
    assert hit.trace.reachable
    assert hit.gap == pytest.approx(gap)


def test_a_class_works_one_way_only(index: DocumentIndex) -> None:
    edges = [(e.source, e.target) for e in index.map.edges]
    assert [source for source, target in edges if target == "concept:calming agent"]
    assert not [target for source, target in edges if source == "concept:calming agent"]


def test_a_word_of_the_document_is_not_hidden_by_a_name_of_the_source(
    store: SqliteStore, sources: CompiledBackground, tmp_path: Path
) -> None:
    path = tmp_path / "agents.md"
    path.write_text("Zorvatin works. A calming agent is a medicine. A medicine cures.")
    index = Library(store, sources).open(str(path))
    assert "entity:medicine" not in {term.id for term in index.map.terms}
    assert best(index, "Which medicine cures?").gap == 0


def test_indexing_again_does_nothing_until_the_sources_change(
    store: SqliteStore, sources: CompiledBackground, tmp_path: Path
) -> None:
    path = tmp_path / "trial.md"
    assert Library(store, sources).index_file(path).status == "indexed"
    assert Library(store, sources).index_file(path).status == "unchanged"
    assert Library(store).index_file(path).status == "unchanged"
    other = compiled(tmp_path, table(tmp_path, ALIASES + "Big Pine,Norrland Paper\n"))
    assert Library(store, other).index_file(path).status == "indexed"


def test_a_changed_document_asks_the_sources_it_was_indexed_with(
    store: SqliteStore, sources: CompiledBackground, tmp_path: Path
) -> None:
    path = tmp_path / "trial.md"
    path.write_text("Nothing here is known.")
    Library(store, sources).index_file(path)
    path.write_text("Tall Pine paid.")
    made = Library(store).open(str(path))
    assert edge(made, "entity:tall pine", "entity:norrland paper").cost == 0
    sources.path.unlink()
    assert Library(store).index_file(path).status == "unchanged"
    path.write_text("Tall Pine paid again.")
    with pytest.raises(BackgroundError, match="no compiled Background at"):
        Library(store).index_file(path)


def test_the_same_document_and_sources_make_the_same_index(
    store: SqliteStore, sources: CompiledBackground, index: DocumentIndex, tmp_path: Path
) -> None:
    with SqliteStore.open(":memory:") as other:
        again = Library(other, sources).open(str(tmp_path / "trial.md"))
    assert again == replace(index, document=again.document)


def test_a_compiled_background_in_a_folder_is_no_document(
    store: SqliteStore, sources: CompiledBackground, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "trial.md").write_text(TEXT)
    sources.path.rename(folder / "bg.db")
    outcomes = list(Library(store).index_paths([folder]))
    assert [Path(o.path).name for o in outcomes] == ["trial.md"]
