"""Writing a folder that `abstrag.neural` can load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from abstrag.errors import InputError
from abstrag.model.record import to_json
from abstrag.neural.bundle import (
    MANIFEST,
    MODEL,
    TOKENIZER,
    Deciding,
    Judging,
    ModelManifest,
    ModelTask,
)
from tools.export.bert import max_tokens, write_graph
from tools.export.graph import Precision
from tools.export.published import (
    MINILM,
    MINILM_SHA256,
    Recipe,
    Tensors,
    read_recipe,
    read_shape,
    read_tensors,
    weights_path,
)


def export(
    source: Path, output: Path, *, precision: Precision, expected: str | None = None
) -> ModelManifest:
    """Write the model, the tokenizer and the manifest that vouches for them.

    The weights published by others must be those we know; `expected` names other ones.
    """
    recipe, path = read_recipe(source), weights_path(source)
    data = path.read_bytes()
    digest = sha256(data).hexdigest()
    expected = expected or (MINILM_SHA256 if recipe == MINILM else digest)
    if digest != expected:
        raise InputError(
            f"{str(path)!r} has the SHA-256 {digest}, not {expected}",
            hint="download it again, or name the other checksum with --expect",
        )
    tensors = read_tensors(path, data)
    made = _transformer(source, tensors, recipe, precision)
    tokenizer = read_tokenizer(source / TOKENIZER)
    manifest = replace(
        made.manifest,
        source_sha256=digest,
        files={
            name: sha256(d).hexdigest() for name, d in {**made.files, TOKENIZER: tokenizer}.items()
        },
    )
    output.mkdir(parents=True, exist_ok=True)
    for name, content in made.files.items():
        (output / name).write_bytes(content)
    _place_tokenizer(output, tokenizer)
    (output / MANIFEST).write_text(to_json(manifest, indent=2) + "\n", "utf-8")
    return manifest


def read_tokenizer(path: Path) -> bytes:
    """Return the tokenizer less the length it was saved with, which is not the model's."""
    settings = json.loads(path.read_text("utf-8"))
    settings["truncation"] = settings["padding"] = None
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class _Made:
    files: Mapping[str, bytes]
    manifest: ModelManifest  # its files and its source are not known yet


def _transformer(source: Path, tensors: Tensors, recipe: Recipe, precision: Precision) -> _Made:
    bert = read_shape(json.loads((source / "config.json").read_text("utf-8")))
    model, dimensions = write_graph(bert, tensors, recipe, precision)
    manifest = ModelManifest(
        name=recipe.name,
        task=recipe.task,
        licence=recipe.licence,
        source_sha256="",
        precision=precision.value,
        dimensions=dimensions,
        max_tokens=max_tokens(bert, recipe),
        vocabulary=len(tensors["embeddings.word_embeddings.weight"]),
        files={},
        judging=(recipe.judging or Judging()) if recipe.task is ModelTask.JUDGE else None,
        deciding=(recipe.deciding or Deciding()) if recipe.task is ModelTask.VERDICT else None,
    )
    return _Made({MODEL: model.SerializeToString(deterministic=True)}, manifest)


def _place_tokenizer(output: Path, tokenizer: bytes) -> None:
    """Write the tokenizer, unless the one beside the folder is the same."""
    shared = output.parent / TOKENIZER
    own = output / TOKENIZER
    if shared.exists() and shared.read_bytes() == tokenizer:
        own.unlink(missing_ok=True)
    else:
        own.write_bytes(tokenizer)
