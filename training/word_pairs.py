"""Words that may stand for one another and words that may not, from WordNet, as token ids.

    python training/word_pairs.py --examples examples.npz --tokenizer tokenizer.json \
        --output build/training/words.npz

Every content word of the examples has a number, and so has its base form: inflections share it.
`friends` of a base are words by which a question may ask for it: synonyms, what is directly above
it, derived forms. `foes` are not, though they stand in the same sentences: antonyms and what is
beside it below the same concept. Numbers, and names that WordNet has as such, are sealed: only the
same word meets them. The file also says how rare each token is. Needs the package, not PyTorch.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer
from words import CONTENT, FUNCTION_WORDS, STARTS

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import WordNet, wordnet

SENSES: Final = 2  # of a word that count, the most frequent ones
DEEP: Final = 5  # what is less far below the top says too little to be asked for
MOST: Final = 24  # foes of a word
OTHER, NUMBER, NAME = range(3)
_OPPOSITES: Final = """asset liability|buyer seller|lessor lessee|creditor debtor|revenue expense
profit loss|employer employee
plaintiff defendant|include exclude|accept reject|increase decrease|gain lose
licensor licensee|internal external|maximum minimum|income cost|domestic foreign|import export
before after|allow forbid|enable disable|encrypt decrypt|upload download|mother father"""


def words_of(ids: Sequence[int], marks: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Yield the pieces of each content word."""
    pieces: list[int] = []
    for token, mark in zip(ids, marks, strict=True):
        if mark & STARTS or not mark & CONTENT:
            if pieces:
                yield tuple(pieces)
            pieces = []
        if mark & CONTENT:
            pieces.append(int(token))
    if pieces:
        yield tuple(pieces)


def base_of(lexicon: WordNet, word: str) -> str:
    """Return the base form of a word, itself where it has none."""
    verbs_first = word.endswith(("ed", "ing"))
    order = (Pos.VERB, Pos.NOUN) if verbs_first else (Pos.NOUN, Pos.VERB)
    for pos in (*order, Pos.ADJECTIVE):
        found = lexicon.morphy(word, pos)
        if found:
            return found.lower()
    return word


def sort_of(lexicon: WordNet, word: str) -> int:
    """Return whether a word is a number, a name, or another word."""
    if any(c.isdigit() for c in word):
        return NUMBER
    senses = [s for pos in Pos for s in lexicon.synsets(word, pos)]
    return NAME if senses and all(map(lexicon.is_instance, senses)) else OTHER


def friends_of(lexicon: WordNet, word: str) -> set[str]:
    """Return by what a question may ask for a word."""
    found: set[str] = set()
    for pos in Pos:
        senses = lexicon.synsets(word, pos)[:SENSES]
        for number, sense in enumerate(senses):
            found.update(lexicon.lemmas(sense))
            above = lexicon.hypernyms(sense) if not number and pos in (Pos.NOUN, Pos.VERB) else ()
            deep = DEEP if pos is Pos.NOUN else 1
            found.update(w for s in above if lexicon.depth(s) >= deep for w in lexicon.lemmas(s))
        found.update(other for other, _ in lexicon.derived(word, pos))
    return plain(found) - {word}


def foes_of(lexicon: WordNet, word: str, friends: set[str]) -> set[str]:
    """Return what stands beside a word or against it."""
    found: set[str] = set()
    for pos in Pos:
        found.update(lexicon.antonyms(word, pos))
        for sense in lexicon.synsets(word, pos)[:1]:
            deep = DEEP if pos is Pos.NOUN else 1
            for above in lexicon.hypernyms(sense):
                if lexicon.depth(above) >= deep:
                    beside = [s for s in lexicon.hyponyms(above) if s != sense]
                    found.update(w for s in beside for w in lexicon.lemmas(s)[:1])
    kin = {w for pos in Pos for s in lexicon.synsets(word, pos) for w in lexicon.lemmas(s)}
    found = plain(found) - friends - plain(kin) - {word}
    return set(random.Random(word).sample(sorted(found), min(MOST, len(found))))


def plain(lemmas: Iterable[str]) -> set[str]:
    """Return the lemmas that are one word, in lower case."""
    return {w.lower() for w in lemmas if w.isalpha() and w.lower() not in FUNCTION_WORDS}


def main() -> None:
    """Read the words of the examples, look them up, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    file, lexicon = dict(np.load(given.examples)), wordnet()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    vocabulary = {number: piece for piece, number in tokenizer.get_vocab().items()}
    pieces: dict[str, tuple[int, ...]] = {}
    seen: dict[str, int] = {}
    in_texts = np.zeros(len(vocabulary), np.int64)
    for name in ("passages", "queries"):
        words_name = "passage_words" if name == "passages" else "query_words"
        flat, marks, at = file[f"{name}_flat"], file[f"{words_name}_flat"], file[f"{name}_at"]
        for first, end in zip(at[:-1].tolist(), at[1:].tolist(), strict=True):
            ids = flat[first:end].tolist()
            if name == "passages":
                in_texts[list(set(ids))] += 1
            for one in words_of(ids, marks[first:end].tolist()):
                word = "".join(vocabulary[i].removeprefix("##") for i in one)
                pieces.setdefault(word, one)
                seen[word] = seen.get(word, 0) + 1
    bases = {word: base_of(lexicon, word) for word in pieces}
    common = {base for word, base in bases.items() if seen[word] > 1}
    friends = {base: friends_of(lexicon, base) for base in sorted(common)}
    foes = {base: foes_of(lexicon, base, friends[base]) for base in sorted(common)}
    for pair in _OPPOSITES.replace("\n", "|").split("|"):
        left, right = pair.split()
        foes.setdefault(left, set()).add(right)
        foes.setdefault(right, set()).add(left)
    others = {w for some in (*friends.values(), *foes.values()) for w in some}
    for word in sorted(others | set(bases.values()) | set(foes)):
        bases.setdefault(word, base_of(lexicon, word))
        if word not in pieces:
            pieces[word] = tuple(tokenizer.encode(word, add_special_tokens=False).ids)
    for word in list(bases.values()):
        bases.setdefault(word, word)
    known = sorted(pieces)
    number = {word: i for i, word in enumerate(known)}
    rare = -np.log((in_texts + 1) / (len(file["passages_at"]) - 1))
    asked = np.bincount(file["queries_flat"], minlength=len(vocabulary)).clip(max=50)
    middle = np.average(rare, weights=asked)
    spread = np.sqrt(np.average((rare - middle) ** 2, weights=asked))

    def ragged(name: str, rows: Iterable[Sequence[int]]) -> dict[str, np.ndarray]:
        rows = list(rows)
        flat = np.array([one for row in rows for one in row], np.int32)
        return {f"{name}_flat": flat, f"{name}_at": np.cumsum([0, *map(len, rows)]).astype(int)}

    given.output.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        given.output,
        allow_pickle=False,
        words=np.array(known),
        base=np.array([number.get(bases[w], number[w]) for w in known], np.int32),
        sort=np.array([sort_of(lexicon, w) for w in known], np.int8),
        seen=np.array([seen.get(w, 0) for w in known], np.int32),
        rarity=((rare - middle) / spread).astype(np.float32),
        **ragged("pieces", (pieces[w] for w in known)),
        **ragged("friends", (sorted(number[o] for o in friends.get(w, ())) for w in known)),
        **ragged("foes", (sorted(number[o] for o in foes.get(w, ())) for w in known)),
    )
    linked = sum(bool(some) for some in friends.values())
    print(f"{len(known)} words, {linked} with friends, {sum(map(bool, foes.values()))} with foes")


if __name__ == "__main__":
    main()
