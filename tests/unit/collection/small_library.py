"""A small library to search in, an encoder and a judge that need no model."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from abstrag.collection.searcher import CollectionSearcher
from abstrag.documents.load import load
from abstrag.indexing.pipeline import index
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.neural.encoder import Vectors
from abstrag.search.relevance import FAST, Preset
from abstrag.stores.protocol import Store

TEXTS: Final = {
    "harbour": """---
title: The harbour in 2023
date: 2023-12-01
---

# The harbour in 2023

The council paid for a new lock. Cargo vessels pass the lock at dawn. Nobody may swim near it.
A crane arrived from Hamburg.
""",
    "hounds": """---
title: Keeping hounds
date: 2019-06-10
---

# Keeping hounds

Hounds need long walks every day. A puppy sleeps up to twenty hours. Rabies is prevented by an
early vaccination.
""",
    "visit": """---
title: Visit to Hsinchu
date: 2024-05-15
---

# Visit to Hsinchu

The CTO of Anthropic visited the head of the fabrication division this Tuesday. Both sides spoke
about accelerators.
""",
    "planet": """# Mercury

Mercury is the planet nearest to the sun. Its surface is full of craters. A year on it lasts 88
days.
""",
    "metal": """# Mercury

Mercury is a metal that is liquid at room temperature. Mercury poisons the nervous system. Old
thermometers hold it.
""",
}
PATHS: Final = {name: f"/library/{name}.md" for name in TEXTS} | {"metal": "/other/metal.md"}


@cache
def indexes() -> dict[str, DocumentIndex]:
    """Index the library once."""
    return {name: indexed(name, text) for name, text in TEXTS.items()}


def indexed(name: str, text: str) -> DocumentIndex:
    """Index a text as if it had been read from a file of that name."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.md"
        path.write_text(text, "utf-8")
        document = load(path)
    source = f"/library/{name}.md"
    return index(replace(document, metadata=replace(document.metadata, source=source)))


def fill(store: Store, *names: str) -> Store:
    """Put documents of the library, or all of it, into a store."""
    for name in names or TEXTS:
        put(store, indexes()[name], PATHS[name])
    return store


def put(store: Store, index: DocumentIndex, path: str) -> str:
    """Put an index into a store, under the id that it gets there."""
    return store.put(index, source_path=path, source_hash=index.document.content_hash)


class Topics:
    """An encoder that knows which words go together, and counts what it is asked to embed."""

    fingerprint = "topics"
    _TOPICS: Final = (
        ("hound", "bark", "puppy"),
        ("lock", "vessel", "boat"),
        ("visit", "meeting"),
        ("planet", "sun", "astronomy"),
        ("metal", "poison", "toxic"),
    )

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = np.array(
            [
                [sum(word in text.casefold() for word in topic) for topic in self._TOPICS]
                for text in texts
            ],
            np.float32,
        ).reshape(len(texts), len(self._TOPICS))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


class Counted:
    """A judge that believes in one word, and counts what it is asked about."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[str] = []

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        self.asked += [segment.text for segment in segments]
        return [0.9 if self.word in segment.text else 0.1 for segment in segments]


def searcher(store: Store, preset: Preset = FAST, **settings: object) -> CollectionSearcher:
    """Search a store without any model, unless settings say otherwise."""
    given = {"embeddings": False, **settings}
    return CollectionSearcher(store, preset=preset, **given)  # type: ignore[arg-type]
