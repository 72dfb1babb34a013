"""Words of a text: their keys and stems, a parsed text as plain lists, and its language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from abstrag.files import read_data_file
from abstrag.model.term import TermKind

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as Tokens


# Canonical keys: how surfaces become the second half of a term's id.

_DASHES = re.compile(r"[‐‑‒–—−]")
_QUOTES = re.compile(r"[’‘`´]")
_NOT_KEY = re.compile(r"[^\w\s.%&+/'-]+")
_SPACE = re.compile(r"\s+")
_HYPHEN = re.compile(r"(?<=\w) ?- ?(?=\w)")  # a parser takes "fine-tuned" apart


def key(surface: str) -> str:
    """Fold a surface to its key: compatibility forms, case, dashes and spaces made one."""
    text = unicodedata.normalize("NFKC", surface)
    text = _QUOTES.sub("'", _DASHES.sub("-", text)).casefold()
    text = _SPACE.sub(" ", _NOT_KEY.sub(" ", text))
    return _HYPHEN.sub("-", text).strip(" .'-/")


def lemma(token: Token) -> str:
    """Return the lemma of one token, folded; a pronoun or a name keeps its own form."""
    text = token.text if token.pos_ in ("PROPN", "PRON") else token.lemma_
    return key(text) or key(token.text)


def phrase_key(tokens: Tokens) -> str:
    """Return the key of a noun phrase: its words, the head lemmatized, no determiners in front."""
    words = list(tokens)
    while words and words[0].pos_ in ("DET", "PRON", "PUNCT", "NUM", "ADP", "CCONJ"):
        words = words[1:]
    while words and words[-1].is_punct:
        words = words[:-1]
    if not words:
        return key(tokens.text)
    return key(" ".join([*(w.lower_ for w in words[:-1]), lemma(words[-1])]))


def term_id(kind: TermKind, term_key: str) -> str:
    """Put the two halves of a term's id together."""
    return f"{kind.value}:{term_key}"


def stemmed(words: list[str]) -> list[str]:
    """Return the stems of folded words."""
    stems: list[str] = _stemmer().stemWords(words)
    return stems


@cache
def _stemmer() -> Any:
    import Stemmer  # type: ignore[import-not-found]

    return Stemmer.Stemmer("english")


# A parsed text as plain lists, which Python reads several times faster than spaCy tokens.

NOUNS: Final = frozenset({"NOUN", "PROPN"})
_MODIFIERS: Final = frozenset({"compound", "amod", "nmod"})
_MODIFYING: Final = frozenset({"NOUN", "PROPN", "ADJ", "VERB"})
_HYPHENS: Final = frozenset("-‐‑–")
_LONGEST: Final = 4  # content words of a noun phrase
_DEEPEST: Final = 100  # steps between a token and one above it that still has to do with it

folded = lru_cache(maxsize=1 << 17)(key)


class Words:
    """The tokens of one parsed text, column by column; a token is its number."""

    __slots__ = ("_ends", "_listed", "children", "dep", "end", "head", "key", "kind", "lemma",
                 "lower", "pos", "size", "start", "stop", "tag", "text")  # fmt: skip

    def __init__(self, doc: Doc) -> None:
        tokens = list(doc)
        self.size = len(tokens)
        self.text: list[str] = [t.text for t in tokens]
        self.lower: list[str] = [t.lower_ for t in tokens]
        self.lemma: list[str] = [t.lemma_ for t in tokens]
        self.pos: list[str] = [t.pos_ for t in tokens]
        self.tag: list[str] = [t.tag_ for t in tokens]
        self.dep: list[str] = [t.dep_ for t in tokens]
        self.kind: list[str] = [t.ent_type_ for t in tokens]
        self.head: list[int] = [t.head.i for t in tokens]
        self.start: list[int] = [t.idx for t in tokens]
        self.end: list[int] = [a + len(t) for a, t in zip(self.start, self.text, strict=True)]
        self.stop: list[bool] = [t.is_stop for t in tokens]
        # The same as `lemma`: a name or pronoun keeps its own form.
        self.key: list[str] = [
            folded(text if pos in ("PROPN", "PRON") else lemma) or folded(text)
            for text, pos, lemma in zip(self.text, self.pos, self.lemma, strict=True)
        ]
        self.children: list[list[int]] = [[] for _ in tokens]
        for i, head in enumerate(self.head):
            if head != i:
                self.children[head].append(i)
        self._ends: list[int] | None = None
        self._listed: frozenset[int] | None = None

    def child(self, token: int, *deps: str) -> int | None:
        """Return the first child with one of these dependencies."""
        return next((c for c in self.children[token] if self.dep[c] in deps), None)

    def begins_phrase(self, token: int) -> bool:
        """True for a preposition with an object, which no verb owns: "in" of "did in May"."""
        return self.dep[token] == "prep" and self.child(token, "pobj") is not None

    def listed(self, token: int) -> bool:
        """True when something is coordinated with a token."""
        if self._listed is None:  # for all at once: a token may have as many children as there are
            self._listed = frozenset(
                self.head[i] for i, dep in enumerate(self.dep) if dep in ("conj", "cc")
            )
        return token in self._listed

    def conjuncts(self, token: int) -> list[int]:
        """Return a token and what is coordinated with it, in the order of the text."""
        found = [token]
        for each in found:
            found.extend(c for c in self.children[each] if self.dep[c] == "conj")
        return found

    def up(self, token: int) -> Iterator[int]:
        """Go from a token's head to the root, or as far as it has to do with the token."""
        for _ in range(_DEEPEST):
            if self.head[token] == token:
                return
            token = self.head[token]
            yield token

    def last_below(self, token: int) -> int:
        """Return the last token of the text that depends on a token, or the token itself."""
        if self._ends is None:  # for all at once: asked one by one, a chain would be read n times
            order = [i for i, head in enumerate(self.head) if head == i]
            for each in order:
                order.extend(self.children[each])
            self._ends = list(range(self.size))
            for each in reversed(order):
                head = self.head[each]
                self._ends[head] = max(self._ends[head], self._ends[each])
        return self._ends[token]

    def glued(self, token: int) -> bool:
        """True when a hyphen ties a token to the one before it: "fine-tune"."""
        return (
            2 <= token < self.size
            and self.text[token - 1] in _HYPHENS
            and self.end[token - 2] == self.start[token - 1]
            and self.end[token - 1] == self.start[token]
        )

    def phrase(self, head: int) -> list[int]:
        """Return where the noun phrases that end in a head begin: the shortest first.

        A phrase has at most four content words, no determiner, no number, no stop word; what
        stands before its head must depend on something inside it. A word with hyphens is taken
        whole or not at all.
        """
        starts = [head]
        at = head
        while self.glued(at):
            at -= 2
        if at < head:
            starts.append(at)
        while len(starts) < _LONGEST:
            first = at - 1
            if first < 0 or not self._modifies(first, head):
                break
            while self.glued(first):
                first -= 2
            starts.append(first)
            at = first
        return starts

    def _modifies(self, token: int, head: int) -> bool:
        return (
            self.dep[token] in _MODIFIERS
            and self.pos[token] in _MODIFYING
            and token < self.head[token] <= head
            and not self.stop[token]
            and all(self.dep[c] != "nummod" for c in self.children[token])
        )

    def phrase_key(self, first: int, head: int) -> str:
        """Return the key of a phrase: its words with the head lemmatized (`keys.phrase_key`)."""
        if first == head:
            return self.key[head]
        return folded(" ".join([*self.lower[first:head], self.key[head]]))

    def label(self, first: int, head: int) -> str:
        """Return how a person would write the phrase by itself: "AI startup"."""
        last = self.key[head] if self.pos[head] != "PROPN" else self.text[head]
        if self.text[head].isupper() and len(last) > 1:
            last = self.text[head]
        if last == "datum" and self.lower[head] == "data":
            last = "data"  # nobody says datum
        words = [
            w if w[1:].lower() != w[1:] or len(w) == 1 else w.lower() for w in self.text[first:head]
        ]
        spaced = (
            word + ("" if self.end[i] == self.start[i + 1] else " ")
            for i, word in enumerate(words, start=first)
        )
        return "".join(spaced) + last


# Which language a text is in: by its script, else by which function words it has.
#
# Only English is read. For any other language it is enough to know that it is another one, and to
# say which with some confidence; docs/genres.md has the figures.

ENGLISH: Final = "en"
_LISTS: Final = read_data_file("abstrag.language", "languages.toml")
NAMES: Final[Mapping[str, str]] = MappingProxyType(_LISTS["names"])
_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {code: frozenset(words.split()) for code, words in _LISTS["words"].items()}
)
_ONLY: Final = MappingProxyType(  # what no English text has
    {code: words - _WORDS[ENGLISH] for code, words in _WORDS.items() if code != ENGLISH}
)
_LANGUAGES: Final = MappingProxyType(  # that have a word
    {
        word: tuple(code for code, own in _ONLY.items() if word in own)
        for word in frozenset().union(*_ONLY.values())
    }
)
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SAMPLE: Final = 6_000  # characters at each of three places that are looked at
_SHARE: Final = 0.12  # of the words of a text in another language that are its function words
_AGAINST: Final = 1.5  # times the English ones that there must be
_FEW: Final = 25  # words; fewer are a query, for which one word may be all there is
_FOREIGN: Final = 0.4  # of the letters of another script, where that is told by it


def language_of(text: str) -> str:
    """Return the code of the language a text is in; English where nothing says otherwise.

    >>> language_of("Wie hoch war der Umsatz im Jahr 2021?")
    'de'
    """
    sample = _sampled(text)
    by_script = _of_script(sample)
    if by_script is not None:
        return by_script
    words = [found.casefold().replace("’", "'") for found in _LETTERS.findall(sample)]
    if not words:
        return ENGLISH
    english = sum(word in _WORDS[ENGLISH] for word in words)
    telling = words if len(words) >= _FEW else [word for word in words if len(word) > 1]
    counts = dict.fromkeys(_ONLY, 0)
    for word in telling:
        for code in _LANGUAGES.get(word, ()):
            counts[code] += 1
    for word in words:
        for code, letters in () if word.isascii() else _LISTS["letters"].items():
            counts[code] += any(letter in word for letter in letters)
    best = max(counts, key=lambda code: (counts[code], code))
    found = counts[best]
    if len(words) < _FEW:
        accented = sum(not word.isascii() for word in words)
        single = found == 1 and (accented or len(words) <= 4)
        mostly = accented >= max(2, len(words) / 3)
        enough = found >= 2 or (english == 0 and (single or mostly))
        return best if enough and found > english else ENGLISH
    return best if found >= max(_SHARE * len(words), _AGAINST * english) else ENGLISH


def language_name(code: str) -> str:
    """Return what a language is called in English."""
    return NAMES.get(code, code)


def _sampled(text: str) -> str:
    """Return a text, or of a long one its beginning, its middle and its end."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def _of_script(text: str) -> str | None:
    """Return the language that the letters of a text say, None where they are Latin ones."""
    if text.isascii():
        return None
    letters = [c for c in text if c.isalpha()]
    found: Counter[str] = Counter()
    scripts = _LISTS["scripts"].items()
    for character, count in Counter(letters).items():
        if not character.isascii():
            name = unicodedata.name(character, "")
            script = next((code for begin, code in scripts if name.startswith(begin)), None)
            if script is not None:
                found[script] += count
    if not found or found.total() < _FOREIGN * len(letters):
        return None
    if found["ja"] >= 0.05 * found.total():
        return "ja"  # which has Chinese letters, too
    return found.most_common(1)[0][0]
