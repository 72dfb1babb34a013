"""Average weights: of several runs of one recipe, or of a trained model and the one it began with.

    python training/soup.py OUTPUT.npz WEIGHTS.npz WEIGHTS.npz …
    python training/soup.py OUTPUT.npz start.npz=0.4 trained.npz=0.6

Without shares all count the same. Runs that began alike are better together than any one of them,
for free; and a trained model keeps more of what the published one knew.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np


def shared(given: Sequence[str]) -> list[tuple[Path, float]]:
    """Return each path with its share."""
    parts = [one.rpartition("=") for one in given]
    if not any(sign for _, sign, _ in parts):
        return [(Path(one), 1 / len(given)) for one in given]
    if not all(sign for _, sign, _ in parts):
        raise SystemExit("give every path a share, or none: WEIGHTS.npz=0.4")
    return [(Path(path), float(share)) for path, _, share in parts]


def mixed(
    runs: Sequence[Mapping[str, np.ndarray]], shares: Sequence[float]
) -> dict[str, np.ndarray]:
    """Return the weighted mean of what all runs have; only the published file has a pooler."""
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {
        name: np.average(
            [run[name].astype(np.float32) for run in runs], axis=0, weights=shares
        ).astype(np.float16)
        for name in names
    }


def main() -> None:
    """Read, average, write."""
    output, *given = sys.argv[1:]
    parts = shared(given)
    mean = mixed([dict(np.load(path)) for path, _ in parts], [share for _, share in parts])
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    np.savez(output, allow_pickle=False, **mean)


if __name__ == "__main__":
    main()
