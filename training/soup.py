"""Average the weights of several runs of one recipe: better than any one of them, for free.

python training/soup.py OUTPUT.npz WEIGHTS.npz WEIGHTS.npz …
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np


def main() -> None:
    """Read, average, write."""
    output, *paths = map(Path, sys.argv[1:])
    runs = [dict(np.load(path)) for path in paths]
    mean = {
        name: np.mean([run[name].astype(np.float32) for run in runs], axis=0).astype(np.float16)
        for name in runs[0]
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    np.savez(output, **mean)


if __name__ == "__main__":
    main()
