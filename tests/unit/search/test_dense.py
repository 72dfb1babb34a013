"""Dense similarity over a memory: a document is embedded once for everybody who asks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from abstrag.model.query import Query
from abstrag.neural.runtime import segment_text
from abstrag.neural.vectors import CachedEncoder
from abstrag.search.dense import DenseSimilarity
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index
from tests.unit.neural.letters import Letters


def test_a_second_reader_of_a_document_embeds_nothing(tmp_path: Path) -> None:
    index = sample_index()
    everywhere = np.arange(len(index.segments))
    plain = DenseSimilarity(index, encoder=Letters())(Query("a cab", ()), everywhere)
    for expected in ([segment_text(segment) for segment in index.segments], []):
        encoder = Letters()
        with SqliteStore.open(tmp_path / "store.db") as store:
            kept = CachedEncoder(encoder, store, content_hash=index.document.content_hash)
            found = DenseSimilarity(index, encoder=kept)(Query("a cab", ()), everywhere)
        assert np.array_equal(found, plain)
        assert [text for text in encoder.asked if text != "a cab"] == expected
