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

import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from struct import Struct
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from abstrag.errors import InputError, ResourceMissing
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.taxonomy import Rows, Taxonomy, Texts, inverted

# A file of named arrays that can tell whether it is whole: magic, format, checksum, contents.
#
# After a fixed head (magic, format number, SHA-256 of the contents) comes one zlib stream. It
# holds the length of a table of contents, that table as JSON, and the arrays, each on an 8-byte
# boundary. The checksum covers the *uncompressed* contents, so it names the data whatever zlib
# packed them.

MAGIC: Final = b"ABSTRAG\x1a"
FORMAT: Final = 1
_HEAD: Final = Struct("<8sI32s")
_LENGTH: Final = Struct("<I")
_ALIGN: Final = 8
_HINT: Final = "reinstall abstrag, or write the file again with tools/compile_wordnet.py"


@dataclass(frozen=True, slots=True, eq=False)
class Archive:
    """What one file holds: notes about where it came from, and read-only arrays by name."""

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    checksum: str  # hexadecimal


def pack(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Turn arrays into the bytes of an archive; the same arrays always give the same contents."""
    data = bytearray()
    entries = []
    for name, array in arrays.items():
        data.extend(bytes(-len(data) % _ALIGN))
        entries.append([name, array.dtype.str, len(array), len(data)])
        data.extend(np.ascontiguousarray(array).tobytes())
    table = json.dumps({"about": about, "arrays": entries}, sort_keys=True).encode()
    table += b" " * (-(_LENGTH.size + len(table)) % _ALIGN)
    contents = _LENGTH.pack(len(table)) + table + bytes(data)
    return _HEAD.pack(MAGIC, FORMAT, sha256(contents).digest()) + zlib.compress(contents, 9)


def unpack(path: Path) -> Archive:
    """Read an archive.

    Raises:
        ResourceMissing: The file is not there, is no archive, is of another format or is damaged.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ResourceMissing(f"cannot read {str(path)!r}: {error.strerror}", hint=_HINT) from error
    if len(raw) < _HEAD.size or not raw.startswith(MAGIC):
        raise ResourceMissing(f"{str(path)!r} is no lexicon of ours", hint=_HINT)
    _, number, digest = _HEAD.unpack_from(raw)
    if number != FORMAT:
        raise ResourceMissing(
            f"{str(path)!r} has format {number}, and this program reads {FORMAT}", hint=_HINT
        )
    try:
        contents = zlib.decompress(memoryview(raw)[_HEAD.size :])
    except zlib.error as error:
        raise ResourceMissing(f"{str(path)!r} is damaged: {error}", hint=_HINT) from error
    if sha256(contents).digest() != digest:
        raise ResourceMissing(f"{str(path)!r} is damaged: its checksum differs", hint=_HINT)
    return _open(contents, digest.hex())


def _open(contents: bytes, checksum: str) -> Archive:
    (length,) = _LENGTH.unpack_from(contents)
    base = _LENGTH.size + length
    table = json.loads(contents[_LENGTH.size : base])
    arrays = {
        name: np.frombuffer(contents, dtype=dtype, count=count, offset=base + start)
        for name, dtype, count, start in table["arrays"]
    }
    return Archive(about=table["about"], arrays=arrays, checksum=checksum)


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
        """Return the Wu–Palmer similarity, to the last bit as NLTK does (see `taxonomy`)."""
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
