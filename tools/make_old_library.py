"""Make a small library as a release leaves it behind, for the tests of what comes after it.

    python tools/make_old_library.py tests/data/harbour.md OUT.tar.gz

Run it in the checkout of the release whose library is wanted, with the code of that checkout.

The archive holds a store with one document, what the models said about it and its cards; hand edits
beside the store; a policy folder with one accepted patch; and `expected.json`, which says what the
release itself read out of all that. Everything is made with the code on the path.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from abstrag.collection.searcher import CollectionSearcher
from abstrag.engine.library import Library
from abstrag.engine.refinement import Refiner, local_judges
from abstrag.engine.searcher import Searcher
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Family, Relation
from abstrag.neural.judge import default_judge
from abstrag.neural.runtime import segment_text
from abstrag.neural.whole_text import default_encoder
from abstrag.policy.store import PolicyStore
from abstrag.refine.patch_log import PatchLog, text_hash
from abstrag.search.relevance import DEFAULT_PRESET, FAST, PRESETS
from abstrag.stores.open import beside, open_store
from abstrag.stores.protocol import Store
from abstrag.workspace.lessons import gold_evaluator
from abstrag.workspace.options import EditStore, edge_id, hand_made

FOLDER: Final = Path("/tmp/old-library")  # part of what is kept, as the place of the document
ASKED: Final = "Why did the ferry turn back?"
FAILING: Final = "What did the repairman notice?"
EVIDENCE: Final = "The mechanic reported the fault on 10 March 2023"


def main() -> None:
    """Make the library in a folder of its own and pack it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("document", type=Path)
    parser.add_argument("archive", type=Path)
    given = parser.parse_args()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    path = FOLDER / "store.db"
    with open_store(path) as store:
        shutil.copy(given.document, FOLDER)
        name = Library(store).index_file(FOLDER / given.document.name).document
        assert name is not None
        index = store.get(name)
        expected = {**_described(index), **_searched(store, index)}
    expected["patch"] = _refined(index)
    expected["edits"] = _edited(index, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    (FOLDER / "expected.json").write_text(text, "utf-8")
    with tarfile.open(given.archive, "w:gz") as archive:
        for part in sorted(FOLDER.iterdir()):
            archive.add(part, part.name)


def _described(index: DocumentIndex) -> dict[str, Any]:
    return {
        "id": index.document.id,
        "text_hash": text_hash(index),
        "content_hash": index.document.content_hash,
        "segments": [segment.text for segment in index.segments],
        "terms": [term.id for term in index.map.terms],
        "edges": len(index.map.edges),
        "mentions": len(index.mentions),
    }


def _searched(store: Store, index: DocumentIndex) -> dict[str, Any]:
    """Search with a judge, with vectors and as a collection, and say what the models said."""
    hits = Searcher(index, preset=DEFAULT_PRESET, memory=store).search(ASKED, k=3).hits
    Searcher(index, preset=PRESETS["embedded"], memory=store).search(ASKED, k=3)
    CollectionSearcher(store).search(ASKED, k=3)
    judge, encoder = default_judge().reading(index.document.title), default_encoder()
    passages = [segment_text(segment, title=judge.title) for segment in index.segments]
    texts = [segment_text(segment) for segment in index.segments]
    return {
        "hits": [hit.text for hit in hits],
        "judge": judge.fingerprint,
        "query": ASKED,
        "passages": passages,
        "scores": judge.score(ASKED, passages),
        "encoder": encoder.fingerprint,
        "texts": texts,
        "vectors": [vector.tobytes().hex() for vector in encoder.embed(texts[:2])],
    }


def _refined(index: DocumentIndex) -> str:
    """Have one patch accepted, and return its id."""
    searcher = Searcher(index, preset=FAST)
    patch_log = PatchLog(PolicyStore.open(FOLDER / "policy"))
    judges = local_judges(searcher, gold_evaluator())
    gold = [segment.id for segment in index.segments if segment.text.startswith(EVIDENCE)]
    made = Refiner(searcher, judges, patch_log=patch_log).refine(FAILING, gold=gold)
    (patch,) = made.patches
    return patch.id


def _edited(index: DocumentIndex, store: Path) -> dict[str, str]:
    """Add one edge by hand and hide another, as the studio does."""
    edits = EditStore(beside(store, ".studio") / "edits")
    added = hand_made(
        index,
        source="entity:merlin",
        target="concept:ferry",
        relation=Relation.EQUIVALENT,
        family=Family.CONCEPT,
    )
    hidden = edge_id(index.map.edges[0])
    edits.add(index.document.id, added)
    edits.hide(index.document.id, hidden, map(edge_id, index.map.edges))
    return {"added": edge_id(added), "hidden": hidden}


if __name__ == "__main__":
    main()
