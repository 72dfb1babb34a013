"""Claims that machines wrote or turned around, with their passages, in one small file.

Claims are word pieces; passages are numbers in the prepared file with the made one behind it
(`Examples(path, fold, made)`), so that a hundred thousand claims take a few megabytes. `meant` is
what whoever wrote a claim wanted the passages to say of it, `shares` what a teacher thinks they
say, to a 200th.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from examples import Examples

ANSWERS = 3  # supports, refutes, says too little
SHOWN = 5  # passages that a claim is put to
UNSAID = -1
_FINENESS = 200


@dataclass(frozen=True)
class Claim:
    """A claim and its passages, best first; `shares` is empty until a teacher was asked."""

    words: tuple[int, ...]
    passages: tuple[int, ...]
    meant: int = UNSAID
    shares: tuple[float, ...] = ()


def write_claims(path: Path, claims: Sequence[Claim]) -> None:
    """Write claims; whoever reads meanwhile sees the file of before."""
    passages = np.full((len(claims), SHOWN), UNSAID, np.int32)
    shares = np.zeros((len(claims), ANSWERS), np.uint8)
    for row, claim in enumerate(claims):
        some = claim.passages[:SHOWN]
        passages[row, : len(some)] = some
        if claim.shares:
            shares[row] = np.round(np.array(claim.shares) * _FINENESS)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"unfinished-{path.name}")
    np.savez_compressed(
        unfinished,
        words=np.array([word for claim in claims for word in claim.words], np.uint16),
        lengths=np.array([len(claim.words) for claim in claims], np.uint8),
        passages=passages,
        meant=np.array([claim.meant for claim in claims], np.int8),
        shares=shares,
    )
    unfinished.replace(path)


def read_claims(paths: Iterable[Path]) -> list[Claim]:
    """Return the claims of some files."""
    return [claim for path in paths for claim in _read(path)]


def _read(path: Path) -> Iterator[Claim]:
    file = np.load(path)
    words = np.split(file["words"], np.cumsum(file["lengths"])[:-1])
    rows = (file[name].tolist() for name in ("passages", "meant", "shares"))
    for own, passages, meant, shares in zip(words, *rows, strict=False):
        said = tuple(share / sum(shares) for share in shares) if any(shares) else ()
        shown = tuple(p for p in passages if p != UNSAID)
        yield Claim(tuple(own.tolist()), shown, meant, said)


def is_dev(examples: Examples, claim: Claim) -> bool:
    """Tell whether the document of a claim's first passage is held out."""
    document = examples.document_of(claim.passages[0])
    return examples.fold is None or int(examples.documents[document, 3]) == examples.fold


def aim(claim: Claim, trust: float) -> tuple[float, ...]:
    """Return what is learned of a claim: the teacher's shares, a part of them its writer's wish."""
    if claim.meant == UNSAID or not trust:
        return claim.shares
    wish = [float(answer == claim.meant) for answer in range(ANSWERS)]
    return tuple((1 - trust) * s + trust * w for s, w in zip(claim.shares, wish, strict=True))
