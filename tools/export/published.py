"""Reading what training leaves behind: tensors, the shape of the network, and a recipe.

Tensors come as safetensors or npz, under the names of BERT in the Hugging Face library, with or
without `bert.` before them. A head is `head.weight` and `head.bias`, or `head.dense.*` and
`head.out.*` when a layer with tanh stands before the logits; the library's own names for them,
`pooler.dense.*` and `classifier.*`, are understood too.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.errors import InputError
from abstrag.model.record import from_json, record
from abstrag.neural.bundle import Deciding, Judging, ModelTask

RECIPE: Final = "recipe.json"
SAFETENSORS: Final = "model.safetensors"
NPZ: Final = "model.npz"
LABELS: Final = ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")  # in the order of the shipped logits

Floats = npt.NDArray[np.float32]
Tensors = Mapping[str, Floats]


class Head(StrEnum):
    """What is made of the tokens' last states."""

    MEAN = "mean"  # their mean, scaled to length 1
    LINEAR = "linear"  # logits of the first one
    TANH = "tanh"  # the same after one more layer


@record
class Recipe:
    """What a folder of weights is to become; `recipe.json` beside them.

    `labels` are the classes of a verdict in the order they were trained in. `bias` of a head may
    be missing from the tensors; it is then zero.
    """

    name: str
    task: ModelTask
    max_tokens: int
    licence: str = "Apache-2.0"
    head: Head = Head.MEAN
    labels: tuple[str, ...] = LABELS
    judging: Judging | None = None
    deciding: Deciding | None = None


MINILM: Final = Recipe("all-MiniLM-L6-v2", ModelTask.EMBED, max_tokens=256)  # as it was trained
MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True, slots=True)
class Bert:
    """The shape of the network."""

    heads: int
    layers: int
    hidden: int
    positions: int
    epsilon: float  # of the layer norms


def read_recipe(folder: Path) -> Recipe:
    """Return the recipe of a folder; one without is all-MiniLM-L6-v2 as published."""
    path = folder / RECIPE
    recipe = from_json(Recipe, path.read_bytes()) if path.exists() else MINILM
    wants_head = recipe.task in (ModelTask.JUDGE, ModelTask.VERDICT)
    if wants_head == (recipe.head is Head.MEAN):
        raise InputError(
            f"{str(path)!r} has the head {recipe.head.value!r} for the task {recipe.task.value!r}",
            hint="'linear' or 'tanh' for a judge or a verdict, 'mean' for an embedder",
        )
    if recipe.task is ModelTask.VERDICT and sorted(recipe.labels) != sorted(LABELS):
        raise InputError(
            f"{str(path)!r} has the labels {recipe.labels}",
            hint=f"{', '.join(LABELS)} in any order",
        )
    return recipe


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
        positions=config["max_position_embeddings"],
        epsilon=config["layer_norm_eps"],
    )


def weights_path(folder: Path) -> Path:
    """Return the file with the tensors of a folder."""
    for name in (SAFETENSORS, NPZ):
        if (folder / name).exists():
            return folder / name
    raise InputError(
        f"{str(folder)!r} has no weights", hint=f"{SAFETENSORS} or {NPZ}, with config.json"
    )


def read_tensors(path: Path, data: bytes) -> Tensors:
    """Return the float tensors of a file under the names this tool uses."""
    found = read_npz(data) if path.name == NPZ else read_safetensors(data)
    return {_own_name(name): values for name, values in found.items()}


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


def read_npz(data: bytes) -> Tensors:
    """Return the arrays of an npz file."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}


def _own_name(name: str) -> str:
    name = name.removeprefix("bert.")
    for theirs, ours in (("pooler.dense.", "head.dense."), ("classifier.", "head.out.")):
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    return name
