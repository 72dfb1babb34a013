"""Precedents: what other documents of a genre said to nearly the same question.

A question is a vector, and so is each segment. Where three documents or more have shown by their
evidence in which direction the answer to such a question lies, the question is moved that way,
the further the more of them there are and the nearer their questions; then it is compared with
the segments as usual. And the words that evidence has and its rivals lack, or the other way round,
in three documents or more, tell which segments here are worded like evidence. Where evidence stood
side by side, a segment beside a better one comes nearer to it; and where an item of a list was
evidence together with the words that open the list, so do these to the best of their items.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.language.words import key
from abstrag.model.document import Document
from abstrag.model.patch import Precedent
from abstrag.neural.encoder import Vectors

VOTES: Final = 3  # distinct documents that must have been asked nearly the same
NEAR: Final = 0.7  # the cosine from which two questions are nearly the same
DOUBT: Final = 5.0  # the weight of "nothing is known" beside what documents have shown
RIVALS: Final = 10  # segments that rank best and are no evidence, which evidence is compared with
WORDING: Final = 0.75  # how much the wording counts, in −log of a score
LENGTH: Final = 5  # words that every segment is taken to have besides its own: short ones say less
PULL: Final = 1.5  # how much standing together counts, times the share of evidence that does
_MOST_PULL: Final = 0.5  # of the way to the better segment beside
_MOST_LED: Final = 0.9  # of the way to the best item of a list
_FAR: Final = 15  # segments before an item in which the opening of its list is looked for
_ITEM: Final = re.compile(r"\W{0,2}(?:[ivxlc]{1,5}|[a-z]|\d{1,2})\s?[.)]\s*\S", re.IGNORECASE)
_INSIDE: Final = (";", ",", "; or", "; and")  # how what belongs to an item may end
NO_LIST: Final = -1
_SMOOTHING: Final = 0.5  # of a segment with and of one without a word, on either side


def packed(vector: npt.NDArray[np.floating]) -> str:
    """Write a vector as text."""
    return b64encode(np.asarray(vector, "<f2").tobytes()).decode()


def unpacked(text: str) -> Vectors:
    """Read a vector back."""
    return np.frombuffer(b64decode(text), "<f2").astype(np.float32)


def direction(segments: Vectors, evidence: Sequence[int], rivals: Sequence[int]) -> Vectors | None:
    """Return the way from what merely ranks well to the evidence; None without either."""
    if not (len(evidence) and len(rivals)):
        return None
    found: Vectors = segments[list(evidence)].mean(axis=0) - segments[list(rivals)].mean(axis=0)
    return found


def wording(
    words: Sequence[Iterable[str]], evidence: Sequence[int], rivals: Sequence[int]
) -> tuple[tuple[str, float, float], ...]:
    """Return the words of the evidence: in what share of it each is, and of its rivals."""
    good, bad = (Counter(w for at in some for w in set(words[at])) for some in (evidence, rivals))
    return tuple(
        (word, round(n / len(evidence), 3), round(bad[word] / max(1, len(rivals)), 3))
        for word, n in sorted(good.items())
    )


def nearness(asked: Vectors, questions: Vectors) -> npt.NDArray[np.float64]:
    """Return how much each of some questions counts for another, from 0 to 1."""
    return np.clip((questions.astype(np.float64) @ asked - NEAR) / (1.0 - NEAR), 0.0, 1.0)


def moved(asked: Vectors, precedents: tuple[Precedent, ...], model: str) -> Vectors:
    """Return a question's vector, moved by the precedents that are near it; enough of them."""
    near = _near(asked, precedents, model)
    if near is None:
        return asked
    weights, known = near
    shift = (weights @ known.told) / (weights.sum() + DOUBT)
    found: Vectors = (asked + shift).astype(np.float32)
    return found


def word_weights(
    asked: Vectors, precedents: tuple[Precedent, ...], model: str
) -> Mapping[str, float]:
    """Return for words of three documents' evidence how much each speaks for a segment.

    That is the logarithm of how much more likely it is in evidence than in what ranks beside it,
    less the more doubt there is.
    """
    near = _near(asked, precedents, model)
    if near is None or not near[1].words:
        return {}
    weights, known = near
    total = float(weights.sum())
    good, bad = (weights @ shares for shares in (known.evidence, known.rivals))
    odds = [(n + _SMOOTHING) / (total - n + _SMOOTHING) for n in (good, bad)]
    speaks = WORDING * total / (total + DOUBT) * np.log(odds[0] / odds[1])
    enough = known.votes(weights > 0) >= VOTES
    return {w: float(speaks[i]) for i, w in enumerate(known.words) if enough[i]}


def speaking(asked: Vectors, precedents: tuple[Precedent, ...], model: str) -> int:
    """Return how many documents' precedents count for a question."""
    near = _near(asked, precedents, model)
    return 0 if near is None else len(set(near[1].documents[near[0] > 0].tolist()))


def together(evidence: Sequence[int]) -> float:
    """Return the share of the evidence that stands beside other evidence."""
    known = frozenset(evidence)
    return sum(bool({at - 1, at + 1} & known) for at in known) / max(1, len(known))


def pull(asked: Vectors, precedents: tuple[Precedent, ...], model: str) -> float:
    """Return how far a segment comes up to a better one beside it, from 0 to one half."""
    near = _near(asked, precedents, model)
    if near is None:
        return 0.0
    weights, known = near
    return min(_MOST_PULL, PULL * float(weights @ known.beside) / (float(weights.sum()) + DOUBT))


def pulled(units: npt.NDArray[np.float64], share: float) -> npt.NDArray[np.float64]:
    """Return what each segment gains by the better one of those beside it, given all costs."""
    beside = np.full(len(units), np.inf)
    np.minimum(beside[1:], units[:-1], out=beside[1:])
    np.minimum(beside[:-1], units[1:], out=beside[:-1])
    gained: npt.NDArray[np.float64] = share * np.maximum(units - beside, 0.0)
    return gained


def openings(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return for each item of a list where the list is opened ("Recipient shall:"), else −1."""
    stripped = [text.strip() for text in texts]
    items = [_ITEM.match(text) is not None for text in stripped]
    found = np.full(len(texts), NO_LIST, np.int64)
    for at in np.flatnonzero(items).tolist():
        for before in range(at - 1, max(-1, at - 1 - _FAR), -1):
            text = stripped[before]
            if text.endswith(":"):
                found[at] = before
            elif items[before] or text.endswith(_INSIDE):
                continue
            elif not text.endswith("."):  # a sentence that goes on in the items
                found[at] = before
            break
    return found


def opened(evidence: Sequence[int], opening: npt.NDArray[np.int64]) -> float | None:
    """Return the share of the evidence in lists whose opening is evidence too; None without any."""
    known = frozenset(evidence)
    of_items = [int(opening[at]) for at in known if opening[at] != NO_LIST]
    return sum(at in known for at in of_items) / len(of_items) if of_items else None


def lead(asked: Vectors, precedents: tuple[Precedent, ...], model: str) -> float:
    """Return how far the opening of a list comes up to the best of its items, from 0 to 0.9."""
    near = _near(asked, precedents, model)
    if near is None:
        return 0.0
    weights, known = near
    total = float(weights @ ~np.isnan(known.opened))
    return min(_MOST_LED, PULL * float(weights @ np.nan_to_num(known.opened)) / (total + DOUBT))


def led(
    units: npt.NDArray[np.float64], opening: npt.NDArray[np.int64], share: float
) -> npt.NDArray[np.float64]:
    """Return what the opening of a list gains by its best item, and half as much the other way."""
    items = np.flatnonzero(opening != NO_LIST)
    best = units.copy()
    np.minimum.at(best, opening[items], units[items])
    gained: npt.NDArray[np.float64] = share * (units - best)
    back = 0.5 * share * np.maximum(units[items] - units[opening[items]], 0.0)
    gained[items] = np.maximum(gained[items], back)
    return gained


def _near(
    asked: Vectors, precedents: tuple[Precedent, ...], model: str
) -> tuple[npt.NDArray[np.float64], _Known] | None:
    """Return how much each precedent counts for a question; None without enough documents."""
    of_model = tuple(one for one in precedents if one.model == model)
    if not of_model:
        return None
    known = _known(of_model)
    if known.questions.shape[1] != len(asked):
        return None
    weights = nearness(asked, known.questions)
    if len(set(known.documents[weights > 0].tolist())) < VOTES:
        return None
    return weights, known


def unsettled(
    precedents: tuple[Precedent, ...], query: str, document: Document
) -> tuple[Precedent, ...]:
    """Return the precedents for a query; none where the document has its own word on it."""
    asked = key(query)
    same = {one.document for one in precedents if key(one.question) == asked}
    if same and sha256(document.text.encode()).hexdigest() in same:
        return ()
    return precedents


@dataclass(frozen=True)
class _Known:
    """Precedents as arrays; rows are precedents, columns of the last two are words."""

    questions: Vectors
    told: Vectors
    documents: npt.NDArray[np.str_]
    words: tuple[str, ...]
    evidence: npt.NDArray[np.float32]
    rivals: npt.NDArray[np.float32]
    beside: npt.NDArray[np.float64]
    opened: npt.NDArray[np.float64]  # nan where no evidence is in a list

    def votes(self, rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return for each word in how many documents' evidence it is, of some precedents."""
        found = np.zeros(len(self.words), np.int64)
        for document in np.unique(self.documents[rows]):
            found += (self.evidence[rows & (self.documents == document)] > 0).any(axis=0)
        return found


@lru_cache(maxsize=8)
def _known(precedents: tuple[Precedent, ...]) -> _Known:
    words = {w: i for i, w in enumerate(sorted({w for p in precedents for w, _, _ in p.words}))}
    evidence, rivals = np.zeros((2, len(precedents), len(words)), np.float32)
    for row, one in enumerate(precedents):
        for word, good, bad in one.words:
            evidence[row, words[word]], rivals[row, words[word]] = good, bad
    return _Known(
        np.stack([unpacked(one.asked) for one in precedents]),
        np.stack([unpacked(one.told) for one in precedents]),
        np.array([one.document for one in precedents]),
        tuple(words),
        evidence,
        rivals,
        np.array([one.beside for one in precedents]),
        np.array([np.nan if one.opened is None else one.opened for one in precedents]),
    )
