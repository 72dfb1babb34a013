"""Turn the published weights of all-MiniLM-L6-v2 into the model that ships with the package.

    python tools/export_minilm.py FOLDER [--precision int8|float32] [--output DIR]

FOLDER is the published model: model.safetensors, config.json, tokenizer.json. The same folder
always gives the same bytes. The graph takes the token ids of one text and gives the mean of its
tokens' last states, scaled to length 1. It is written out by hand and needs no PyTorch.

In `int8` every row of activations has a scale of its own, so no token's numbers depend on another
row's, and a product of integers is the same on any processor. That takes some care: processors
without VNNI add the products of two neighbouring weights in 16 bits, and clip what is too large.
So the scale of a column of weights is such that no two neighbours can get there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from abstrag.errors import InputError
from abstrag.model.record import to_json
from abstrag.neural.bundle import MANIFEST, MODEL, TOKENIZER, Manifest
from abstrag.neural.embedder import WEIGHTS

NAME: Final = "all-MiniLM-L6-v2"
LICENCE: Final = "Apache-2.0"
PUBLISHED: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PRECISIONS: Final = ("int8", "float32")
MAX_TOKENS: Final = 256  # what the model was trained with; it has more positions
OPSET: Final = 17
IR_VERSION: Final = 8
FUSED: Final = "com.microsoft"  # operators of onnxruntime itself

TOP: Final = 127  # of a signed byte
PAIR_TOP: Final = 127  # of two neighbouring weights together; rounding may make it 128
ACTIVATION_ZERO: Final = 128  # activations are unsigned: the fast kernels multiply u8 by s8

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]
Tensors = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Bert:
    """The shape of the network."""

    heads: int
    layers: int
    hidden: int
    max_tokens: int
    epsilon: float  # of the layer norms


# --- Reading --------------------------------------------------------------------------------------


def read_safetensors(data: bytes) -> Tensors:
    """Return the float tensors of a safetensors file: a length, a JSON table, then the numbers."""
    start = 8 + int.from_bytes(data[:8], "little")
    table = json.loads(data[8:start])
    table.pop("__metadata__", None)
    found = {}
    for name, entry in table.items():
        if entry["dtype"] == "F32":  # the only other tensor counts the positions
            first, end = entry["data_offsets"]
            flat = np.frombuffer(data, "<f4", count=(end - first) // 4, offset=start + first)
            found[name] = flat.reshape(entry["shape"])
    return found


def read_shape(config: Mapping[str, Any]) -> Bert:
    """Return the network's shape, which must be one this tool can write."""
    for key, expected in (("model_type", "bert"), ("hidden_act", "gelu")):
        if config.get(key) != expected:
            raise InputError(
                f"config.json has {key} {config.get(key)!r}", hint=f"{expected!r} only"
            )
    return Bert(
        heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        max_tokens=min(MAX_TOKENS, config["max_position_embeddings"]),
        epsilon=config["layer_norm_eps"],
    )


# --- Quantizing -----------------------------------------------------------------------------------


def quantized_rows(table: Floats) -> tuple[Bytes, Floats]:
    """Return a table as bytes and a scale for each row."""
    return _rounded(table, np.abs(table).max(axis=1, keepdims=True) / np.float32(TOP))


def quantized_columns(factor: Floats) -> tuple[Bytes, Floats]:
    """Return the right side of a product as bytes, neighbours kept small, and column scales."""
    size = np.abs(factor)
    single = size.max(axis=0, keepdims=True) / np.float32(TOP)
    pair = (size[:-1] + size[1:]).max(axis=0, keepdims=True) / np.float32(PAIR_TOP)
    return _rounded(factor, np.maximum(single, pair))


def _rounded(values: Floats, scale: Floats) -> tuple[Bytes, Floats]:
    scale = np.where(scale == 0, np.float32(1), scale)  # of nothing but zeros
    return np.round(values / scale).astype(np.int8), scale


# --- Writing the graph ----------------------------------------------------------------------------


@dataclass(slots=True)
class Graph:
    """An ONNX graph under construction; values are named by the node that makes them."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def constant(self, name: str, value: Array | np.generic) -> str:
        """Add a constant, or find it if it is there."""
        made = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
        assert self.constants.setdefault(name, made) == made, name
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return that."""
        return self.split(kind, 1, *inputs, domain=domain, **attributes)[0]

    def split(
        self, kind: str, outputs: int, *inputs: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node and return all its outputs."""
        names = [f"{kind}.{len(self.nodes)}.{i}" for i in range(outputs)]
        node = helper.make_node(kind, inputs, names, name=names[0], domain=domain, **attributes)
        self.nodes.append(node)
        return names

    def axis(self, number: int) -> str:
        """Add an axis as nodes take it."""
        return self.constant(f"axis{number}", np.array([number], np.int64))


@dataclass(slots=True)
class Float32:
    """Leaves every number as it is."""

    graph: Graph

    def look_up(self, name: str, table: Floats, ids: str) -> str:
        """Return the rows of a table."""
        return self.graph.add("Gather", self.graph.constant(name, table), ids)

    def product(self, x: str, name: str, weight: Floats) -> str:
        """Return x times the transposed weight."""
        return self.graph.add("MatMul", x, self.graph.constant(name, weight.T))


@dataclass(slots=True)
class Int8:
    """Multiplies integers; see the top of this file."""

    graph: Graph
    _zeros: str = ""

    def look_up(self, name: str, table: Floats, ids: str) -> str:
        """Return the rows of a table that is kept as integers and a scale for each row."""
        g = self.graph
        whole, scale = quantized_rows(table)
        rows = g.add("Gather", g.constant(name, whole), ids)
        scales = g.add("Gather", g.constant(f"{name}.scale", scale), ids)
        self._zeros = g.add(
            "Expand",
            g.constant("zeros", np.array([ACTIVATION_ZERO], np.uint8)),
            g.add("Shape", ids),
        )
        return g.add("Mul", g.add("Cast", rows, to=TensorProto.FLOAT), scales)

    def product(self, x: str, name: str, weight: Floats) -> str:
        """Return x times the transposed weight, each row of x rounded on its own scale."""
        g = self.graph
        whole, scale = quantized_columns(weight.T)
        largest = g.add("ReduceMax", g.add("Abs", x), axes=[-1], keepdims=0)
        step = g.constant("step", np.float32(1 / TOP))
        row_scale = g.add("Mul", largest, step)
        rounded = g.add("QuantizeLinear", x, row_scale, self._zeros, axis=0)
        made = g.add(
            "MatMulIntegerToFloat",
            rounded,
            g.constant(name, whole),
            g.constant("one", np.float32(1)),  # the rows' own scales follow
            g.constant(f"{name}.scale", scale[0]),
            g.constant("zero", np.uint8(ACTIVATION_ZERO)),
            domain=FUSED,
        )
        return g.add("Mul", made, g.add("Unsqueeze", row_scale, g.axis(-1)))


def write_graph(bert: Bert, weights: Tensors, precision: str) -> ModelProto:
    """Write the network as an ONNX model over one text."""
    g = Graph()
    numbers = Int8(g) if precision == "int8" else Float32(g)

    def bias(name: str) -> str:
        return g.constant(f"{name}.bias", weights[f"{name}.bias"])

    def norm(x: str, name: str) -> str:
        scale = g.constant(f"{name}.weight", weights[f"{name}.weight"])
        return g.add("LayerNormalization", x, scale, bias(name), axis=-1, epsilon=bert.epsilon)

    def product(x: str, name: str) -> str:
        return numbers.product(x, name, weights[f"{name}.weight"])

    def attention(x: str, name: str) -> str:
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        joined = np.concatenate([weights[f"{part}.weight"] for part in parts])
        biases = np.concatenate([weights[f"{part}.bias"] for part in parts])
        mixed = g.add("Unsqueeze", numbers.product(x, name, joined), g.axis(0))
        sizes = g.constant("sizes", np.array([bert.hidden] * 3, np.int64))
        made = g.add(
            "MultiHeadAttention",
            *g.split("Split", 3, mixed, sizes, axis=-1),
            g.constant(f"{name}.bias", biases),
            domain=FUSED,
            num_heads=bert.heads,
        )
        return g.add("Squeeze", made, g.axis(0))

    def residual(x: str, change: str, dense: str, name: str) -> str:
        # Add and norm stay apart: onnxruntime's fused kernel is five times slower.
        return norm(g.add("Add", x, g.add("Add", product(change, dense), bias(dense))), name)

    x = numbers.look_up("words", weights["embeddings.word_embeddings.weight"], "ids")
    places = (
        weights["embeddings.position_embeddings.weight"][: bert.max_tokens]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    begin = g.constant("begin", np.array([0], np.int64))
    x = g.add("Add", x, g.add("Slice", g.constant("places", places), begin, g.add("Shape", "ids")))
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(bert.layers):
        at = f"encoder.layer.{layer}"
        mixed = attention(x, f"{at}.attention.self")
        x = residual(x, mixed, f"{at}.attention.output.dense", f"{at}.attention.output.LayerNorm")
        inner = f"{at}.intermediate.dense"
        inner = g.add("BiasGelu", product(x, inner), bias(inner), domain=FUSED)
        x = residual(x, inner, f"{at}.output.dense", f"{at}.output.LayerNorm")
    mean = g.add("ReduceMean", x, axes=[0], keepdims=0)
    g.nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], axis=-1, p=2))
    return _model(bert, g)


def _model(bert: Bert, g: Graph) -> ModelProto:
    graph = helper.make_graph(
        g.nodes,
        NAME,
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [bert.hidden])],
        list(g.constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


# --- The folder -----------------------------------------------------------------------------------


def read_tokenizer(path: Path) -> bytes:
    """Return the tokenizer less the length it was saved with, which is not the model's."""
    settings = json.loads(path.read_text("utf-8"))
    settings["truncation"] = settings["padding"] = None
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def export(source: Path, output: Path, *, precision: str, expected: str) -> Manifest:
    """Write the model, the tokenizer and the manifest that vouches for them."""
    raw = (source / "model.safetensors").read_bytes()
    digest = sha256(raw).hexdigest()
    if digest != expected:
        raise InputError(
            f"model.safetensors of {str(source)!r} has the SHA-256 {digest}, not {expected}",
            hint="download it again, or name the other checksum with --expect",
        )
    bert = read_shape(json.loads((source / "config.json").read_text("utf-8")))
    model = write_graph(bert, read_safetensors(raw), precision)
    files = {
        MODEL: model.SerializeToString(deterministic=True),
        TOKENIZER: read_tokenizer(source / "tokenizer.json"),
    }
    manifest = Manifest(
        name=NAME,
        licence=LICENCE,
        source_sha256=digest,
        precision=precision,
        dimensions=bert.hidden,
        max_tokens=bert.max_tokens,
        files={name: sha256(data).hexdigest() for name, data in files.items()},
    )
    output.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (output / name).write_bytes(data)
    (output / MANIFEST).write_text(to_json(manifest, indent=2) + "\n", "utf-8")
    return manifest


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the embedder that ships with abstrag.")
    parser.add_argument("source", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    parser.add_argument("--precision", choices=PRECISIONS, default=PRECISIONS[0])
    parser.add_argument("--expect", default=PUBLISHED, metavar="SHA256")
    given = parser.parse_args(arguments)
    manifest = export(given.source, given.output, precision=given.precision, expected=given.expect)
    for name, digest in manifest.files.items():
        size = (given.output / name).stat().st_size
        print(f"{name:<16} {size / 1e6:6.2f} MB  {digest}")


if __name__ == "__main__":
    main()
