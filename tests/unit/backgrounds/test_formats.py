import bz2
import gzip
import sys
from pathlib import Path

import pytest

from abstrag.backgrounds.fact import BackgroundName, ClassMembership
from abstrag.backgrounds.source import DISTANCE, BackgroundSource
from abstrag.errors import BackgroundError, ResourceMissing
from tests.unit.backgrounds.samples import MRCONSO, MRREL, RDF_XML, TURTLE, entity

D1, D2, D3 = (f"http://drugs.example/{n}" for n in (1, 2, 3))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_skos_labels_are_names_and_broader_is_upward(tmp_path: Path) -> None:
    facts = list(BackgroundSource.of(write(tmp_path, "drugs.ttl", TURTLE)).facts())
    assert BackgroundName(D1, "Zorvatin", preferred=True) in facts
    assert BackgroundName(D1, "zorvatinic acid") in facts
    assert (
        BackgroundName(D3, "medicine", preferred=True) in facts
    )  # a label in no language is in all
    assert facts.count(ClassMembership(D1, D2)) == 2  # broader, and narrower the other way round
    assert not [f for f in facts if isinstance(f, BackgroundName) and f.surface == "Zorvatina"]
    assert not [f for f in facts if isinstance(f, ClassMembership) and "skos" in f.target]


def test_another_language_is_read_when_asked_for(tmp_path: Path) -> None:
    source = BackgroundSource.of(write(tmp_path, "drugs.ttl", TURTLE), language="es")
    names = [f.surface for f in source.facts() if isinstance(f, BackgroundName)]
    assert names == ["Zorvatina", "medicine"]


def test_rdf_in_xml_says_the_same(tmp_path: Path) -> None:
    facts = list(BackgroundSource.of(write(tmp_path, "drugs.rdf", RDF_XML)).facts())
    assert facts == [
        BackgroundName(D1, "Zorvatin", preferred=True),
        BackgroundName(D1, "zorvatinic acid"),
    ]


def test_a_fault_in_turtle_is_named_by_line_and_column(tmp_path: Path) -> None:
    path = write(tmp_path, "bad.ttl", TURTLE.replace("d:3 skos", "d:3 nosuch"))
    with pytest.raises(BackgroundError, match=r"bad.ttl' line 6, column 5: "):
        list(BackgroundSource.of(path).facts())


def test_a_fault_in_xml_is_named_by_line(tmp_path: Path) -> None:
    path = write(tmp_path, "bad.rdf", RDF_XML.replace("</skos:Concept>", "</skos:Thing>"))
    with pytest.raises(BackgroundError, match=r"bad.rdf' line 7, column \d+: "):
        list(BackgroundSource.of(path).facts())


def test_rdf_without_its_reader_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(ResourceMissing) as caught:
        list(BackgroundSource.of(write(tmp_path, "drugs.ttl", TURTLE)).facts())
    assert caught.value.hint == "pip install 'abstrag[rdf]'"


def test_a_dump_is_read_as_it_is_published(tmp_path: Path) -> None:
    lines = ["[", entity("Q1", "Zorvatin", "ZVA", kind="Q2") + ",", entity("Q2", "drug"), "]"]
    path = tmp_path / "dump.json.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    facts = list(BackgroundSource.of(path).facts())
    assert facts == [
        BackgroundName("wikidata:Q1", "Zorvatin", preferred=True, line=2),
        BackgroundName("wikidata:Q1", "ZVA", line=2),
        ClassMembership("wikidata:Q1", "wikidata:Q2", line=2),
        BackgroundName("wikidata:Q2", "drug", preferred=True, line=3),
    ]


def test_what_a_dump_deprecates_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "d.jsonl", entity("Q1", "Zorvatin", kind="Q2", rank="deprecated"))
    assert [f for f in BackgroundSource.of(path).facts() if isinstance(f, ClassMembership)] == []


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('{"id": "Q1", oops}', "line 2, column 14: not JSON"),
        ("[1, 2]", "line 2, column 1: an entity without an id"),
        ('{"id": "Q1", "labels": {"en": "bare"}}', "line 2, column 1: entity 'Q1'"),
    ],
)
def test_a_malformed_entity_is_named(tmp_path: Path, line: str, place: str) -> None:
    path = write(tmp_path, "dump.json", f"[\n{line},\n]\n")
    with pytest.raises(BackgroundError) as caught:
        list(BackgroundSource.of(path).facts())
    assert place in str(caught.value)


def test_umls_names_are_read_in_one_language_and_unsuppressed(tmp_path: Path) -> None:
    facts = list(BackgroundSource.of(write(tmp_path, "MRCONSO.RRF", MRCONSO)).facts())
    assert facts == [
        BackgroundName("umls:C01", "Zorvatin", preferred=True, line=1),
        BackgroundName("umls:C01", "zorvatinic acid", preferred=False, line=2),
        BackgroundName("umls:C02", "calming agent", preferred=True, line=5),
    ]


def test_umls_relations_go_upward_and_parts_are_no_kinds(tmp_path: Path) -> None:
    facts = list(BackgroundSource.of(write(tmp_path, "MRREL.RRF", MRREL)).facts())
    assert facts == [
        ClassMembership("umls:C01", "umls:C02", line=1),
        ClassMembership("umls:C04", "umls:C02", line=3),
    ]


def test_a_short_line_of_umls_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "MRCONSO.RRF", MRCONSO + "C03|ENG|P|\n")
    with pytest.raises(BackgroundError, match="line 6, column 4: 3 fields where 18 belong"):
        list(BackgroundSource.of(path).facts())


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"alias,name\n" + b"".join(b"a%d,b%d\n" % (i, i) for i in range(9999)))
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BackgroundError, match="cut off or damaged"):
        list(BackgroundSource.of(path).facts())


def test_a_cut_off_packed_vocabulary_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(TURTLE.encode())
    path = tmp_path / "cut.ttl.gz"
    path.write_bytes(whole[:-12])
    with pytest.raises(BackgroundError, match="cut off or damaged"):
        list(BackgroundSource.of(path).facts())


def test_bzip2_is_unpacked_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(bz2.compress(b"alias,name\nx,y\n"))
    assert len(list(BackgroundSource.of(path).facts())) == 2


def test_tables_are_stated_and_imported_sources_pay(tmp_path: Path) -> None:
    assert BackgroundSource.of("a.csv").distance is None
    assert BackgroundSource.of("a.ttl").distance == DISTANCE
    assert BackgroundSource.of("a.csv", "0.3").distance == 0.3
    assert BackgroundSource.of("a.ttl", "stated").distance is None


@pytest.mark.parametrize(("name", "how"), [("a.xlsx", None), ("a.csv", "certain"), ("a.csv", "-1")])
def test_an_unknown_format_or_distance_is_refused(name: str, how: str | None) -> None:
    with pytest.raises(BackgroundError) as caught:
        BackgroundSource.of(name, how)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["gone.csv", "folder.csv", "MRSTY.RRF"])
def test_a_file_that_is_not_there_or_not_one_of_ours_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "MRSTY.RRF").write_text("x")
    with pytest.raises(BackgroundError, match=name):
        list(BackgroundSource.of(tmp_path / name).facts())
