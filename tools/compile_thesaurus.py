"""Compile the Moby Thesaurus into the data file of the package.

    python tools/compile_thesaurus.py WORDS [--output src/abstrag/lexicon/thesaurus.bin]

WORDS is Grady Ward's thesaurus as it has been passed on since 1996, when he gave it to the public
domain: a line for each entry, its words between commas (`mthesaur.txt` of Project Gutenberg's
number 3202, `words.txt` of the package `moby` 1.1.2 for node). Kept are pairs of verbs that list
each other, and phrases of three words or more that begin with a verb and stand in the entry of one.
The same file always gives the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.lexicon.inventory import pack
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.thesaurus import DATA
from abstrag.lexicon.wordnet import wordnet

_PHRASE: Final = 3  # words of a phrase that has one meaning wherever it stands


def read(path: Path) -> dict[str, list[str]]:
    """Return the words of each entry."""
    lines = path.read_text("latin-1").splitlines()
    entries = (line.strip().split(",") for line in lines)
    return {head: words for head, *words in entries}


def is_verb(word: str) -> bool:
    """Tell whether WordNet has a word as a verb, and does not only know other uses of it."""
    net = wordnet()
    if not any(word in net.lemmas(sense) for sense in net.synsets(word, Pos.VERB)):
        return False
    uses = {pos: sum(net.count(word, s) for s in net.synsets(word, pos)) for pos in Pos}
    return uses[Pos.VERB] > 0 or not any(uses.values())


def pairs(entries: Mapping[str, list[str]]) -> set[tuple[str, str]]:
    """Return what is listed as alike, each pair once and in the order of its letters."""
    verbs = {word for head, words in entries.items() for word in (head, *words) if is_verb(word)}
    found = set()
    for head in verbs & entries.keys():
        for word in entries[head]:
            mutual = word in verbs and head in entries.get(word, ())
            words = word.split()
            phrase = len(words) >= _PHRASE and word.isascii() and is_verb(words[0])
            alone = phrase and word not in entries and " " not in head
            if word != head and (mutual or alone):
                found.add((min(head, word), max(head, word)))
    return found


def compiled(path: Path) -> bytes:
    """Return the archive that `abstrag.lexicon.thesaurus` reads."""
    found = pairs(read(path))
    words = sorted({word for pair in found for word in pair})
    number = {word: i for i, word in enumerate(words)}
    rows: list[list[int]] = [[] for _ in words]
    for a, b in sorted(found):
        rows[number[a]].append(number[b])
    arrays = {
        "words": np.frombuffer("\n".join(words).encode(), np.uint8),
        "counts": np.array([len(row) for row in rows], "<u2"),
        "items": np.array([b for row in rows for b in sorted(row)], "<u2"),
    }
    about = {
        "source": "Moby Thesaurus II by Grady Ward, public domain",
        "sha256": sha256(path.read_bytes()).hexdigest(),
    }
    return pack(about, arrays)


def main() -> None:
    """Write the data file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", type=Path)
    parser.add_argument("--output", type=Path, default=DATA)
    given = parser.parse_args()
    given.output.write_bytes(compiled(given.words))
    print(f"{given.output}: {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
