"""An encoder, a judge, a reader and a store of the user's are asked in place of ours."""

from pathlib import Path

import pytest

from abstrag import AbstRAG
from abstrag.errors import DocumentError
from abstrag.model.document import Document
from abstrag.search.relevance import Preset
from abstrag.stores.sqlite import SqliteStore
from tests.unit.testing.parts import LetterEncoder, read_shouted, shared_words

TEXT = "The pump was switched on at ten.\n\nThe valve stayed shut.\n\nIt rained all day."
DENSE = Preset("dense", coverage_weight=0.0, dense_weight=1.0)
QUERY = "Was the valve shut?"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "pump.txt"
    made.write_text(TEXT)
    return made


def test_an_encoder_is_asked_for_texts_and_queries(path: Path) -> None:
    encoder = LetterEncoder()
    with AbstRAG(":memory:", preset=DENSE, encoder=encoder) as rag:
        rag.index(path)
        assert rag.search(QUERY, k=1).hits[0].quote == "The valve stayed shut."
        assert QUERY in encoder.asked
        assert any("valve stayed" in text for text in encoder.asked)
        assert set(rag.workspace.store.models()["embeddings"]) == {"letters-1"}


def test_a_collection_is_shortlisted_by_the_same_encoder(path: Path) -> None:
    encoder = LetterEncoder()
    with AbstRAG(":memory:", preset="fast", encoder=encoder) as rag:
        rag.index(path)
        assert rag.search_all(QUERY, k=1).hits
        assert set(rag.workspace.store.models()["vectors"]) == {"letters-1"}


def test_a_judge_is_asked_instead_of_the_shipped_one(path: Path) -> None:
    with AbstRAG(":memory:", judge=shared_words) as rag:
        rag.index(path)
        hit = rag.search("The valve stayed shut.", k=1).hits[0]
        assert hit.judgement == 1.0


def test_a_reader_is_called_for_its_suffix_and_its_mistakes_are_told(tmp_path: Path) -> None:
    loud, broken = tmp_path / "pump.Shout", tmp_path / "pump.broken"
    loud.write_text("The valve! stayed shut.")
    broken.write_text("anything")

    def fail(data: bytes, name: str) -> Document:
        raise KeyError("oops")

    with AbstRAG(":memory:", readers={".shout": read_shouted, ".broken": fail}) as rag:
        made = rag.index(loud)
        assert [each.text for each in made.segments] == ["The valve stayed shut."]
        assert (made.document.id, made.document.metadata.format) == ("pump", "text")
        with pytest.raises(DocumentError, match=r"'pump\.broken' cannot be read by 'fail'"):
            rag.index(broken)
        assert [each.status for each in rag.index_many([loud], workers=2)] == ["unchanged"]


def test_an_open_store_is_used_and_closed(path: Path, tmp_path: Path) -> None:
    with AbstRAG(SqliteStore.open(tmp_path / "own.db")) as rag:
        rag.index(path)
        assert rag.search(QUERY, k=1).hits
    with SqliteStore.open(tmp_path / "own.db") as again:
        assert [each.id for each in again.documents()] == ["pump"]
