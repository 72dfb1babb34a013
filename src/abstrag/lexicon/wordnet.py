"""WordNet, compiled: what words mean, what is broader, and which words belong together.

Synsets are small integers; `name` and `synset` translate to and from names such as `car.n.01`, as
NLTK writes them. A lemma may be written with spaces or underscores and in any case. One that
WordNet does not list is looked up under the base forms it may have ("geese": "goose").

    wn = wordnet()
    dog, cat = wn.synsets("dog", Pos.NOUN)[0], wn.synsets("cat", Pos.NOUN)[0]
    wn.name(wn.lowest_common(dog, cat))   # "carnivore.n.01"
    wn.wup(dog, cat)                      # 0.857...
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from abstrag.errors import InputError
from abstrag.lexicon.inventory import Archive, inventories_checksum, unpack
from abstrag.lexicon.pos import Pos

# Synsets under their hypernyms: ancestors, depth, and Wu–Palmer similarity as NLTK computes it.
#
# NLTK's `wup_similarity` has habits that its documentation hardly mentions. Numbers are compared
# with it everywhere, so they are kept:
#
# - The common ancestor is the one with the greatest *shortest* way to the root; its depth then
#   counts along the *longest*. Of equally deep ones the first synset itself wins, else the first by
#   name. So a synset whose ancestor lies deeper than itself (person.n.01 under organism.n.01) is
#   less than 1 similar to itself, and a tie may be broken differently for (a, b) and (b, a).
# - From a synset to the common ancestor any way counts, also one over an ancestor of both.
# - Unless both are nouns, all hangs from a simulated root, one step above the *farthest* ancestor.
#   Its name, `*ROOT*`, sorts first, so it beats a real root that is common to both, unless that
#   root is the first synset. It makes any two adjectives similar by 0.5.
#
# The compiler does the graph work: each synset's row lists itself and its ancestors, best common
# ancestor first, with the steps to each. What is left to do here is to find the first ancestor in
# one row that also stands in another. `Rows` and `Texts` are such lists of lists in two arrays.

_BLOCK: Final = 2048  # pairs compared at once: the comparison matrix stays inside the CPU cache
_CACHED_ROWS: Final = 8192


def _starts(counts: NDArray[Any]) -> NDArray[np.int32]:
    starts = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    starts.flags.writeable = False
    return starts


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of numbers: row `i` is `item[start[i]:start[i + 1]]`."""

    start: NDArray[np.int32]
    item: NDArray[np.int32]

    @classmethod
    def of(cls, counts: NDArray[Any], item: NDArray[Any]) -> Rows:
        """Make rows from the length of each row and all items in a row."""
        return cls(start=_starts(counts), item=item)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, row: int) -> tuple[int, ...]:
        """Return one row."""
        return tuple(self.item[self.start[row] : self.start[row + 1]].tolist())

    def owners(self) -> NDArray[np.int32]:
        """Return for each item the row it stands in."""
        owners = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))
        owners.flags.writeable = False
        return owners


def inverted(source: NDArray[Any], target: NDArray[Any], *, size: int) -> Rows:
    """Return the rows that lead from each target back to its sources, in the sources' order."""
    order = np.argsort(target, kind="stable")
    return Rows.of(np.bincount(target, minlength=size), source[order].astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Many short texts in one block of bytes; no string is made before somebody asks for it."""

    start: NDArray[np.int32]
    block: bytes

    @classmethod
    def of(cls, lengths: NDArray[Any], block: NDArray[Any]) -> Texts:
        """Make texts from the length of each in bytes and the bytes of all."""
        return cls(start=_starts(lengths), block=block.tobytes())

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, i: int) -> str:
        """Return one text."""
        return self._raw(i).decode()

    def count(self, i: int, part: bytes) -> int:
        """Return how often one text has some bytes in it."""
        return self.block.count(part, int(self.start[i]), int(self.start[i + 1]))

    def find(self, text: str, low: int, high: int) -> int | None:
        """Return where `text` stands between `low` and `high`, where the texts are in order."""
        wanted = text.encode(errors="replace")
        i = bisect_left(range(high), wanted, low, high, key=self._raw)
        return i if i < high and self._raw(i) == wanted else None

    def _raw(self, i: int) -> bytes:
        return self.block[self.start[i] : self.start[i + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """The hypernym graph, climbed in advance. Nouns are the synsets numbered below `nouns`."""

    up: Rows  # the synset and its ancestors, best common ancestor first
    steps: NDArray[np.uint8]  # to each of them, in step with `up.item`
    min_depth: NDArray[np.uint8]  # steps to a root, the shortest way
    max_depth: NDArray[np.uint8]  # and the longest
    to_root: NDArray[np.uint8]  # steps to the simulated root
    nouns: int

    def hypernyms(self, synset: int) -> tuple[int, ...]:
        """Return the synsets directly above, deepest first."""
        return tuple(x for x, steps in _climbed(self, synset).items() if steps == 1)

    def ancestors(self, synset: int) -> tuple[int, ...]:
        """Return all synsets above, nearest first."""
        return _above(self, synset)

    def lowest_common(self, a: int, b: int) -> int | None:
        """Return the common ancestor Wu–Palmer looks at; it may be `a` or `b`."""
        below = _climbed(self, b)
        return next((x for x in _climbed(self, a) if x in below), None)

    def wup(self, a: int, b: int) -> float:
        """Return the Wu–Palmer similarity of two synsets; 0 where NLTK says None."""
        common = self.lowest_common(a, b)
        rootless = a >= self.nouns or b >= self.nouns
        if rootless and (common is None or (common != a and not self.min_depth[common])):
            depth, apart = 1, int(self.to_root[a]) + int(self.to_root[b])
        elif common is None:
            return 0.0
        else:
            depth = int(self.max_depth[common]) + 1
            apart = _climbed(self, a)[common] + _climbed(self, b)[common]
        return 2.0 * depth / (apart + 2 * depth)

    def wup_many(self, pairs: NDArray[Any]) -> NDArray[np.float64]:
        """Return `wup` of each row of an (n, 2) array of synsets."""
        synsets = pairs.astype(np.intp)
        similarity = np.empty(len(synsets))
        for start in range(0, len(synsets), _BLOCK):
            block = synsets[start : start + _BLOCK]
            similarity[start : start + _BLOCK] = self._wup_block(block[:, 0], block[:, 1])
        return similarity

    def _wup_block(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.float64]:
        above_a, above_b = self._padded(a, filler=-1), self._padded(b, filler=-2)
        equal = (above_a[:, :, None] == above_b[:, None, :]).reshape(len(a), -1)
        first = equal.argmax(axis=1)  # rows are in order of preference, so the first is the one
        pair = np.arange(len(a))
        found = equal[pair, first]  # where it is False, i and j are 0: some synset, not used below
        i, j = np.divmod(first, above_b.shape[1])
        common = above_a[pair, i]
        depth = self.max_depth[common].astype(np.int64) + 1
        apart = self.steps[self.up.start[a] + i].astype(np.int64)
        apart += self.steps[self.up.start[b] + j]
        rootless = (a >= self.nouns) | (b >= self.nouns)
        simulated = rootless & (~found | ((common != a) & (self.min_depth[common] == 0)))
        depth[simulated] = 1
        apart[simulated] = self.to_root[a[simulated]].astype(np.int64) + self.to_root[b[simulated]]
        return np.where(found | simulated, 2.0 * depth / (apart + 2 * depth), 0.0)

    def _padded(self, synsets: NDArray[np.intp], *, filler: int) -> NDArray[np.int32]:
        """Return the rows of some synsets as a matrix, filled up on the right."""
        start, stop = self.up.start[synsets], self.up.start[synsets + 1]
        index = start[:, None] + np.arange((stop - start).max())
        inside = index < stop[:, None]
        return np.where(inside, self.up.item[np.where(inside, index, 0)], np.int32(filler))


@lru_cache(maxsize=_CACHED_ROWS)
def _above(taxonomy: Taxonomy, synset: int) -> tuple[int, ...]:
    """Return all synsets above, nearest first."""
    seen = dict.fromkeys(taxonomy.hypernyms(synset))
    frontier = list(seen)
    while frontier:
        above = dict.fromkeys(x for s in frontier for x in taxonomy.hypernyms(s))
        frontier = [x for x in above if x not in seen]
        seen.update(dict.fromkeys(frontier))
    return tuple(seen)


@lru_cache(maxsize=_CACHED_ROWS)
def _climbed(taxonomy: Taxonomy, synset: int) -> dict[int, int]:
    """Return the steps to each ancestor, in the row's order; the caller must not change it."""
    row = slice(taxonomy.up.start[synset], taxonomy.up.start[synset + 1])
    steps = taxonomy.steps[row].tolist()
    return dict(zip(taxonomy.up.item[row].tolist(), steps, strict=True))


# Morphy: the base forms an inflected English word may have, by exceptions and suffix rules.

# WordNet's rules of detachment (the manual page morphy(7WN)), in the order NLTK tries them.
DETACHMENTS: Final[Mapping[Pos, tuple[tuple[str, str], ...]]] = MappingProxyType(
    {
        pos: tuple((suffix, ending) for suffix, ending in (rule.split(":") for rule in rules))
        for pos, rules in (
            (Pos.NOUN, "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y".split()),
            (Pos.VERB, "s: ies:y es:e es: ed:e ed: ing:e ing:".split()),
            (Pos.ADJECTIVE, "er: est: er:e est:e".split()),
            (Pos.ADVERB, ()),
        )
    }
)


def candidates(form: str, pos: Pos, exceptions: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield what the base form may be: the form itself, its exceptions or, failing these, by rule.

    Whether a candidate is a word at all is for the caller to say.
    """
    yield form
    if form in exceptions:
        yield from exceptions[form]
        return
    for suffix, ending in DETACHMENTS[pos]:
        if form.endswith(suffix):
            yield form.removesuffix(suffix) + ending


DATA: Final = Path(__file__).with_name("wordnet.bin")
_POS: Final = tuple(Pos)  # the order of entries and of synsets in the data file
_LEMMAS_KEPT: Final = 1 << 15  # whose entries and synsets are remembered: some 10 MB
_SATELLITE: Final = "s"  # how a name marks an adjective that hangs from another


@dataclass(frozen=True, eq=False, repr=False)
class WordNet:
    """The lexicon. Immutable; get the packaged one from `wordnet()`.

    An *entry* is a lemma in one part of speech, a *word* is one member of one synset.
    """

    version: str  # of WordNet itself
    sources: Mapping[str, str]  # the database files this was compiled from, and their SHA-256
    checksum: str
    taxonomy: Taxonomy
    _entry_range: tuple[int, ...]  # where each part of speech begins, and the end
    _synset_range: tuple[int, ...]
    _entries: Texts
    _senses: Rows  # entry to its words, most frequent first
    _words: Rows  # synset to its words' entries
    _word_synset: NDArray[np.int32]
    _word_tags: NDArray[np.uint16]  # how often the word was seen in this sense
    _cased_word: NDArray[np.int32]  # the words that are not all lower case, and
    _cased: Texts  # their spelling
    _satellite: NDArray[np.bool_]
    _instance: NDArray[np.bool_]
    _derived: Rows  # word to words
    _antonyms: Rows  # word to words
    _entails: Rows  # synset to synsets
    _causes: Rows
    _similar: Rows
    _exception_lines: bytes

    @classmethod
    def load(cls, path: Path) -> WordNet:
        """Read a file that `tools/compile_wordnet.py` wrote.

        Raises:
            ResourceMissing: The file is missing, damaged or of another format.
        """
        return _assembled(unpack(path))

    def __repr__(self) -> str:
        """Name version and data, so that a fingerprint made of this changes with them."""
        return f"WordNet({self.version!r}, {self.checksum[:12]!r})"

    def __len__(self) -> int:
        return len(self._words)

    # --- Words to synsets and back ----------------------------------------------------------------

    def synsets(self, lemma: str, pos: Pos) -> tuple[int, ...]:
        """Return the meanings of a lemma, most frequent first; none if WordNet does not know it."""
        return self._known_synsets(lemma, pos)

    def lemmas(self, synset: int) -> tuple[str, ...]:
        """Return the words of a synset, in WordNet's order, with spaces and their own case."""
        first, end = self._words.start[synset], self._words.start[synset + 1]
        return tuple(self._spelling(word) for word in range(first, end))

    def phrases(self, pos: Pos, least: int) -> Iterator[str]:
        """Go through the lemmas of at least so many words."""
        part = _POS.index(pos)
        for entry in range(self._entry_range[part], self._entry_range[part + 1]):
            if self._entries.count(entry, b"_") >= least - 1:
                yield _spaced(self._entries[entry])

    def count(self, lemma: str, synset: int) -> int:
        """Return how often the lemma was seen with this meaning in WordNet's tagged texts."""
        for entry in self._find(lemma, self.pos(synset)):
            for word in self._senses[entry]:
                if self._word_synset[word] == synset:
                    return int(self._word_tags[word])
        raise InputError(f"{lemma!r} is no word of the synset {self.name(synset)!r}")

    def pos(self, synset: int) -> Pos:
        """Return the part of speech."""
        return _POS[bisect_right(self._synset_range, synset) - 1]

    def name(self, synset: int) -> str:
        """Return the name: first lemma, part of speech, number of the meaning."""
        satellite = bool(self._satellite[synset])
        entry = int(self._words.item[self._words.start[synset]])
        number = self._numbered(entry, satellite=satellite).index(synset) + 1
        kind = _SATELLITE if satellite else self.pos(synset).value
        return f"{self._entries[entry]}.{kind}.{number:02d}"

    def synset(self, name: str) -> int:
        """Return the synset of a name.

        Raises:
            InputError: No synset is called that.
        """
        lemma, kind, number = ("", "", *name.rsplit(".", 2))[-3:]
        satellite = kind == _SATELLITE
        if (satellite or kind in _POS) and number.isdecimal():
            entry = self._entry(_key(lemma), Pos.ADJECTIVE if satellite else Pos(kind))
            numbered = () if entry is None else self._numbered(entry, satellite=satellite)
            if 1 <= int(number) <= len(numbered):
                return numbered[int(number) - 1]
        raise InputError(
            f"WordNet has no synset {name!r}",
            hint="a name is lemma, part of speech and number: 'car.n.01'",
        )

    def morphy(self, word: str, pos: Pos) -> str | None:
        """Return the base form of a word, itself if it is one, None if WordNet has none."""
        entry = next(iter(self._bases(_key(word), pos)), None)
        return None if entry is None else _spaced(self._entries[entry])

    def base_forms(self, word: str, pos: Pos) -> tuple[str, ...]:
        """Return all base forms a word may have: "fell" is one itself, and one of "fall"."""
        return tuple(_spaced(self._entries[entry]) for entry in self._bases(_key(word), pos))

    # --- Synsets to synsets -----------------------------------------------------------------------

    def hypernyms(self, synset: int) -> tuple[int, ...]:
        """Return what is directly broader, the class of an instance included."""
        return self.taxonomy.hypernyms(synset)

    def hyponyms(self, synset: int) -> tuple[int, ...]:
        """Return what is directly narrower, instances included."""
        return self._hyponyms[synset]

    def ancestors(self, synset: int) -> tuple[int, ...]:
        """Return everything broader, nearest first."""
        return self.taxonomy.ancestors(synset)

    def depth(self, synset: int) -> int:
        """Return the number of steps to the root, the shortest way."""
        return int(self.taxonomy.min_depth[synset])

    def max_depth(self, synset: int) -> int:
        """Return the number of steps to the root, the longest way."""
        return int(self.taxonomy.max_depth[synset])

    def is_instance(self, synset: int) -> bool:
        """Say whether the synset is one thing of its class, not a class: Paris, not city."""
        return bool(self._instance[synset])

    def lowest_common(self, a: int, b: int) -> int | None:
        """Return the deepest synset that is `a` or `b` or broader than both, if there is one."""
        return self.taxonomy.lowest_common(a, b)

    def wup(self, a: int, b: int) -> float:
        """Return the Wu–Palmer similarity, to the last bit as NLTK does (see `Taxonomy`)."""
        return self.taxonomy.wup(a, b)

    def wup_many(self, pairs: NDArray[Any]) -> NDArray[np.float64]:
        """Return the Wu–Palmer similarity of each row of an (n, 2) array of synsets."""
        return self.taxonomy.wup_many(pairs)

    def entailments(self, synset: int) -> tuple[int, ...]:
        """Return what a verb entails: to snore is to sleep."""
        return self._entails[synset]

    def causes(self, synset: int) -> tuple[int, ...]:
        """Return what a verb brings about: to kill is to make die."""
        return self._causes[synset]

    def similar(self, synset: int) -> tuple[int, ...]:
        """Return the satellites of an adjective, or the adjective a satellite hangs from."""
        return self._similar[synset]

    # --- Words to words ---------------------------------------------------------------------------

    def derived(self, lemma: str, pos: Pos) -> tuple[tuple[str, Pos], ...]:
        """Return the words derived from a lemma in any meaning, or that it derives from."""
        linked = self._linked(self._derived, lemma, pos)
        synset = self._word_synset
        return tuple(dict.fromkeys((self._spelling(w), self.pos(int(synset[w]))) for w in linked))

    def derived_senses(self, lemma: str, pos: Pos) -> tuple[int, ...]:
        """Return the meanings, and no others, in which words are derived from a lemma or it from.

        "Taxation" is what is levied where it derives from "tax", and not the state's income.
        """
        linked = self._linked(self._derived, lemma, pos)
        return tuple(dict.fromkeys(int(self._word_synset[word]) for word in linked))

    def antonyms(self, lemma: str, pos: Pos) -> tuple[str, ...]:
        """Return the opposites of a lemma in any meaning; they have its part of speech."""
        linked = self._linked(self._antonyms, lemma, pos)
        return tuple(dict.fromkeys(self._spelling(word) for word in linked))

    # --- Inside -----------------------------------------------------------------------------------

    @cached_property
    def _known_synsets(self) -> Callable[[str, Pos], tuple[int, ...]]:
        """The synsets of a lemma: a text asks for the same ones over and over."""

        def read(lemma: str, pos: Pos) -> tuple[int, ...]:
            words = (word for entry in self._find(lemma, pos) for word in self._senses[entry])
            return tuple(dict.fromkeys(int(self._word_synset[word]) for word in words))

        return lru_cache(maxsize=_LEMMAS_KEPT)(read)

    @cached_property
    def _known_entry(self) -> Callable[[str, Pos], int | None]:
        """The entry of a key; found by bisection, which takes longer than remembering it."""

        def find(key: str, pos: Pos) -> int | None:
            part = _POS.index(pos)
            return self._entries.find(key, self._entry_range[part], self._entry_range[part + 1])

        return lru_cache(maxsize=_LEMMAS_KEPT)(find)

    @cached_property
    def _hyponyms(self) -> Rows:
        direct = self.taxonomy.steps == 1
        up = self.taxonomy.up
        return inverted(up.owners()[direct], up.item[direct], size=len(self))

    @cached_property
    def _exceptions(self) -> Mapping[Pos, Mapping[str, tuple[str, ...]]]:
        found: dict[Pos, dict[str, tuple[str, ...]]] = {pos: {} for pos in _POS}
        for line in self._exception_lines.decode().splitlines():
            pos, form, *bases = line.split(" ")
            found[Pos(pos)][form] = tuple(bases)
        return found

    def _find(self, lemma: str, pos: Pos) -> list[int]:
        """Return the entry of a lemma, or else the entries of its possible base forms."""
        key = _key(lemma)
        entry = self._entry(key, pos)
        return self._bases(key, pos) if entry is None else [entry]

    def _bases(self, key: str, pos: Pos) -> list[int]:
        forms = dict.fromkeys(candidates(key, pos, self._exceptions[pos]))
        entries = (self._entry(form, pos) for form in forms)
        return [entry for entry in entries if entry is not None]

    def _entry(self, key: str, pos: Pos) -> int | None:
        return self._known_entry(key, pos)

    def _numbered(self, entry: int, *, satellite: bool) -> tuple[int, ...]:
        """Return the synsets that the numbers in names count; satellites have their own count."""
        synsets = self._word_synset[list(self._senses[entry])]
        return tuple((synsets[self._satellite[synsets]] if satellite else synsets).tolist())

    def _linked(self, links: Rows, lemma: str, pos: Pos) -> Iterable[int]:
        for entry in self._find(lemma, pos):
            for word in self._senses[entry]:
                yield from links[word]

    def _spelling(self, word: int) -> str:
        i = int(np.searchsorted(self._cased_word, word))
        if i < len(self._cased_word) and self._cased_word[i] == word:
            return _spaced(self._cased[i])
        return _spaced(self._entries[int(self._words.item[word])])


def _key(lemma: str) -> str:
    return "_".join(lemma.replace("_", " ").casefold().split())


def _spaced(lemma: str) -> str:
    return lemma.replace("_", " ")


def _assembled(archive: Archive) -> WordNet:
    a = archive.arrays

    def rows(name: str) -> Rows:
        return Rows.of(a[f"{name}.counts"], a[f"{name}.items"])

    def texts(name: str) -> Texts:
        return Texts.of(a[f"{name}.lengths"], a[f"{name}.bytes"])

    words = rows("words")
    synset_range = tuple(a["synset_range"].tolist())
    return WordNet(
        version=archive.about["wordnet"],
        sources=archive.about["sources"],
        checksum=archive.checksum,
        taxonomy=Taxonomy(
            up=rows("up"),
            steps=a["up.steps"],
            min_depth=a["min_depth"],
            max_depth=a["max_depth"],
            to_root=a["to_root"],
            nouns=synset_range[1],
        ),
        _entry_range=tuple(a["entry_range"].tolist()),
        _synset_range=synset_range,
        _entries=texts("entries"),
        _senses=rows("senses"),
        _words=words,
        _word_synset=words.owners(),
        _word_tags=a["word_tags"],
        _cased_word=a["cased_word"],
        _cased=texts("cased"),
        _satellite=a["satellite"],
        _instance=a["instance"],
        _derived=rows("derived"),
        _antonyms=rows("antonyms"),
        _entails=rows("entails"),
        _causes=rows("causes"),
        _similar=rows("similar"),
        _exception_lines=a["exceptions"].tobytes(),
    )


@cache
def wordnet() -> WordNet:
    """Load the packaged WordNet, once per process."""
    return WordNet.load(DATA)


@cache
def lexicon_version() -> str:
    """Name the lexicon, for fingerprints: WordNet and the inventories."""
    return f"{wordnet()!r} inventories {inventories_checksum()[:12]}"


@cache
def synsets_named(names: frozenset[str]) -> frozenset[int]:
    """Return the synsets of some names."""
    return frozenset(map(wordnet().synset, names))


def sense_uses(lemma: str, synsets: tuple[int, ...]) -> list[int]:
    """Return how often a word was seen in each of its senses, most frequent first, plus one.

    Nothing is seen so rarely that it cannot be meant.
    """
    uses = [1] * len(synsets)
    if len(synsets) < 2:
        return uses  # there is nothing to compare
    for i, synset in enumerate(synsets):
        seen = wordnet().count(lemma, synset)
        if not seen:
            break  # and so are all rarer ones
        uses[i] += seen
    return uses
