"""The aligner as an ONNX graph over several texts, and the constants of its prices.

    python -m tools.export.aligner WEIGHTS.npz --output DIR [--name NAME] [--limit 1.0]

Takes `input_ids` and `attention_mask`, one row a text, and gives `words`: a projected state for
each token; `weights`: a logit for each token; and `gist`: a vector of length 1 for each text. What
is asked for is about words, which may have several tokens: the mean of their rows of `words`,
scaled to length 1, is the word's vector, and softplus of the mean of their logits is its weight.

A word's price is log(1 + exp(min(offset − steep · cosine, dearest))); the constants stand in the
manifest. Numbers and names are trained to be met by the same word alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np
from onnx import ModelProto, TensorProto, helper

from abstrag.model.record import to_json
from abstrag.neural.bundle import (
    MANIFEST,
    MODEL,
    TOKENIZER,
    WEIGHTS,
    Aligning,
    ModelManifest,
    ModelTask,
)
from tools.export.bert import Batch, Network
from tools.export.graph import FUSED, IR_VERSION, OPSET, Float32, Graph, Int8, Numbers, Precision
from tools.export.published import Bert, Tensors, read_npz

MAX_TOKENS: Final = 256
_MIX: Final = "mix"  # how much each layer's states count in a word's


def aligning_of(tensors: Tensors, limit: float) -> Aligning:
    """Return the constants that training found; a word whose price is above `limit` is unmet."""
    steep, offset = tensors["steep"], tensors["offset"]
    share = 1 / (1 + np.exp(-float(tensors["share"][0])))
    return Aligning(
        word_steep=_short(steep[0]),
        word_offset=_short(offset[0]),
        gist_steep=_short(steep[1]),
        gist_offset=_short(offset[1]),
        gist_share=_short(share),
        scale=_short(tensors["scale"][0]),
        limit=_short(limit),
        gist_dimensions=len(tensors["whole.weight"]),
    )


def _short(number: float | np.float32) -> float:
    return round(float(number), 6)


def shape_of(tensors: Tensors) -> Bert:
    """Return the shape of an encoder as wide as MiniLM and bge-small, of any depth."""
    layers = [int(name.split(".")[2]) for name in tensors if name.startswith("encoder.layer.")]
    return Bert(heads=12, layers=1 + max(layers), hidden=384, positions=512, epsilon=1e-12)


def write_graph(tensors: Tensors, precision: Precision, name: str) -> ModelProto:
    """Write the aligner as an ONNX model."""
    g = Graph()
    numbers: Numbers = Int8(g) if precision is Precision.INT8 else Float32(g)
    bert = shape_of(tensors)
    sizes = g.add("Shape", "input_ids")
    mask = g.add("Cast", "attention_mask", to=TensorProto.INT32)
    network = Network(g, numbers, bert, tensors, Batch(sizes, mask))
    x = network.words("input_ids", MAX_TOKENS)
    shares = _shares(tensors, bert.layers)
    mixed = ""
    for layer, share in zip(range(bert.layers), shares, strict=True):
        x = network.layer(x, layer)
        if share:
            part = x if share == 1 else g.add("Mul", x, g.constant(f"mix{layer}", share))
            mixed = g.add("Add", mixed, part) if mixed else part
    words = g.add("MatMul", mixed, g.constant("project.weight", tensors["project.weight"].T))
    _name(g, network.apart(words), "words")
    heavy = g.add("MatMul", mixed, g.constant("weigh.weight", tensors["weigh.weight"].T))
    heavy = g.add("Add", heavy, g.constant("weigh.bias", tensors["weigh.bias"]))
    heavy = g.add("Reshape", heavy, sizes)
    if "rarity" in tensors:
        rare = tensors["rarity"] * tensors["rarity_share"]
        heavy = g.add("Add", heavy, g.add("Gather", g.constant("rarity", rare), "input_ids"))
    _name(g, heavy, "weights")
    begin = g.constant("first", np.array(0, np.int64))
    first = g.add("Gather", network.apart(x), begin, axis=1)
    whole = g.add("MatMul", first, g.constant("whole.weight", tensors["whole.weight"].T))
    g.nodes.append(helper.make_node("LpNormalization", [whole], ["gist"], axis=-1, p=2))
    texts = ["texts", "tokens"]
    inputs = ("input_ids", "attention_mask")
    outputs: dict[str, list[str | int]] = {
        "words": [*texts, len(tensors["project.weight"])],
        "weights": [*texts],
        "gist": ["texts", len(tensors["whole.weight"])],
    }
    graph = helper.make_graph(
        g.nodes,
        name,
        [helper.make_tensor_value_info(one, TensorProto.INT64, texts) for one in inputs],
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in outputs.items()],
        list(g.constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _shares(tensors: Tensors, layers: int) -> list[np.float32]:
    """Return how much each layer counts in a word's state: as learned, or the last alone."""
    if _MIX not in tensors:
        return [np.float32(0)] * (layers - 1) + [np.float32(1)]
    raised = np.exp(tensors[_MIX] - tensors[_MIX].max())
    shares = raised / raised.sum()
    shares = np.where(shares < 1e-3, 0, shares)
    return [np.float32(one) for one in shares / shares.sum()]


def _name(g: Graph, value: str, name: str) -> None:
    g.nodes.append(helper.make_node("Identity", [value], [name]))


def export(
    source: Path,
    output: Path,
    *,
    name: str,
    limit: float,
    precision: Precision,
    tokenizer: Path = WEIGHTS / TOKENIZER,
) -> ModelManifest:
    """Write model.onnx and manifest.json, and return what the manifest says."""
    data = source.read_bytes()
    tensors = read_npz(data)
    model = write_graph(tensors, precision, name).SerializeToString(deterministic=True)
    manifest = ModelManifest(
        name=name,
        task=ModelTask.ALIGN,
        licence="Apache-2.0",
        source_sha256=sha256(data).hexdigest(),
        precision=precision.value,
        dimensions=len(tensors["project.weight"]),
        max_tokens=MAX_TOKENS,
        vocabulary=len(tensors["embeddings.word_embeddings.weight"]),
        files={
            MODEL: sha256(model).hexdigest(),
            TOKENIZER: sha256(tokenizer.read_bytes()).hexdigest(),
        },
        aligning=aligning_of(tensors, limit),
    )
    output.mkdir(parents=True, exist_ok=True)
    (output / MODEL).write_bytes(model)
    (output / MANIFEST).write_text(to_json(manifest, indent=2) + "\n", "utf-8")
    return manifest


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write an aligner as abstrag loads it.")
    parser.add_argument("source", type=Path, metavar="WEIGHTS")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--name", default="abstrag-aligner-1")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--precision", type=Precision, choices=Precision, default=Precision.INT8)
    given = parser.parse_args(arguments)
    manifest = export(
        given.source,
        given.output,
        name=given.name,
        limit=given.limit,
        precision=given.precision,
    )
    size = (given.output / MODEL).stat().st_size / 1e6
    print(f"{MODEL} {size:.2f} MB\n{to_json(manifest, indent=2)}")


if __name__ == "__main__":
    main()
