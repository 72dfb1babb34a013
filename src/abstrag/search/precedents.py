"""Precedents: what other documents of a genre said to nearly the same question.

A question is a vector, and so is each segment. Where three documents or more have shown by their
evidence in which direction the answer to such a question lies, the question is moved that way,
the further the more of them there are and the nearer their questions; then it is compared with
the segments as usual.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.language.keys import key
from abstrag.model.document import Document
from abstrag.model.patch import Precedent
from abstrag.neural.encoder import Vectors

VOTES: Final = 3  # distinct documents that must have been asked nearly the same
NEAR: Final = 0.7  # the cosine from which two questions are nearly the same
DOUBT: Final = 5.0  # the weight of "nothing is known" beside what documents have shown
RIVALS: Final = 10  # segments near the question that its evidence is compared with


def packed(vector: npt.NDArray[np.floating]) -> str:
    """Write a vector as text."""
    return b64encode(np.asarray(vector, "<f2").tobytes()).decode()


def unpacked(text: str) -> Vectors:
    """Read a vector back."""
    return np.frombuffer(b64decode(text), "<f2").astype(np.float32)


def direction(asked: Vectors, segments: Vectors, evidence: Sequence[int]) -> Vectors | None:
    """Return the way from what is merely near a question to its evidence; None without either."""
    good = np.zeros(len(segments), dtype=np.bool_)
    good[list(evidence)] = True
    if not good.any() or good.all():
        return None
    near = np.where(good, -np.inf, segments @ asked)
    rivals = np.argsort(-near, kind="stable")[: min(RIVALS, int((~good).sum()))]
    found: Vectors = segments[good].mean(axis=0) - segments[rivals].mean(axis=0)
    return found


def nearness(asked: Vectors, questions: Vectors) -> npt.NDArray[np.float64]:
    """Return how much each of some questions counts for another, from 0 to 1."""
    return np.clip((questions.astype(np.float64) @ asked - NEAR) / (1.0 - NEAR), 0.0, 1.0)


def moved(asked: Vectors, precedents: tuple[Precedent, ...], model: str) -> Vectors:
    """Return a question's vector, moved by the precedents that are near it; enough of them."""
    known = tuple(one for one in precedents if one.model == model)
    if not known:
        return asked
    questions, told, documents = _arrays(known)
    if questions.shape[1] != len(asked):
        return asked
    weights = nearness(asked, questions)
    if len(set(documents[weights > 0].tolist())) < VOTES:
        return asked
    shift = (weights @ told) / (weights.sum() + DOUBT)
    found: Vectors = (asked + shift).astype(np.float32)
    return found


def unsettled(
    precedents: tuple[Precedent, ...], query: str, document: Document
) -> tuple[Precedent, ...]:
    """Return the precedents for a query; none where the document has its own word on it."""
    asked = key(query)
    same = {one.document for one in precedents if key(one.question) == asked}
    if same and sha256(document.text.encode()).hexdigest() in same:
        return ()
    return precedents


@lru_cache(maxsize=8)
def _arrays(
    precedents: tuple[Precedent, ...],
) -> tuple[Vectors, Vectors, npt.NDArray[np.str_]]:
    return (
        np.stack([unpacked(one.asked) for one in precedents]),
        np.stack([unpacked(one.told) for one in precedents]),
        np.array([one.document for one in precedents]),
    )
