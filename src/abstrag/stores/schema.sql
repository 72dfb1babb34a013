-- The tables of the embedded store, by the version that brought them. A blank line ends a statement.
-- To change the schema, add a version below; never edit one that has been released, not even its
-- white space: SQLite keeps a statement as it is written, and the check of a store compares it.

-- version 1
-- Narrow tables are clustered by document, so that one document is one stretch of the file. A term
-- is known by its number within the document; `kind` is NULL for an id that edges, postings or
-- contexts name although the map has no such term.

    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID

    CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        date TEXT,
        source_path TEXT UNIQUE,
        source_hash TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        genre TEXT NOT NULL,
        granularity TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        segments INTEGER NOT NULL,
        terms INTEGER NOT NULL,
        edges INTEGER NOT NULL,
        indexed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
        background BLOB NOT NULL,
        document BLOB NOT NULL,
        frames BLOB NOT NULL,
        ambiguities BLOB NOT NULL
    )

    CREATE INDEX documents_content ON documents (content_hash)

    CREATE TABLE segments (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        alignment TEXT NOT NULL,
        block INTEGER NOT NULL,
        section TEXT NOT NULL,
        page INTEGER,
        headers TEXT NOT NULL,
        table_row INTEGER,
        table_column INTEGER,
        canonical TEXT NOT NULL,
        statements TEXT NOT NULL,
        utility REAL NOT NULL,
        layout REAL NOT NULL,
        novelty REAL NOT NULL,
        assertedness REAL NOT NULL
    )

    CREATE UNIQUE INDEX segments_position ON segments (document, position)

    CREATE TABLE contexts (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        segment INTEGER NOT NULL,
        field TEXT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        confidence REAL NOT NULL,
        start INTEGER,
        stop INTEGER,
        term INTEGER,
        PRIMARY KEY (document, segment, field, position)
    ) WITHOUT ROWID

    CREATE TABLE terms (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        number INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT,
        label TEXT,
        surfaces TEXT,
        first_day TEXT,
        last_day TEXT,
        quantity REAL,
        unit TEXT,
        PRIMARY KEY (document, number)
    ) WITHOUT ROWID

    CREATE INDEX terms_id ON terms (document, id)

    CREATE TABLE edges (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        source INTEGER NOT NULL,
        target INTEGER NOT NULL,
        relation TEXT NOT NULL,
        family TEXT NOT NULL,
        operator TEXT NOT NULL,
        weight REAL NOT NULL,
        distance REAL NOT NULL,
        truth_preserving INTEGER NOT NULL,
        confidence REAL NOT NULL,
        licence TEXT NOT NULL,
        reference TEXT NOT NULL,
        start INTEGER,
        stop INTEGER,
        PRIMARY KEY (document, position)
    ) WITHOUT ROWID

    CREATE TABLE postings (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        term INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        header INTEGER,
        PRIMARY KEY (document, position)
    ) WITHOUT ROWID

    CREATE INDEX postings_term ON postings (document, term)

    CREATE TABLE layers (
        content_hash TEXT NOT NULL,
        layer TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        data BLOB NOT NULL,
        UNIQUE (content_hash, layer, fingerprint)
    )

    PRAGMA application_id = 1096971090

-- version 2
-- What models said about texts of a document: one owner for each content and model, so that a row
-- itself is small. Numbers only grow, for the oldest rows go first; see `memory.py`.

    CREATE TABLE owners (
        number INTEGER PRIMARY KEY,
        content_hash TEXT NOT NULL,
        model TEXT NOT NULL,
        UNIQUE (content_hash, model)
    )

        CREATE TABLE embeddings (
            number INTEGER PRIMARY KEY,
            owner INTEGER NOT NULL REFERENCES owners ON DELETE CASCADE,
            key BLOB NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (owner, key)
        )

        CREATE TABLE judgements (
            number INTEGER PRIMARY KEY,
            owner INTEGER NOT NULL REFERENCES owners ON DELETE CASCADE,
            key BLOB NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (owner, key)
        )

-- version 3
-- A number that changes with every document that comes or goes. Triggers count, so that nobody who
-- writes can forget to: a program of version 2 may have the file open while it becomes this version.

    INSERT INTO meta VALUES ('documents_version', '0')

        CREATE TRIGGER documents_insert AFTER INSERT ON documents BEGIN
            UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'documents_version';
        END

        CREATE TRIGGER documents_update AFTER UPDATE ON documents BEGIN
            UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'documents_version';
        END

        CREATE TRIGGER documents_delete AFTER DELETE ON documents BEGIN
            UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'documents_version';
        END

-- version 4
-- A digest over all rows of a document; see `seal.py`. A document that an older release wrote has
-- none until the store is checked.

    CREATE TABLE seals (
        document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
        digest TEXT NOT NULL
    )

-- version 5
-- Other paths at which the same bytes lie, and how a document is found by the hash of its bytes.

    CREATE TABLE places (
        path TEXT PRIMARY KEY,
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE
    ) WITHOUT ROWID

    CREATE INDEX places_document ON places (document)

    CREATE INDEX documents_source_hash ON documents (source_hash)

-- version 6
-- The rows of a document column by column; see `rows.py`. The tables have those that older
-- releases wrote, and no index of theirs is asked any more.

    CREATE TABLE packed_rows (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        name TEXT NOT NULL,
        part INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (document, name, part)
    )

    DROP INDEX IF EXISTS postings_term

    DROP INDEX IF EXISTS terms_id

-- version 7
-- A checksum for each entry that a model made; see `memory.py`. What older releases wrote has none.

    ALTER TABLE embeddings ADD COLUMN checksum INTEGER

    ALTER TABLE judgements ADD COLUMN checksum INTEGER
