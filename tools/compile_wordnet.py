"""Compile WordNet's database files into the data file of the package.

    python tools/compile_wordnet.py DICT [--output src/abstrag/lexicon/wordnet.bin]

DICT is the `dict` folder of a WordNet 3.x release: data.*, index.* and *.exc of the four parts of
speech, and index.sense. The same folder always gives the same bytes. What is kept is what
`abstrag.lexicon.wordnet` answers questions with; glosses, frames and part-whole links are not.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstrag.errors import InputError
from abstrag.lexicon.inventory import pack
from abstrag.lexicon.wordnet import DATA

POS_FILES: Final = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SS_TYPES: Final = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}  # of index.sense
SOURCES: Final = (
    *(f"{kind}.{name}" for kind in ("data", "index") for name in POS_FILES.values()),
    *(f"{name}.exc" for name in POS_FILES.values()),
    "index.sense",
)
HYPERNYM, INSTANCE_HYPERNYM = "@", "@i"
WORD_LINKS: Final = {"derived": "+", "antonyms": "!"}
SYNSET_LINKS: Final = {"entails": "*", "causes": ">", "similar": "&"}

Place = tuple[str, int]  # part of speech and offset in its data file
Arrays = dict[str, NDArray[Any]]


class Pointer(NamedTuple):
    """A link of a synset, or of one of its words, to another."""

    symbol: str
    target: Place
    from_word: int  # counted from 1; 0 is the whole synset
    to_word: int


@dataclass(frozen=True, slots=True)
class Synset:
    """One line of a data file."""

    place: Place
    satellite: bool
    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


@dataclass(slots=True)
class Database:
    """All that is read from the folder, synsets in the order of their numbers."""

    version: str
    synsets: list[Synset]
    senses: dict[tuple[str, str], list[int]]  # (part of speech, lemma) to synsets, in order
    tags: dict[tuple[str, str, int], int]  # (part of speech, lemma, synset) to its count
    exceptions: list[tuple[str, ...]]  # part of speech, form, base forms
    number: dict[Place, int] = field(default_factory=dict)


# --- Reading --------------------------------------------------------------------------------------


def records(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line, the licence at the top and glosses left out."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("  "):
            yield line.partition(" | ")[0].split()


def read_synset(pos: str, fields: Sequence[str]) -> Synset:
    words = int(fields[3], 16)
    links = 4 + 2 * words  # each word is followed by its lex_id
    pointers = []
    for i in range(links + 1, links + 1 + 4 * int(fields[links]), 4):
        symbol, offset, target, words_linked = fields[i : i + 4]
        place = ("a" if target == "s" else target, int(offset))
        pointer = Pointer(symbol, place, int(words_linked[:2], 16), int(words_linked[2:], 16))
        pointers.append(pointer)
    return Synset(
        place=(pos, int(fields[0])),
        satellite=fields[2] == "s",
        # "galore(ip)": where an adjective may stand is not part of its spelling
        words=tuple(re.sub(r"\(\w+\)$", "", word) for word in fields[4:links:2]),
        pointers=tuple(pointers),
    )


def read(folder: Path) -> Database:
    """Read the database files."""
    if missing := [name for name in SOURCES if not (folder / name).is_file()]:
        raise InputError(
            f"{str(folder)!r} lacks {', '.join(missing)}",
            hint="name the dict folder of a WordNet release",
        )
    synsets = [
        read_synset(pos, fields)
        for pos, name in POS_FILES.items()
        for fields in sorted(records(folder / f"data.{name}"), key=lambda f: f[0])
    ]
    number = {synset.place: i for i, synset in enumerate(synsets)}
    senses = {
        (pos, fields[0]): [number[pos, int(o)] for o in fields[len(fields) - int(fields[2]) :]]
        for pos, name in POS_FILES.items()
        for fields in records(folder / f"index.{name}")
    }
    tags = {}
    for key, offset, _, count in records(folder / "index.sense"):
        lemma, _, rest = key.rpartition("%")
        pos = SS_TYPES[rest[0]]
        tags[pos, lemma, number[pos, int(offset)]] = int(count)
    exceptions = {
        (pos, fields[0]): (pos, *fields)  # a form that is listed twice: the last line, as in NLTK
        for pos, name in POS_FILES.items()
        for fields in records(folder / f"{name}.exc")
    }
    head = (folder / "data.adj").read_text(encoding="utf-8")[:2000]
    version = re.search(r"WordNet (\d[\d.]*) Copyright", head)
    return Database(
        version=version[1] if version else "unknown",
        synsets=synsets,
        senses=senses,
        tags=tags,
        exceptions=sorted(exceptions.values()),
        number=number,
    )


# --- The hypernym graph ---------------------------------------------------------------------------


def without_cycles(up: Sequence[Sequence[int]]) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Drop each pointer that leads back onto the way up that came to it.

    WordNet 3.0 has one cycle: "restrain" is above "inhibit", and "inhibit" above "restrain".

    Returns:
        The hypernyms that are left, and the pointers dropped.
    """
    kept: list[list[int]] = [[] for _ in up]
    dropped = []
    on_the_way, done = set(), set()

    def visit(synset: int) -> None:
        on_the_way.add(synset)
        for above in up[synset]:
            if above in on_the_way:
                dropped.append((synset, above))
                continue
            kept[synset].append(above)
            if above not in done:
                visit(above)
        on_the_way.discard(synset)
        done.add(synset)

    for synset in range(len(up)):
        if synset not in done:
            visit(synset)
    return kept, dropped


def climb(up: Sequence[Sequence[int]]) -> list[dict[int, int]]:
    """Return for each synset the fewest steps up to itself and each ancestor."""
    known: dict[int, dict[int, int]] = {}

    def visit(synset: int) -> dict[int, int]:
        if synset not in known:
            steps = {synset: 0}
            for above in up[synset]:
                for ancestor, more in visit(above).items():
                    steps[ancestor] = min(more + 1, steps.get(ancestor, more + 1))
            known[synset] = steps
        return known[synset]

    return [visit(synset) for synset in range(len(up))]


def depths(up: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the steps to a root, along the shortest way and along the longest."""
    known: dict[int, tuple[int, int]] = {}

    def visit(synset: int) -> tuple[int, int]:
        if synset not in known:
            above = [visit(x) for x in up[synset]]
            shortest = min((low + 1 for low, _ in above), default=0)
            known[synset] = shortest, max((high + 1 for _, high in above), default=0)
        return known[synset]

    both = [visit(synset) for synset in range(len(up))]
    return [low for low, _ in both], [high for _, high in both]


def taxonomy(database: Database) -> tuple[Arrays, list[tuple[int, int]]]:
    """Return the arrays of `abstrag.lexicon.wordnet`, and the pointers dropped to get there."""
    hypernyms = synset_links(database, HYPERNYM, INSTANCE_HYPERNYM)
    up, dropped = without_cycles(hypernyms)
    above = climb(up)
    shortest, longest = depths(up)
    names = name_all(database)
    rows = [
        sorted(steps, key=lambda x: (-shortest[x], x != synset, names[x]))
        for synset, steps in enumerate(above)
    ]
    steps = [
        # any way counts, also one over a third synset that is above both
        min(above[synset][y] + more for y, more in above[x].items())
        for synset, row in enumerate(rows)
        for x in row
    ]
    arrays = table("up", rows) | {
        "up.steps": np.array(steps, dtype="u1"),
        "min_depth": np.array(shortest, dtype="u1"),
        "max_depth": np.array(longest, dtype="u1"),
        "to_root": np.array([max(steps.values()) + 1 for steps in above], dtype="u1"),
    }
    return arrays, dropped


def name_all(database: Database) -> list[str]:
    """Return the names of all synsets, in order."""
    names = []
    for i, synset in enumerate(database.synsets):
        lemma, pos = synset.words[0].lower(), synset.place[0]
        numbered = database.senses[pos, lemma]
        if synset.satellite:
            numbered = [x for x in numbered if database.synsets[x].satellite]
        kind = "s" if synset.satellite else pos
        names.append(f"{lemma}.{kind}.{numbered.index(i) + 1:02d}")
    return names


# --- Arrays ---------------------------------------------------------------------------------------


def table(name: str, rows: Sequence[Iterable[int]]) -> Arrays:
    """Return rows of numbers as `abstrag.lexicon.wordnet.Rows` wants them."""
    listed = [list(row) for row in rows]
    return {
        f"{name}.counts": np.array([len(row) for row in listed], dtype="u1"),
        f"{name}.items": np.array([x for row in listed for x in row], dtype="<i4"),
    }


def text_table(name: str, texts: Sequence[str]) -> Arrays:
    """Return texts as `abstrag.lexicon.wordnet.Texts` wants them."""
    encoded = [text.encode() for text in texts]
    return {
        f"{name}.lengths": np.array([len(text) for text in encoded], dtype="u1"),
        f"{name}.bytes": np.frombuffer(b"".join(encoded), dtype="u1"),
    }


def ranges(labels: Iterable[str]) -> NDArray[Any]:
    """Return where each part of speech begins in a list that is sorted by it, and the end."""
    listed = list(labels)
    return np.cumsum([0, *(listed.count(pos) for pos in POS_FILES)], dtype="<i4")


def synset_links(database: Database, *symbols: str) -> list[list[int]]:
    return [
        [database.number[p.target] for s in symbols for p in synset.pointers if p.symbol == s]
        for synset in database.synsets
    ]


def word_links(database: Database, first_word: Sequence[int], symbol: str) -> list[list[int]]:
    links: list[list[int]] = [[] for _ in range(first_word[-1])]
    for i, synset in enumerate(database.synsets):
        for p in synset.pointers:
            if p.symbol == symbol:
                target = first_word[database.number[p.target]] + p.to_word - 1
                links[first_word[i] + p.from_word - 1].append(target)
    return links


def compile_words(database: Database) -> Arrays:
    """Return everything about entries, words and the links between words."""
    order = {pos: i for i, pos in enumerate(POS_FILES)}
    entries = sorted(database.senses, key=lambda e: (order[e[0]], e[1].encode()))
    entry_number = {entry: i for i, entry in enumerate(entries)}
    first_word = np.cumsum([0, *(len(s.words) for s in database.synsets)]).tolist()
    words: list[list[int]] = []
    tags, cased, cased_word = [], [], []
    word_of: dict[tuple[int, int], int] = {}  # (entry, synset) to its word
    for i, synset in enumerate(database.synsets):
        pos = synset.place[0]
        words.append([entry_number[pos, word.lower()] for word in synset.words])
        for j, word in enumerate(synset.words):
            lemma, number = word.lower(), first_word[i] + j
            # Two words may differ only in case ("A", "a"): the first stands for the meaning.
            word_of.setdefault((words[i][j], i), number)
            tags.append(database.tags.get((pos, lemma, i), 0))
            if word != lemma:
                cased.append(word)
                cased_word.append(number)
    senses = [
        [word_of[e, synset] for synset in database.senses[entries[e]]] for e in range(len(entries))
    ]
    arrays: Arrays = {
        "entry_range": ranges(pos for pos, _ in entries),
        "word_tags": np.array(tags, dtype="<u2"),
        "cased_word": np.array(cased_word, dtype="<i4"),
    }
    arrays |= text_table("entries", [lemma for _, lemma in entries])
    arrays |= text_table("cased", cased)
    arrays |= table("senses", senses) | table("words", words)
    for name, symbol in WORD_LINKS.items():
        arrays |= table(name, word_links(database, first_word, symbol))
    return arrays


def compile_synsets(database: Database) -> Arrays:
    """Return everything about synsets but their place in the taxonomy."""
    instance = synset_links(database, INSTANCE_HYPERNYM)
    lines = "".join(" ".join(fields) + "\n" for fields in database.exceptions)
    arrays: Arrays = {
        "synset_range": ranges(synset.place[0] for synset in database.synsets),
        "satellite": np.array([synset.satellite for synset in database.synsets], dtype="?"),
        "instance": np.array([bool(row) for row in instance], dtype="?"),
        "exceptions": np.frombuffer(lines.encode(), dtype="u1"),
    }
    for name, symbol in SYNSET_LINKS.items():
        arrays |= table(name, synset_links(database, symbol))
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="the dict folder of a WordNet release")
    parser.add_argument("--output", type=Path, default=DATA, help="the file to write")
    options = parser.parse_args()
    try:
        database = read(options.folder)
    except InputError as error:
        parser.exit(error.exit_code, f"{error}\nhint: {error.hint}\n")
    graph, dropped = taxonomy(database)
    about = {
        "wordnet": database.version,
        "sources": {
            name: sha256((options.folder / name).read_bytes()).hexdigest() for name in SOURCES
        },
    }
    arrays = compile_words(database) | compile_synsets(database) | graph
    options.output.write_bytes(data := pack(about, arrays))
    names = name_all(database)
    for synset, above in dropped:
        print(f"dropped, it closes a cycle: {names[synset]} under {names[above]}")
    print(
        f"{options.output}: WordNet {database.version}, {len(database.synsets):,} synsets, "
        f"{len(database.senses):,} entries, {len(data):,} bytes"
    )


if __name__ == "__main__":
    main()
