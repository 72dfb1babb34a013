"""What the last release left behind is read by today's code: store, edits and patches."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstrag.cli.main import main
from abstrag.engine.refinement import Refiner, local_judges
from abstrag.engine.searcher import Searcher
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import CachedJudge
from abstrag.neural.vectors import CachedEncoder
from abstrag.policy.store import PolicyStore
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.patch_log import PatchLog, text_hash
from abstrag.search.relevance import FAST
from abstrag.stores.cards import Card, QuantizedVectors
from abstrag.stores.open import beside
from abstrag.stores.sqlite import MIGRATIONS, SqliteStore
from abstrag.workspace.options import EditStore, applied, edge_id
from tests.unit.stores.old_library import OldLibrary, unpack_library

FAILING = "What did the repairman notice?"
EVIDENCE = "The mechanic reported the fault on 10 March 2023"
PROSE = 11  # segments before the table, which a judge reads by themselves
NEW = "a model of tomorrow:0123456789abcdef"


@pytest.fixture
def old(tmp_path: Path) -> OldLibrary:
    return unpack_library(tmp_path)


@pytest.fixture
def store(old: OldLibrary) -> Iterator[SqliteStore]:
    with SqliteStore.open(old.store, create=False) as opened:
        yield opened


class Asked:
    """A model that says nothing of its own and notes what it is asked."""

    wants_title = False

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.texts: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.texts += passages
        return [0.0] * len(passages)

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.zeros((len(texts), 384), np.float32)


def rows(path: Path) -> dict[str, list[Any]]:
    """Return every row of every table but what a store says of itself."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'meta'"
        ).fetchall()
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for (name,) in tables
        }


def schema_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        statement = "SELECT value FROM meta WHERE key = 'schema_version'"
        return int(connection.execute(statement).fetchone()[0])


def test_an_old_store_opens_and_keeps_every_row(old: OldLibrary) -> None:
    before = rows(old.store)
    assert schema_version(old.store) == 2
    assert all(before[name] for name in ("documents", "layers", "embeddings", "judgements"))
    with SqliteStore.open(old.store, create=False) as store:
        store.check()
    assert schema_version(old.store) == len(MIGRATIONS)
    after = rows(old.store)
    assert len(after.pop("seals")) == len(before["documents"])  # what the old release did not make
    assert after.pop("places") == after.pop("packed_rows") == []
    for kind in ("embeddings", "judgements"):
        before[kind] = [(*row, None) for row in before[kind]]  # it wrote no checksums
    assert after == before


def test_an_old_index_is_read_as_it_was_written(store: SqliteStore, old: OldLibrary) -> None:
    (info,) = store.documents()
    index = store.get(old.expected["id"])
    assert [segment.text for segment in index.segments] == old.expected["segments"]
    assert [term.id for term in index.map.terms] == old.expected["terms"]
    assert (len(index.map.edges), len(index.mentions)) == (
        old.expected["edges"],
        old.expected["mentions"],
    )
    assert info.content_hash == index.document.content_hash == old.expected["content_hash"]
    assert info.source_path == "/tmp/old-library/harbour.md"


def test_an_old_store_says_which_models_made_what(store: SqliteStore, old: OldLibrary) -> None:
    made = store.models()
    judge, encoder = old.expected["judge"], old.expected["encoder"]
    assert list(made["judgements"]) == [judge]
    assert list(made["embeddings"]) == [encoder]
    assert made["vectors"] == {encoder: 2}


def test_what_the_judge_said_is_recalled_for_that_judge_alone(
    store: SqliteStore, old: OldLibrary
) -> None:
    expected = old.expected
    passages, scores = expected["passages"][:PROSE], expected["scores"][:PROSE]
    same, other = Asked(expected["judge"]), Asked(NEW)
    content = expected["content_hash"]
    known = CachedJudge(same, store, content_hash=content).score(expected["query"], passages)
    assert same.texts == []
    assert known == scores
    CachedJudge(other, store, content_hash=content).score(expected["query"], passages)
    assert other.texts == passages


def test_vectors_are_recalled_for_the_encoder_that_made_them_alone(
    store: SqliteStore, old: OldLibrary
) -> None:
    expected = old.expected
    same, other = Asked(expected["encoder"]), Asked(NEW)
    content, texts = expected["content_hash"], expected["texts"]
    known = CachedEncoder(same, store, content_hash=content).embed(texts)
    assert same.texts == []
    assert [row.tobytes().hex() for row in known[:2]] == expected["vectors"]
    made = CachedEncoder(other, store, content_hash=content).embed(texts)
    assert other.texts == texts
    assert not made.any()


def test_after_an_upgrade_only_the_work_of_old_models_is_dropped(
    store: SqliteStore, old: OldLibrary
) -> None:
    content, texts = old.expected["content_hash"], old.expected["texts"]
    CachedEncoder(Asked(NEW), store, content_hash=content).embed(texts)
    layers = store.layers(content)
    for kind in store.models():
        assert store.forget_models(kind, keep=[NEW]) > 0
    left = {"embeddings": {NEW: len(texts)}, "judgements": {}, "vectors": {}}
    assert store.models() == left
    gone = {layer for layer, _, _ in layers} - {layer for layer, _, _ in store.layers(content)}
    assert gone == {"vectors", "sentence vectors"}
    assert len(store.get(old.expected["id"]).segments) == len(old.expected["segments"])


def test_cards_of_an_old_store_are_read(store: SqliteStore, old: OldLibrary) -> None:
    kept = {layer: data for layer, _, data in store.layers(old.expected["content_hash"])}
    assert Card.from_bytes(kept["card"]).segments == len(old.expected["segments"])
    assert len(QuantizedVectors.from_bytes(kept["sentence vectors"]).codes) == len(
        old.expected["segments"]
    )


def test_a_patch_is_in_force_whichever_judge_is_installed(
    store: SqliteStore, old: OldLibrary
) -> None:
    index = store.get(old.expected["id"])
    assert text_hash(index) == old.expected["text_hash"]
    patch_log = PatchLog(PolicyStore.open(old.policy))
    assert [kept.id for kept in patch_log.kept(text_hash(index))] == [old.expected["patch"]]
    searcher = Searcher(index, preset=FAST)
    states = []
    for name in (old.expected["judge"], NEW):
        evaluator = Evaluator(lambda _query, segments: [0.0] * len(segments), name=name)
        refiner = Refiner(searcher, local_judges(searcher, evaluator), patch_log=patch_log)
        assert name in refiner.initial.judges
        states.append(refiner.state)
        assert refiner.search(FAILING).hits[0].text.startswith(EVIDENCE)
    assert states[0] != states[1]  # the judges differ
    assert searcher.search(FAILING).hits == ()  # without the patch there is nothing


def test_an_old_policy_folder_is_sound(old: OldLibrary, capsys: pytest.CaptureFixture[str]) -> None:
    main(["policy", "check", "--policy", str(old.policy), "--json"])
    assert json.loads(capsys.readouterr().out) == {"sound": True, "faults": []}


def test_patches_are_replayed_over_an_old_store(
    old: OldLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = next(text for text in old.expected["segments"] if text.startswith(EVIDENCE))
    episode = {"target": old.expected["id"], "query": FAILING, "gold": [gold]}
    file = tmp_path / "episodes.jsonl"
    file.write_text(json.dumps(episode), "utf-8")
    places = ["--policy", str(old.policy), "--store", str(old.store)]
    main(["policy", "check", *places, "--replay", str(file), "--json"])
    (case,) = json.loads(capsys.readouterr().out)["replay"]["cases"]
    assert (case["patches"], case["sufficient"]) == (1, True)


def test_edits_by_hand_are_where_they_were(store: SqliteStore, old: OldLibrary) -> None:
    index = store.get(old.expected["id"])
    edits = EditStore(beside(old.store, ".studio") / "edits").read(old.expected["id"])
    before = {edge_id(edge) for edge in index.map.edges}
    after = {edge_id(edge) for edge in applied(index, edits).map.edges}
    assert after - before == {old.expected["edits"]["added"]}
    assert before - after == {old.expected["edits"]["hidden"]}


def test_a_store_of_version_1_opens_too(old: OldLibrary) -> None:
    with SqliteStore.open(old.store) as store:
        index = store.get(old.expected["id"])
    with closing(sqlite3.connect(old.store)) as connection:  # what later versions added goes
        for table in ("embeddings", "judgements", "owners", "seals", "places", "packed_rows"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX documents_source_hash")
        for what in ("insert", "update", "delete"):
            connection.execute(f"DROP TRIGGER documents_{what}")
        connection.execute("DELETE FROM meta WHERE key = 'documents_version'")
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'schema_version'")
        connection.commit()
    before = rows(old.store)
    with SqliteStore.open(old.store, create=False) as store:
        assert store.get(old.expected["id"]) == index
        store.check()
        assert store.models()["judgements"] == {}
    after = rows(old.store)
    assert {name: after[name] for name in before} == before
