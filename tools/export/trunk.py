"""A judge and a verdict model that share their lower layers, as three ONNX graphs.

    python -m tools.export.trunk JUDGE.npz VERDICT.npz --output DIR --recipe RECIPE.json

Writes `trunk/`, which takes `ids` and `types` of one pair and gives the states of its tokens after
the shared layers, and `judge/` and `verdict/`, which take these `states` and give `logits`. The
recipe has a version and the calibration: {"version": …, "judging": {"slope": …, "offset": …},
"deciding": {"temperature": …, "threshold": …}}. Weights whose shared layers differ are refused.
With --keep the trunk and the judge of DIR stay as they are, byte for byte, and only a verdict model
on them is written; JUDGE.npz then is what `training/shipped_weights.py` reads of them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import ModelProto, TensorProto, helper

from abstrag.errors import InputError
from abstrag.model.record import to_json
from abstrag.neural.bundle import (
    MANIFEST,
    MODEL,
    TOKENIZER,
    WEIGHTS,
    Deciding,
    Judging,
    ModelManifest,
    ModelTask,
)
from tools.export.aligner import shape_of
from tools.export.bert import LOGITS, Network
from tools.export.graph import FUSED, IR_VERSION, OPSET, Float32, Graph, Int8, Precision
from tools.export.published import Head, Recipe, Tensors, read_npz

SHARED: Final = 6  # lowest layers
MAX_TOKENS: Final = 320
TRUNK_MODEL: Final = f"../{ModelTask.TRUNK.value}/{MODEL}"


def shared(name: str) -> bool:
    """Tell whether a tensor is part of the trunk."""
    layer = name.startswith("encoder.layer.") and int(name.split(".")[2]) < SHARED
    return layer or name.startswith("embeddings.")


def write_trunk(tensors: Tensors, precision: Precision) -> ModelProto:
    """Write the embeddings and the shared layers."""
    g = Graph()
    bert = shape_of(tensors)
    network = Network(g, _numbers(g, precision), bert, tensors)
    x = network.words("ids", MAX_TOKENS, types="types")
    for layer in range(SHARED):
        x = network.layer(x, layer)
    g.nodes.append(helper.make_node("Identity", [x], ["states"]))
    ins = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["tokens"]) for n in ("ids", "types")
    ]
    out = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["tokens", bert.hidden])
    return _model(g, "trunk", ins, out)


def write_top(tensors: Tensors, task: ModelTask, precision: Precision) -> ModelProto:
    """Write the layers above the trunk, and the head."""
    g = Graph()
    numbers = _numbers(g, precision)
    bert = shape_of(tensors)
    network = Network(g, numbers, bert, tensors)
    sizes = g.add("Shape", "states")
    numbers.expect(g.add("Gather", sizes, g.constant("begin", np.array([0], np.int64))))
    x = "states"
    for layer in range(SHARED, bert.layers - 1):
        x = network.layer(x, layer)
    first = network.layer(x, bert.layers - 1, only_first=True)
    head = Head.TANH if "head.dense.weight" in tensors else Head.LINEAR
    logits = network.head(first, Recipe(task.value, task, MAX_TOKENS, head=head))
    g.nodes.append(helper.make_node("Squeeze", [logits, g.axis(0)], ["logits"]))
    states = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["tokens", bert.hidden])
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [LOGITS[task]])
    return _model(g, task.value, [states], out)


def _numbers(g: Graph, precision: Precision) -> Int8 | Float32:
    return Int8(g) if precision is Precision.INT8 else Float32(g)


def _model(g: Graph, name: str, inputs: list[Any], output: Any) -> ModelProto:
    graph = helper.make_graph(g.nodes, name, inputs, [output], list(g.constants.values()))
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def export(
    judge: Path,
    verdict: Path,
    tokenizer: Path,
    output: Path,
    recipe: Mapping[str, Any],
    precision: Precision,
    *,
    keep: bool = False,
) -> None:
    """Write the three folders; the verdict's alone where the others are to be kept."""
    tensors = {
        ModelTask.JUDGE: read_npz(judge.read_bytes()),
        ModelTask.VERDICT: read_npz(verdict.read_bytes()),
    }
    one, two = tensors.values()
    for name in filter(shared, one):
        if not np.array_equal(one[name].astype(np.float16), two[name].astype(np.float16)):
            raise InputError(
                f"{str(judge)!r} and {str(verdict)!r} differ in {name!r}",
                hint=f"train the verdict model with the lowest {SHARED} layers frozen",
            )
    made: dict[ModelTask, bytes] = {}
    if keep:
        trunk = (output / ModelTask.TRUNK.value / MODEL).read_bytes()
        del tensors[ModelTask.JUDGE]
    else:
        trunk = made[ModelTask.TRUNK] = _bytes(write_trunk(one, precision))
    made |= {task: _bytes(write_top(tensors[task], task, precision)) for task in tensors}
    sources = {ModelTask.TRUNK: judge, ModelTask.JUDGE: judge, ModelTask.VERDICT: verdict}
    for task, data in made.items():
        folder = output / task.value
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MODEL).write_bytes(data)
        upper = task is not ModelTask.TRUNK
        manifest = ModelManifest(
            name=f"abstrag-{task.value}-{recipe['version']}",
            task=task,
            licence="Apache-2.0",
            source_sha256=sha256(sources[task].read_bytes()).hexdigest(),
            precision=precision.value,
            dimensions=LOGITS[task] if upper else shape_of(one).hidden,
            max_tokens=MAX_TOKENS,
            vocabulary=len(one["embeddings.word_embeddings.weight"]),
            files={
                MODEL: sha256(data).hexdigest(),
                TOKENIZER: sha256(tokenizer.read_bytes()).hexdigest(),
                **({TRUNK_MODEL: sha256(trunk).hexdigest()} if upper else {}),
            },
            judging=Judging(**recipe["judging"]) if task is ModelTask.JUDGE else None,
            deciding=Deciding(**recipe["deciding"]) if task is ModelTask.VERDICT else None,
            trunk=ModelTask.TRUNK.value if upper else None,
        )
        (folder / MANIFEST).write_text(to_json(manifest, indent=2) + "\n", "utf-8")
        print(f"{task.value:<8} {len(data) / 1e6:6.2f} MB")


def _bytes(model: ModelProto) -> bytes:
    return bytes(model.SerializeToString(deterministic=True))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write a judge and a verdict model on one trunk.")
    parser.add_argument("judge", type=Path)
    parser.add_argument("verdict", type=Path)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, default=WEIGHTS / TOKENIZER)
    parser.add_argument("--precision", type=Precision, choices=Precision, default=Precision.INT8)
    parser.add_argument("--keep", action="store_true", help="the trunk and the judge of DIR")
    given = parser.parse_args(arguments)
    recipe = json.loads(given.recipe.read_text("utf-8"))
    export(
        given.judge,
        given.verdict,
        given.tokenizer,
        given.output,
        recipe,
        given.precision,
        keep=given.keep,
    )


if __name__ == "__main__":
    main()
