"""Cards in tables of a PostgreSQL server, and the one statement that chooses among all documents.

Rows are written in the transaction that writes the document, or the layer they are read off, and go
with the document. The postings that the statement gives are all there are, and the cosine of each
document is exact; which documents it gives is not: those of the closest windows, by an HNSW index,
and those that hold the rarest words and terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.errors import StoreCorrupt
from abstrag.stores.cards import (
    CARD,
    VECTORS,
    VERSION,
    Card,
    Codes,
    Hashes,
    QuantizedVectors,
    Scores,
)
from abstrag.stores.postgres.session import TransactionCursor, Vector, to_vector
from abstrag.stores.protocol import (
    CardFound,
    CardsAsked,
    CardsFound,
    CardsState,
    DocumentInfo,
    LayerKey,
    MissingLayers,
)
from abstrag.stores.rows import INFO_COLUMNS, decompress, document_info
from abstrag.stores.tables import Row

NEAREST: Final = 400  # windows that the index of vectors is asked for
BY_WORDS: Final = 600  # documents that the words propose besides,
BY_TERMS: Final = 300  # and those that the terms do
LIKELIEST: Final = 64  # documents whose layers come along; a second look reads 24 of them
RARE: Final = 50_000  # postings at most that are added up for that, those of the rarest first
MOST_INDEXED: Final = 4000  # dimensions that an HNSW index of `halfvec` takes

_MOST_STEMS: Final = (1 << 23) - 1  # of a document: a longer one counts as one so long
_COPY_HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END: Final = b"\xff\xff"
_POSTING: Final = np.dtype(  # as COPY takes it: each field after its size
    [
        ("fields", ">i2"),
        ("hash size", ">i4"),
        ("hash", ">i8"),
        ("document size", ">i4"),
        ("document", ">i4"),
        ("value size", ">i4"),
        ("value", ">i4"),
    ]
)
_ARRAY_HEAD: Final = 5  # numbers that the server sends before the members of an array
_UNSIGNED: Final = (1 << 64) - 1
_COUNTS: Final = ("segments", "terms", "edges")  # columns of a document that are no text

Corrupt = Callable[[str], StoreCorrupt]
Numbers = npt.NDArray[np.int64]


# Writing.

_VECTOR_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS card_vectors ("
    "document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, "
    "layer BIGINT NOT NULL REFERENCES layers ON DELETE CASCADE ON UPDATE CASCADE, "
    "model BIGINT NOT NULL, scale REAL NOT NULL, codes halfvec NOT NULL)",
    "CREATE INDEX IF NOT EXISTS card_vectors_document ON card_vectors (document, model)",
    "CREATE INDEX IF NOT EXISTS card_vectors_layer ON card_vectors (layer)",
)
_THERE: Final = "SELECT to_regclass('card_vectors') IS NOT NULL"
_OF_LAYER: Final = (
    "SELECT d.number, l.number FROM documents d JOIN layers l USING (content_hash) "
    "WHERE content_hash = ? AND layer = ? AND l.fingerprint = ? "
    f"AND (layer <> '{CARD}' OR l.fingerprint = '{VERSION} ' || d.fingerprint)"
)
LAYERS_OF_DOCUMENT: Final = (
    "SELECT l.number, layer, l.fingerprint, data FROM documents d JOIN layers l "
    f"USING (content_hash) WHERE d.number = ? AND (layer = '{VECTORS}' OR "
    f"(layer = '{CARD}' AND l.fingerprint = '{VERSION} ' || d.fingerprint))"
)


def put_layers(run: TransactionCursor, layers: Mapping[LayerKey, bytes]) -> None:
    """Write the rows of documents from layers that have just been stored."""
    for key, data in layers.items():
        if key[1] in (CARD, VECTORS):
            for number, layer in run.execute(_OF_LAYER, key).fetchall():
                put(run, number, (layer, *key[1:]), data)


def put(run: TransactionCursor, number: int, layer: Row, data: bytes) -> None:
    """Write the rows of a document from a layer.

    Args:
        run: The transaction.
        number: Of the document.
        layer: Its number, name and fingerprint.
        data: What it holds.
    """
    own, name, fingerprint = layer
    if name == CARD:
        _put_card(run, number, fingerprint, Card.from_bytes(data))
    else:
        _put_vectors(run, number, own, fingerprint, QuantizedVectors.from_bytes(data))


def _put_card(run: TransactionCursor, number: int, fingerprint: str, card: Card) -> None:
    run.execute("DELETE FROM cards WHERE document = ?", (number,))  # its postings go with it
    (text,) = _signed(np.array([card.text], np.uint64))
    run.execute(
        "INSERT INTO cards VALUES (?, ?, ?, ?, ?)",
        (number, fingerprint, text, card.length, list(card.times)),
    )
    rows = np.zeros(len(card.stems) + len(card.terms), _POSTING)
    rows["fields"] = 3
    rows["hash size"], rows["document size"], rows["value size"] = 8, 4, 4
    rows["document"] = number
    rows["hash"], rows["value"] = _postings(card)
    columns = "COPY card_postings (hash, document, value) FROM STDIN (FORMAT BINARY)"
    with run.copy(columns) as stream:
        stream.write(_COPY_HEAD + rows.tobytes() + _COPY_END)


def _postings(card: Card) -> tuple[Numbers, Numbers]:
    """Return the hash and the value of each posting of a card."""
    hashes = np.concatenate((card.stems, card.terms)).astype(np.uint64).view(np.int64)
    counts = card.counts.astype(np.int64) | min(card.length, _MOST_STEMS) << 8
    return hashes, np.concatenate((counts, card.costs.astype(np.int64)))


def _put_vectors(
    run: TransactionCursor, number: int, layer: int, fingerprint: str, coded: QuantizedVectors
) -> None:
    model = model_number(fingerprint)
    _make_room(run, model, coded.codes.shape[1])
    run.execute("DELETE FROM card_vectors WHERE document = ? AND model = ?", (number, model))
    run.executemany(
        "INSERT INTO card_vectors (document, layer, model, scale, codes) "
        "VALUES (%s, %s, %s, %s, %s::halfvec)",
        [
            (number, layer, model, float(scale), _half(codes))
            for scale, codes in zip(coded.scales, coded.codes, strict=True)
        ],
    )


def _make_room(run: TransactionCursor, model: int, dimensions: int) -> None:
    """Make the table of vectors, and the index over those of a model, where they are missing."""
    index = f"card_vectors_nearest_{model & _UNSIGNED:x}"
    if run.execute("SELECT to_regclass(?) IS NULL", (index,)).fetchone() != (True,):
        return
    for statement in _VECTOR_TABLE:
        run.execute(statement)
    if dimensions <= MOST_INDEXED:
        run.execute(
            f"CREATE INDEX IF NOT EXISTS {index} ON card_vectors USING hnsw "
            f"((codes::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {model}"
        )


def model_number(fingerprint: str) -> int:
    """Return the number by which rows know what made their vectors."""
    digest = blake2b(fingerprint.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def astray(run: TransactionCursor, name: str) -> bool:
    """Tell whether the rows of a document differ from what its layers say."""
    (number,) = run.execute("SELECT number FROM documents WHERE id = ?", (name,)).fetchone() or (0,)
    for _, layer, fingerprint, data in run.execute(LAYERS_OF_DOCUMENT, (number,)).fetchall():
        if layer == CARD:
            card = Card.from_bytes(decompress(data))
            told = run.execute(
                "SELECT text, length, times FROM cards WHERE document = ?", (number,)
            ).fetchone()
            own = (*_signed(np.array([card.text], np.uint64)), card.length, list(card.times))
            wanted = sorted(zip(*(each.tolist() for each in _postings(card)), strict=True))
            held = run.execute(
                "SELECT hash, value FROM card_postings WHERE document = ?", (number,)
            ).fetchall()
            if told is not None and (told != own or sorted(held) != wanted):
                return True
        elif run.execute(_THERE).fetchone() == (True,):
            coded = QuantizedVectors.from_bytes(decompress(data))
            rows = run.execute(
                "SELECT scale, codes::real[] FROM card_vectors WHERE document = ? AND model = ?",
                (number, model_number(fingerprint)),
            ).fetchall()
            vectors = zip(coded.scales.tolist(), coded.codes.tolist(), strict=True)
            if rows and sorted(rows) != sorted(vectors):
                return True
    return False


# Asking.

_LACKS_CARD: Final = f"(c.fingerprint IS DISTINCT FROM '{VERSION} ' || d.fingerprint)"
_COUNTED: Final = (
    "SELECT (SELECT value::bigint FROM meta WHERE key = 'documents_version'), "
    "(SELECT count(*) FROM documents), (SELECT coalesce(sum(length), 0)::bigint FROM cards)"
)
_MEASURED: Final = """
    SELECT document, max(-(codes::vector <#> %(vector)s::vector) * scale) AS near
    FROM card_vectors WHERE document = ANY({documents}) AND model = {model}
    GROUP BY document"""
_NOTHING: Final = "SELECT NULL::int AS document, NULL::float8 AS {name} WHERE FALSE"
_SCORED: Final = """
        SELECT document, sum(worth * WEIGHT) AS score FROM (
            SELECT hash, worth FROM (
                SELECT hash, held, sum(held) OVER (ORDER BY held, hash) AS so_far,
                    ln(1 + (%(size)s::float8 - held + 0.5) / (held + 0.5)) AS worth
                FROM held WHERE hash = ANY(%(HASHES)s::bigint[])
            ) each WHERE so_far <= %(rare)s OR so_far = held
        ) rare JOIN card_postings p USING (hash) WHERE TRUE {within}
        GROUP BY document"""


def _scored(hashes: str, weight: str) -> str:
    return _SCORED.replace("HASHES", hashes).replace("WEIGHT", weight)


_BY_WORDS: Final = _scored(
    "stems",
    "(value & 255) / ((value & 255) + %(room)s::float8 + %(slope)s::float8 * (value >> 8))",
)
_BY_TERMS: Final = _scored("terms", "exp(-value / 100.0::float8)")
_COLUMNS: Final = ", ".join(f"d.{name}::text" for name in INFO_COLUMNS)
_ASK: Final = f"""
WITH held AS MATERIALIZED (
    SELECT hash, held, documents, held_values
    FROM unnest(%(stems)s::bigint[] || %(terms)s::bigint[]) AS asked (hash) CROSS JOIN LATERAL (
        SELECT count(*) AS held, array_send(array_agg(document)) AS documents,
            array_send(array_agg(value)) AS held_values
        FROM card_postings p WHERE p.hash = asked.hash
    ) columns WHERE held > 0
), near AS MATERIALIZED (
    {{near}}
), worded AS MATERIALIZED ({_BY_WORDS}
), termed AS MATERIALIZED ({_BY_TERMS}
), found AS (
    SELECT document FROM near
    UNION (SELECT document FROM worded ORDER BY score DESC LIMIT %(by_words)s)
    UNION (SELECT document FROM termed ORDER BY score DESC LIMIT %(by_terms)s)
    UNION SELECT number::int FROM documents WHERE id = ANY(%(also)s::text[])
), pool AS MATERIALIZED (
    SELECT document, text FROM cards WHERE text = ANY(ARRAY(
        SELECT text FROM cards WHERE document = ANY(ARRAY(SELECT document FROM found))
    ))
), described AS MATERIALIZED (
    SELECT number, {", ".join(INFO_COLUMNS)} FROM documents
    WHERE number = ANY(ARRAY(SELECT document::bigint FROM pool))
), measured AS MATERIALIZED (
    {{measured}}
), likeliest AS (
    SELECT d.content_hash, d.fingerprint, d.granularity
    FROM pool JOIN described d ON d.number = pool.document
    LEFT JOIN worded ON worded.document = pool.document
    LEFT JOIN measured ON measured.document = pool.document
    ORDER BY %(words)s::float8 * coalesce(worded.score / (SELECT max(score) FROM worded), 0)
        + %(vectors)s::float8 * coalesce(near, 0) DESC LIMIT %(likeliest)s
)
SELECT 'version', (SELECT value::bigint FROM meta WHERE key = 'documents_version'),
    NULL::bytea, NULL::bytea, (SELECT max(far) FROM near), (SELECT count(*) FROM near), NULL::text[]
UNION ALL SELECT 'postings', hash, documents, held_values, NULL, NULL, NULL FROM held
UNION ALL SELECT 'document', pool.document, NULL, NULL, near, text, ARRAY[{_COLUMNS}]
    FROM pool JOIN described d ON d.number = pool.document
    LEFT JOIN measured ON measured.document = pool.document
UNION ALL SELECT 'layer', NULL, data, NULL, NULL, NULL,
        ARRAY[layers.content_hash, layers.layer, layers.fingerprint]
    FROM likeliest CROSS JOIN unnest(%(names)s::text[], %(prints)s::text[]) AS wanted (name, print)
    JOIN layers ON layers.content_hash = likeliest.content_hash AND layers.layer = name
        AND layers.fingerprint = replace(
            replace(print, '<fingerprint>', likeliest.fingerprint),
            '<granularity>', likeliest.granularity
        )
"""


def state(run: TransactionCursor, model: str | None, corrupt: Corrupt) -> CardsState:
    """Return totals over all documents, and which of them lack a card or vectors."""
    bare = "FALSE"
    if model is not None:
        there = run.execute(_THERE).fetchone() == (True,)
        held = (
            "SELECT 1 FROM card_vectors v WHERE v.document = d.number "
            f"AND model = {model_number(model)}"
        )
        bare = f"NOT EXISTS ({held})" if there else "TRUE"
    columns = ", ".join(f"d.{name}" for name in INFO_COLUMNS)
    rows = run.execute(
        f"SELECT {columns}, {_LACKS_CARD}, {bare} FROM documents d LEFT JOIN cards c "
        f"ON c.document = d.number WHERE {_LACKS_CARD} OR {bare} ORDER BY d.id"
    ).fetchall()
    version, count, length = run.execute(_COUNTED).fetchone() or (0, 0, 0)
    times = run.execute("SELECT DISTINCT unnest(times) FROM cards").fetchall()
    infos = tuple(MissingLayers(document_info(row[:-2], corrupt), *row[-2:]) for row in rows)
    return CardsState(version, count, length, tuple(sorted(term for (term,) in times)), infos)


def statement(asked: CardsAsked) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Return the SQL statement of a question, its values, and its settings."""
    values: dict[str, Any] = {
        "stems": _signed(asked.stems),
        "terms": _signed(asked.terms),
        "size": asked.size,
        "room": asked.room,
        "slope": asked.slope,
        "also": list(asked.also),
        "rare": RARE,
        "by_words": BY_WORDS,
        "by_terms": BY_TERMS,
        "nearest": NEAREST,
        "likeliest": LIKELIEST,
        "names": [name for name, _ in asked.layers],
        "prints": [fingerprint for _, fingerprint in asked.layers],
    }
    values["words"], values["vectors"] = asked.weights
    settings: dict[str, str] = {}
    within = ""
    if asked.passing is not None:
        within = "AND p.document = ANY(%(passing)s::int[])"
        values["passing"] = asked.passing.tolist()
    near, measured = _NOTHING.format(name="far"), _NOTHING.format(name="near")
    if asked.vector is not None:
        model, size = model_number(asked.model), len(asked.vector)
        near = (
            f"SELECT document, codes::halfvec({size}) <=> %(half)s::halfvec({size}) AS far "
            f"FROM card_vectors p WHERE model = {model} {within} ORDER BY far LIMIT %(nearest)s"
        )
        measured = _MEASURED.format(documents="ARRAY(SELECT document FROM pool)", model=model)
        values |= {"half": _half(asked.vector), "vector": _whole(asked.vector)}
        settings["hnsw.ef_search"] = str(NEAREST)
        if within:
            settings["hnsw.iterative_scan"] = "strict_order"
    return _ASK.format(within=within, near=near, measured=measured), values, settings


def found_in(rows: Iterable[Row], corrupt: Corrupt) -> CardsFound:
    """Return the result of the statement as a record."""
    found = CardsFound()
    for kind, number, documents, values, near, other, info in rows:
        if kind == "version":
            found.version, found.farthest, found.nearest = number, near, other
        elif kind == "postings":
            found.postings[number & _UNSIGNED] = _numbers(documents), _numbers(values)
        elif kind == "layer":
            content, name, fingerprint = info
            found.layers[content, name, fingerprint] = decompress(documents)
        else:
            found.documents[number] = CardFound(_info(info, corrupt), other & _UNSIGNED, near)
    return found


def measured(
    run: TransactionCursor, documents: Numbers, model: str, vector: Scores
) -> dict[int, float]:
    """Return the cosine of some documents with a query, by their numbers."""
    rows = run.execute(
        _MEASURED.format(documents="%(documents)s::int[]", model=model_number(model)),
        {"documents": documents.tolist(), "vector": _whole(vector)},
    )
    return dict(rows.fetchall())


def described(
    run: TransactionCursor, numbers: Numbers | None, corrupt: Corrupt
) -> dict[int, DocumentInfo]:
    """Describe some documents, or all, by their numbers."""
    columns = f"SELECT number, {', '.join(INFO_COLUMNS)} FROM documents"
    if numbers is None:
        rows = run.execute(columns).fetchall()
    else:
        rows = run.execute(f"{columns} WHERE number = ANY(?)", (numbers.tolist(),)).fetchall()
    return {row[0]: document_info(row[1:], corrupt) for row in rows}


def _info(row: list[Any], corrupt: Corrupt) -> DocumentInfo:
    named = zip(INFO_COLUMNS, row, strict=True)
    return document_info([int(v) if name in _COUNTS else v for name, v in named], corrupt)


def _numbers(sent: bytes) -> Numbers:
    """Read an array of whole numbers, each of which follows its size."""
    return np.frombuffer(sent, ">i4")[_ARRAY_HEAD + 1 :: 2].astype(np.int64)


def _signed(hashes: Hashes) -> list[int]:
    signed: list[int] = hashes.astype(np.uint64).view(np.int64).tolist()
    return signed


def _half(numbers: Codes | Scores) -> Vector:
    """Write numbers as a `halfvec`, which holds a byte without loss."""
    return Vector(len(numbers).to_bytes(2, "big") + bytes(2) + numbers.astype(">f2").tobytes())


def _whole(numbers: Scores) -> Vector | None:
    return to_vector(numbers.astype("<f4").tobytes())
