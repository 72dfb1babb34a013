"""Float weights out of the judge that ships, to go on from where nobody kept those it was made of.

    python training/shipped_weights.py src/abstrag/neural/weights judge build/training/judge.npz

The trunk and the layers above it become one file of tensors under their published names. Places
above those the trunk reads are zeros.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

PLACES = 512
_PARTS = ("query", "key", "value")


def shipped(weights: Path, task: str) -> dict[str, np.ndarray]:
    """Return the tensors of a shipped model, the trunk's and its own."""
    found: dict[str, np.ndarray] = {}
    for folder in ("trunk", task):
        graph = onnx.load(str(weights / folder / "model.onnx")).graph
        constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        for name, value in constants.items():
            if name.endswith((".weight", ".bias")) and value.ndim == 1:
                found.update(_apart(name, value))
            elif f"{name}.scale" in constants and name != "words":
                matrix = value.astype(np.float32) * constants[f"{name}.scale"]
                found.update(_apart(f"{name}.weight", matrix.T))
            elif name.startswith("head.") and value.ndim == 2:
                found[name] = value.T
        if folder == "trunk":
            words = constants["words"].astype(np.float32) * constants["words.scale"]
            found["embeddings.word_embeddings.weight"] = words
            places = constants["places"]
            rest = np.zeros((PLACES - len(places), places.shape[1]), np.float32)
            found["embeddings.position_embeddings.weight"] = np.concatenate([places, rest])
            found["embeddings.token_type_embeddings.weight"] = constants["types.table"]
    return found


def _apart(name: str, value: np.ndarray) -> dict[str, np.ndarray]:
    """Return query, key and value of an attention, which stand in one table, each by itself."""
    before, inside, what = name.rpartition(".")
    if not before.endswith("attention.self"):
        return {name: value}
    size = value.shape[-1] if value.ndim == 2 else len(value) // len(_PARTS)
    parts = _PARTS[-(len(value) // size) :]  # of the last layer the query stands alone
    pieces = np.split(value, len(parts))
    return {f"{before}.{p}{inside}{what}": one for p, one in zip(parts, pieces, strict=True)}


def main() -> None:
    """Read, convert, write."""
    weights, task, output = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    output.parent.mkdir(parents=True, exist_ok=True)
    found = shipped(weights, task)
    np.savez(output, allow_pickle=False, **found)
    print(f"{len(found)} tensors, {sum(one.size for one in found.values()):,} numbers")


if __name__ == "__main__":
    main()
