"""A network of the shipped one's kind, small enough to compute by hand, and its published form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HIDDEN, HEADS, LAYERS, INNER, POSITIONS = 32, 2, 2, 64, 12
EPSILON = 1e-12
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "hound", "bark", "##s", "##ing", ".")

Floats = npt.NDArray[np.float32]
Exact = npt.NDArray[np.float64]


def tensors(seed: int = 3) -> dict[str, Floats]:
    """Return random weights under the names of the published file."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Floats:
        return random.normal(0, 0.4, shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": normal(len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": normal(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": normal(2, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
        for name, rows, columns in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ):
            made[f"{at}.{name}.weight"] = normal(rows, columns)
            made[f"{at}.{name}.bias"] = normal(rows)
    for name in norms:
        made[f"{name}.weight"] = 1 + normal(HIDDEN)
        made[f"{name}.bias"] = normal(HIDDEN)
    return made


def head(kind: str, logits: int, seed: int = 4) -> dict[str, Floats]:
    """Return the random weights of a head."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Floats:
        return random.normal(0, 0.4, shape).astype(np.float32)

    if kind == "linear":
        return {"head.weight": normal(logits, HIDDEN), "head.bias": normal(logits)}
    return {
        "head.dense.weight": normal(HIDDEN, HIDDEN),
        "head.dense.bias": normal(HIDDEN),
        "head.out.weight": normal(logits, HIDDEN),
        "head.out.bias": normal(logits),
    }


def embedding(w: Mapping[str, Floats], ids: list[int]) -> Exact:
    """Compute the vector of some tokens: the mean of their states, scaled to length 1."""
    mean: Exact = states(w, ids).mean(0)
    return mean / np.linalg.norm(mean)


def logits(w: Mapping[str, Floats], ids: list[int], types: list[int]) -> Exact:
    """Compute the logits of a pair from the state of its first token."""
    first = states(w, ids, types)[0]
    if "head.weight" in w:
        return np.asarray(first @ w["head.weight"].T + w["head.bias"])
    inner = np.tanh(first @ w["head.dense.weight"].T + w["head.dense.bias"])
    return np.asarray(inner @ w["head.out.weight"].T + w["head.out.bias"])


def states(w: Mapping[str, Floats], ids: list[int], types: list[int] | None = None) -> Exact:
    """Compute the last states of some tokens, step by step as the publication has it."""

    def linear(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def heads(x: Any) -> Any:
        return x.reshape(len(ids), HEADS, HIDDEN // HEADS).transpose(1, 0, 2)

    gelu = np.vectorize(lambda v: v * (1 + erf(v / sqrt(2))) / 2)
    x: Any = w["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    kinds = w["embeddings.token_type_embeddings.weight"][types or [0] * len(ids)]
    x = norm(x + kinds, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (heads(linear(x, f"{at}.attention.self.{p}")) for p in ("query", "key", "value"))
        weights = np.exp(q @ k.transpose(0, 2, 1) / sqrt(HIDDEN // HEADS))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), HIDDEN)
        change = linear(mixed, f"{at}.attention.output.dense")
        x = norm(x + change, f"{at}.attention.output.LayerNorm")
        change = linear(gelu(linear(x, f"{at}.intermediate.dense")), f"{at}.output.dense")
        x = norm(x + change, f"{at}.output.LayerNorm")
    return np.asarray(x)


def publish(
    folder: Path,
    *,
    recipe: Mapping[str, Any] | None = None,
    extra: Mapping[str, Floats] | None = None,
    **config: Any,
) -> str:
    """Write the files a model is published as and return the checksum of its weights."""
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    numbers = np.arange(POSITIONS, dtype="<i8").tobytes()
    table["embeddings.position_ids"] = {
        "dtype": "I64",
        "shape": [1, POSITIONS],
        "data_offsets": [0, len(numbers)],
    }
    for name, values in {**tensors(), **(extra or {})}.items():
        offsets = [len(numbers), len(numbers) + values.nbytes]
        table[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": offsets}
        numbers += values.astype("<f4").tobytes()
    head = json.dumps(table).encode()
    data = len(head).to_bytes(8, "little") + head + numbers
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(data)
    settings = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "hidden_size": HIDDEN,
        "max_position_embeddings": POSITIONS,
        "layer_norm_eps": EPSILON,
    }
    (folder / "config.json").write_text(json.dumps({**settings, **config}), "utf-8")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()), "utf-8")
    if recipe is not None:
        (folder / "recipe.json").write_text(json.dumps(recipe), "utf-8")
    return sha256(data).hexdigest()


def tokenizer() -> dict[str, Any]:
    """Return a WordPiece tokenizer of eleven words, saved with a length that is not the model's."""
    special = {
        name: {"id": name, "ids": [WORDS.index(name)], "tokens": [name]}
        for name in ("[CLS]", "[SEP]")
    }
    begin, end = ({"SpecialToken": {"id": name, "type_id": 0}} for name in special)
    text = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, text, end],
            "pair": [begin, text, end],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: number for number, word in enumerate(WORDS)},
        },
    }
