"""The content words of one document: which there are, where they stand, and what lies near them.

Of a long document only the segments that promise most are looked at word by word. Which those are
is estimated: the words of a document are in groups (`neural.vectors`), a word of the query is
compared with the middle of each group, and a word in a group that is not near costs as much as one
in the last group that is. This is how PLAID and WARP prune, with prices in place of similarities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Final, NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from abstrag.config import MAX_GAP
from abstrag.language.words import stemmed
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.index import DocumentIndex
from abstrag.model.segment import Segment
from abstrag.neural.aligner import PriceList, default_aligner
from abstrag.neural.bundle import Aligning
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import segment_text
from abstrag.neural.vectors import (
    Added,
    AlignedText,
    CachedAligner,
    MappedMemory,
    TextAligner,
    ValueCache,
    WordTable,
    has_content,
    spread,
)
from abstrag.search.costed_index import BoolArray, FloatArray, IntArray
from abstrag.search.precedents import openings

# Which literal of a query each of its words belongs to.

NOWHERE: Final = -1
_PART: Final = re.compile(r"\d+(?:[.,]\d+)+|\w+")


def label_words(label: str) -> list[str]:
    """Return the words of a literal, those joined by hyphens one by one."""
    return _PART.findall(label)


def literals_of_words(
    words: Sequence[str], labels: Sequence[str], forms: Callable[[str], Collection[str]]
) -> tuple[int, ...]:
    """Return the literal of each content word of a query, −1 where none does.

    A word that two literals have belongs to the one that has its neighbours too: of "Confidential
    Information may include verbal information" the last word is the literal "information" alone.
    """
    parts = [[frozenset(forms(word)) for word in label_words(label)] for label in labels]
    own = [frozenset(forms(word)) for word in words]
    found = [NOWHERE] * len(words)
    order = sorted(range(len(labels)), key=lambda j: -len(parts[j]))
    for j in order:
        for start in range(len(words)):
            run = range(start, min(start + len(parts[j]), len(words)))
            if len(run) == len(parts[j]) and all(
                found[i] == NOWHERE and own[i] & parts[j][i - start] for i in run
            ):
                for i in run:
                    found[i] = j
    for i, word in enumerate(own):
        if found[i] == NOWHERE:
            fits = (j for j, some in enumerate(parts) if any(word & part for part in some))
            found[i] = next(fits, NOWHERE)
    return tuple(found)


# Words of a canonical text that the text itself does not have, and what stands there for them.
#
# "It restarted" is "The reactor restarted" in canonical form: "It" stands for "reactor". Times
# are left out; they are compared as times, not as digits.

_WORD: Final = re.compile(r"\w+")
_NUMBER_BEHIND: Final = re.compile(r"[-– ]?(\d+)\b")  # of the words before it, as one code


class Rewritten(NamedTuple):
    """A word of the canonical text, and the words of the text that it stands for."""

    word: str
    start: int
    end: int


def rewritten_words(text: str, canonical: str) -> list[Rewritten]:
    """Return the content words that only the canonical text has, in their order."""
    if text == canonical:
        return []
    said, written = list(_WORD.finditer(text)), list(_WORD.finditer(canonical))
    own, new = [w.group() for w in said], [w.group() for w in written]
    first = 0
    while first < min(len(own), len(new)) and own[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(own), len(new)) - first and own[-1 - last] == new[-1 - last]:
        last += 1
    inner = own[first : len(own) - last], new[first : len(new) - last]
    found: list[Rewritten] = []
    for tag, i, j, k, m in SequenceMatcher(None, *inner, autojunk=False).get_opcodes():
        if tag != "replace":
            continue
        start, end = said[first + i].start(), said[first + j - 1].end()
        fresh = (word for word in inner[1][k:m] if word not in inner[0][i:j])
        telling = (word for word in fresh if word.isalpha() and has_content(word.lower()))
        found += [Rewritten(word, start, end) for word in telling]
    return found


CONSIDERED: Final = 4096  # segments of a long document that are looked at word by word
_PLURALS: Final = ("ings", "ables", "ibles")
_NOTE: Final = re.compile(r"([^\W\d_]{4,})\d{1,2}")
_GROUPS: Final = 96  # near a word of the query, whose words are taken for near


@dataclass(frozen=True, slots=True)
class MatchedPlace:
    """Where in a segment a word stands: in its text, in a header of it, or in its section's name.

    `start` and `end` count in the part they stand in; `header` is the number of the header.
    """

    text: str
    start: int
    end: int
    header: int | None = None
    in_section: bool = False


@dataclass(frozen=True, slots=True)
class SegmentReach:
    """The segments that bridges reach, and what meeting each literal there costs."""

    segments: IntArray
    prices: FloatArray  # literals, segments


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for: the words of a query, and how much the whole counts beside them."""

    asked: AlignedText
    words: Sequence[str]
    alone: Sequence[bool]  # for each word whether nothing but itself meets it
    constants: Aligning
    gist_share: float
    also: Mapping[str, Sequence[str]]  # for a word others that are known to meet it
    literal_of: Sequence[int]  # for each word its literal, or −1
    reach: SegmentReach | None = None


class DocumentWords:
    """The content words of all segments of a document, as vectors and as forms."""

    def __init__(
        self, segments: Sequence[Segment], aligner: TextAligner, canonical: Sequence[str] = ()
    ) -> None:
        """Take the segments, and their canonical texts where there are any.

        A word that only the canonical text has stands where the words do that it is written for. It
        meets itself and nothing else.
        """
        self.segments = segments
        self.texts = [segment_text(segment) for segment in segments]
        self.model = aligner.fingerprint
        added = added_words(segments, canonical)
        if isinstance(aligner, CachedAligner):
            self.table = aligner.table(self.texts, added)
        else:
            self.table = WordTable.read(self.texts, aligner.read, added)
        self.starts: IntArray = self.table.starts
        self.words = WordList(self.table)
        self._near: tuple[Vectors | None, FloatArray] = (None, np.zeros(0))

    @property
    def gists(self) -> Vectors:
        """The vector of each whole segment."""
        return spread(self.table.gists)

    def nearness(self, gist: Vectors) -> FloatArray:
        """Return the cosine of a text with each segment; the last one is kept."""
        known, near = self._near
        if known is not gist:
            near = self.table.nearness(gist).astype(np.float64)
            self._near = gist, near
        return near

    def same(self, word: str) -> BoolArray:
        """Tell which words of the document are this word or an inflection of it."""
        return self.whole.same(word)

    @property
    def rewritten(self) -> BoolArray:
        """Tell which words only the canonical text has."""
        return self.table.added

    @cached_property
    def aside(self) -> BoolArray:
        """For each word whether it stands in a header or in the name of the section."""
        before = [len(t) - len(s.text) for t, s in zip(self.texts, self.segments, strict=True)]
        found: BoolArray = self.table.spans[:, 0] < np.array(before, np.int64)[self._owners]
        return found

    @cached_property
    def whole(self) -> Considered:
        """All words."""
        return Considered(self, np.arange(len(self.segments)))

    @property
    def long(self) -> bool:
        """Whether only a part of the segments is looked at word by word."""
        return len(self.table.middles) > 0 and len(self.segments) > CONSIDERED

    def considered(self, sought: Sought, also: Sequence[int] = ()) -> Considered:
        """Return the words of the segments that promise most and of some others, or all words."""
        if not self.long:
            return self.whole
        promising = self._promising(sought)
        return Considered(self, np.union1d(promising, np.array(also, np.int64)))

    def _promising(self, sought: Sought) -> IntArray:
        prices = PriceList(sought.constants)
        size = len(self.segments)
        near = sought.asked.vectors @ spread(self.table.middles).T
        total = np.zeros(size, np.float32)
        weights = []
        for i, word in enumerate(sought.words):
            own = self.segments_with(word)
            rarity = np.log(1 + (size - len(own) + 0.5) / (len(own) + 0.5))
            weights.append(float(sought.asked.weights[i]) * float(np.sqrt(rarity)))
            price = np.full(size, MAX_GAP, np.float32)
            if not sought.alone[i]:
                best = np.argsort(-near[i], kind="stable")[:_GROUPS][::-1]
                costs = prices.of_words(near[i][best]).astype(np.float32)
                price[:] = costs[0]
                for group, cost in zip(best.tolist(), costs.tolist(), strict=True):
                    price[self._segments_of_group(group)] = cost  # the nearest group comes last
            price[own] = 0
            for other in sought.also.get(word, ()):
                price[self.segments_with(other)] = 0
            if sought.reach is not None and (j := sought.literal_of[i]) >= 0:
                reached = sought.reach.segments
                price[reached] = np.minimum(price[reached], sought.reach.prices[j])
            total += weights[-1] * price
        share = sought.gist_share
        total *= (1 - share) / max(sum(weights), 1e-9)
        if share:
            total += share * prices.of_gist(self.nearness(sought.asked.gist))
        return np.sort(np.argpartition(total, CONSIDERED)[:CONSIDERED])

    def segments_with(self, word: str) -> IntArray:
        """Return the segments that have a word or an inflection of it."""
        known = [self._segments_of_word(number) for number in self.spelled(word)]
        return np.unique(np.concatenate(known)) if known else np.empty(0, np.int64)

    def spelled(self, word: str) -> list[int]:
        """Return the numbers of the words of the vocabulary that are this word."""
        found = (self._with_form.get(form, ()) for form in forms(word))
        return sorted({number for numbers in found for number in numbers})

    @cached_property
    def _with_form(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, word in enumerate(self.words.vocabulary):
            for form in forms(word):
                found.setdefault(form, []).append(number)
        return found

    @cached_property
    def bases(self) -> tuple[list[str], IntArray, IntArray]:
        """The base forms of all words without digits, and each pair of a segment and one it has."""
        known: dict[str, int] = {}
        numbers = np.array(
            [known.setdefault(base_form(word), len(known)) for word in self.words.vocabulary],
            np.int64,
        )
        plain = ~(self.words.with_digits[self.table.numbers] | self.rewritten)
        pairs = self._owners[plain].astype(np.int64) * len(known)
        pairs = np.unique(pairs + numbers[self.table.numbers[plain]])
        segments, words = np.divmod(pairs, max(1, len(known)))
        return list(known), segments, words

    @cached_property
    def openings(self) -> IntArray:
        """For each segment that is an item of a list where the list is opened, else −1."""
        return openings([segment.text for segment in self.segments])

    @cached_property
    def _owners(self) -> npt.NDArray[np.int32]:
        return np.repeat(np.arange(len(self.segments), dtype=np.int32), np.diff(self.starts))

    @cached_property
    def _by_word(self) -> tuple[IntArray, IntArray]:
        return _listed(self.table.numbers, self._owners, len(self.words.vocabulary))

    @cached_property
    def _by_group(self) -> tuple[IntArray, IntArray]:
        return _listed(self.table.groups, self._owners, len(self.table.middles))

    def _segments_of_word(self, number: int) -> IntArray:
        ends, owners = self._by_word
        return owners[ends[number] : ends[number + 1]]

    def _segments_of_group(self, number: int) -> IntArray:
        ends, owners = self._by_group
        return owners[ends[number] : ends[number + 1]]

    def place(self, segment: int, word: int) -> MatchedPlace:
        """Say where in a segment a word of it stands."""
        start, end = self.table.spans[word].tolist()
        said = self.texts[segment][start:end]
        own = self.segments[segment]
        before = len(self.texts[segment]) - len(own.text)
        if start >= before:
            return MatchedPlace(said, start - before, end - before)
        at = before - sum(len(header.text) + 1 for header in own.headers)
        for number, header in enumerate(own.headers):
            if at <= start < at + len(header.text):
                return MatchedPlace(said, start - at, end - at, header=number)
            at += len(header.text) + 1
        return MatchedPlace(said, start, end, in_section=True)


class WordList:
    """The words of a document in their order; each is kept once."""

    def __init__(self, table: WordTable) -> None:
        self.vocabulary: list[str] = table.vocabulary
        self._numbers = table.numbers

    @cached_property
    def with_digits(self) -> BoolArray:
        """For each word of the vocabulary whether it has digits in it."""
        return np.array([any(map(str.isdigit, word)) for word in self.vocabulary], dtype=np.bool_)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: int) -> str:
        return self.vocabulary[int(self._numbers[at])]


class Considered:
    """The words of some segments of a document; all others are taken to have none.

    `starts` is as long as for the whole document; `words` are the numbers of the words there.
    """

    def __init__(self, document: DocumentWords, segments: IntArray) -> None:
        self.segments = segments
        self._document = document
        if len(segments) == len(document.segments):
            self.starts = document.starts
            self.words: IntArray | None = None
            return
        sizes = np.zeros(len(document.segments), np.int64)
        firsts, own = document.starts[segments], np.diff(document.starts)[segments]
        sizes[segments] = own
        self.starts = np.concatenate(([0], np.cumsum(sizes)))
        inner = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
        self.words = np.repeat(firsts, own) + inner

    def __contains__(self, segment: int) -> bool:
        at = int(np.searchsorted(self.segments, segment))
        return at < len(self.segments) and int(self.segments[at]) == segment

    def cosines(self, asked: Vectors) -> Vectors:
        """Return the cosine of each of some vectors with each word."""
        return self._document.table.cosines(asked, self.words)

    def same(self, word: str) -> BoolArray:
        """Tell which words are this word or an inflection of it."""
        mask = np.zeros(len(self._document.words.vocabulary), np.bool_)
        mask[self._document.spelled(word)] = True
        found: BoolArray = mask[self._numbers]
        return found

    def written(self, word: str) -> BoolArray:
        """Tell which words are written as this word is, large or small."""
        folded, known = word.casefold(), self._document.words.vocabulary
        mask = np.zeros(len(known), np.bool_)
        mask[[n for n in self._document.spelled(word) if known[n].casefold() == folded]] = True
        found: BoolArray = mask[self._numbers]
        return found

    def before_another_number(self, words: BoolArray, number: str) -> BoolArray:
        """Tell which of some words have another number behind them: the "IL" of "IL-6"."""
        found = np.zeros(len(words), np.bool_)
        for at in np.flatnonzero(words).tolist():
            word = at if self.words is None else int(self.words[at])
            owner = int(np.searchsorted(self._document.starts, word, side="right")) - 1
            end = int(self._document.table.spans[word][1])
            behind = _NUMBER_BEHIND.match(self._document.texts[owner], end)
            found[at] = behind is not None and behind.group(1) != number
        return found

    @cached_property
    def has_digits(self) -> BoolArray:
        """Tell which words have digits in them."""
        found: BoolArray = self._document.words.with_digits[self._numbers]
        return found

    @property
    def rewritten(self) -> BoolArray:
        """Tell which words only the canonical text has."""
        added = self._document.table.added
        return added if self.words is None else added[self.words]

    @property
    def aside(self) -> BoolArray:
        """Tell which words stand in a header or in the name of the section."""
        aside = self._document.aside
        return aside if self.words is None else aside[self.words]

    def numbered(self, words: IntArray) -> IntArray:
        """Return the numbers that some of these words have in the document."""
        return words if self.words is None else self.words[words]

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int32]:
        numbers = self._document.table.numbers
        return numbers if self.words is None else numbers[self.words]


@lru_cache(maxsize=1 << 16)
def forms(word: str) -> tuple[str, ...]:
    """Return what makes two words the same: a base form they share.

    Of words that WordNet does not know the stem does. A plural that it lists by itself is still
    one ("receivables"), and the number of a note behind a word is no part of it ("dividends1").
    A British spelling is the American one as well ("licences" is "license").
    Words that are merely derived from one another are not the same: "relative" is a step from
    "related".
    """
    folded = normalize("NFC", word).casefold()
    net = wordnet()
    bases = [base for pos in Pos for base in net.base_forms(folded, pos)]
    plain = bases or [*stemmed([folded]), folded.removesuffix("s")]
    single = folded.removesuffix("s")
    unknown = not any(net.base_forms(single, pos) for pos in Pos)  # "Alzheimers"
    if folded.endswith(_PLURALS) or (single != folded and unknown):
        plain.append(single)
    if note := _NOTE.fullmatch(folded):
        plain += [base for pos in Pos for base in net.base_forms(note[1], pos)]
    plain += [other for one in (folded, *bases) if (other := american(one))]
    return tuple(dict.fromkeys((folded, *plain)))


def base_form(word: str) -> str:
    """Return one form that inflections of a word share."""
    folded, *bases = forms(word)
    return bases[0] if bases else folded


def keep_words(index: DocumentIndex, memory: ValueCache) -> Vectors | None:
    """Let the shipped aligner read a document ahead, so that no search waits for it.

    Returns the vector of each whole segment; None from a memory without files, which keeps nothing.
    """
    if not isinstance(memory, MappedMemory) or memory.mapped is None:
        return None
    content = index.document.content_hash
    aligner = CachedAligner(default_aligner(), memory, content_hash=content)
    canonical = [record.canonical for record in index.records]
    return DocumentWords(index.segments, aligner, canonical).gists


def added_words(segments: Sequence[Segment], canonical: Sequence[str]) -> list[list[Added]]:
    """Return for each segment the words that only its canonical text has."""
    found: list[list[Added]] = []
    for segment, text in zip(segments, canonical or [s.text for s in segments], strict=True):
        before = len(segment_text(segment)) - len(segment.text)
        words = rewritten_words(segment.text, text)
        found.append([(before + word.start, before + word.end, word.word) for word in words])
    return found


def _listed(
    kinds: npt.NDArray[np.generic], owners: npt.NDArray[np.int32], size: int
) -> tuple[IntArray, IntArray]:
    """Return for each kind where its segments begin and end in a list, and the list."""
    order = np.argsort(kinds, kind="stable")
    counts = np.bincount(kinds.astype(np.int64), minlength=size)
    return np.concatenate(([0], np.cumsum(counts))), owners[order].astype(np.int64)


# British spellings and the American ones of the same words: "licence" is "license".

_AMERICAN: Final = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"our(?=$|s?$|able$|al$|ful$|ist$|ite$|less$)", "or"),
        (r"is(?=e$|ation$|ational$|er$|able$)", "iz"),
        (r"ys(?=e$|er$)", "yz"),
        (r"ogue$", "og"),
        (r"(?<=[bt])re$", "er"),
        (r"ence$", "ense"),
        (r"ise$", "ice"),  # to practise
        (r"amme$", "am"),
        (r"ae|oe", "e"),
        (r"ll(?=ing$|er$)", "l"),
        (r"eque$", "eck"),
        (r"oeuvre$", "euver"),
        (r"grey", "gray"),
    )
)


@lru_cache(maxsize=1 << 14)
def american(word: str) -> str:
    """Return the American spelling of a British word in its base form, "" where there is none.

    It is one only where WordNet has both words for one sense: "hour" is no "hor".
    """
    net = wordnet()
    own = {sense for pos in Pos for sense in net.synsets(word, pos)}
    for british, made in _AMERICAN if own else ():
        other = british.sub(made, word)
        if other != word and any(own.intersection(net.synsets(other, pos)) for pos in Pos):
            return other
    return ""
