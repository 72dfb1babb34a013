"""Which sort of document this is, and which part of it a block plays (role_L)."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import numpy as np

from abstrag.documents.header import cover_of
from abstrag.documents.text import speakers
from abstrag.files import read_data_file
from abstrag.language.parser import stop_words
from abstrag.model.document import Block, BlockKind, Document, Genre
from abstrag.model.segment import Granularity, SegmentRole

# A small linear model of genre: how a text uses function words, and how it is laid out.
#
# Words of a topic have no say: the model was fitted on sets of documents that are each about one
# topic, and would have learnt that instead. `tools/fit_genre.py` makes the weights.

_WORD: Final = re.compile(r"[a-z]+|\d+")
_SENTENCE: Final = re.compile(r"[.!?][\"'”’)\]]*(?:\s|$)")


def _any(words: Sequence[str]) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


_LISTS: Final = read_data_file("abstrag.indexing", "genre.toml")
_MARKERS: Final = tuple(re.compile(marker) for marker in _LISTS["markers"])
_LONGEST: Final = 60_000  # characters that are looked at: beginning, middle and end
_NUMBERING: Final = re.compile(
    r"^\s*(?:(?:section|chapter|part|appendix)\s+)?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.):]?\s+", re.I
)
# Tried in this order on each heading of the path, innermost first.
_HEADINGS: Final[tuple[tuple[SegmentRole, re.Pattern[str]], ...]] = tuple(
    (
        SegmentRole(one["role"]),
        re.compile(rf"^{_any(one['begins'])}" if "begins" in one else _any(one["contains"]), re.I),
    )
    for one in _LISTS["headings"]
)
# The labels of a structured abstract: "METHODS: We enrolled …", "Results. All …".
_LABEL: Final = re.compile(
    r"^(?P<label>[A-Z][A-Za-z &/]{3,40}?)\s*(?::|\.(?=\s+[A-Z])|—)\s*(?=\S)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class GenreModel:
    """Weights of features for each genre; `scale` brings features to one size."""

    genres: tuple[Genre, ...]
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray  # genres × features
    bias: np.ndarray

    def probabilities(self, document: Document) -> dict[Genre, float]:
        """Return how probable each genre is."""
        values = (features(document) - self.mean) / self.scale
        logits = self.weights @ values + self.bias
        powers = np.exp(logits - logits.max())
        return dict(zip(self.genres, (powers / powers.sum()).tolist(), strict=True))


def features(document: Document) -> np.ndarray:
    """Describe a document by how often it uses each function word, by markers and by layout."""
    prose = [b for b in document.blocks if b.kind is not BlockKind.HEADING]
    text = _sampled("\n".join(b.text for b in prose)).casefold()
    words = _WORD.findall(text)
    count = max(1, len(words))
    found = Counter(words)
    used = [math.sqrt(1000 * found[word] / count) for word in function_words()]
    marked = [math.sqrt(1000 * len(each.findall(text)) / count) for each in _MARKERS]
    return np.array([*used, *marked, *_layout(document, prose, text, count)])


def _layout(document: Document, prose: Sequence[object], text: str, words: int) -> list[float]:
    blocks = document.blocks
    headings = sum(b.kind is BlockKind.HEADING for b in blocks)
    tables = sum(b.kind is BlockKind.TABLE for b in blocks)
    turns = speakers(b.text for b in blocks if b.kind is not BlockKind.HEADING).total()
    digits = sum(c.isdigit() for c in text) / max(1, len(text))
    return [
        math.log10(words),
        headings / max(1, len(blocks)),
        tables / max(1, len(blocks)),
        min(1.0, turns / max(1, len(prose))),
        10 * digits,
        math.log10(1 + words / max(1, len(_SENTENCE.findall(text)))),
        float(len(prose) == 1),
    ]


@cache
def function_words() -> tuple[str, ...]:
    """Return the words whose use is counted, in order."""
    return tuple(sorted(word for word in stop_words() if word.isascii() and word.isalpha()))


@cache
def genre_model() -> GenreModel:
    """Return the bundled model."""
    data = json.loads((files("abstrag.data") / "genre" / "model.json").read_text("utf-8"))
    return GenreModel(
        tuple(Genre(name) for name in data["genres"]),
        np.array(data["mean"]),
        np.array(data["scale"]),
        np.array(data["weights"]),
        np.array(data["bias"]),
    )


def _sampled(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    third, middle = _LONGEST // 3, len(text) // 2
    return "\n".join((text[:third], text[middle : middle + third], text[-third:]))


GRANULARITY: Final[Mapping[Genre, Granularity]] = MappingProxyType(
    {Genre(genre): Granularity(name) for genre, name in _LISTS["granularity"].items()}
)
_ENOUGH: Final = 80  # words; in fewer, function words say little, and cue words decide
_SURE: Final = 0.5  # how probable a genre must be to be believed
_SHORT: Final = 4_000  # an abstract is shorter than this
_WORDS: Final = 10  # and its sentences, on average, are longer than this: a form's entries are not
_ENDS_SENTENCE: Final = re.compile(r"[.!?][\"'”’)\]]*\s*$")
_AUTHORS: Final = re.compile(r"\b(?:[Ww]e|[Oo]ur)\b|\b[Tt]his (?:study|paper|review)\b")
_SPEAK: Final = 0.5  # words of a thousand by which authors speak of themselves
_PAPER_ROLES: Final = frozenset(
    {
        SegmentRole.ABSTRACT,
        SegmentRole.INTRODUCTION,
        SegmentRole.BACKGROUND,
        SegmentRole.METHODS,
        SegmentRole.RESULTS,
        SegmentRole.DISCUSSION,
        SegmentRole.CONCLUSION,
        SegmentRole.REFERENCES,
    }
)
_CUES: Final[Mapping[Genre, re.Pattern[str]]] = MappingProxyType(
    {
        Genre(genre): re.compile(_any(cues), 0 if genre == Genre.NEWS else re.I)
        for genre, cues in _LISTS["cues"].items()
    }
)


def detect_genre(document: Document) -> Genre:
    """Tell the genre: what somebody said, what a cover states, else what the text looks like."""
    if document.metadata.genre is not None:
        return document.metadata.genre
    if cover_of(document.text, document.blocks) is not None:
        return Genre.REPORT
    return _genre_of_text(document)


def _genre_of_text(document: Document) -> Genre:
    """Tell the genre from turns, then by a model; in short texts by headings and cue words."""
    prose = [b for b in document.blocks if b.kind is not BlockKind.HEADING]
    text = "\n".join(b.text for b in prose)  # all of it: an annual report has its figures last
    words = max(1, len(text.split()))

    def density(genre: Genre) -> float:
        return 1000 * len(_CUES[genre].findall(text)) / words

    turns = speakers(b.text for b in prose).total()
    if 0 < len(prose) / 2 <= turns or density(Genre.TRANSCRIPT) >= 20:
        return Genre.TRANSCRIPT
    if words >= _ENOUGH:
        return _by_model(document, density)
    headings = [b.text for b in document.blocks if b.kind is BlockKind.HEADING]
    roles = {role for h in headings if (role := role_of_heading(h))} & _PAPER_ROLES
    if density(Genre.LEGAL) >= 12:
        return Genre.LEGAL
    if density(Genre.REPORT) >= 6:
        return Genre.REPORT
    if len(roles) >= 3 and roles & {
        SegmentRole.ABSTRACT,
        SegmentRole.REFERENCES,
        SegmentRole.METHODS,
        SegmentRole.RESULTS,
    }:
        systems = density(Genre.ENGINEERING) >= 18 and density(Genre.ABSTRACT_ONLY) < 18
        return Genre.ENGINEERING if systems else Genre.SCIENTIFIC
    sentences = sum(bool(_ENDS_SENTENCE.search(b.text)) for b in prose) >= 0.7 * len(prose)
    prosaic = sentences and words >= _WORDS * len(prose)
    if (
        prosaic
        and len(text) <= _SHORT
        and len(headings) <= 1
        and density(Genre.ABSTRACT_ONLY) >= 15
    ):
        return Genre.ABSTRACT_ONLY
    if _elements(document) >= 0.5:
        return Genre.PAGE_LOCAL
    if density(Genre.NEWS) >= 5:
        return Genre.NEWS
    return Genre.PLAIN


def _by_model(document: Document, density: Callable[[Genre], float]) -> Genre:
    """Tell the genre of a text that is long enough for the model; what it doubts is plain."""
    told = genre_model().probabilities(document)
    best = max(told, key=lambda genre: told[genre])
    if told[best] < _SURE:
        best = Genre.PLAIN
    if best is Genre.SCIENTIFIC and not _has_authors(document):
        best = Genre.PLAIN
    if best is Genre.SCIENTIFIC:
        systems = density(Genre.ENGINEERING) >= 18 and density(Genre.ABSTRACT_ONLY) < 18
        return Genre.ENGINEERING if systems else best
    if best in (Genre.LEGAL, Genre.REPORT):
        return best
    if _elements(document) >= 0.5:
        return Genre.PAGE_LOCAL
    return Genre.NEWS if best is Genre.PLAIN and density(Genre.NEWS) >= 5 else best


def _has_authors(document: Document) -> bool:
    """True for a text whose authors speak, or that is built as papers are.

    An encyclopedia cites and explains as papers do; nobody in it says what "we" did.
    """
    headings = [b.text for b in document.blocks if b.kind is BlockKind.HEADING]
    roles = {role_of_heading(heading) for heading in headings}
    if roles & {SegmentRole.ABSTRACT, SegmentRole.METHODS, SegmentRole.RESULTS}:
        return True
    text = " ".join(b.text for b in document.blocks if b.kind is not BlockKind.HEADING)
    return 1000 * len(_AUTHORS.findall(text)) >= _SPEAK * len(text.split())


def _elements(document: Document) -> float:
    """Return the share of the text that stands in tables and lists.

    An item that is a sentence is prose with a mark before it: an article may list its points.
    """
    total = inside = 0
    for block in document.blocks:
        size = len(block.text)
        total += size
        item = block.kind is BlockKind.LIST_ITEM and not _ENDS_SENTENCE.search(block.text)
        inside += size if item or block.kind is BlockKind.TABLE else 0
    return inside / total if total else 0.0


def role_of_heading(heading: str) -> SegmentRole | None:
    """Return the role a heading announces, if it announces one."""
    bare = _NUMBERING.sub("", heading).strip()
    if re.match(r"^\s*appendix\b", heading, re.I):
        return SegmentRole.APPENDIX
    for role, pattern in _HEADINGS:
        if pattern.search(bare):
            return role
    return None


def role_of_label(text: str) -> SegmentRole | None:
    """Return the role a structured-abstract label at the start of a text announces."""
    match = _LABEL.match(text)
    if not match:
        return None
    label = match.group("label")
    return role_of_heading(label) if label.isupper() or len(label.split()) <= 3 else None


def role_of_block(block: Block, genre: Genre) -> SegmentRole:
    """Return the role of everything in a block, before cues inside it are looked at."""
    page_local = genre is Genre.PAGE_LOCAL
    if block.kind is BlockKind.CAPTION:
        return SegmentRole.CAPTION
    if block.kind is BlockKind.TABLE:
        return SegmentRole.CELL if page_local else SegmentRole.TABLE
    for heading in reversed(block.section):
        if role := role_of_heading(heading):
            return role
    if genre is Genre.ABSTRACT_ONLY:
        return SegmentRole.ABSTRACT
    return SegmentRole.TEXT if page_local else SegmentRole.OTHER
