"""Which models made what a store holds, and under which names it is kept.

What a model said about texts is kept under the model's fingerprint. A layer of vectors is called
`vectors` or ends so, and its fingerprint is two words on how the text was cut, then the model's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from abstrag.errors import InputError
from abstrag.stores.memory import LIMITS

VECTORS: Final = "vectors"  # the kind that all layers of vectors are
KINDS: Final = (*LIMITS, VECTORS)

_WORDS_BEFORE: Final = 2  # in the fingerprint of such a layer, before the model's own

LAYERS_OF_VECTORS: Final = "layer LIKE '%vectors'"  # a condition; `is_of_vectors` is the last word


def is_of_vectors(layer: str) -> bool:
    """True when the name of a layer says that a model made vectors for it."""
    return layer.split(" ")[-1] == VECTORS


def model_in(fingerprint: str) -> str:
    """Return the model's fingerprint in that of a layer of vectors."""
    return fingerprint.split(" ", _WORDS_BEFORE)[-1]


def counted(layers: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """Add up how many layers of vectors each model made, from name, fingerprint and number."""
    found: Counter[str] = Counter()
    for layer, fingerprint, count in layers:
        if is_of_vectors(layer):
            found[model_in(fingerprint)] += count
    return dict(sorted(found.items()))


def others(layers: Iterable[tuple[str, str]], keep: Collection[str]) -> list[tuple[str, str]]:
    """Return name and fingerprint of those layers of vectors that other models made."""
    return [
        (layer, fingerprint)
        for layer, fingerprint in layers
        if is_of_vectors(layer) and model_in(fingerprint) not in keep
    ]


def checked(kind: str, keep: Collection[str]) -> list[str]:
    """Return the fingerprints to keep, where they are some and the kind is one there is."""
    if kind not in KINDS:
        raise InputError(
            f"nothing of the kind {kind!r} is made by models", hint=f"one of: {', '.join(KINDS)}"
        )
    if isinstance(keep, str):  # or its letters would be taken for fingerprints, and nothing kept
        raise InputError(
            f"fingerprints to keep are several, and got {keep!r}", hint="keep=[fingerprint]"
        )
    return sorted(keep)
