"""The aligner as a graph over several texts, and a judge and a verdict model on one trunk."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import MODEL, TOKENIZER, WEIGHTS, Bundle, ModelTask
from tools.export import aligner, trunk
from tools.export.graph import Precision

VOCABULARY, WIDE = 40, 384
Tensors = dict[str, npt.NDArray[np.float32]]


def encoder(layers: int) -> Tensors:
    chance = np.random.default_rng(0)

    def some(*shape: int) -> npt.NDArray[np.float32]:
        return (chance.standard_normal(shape) * 0.05).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": some(VOCABULARY, WIDE) * 20,
        "embeddings.position_embeddings.weight": some(512, WIDE),
        "embeddings.token_type_embeddings.weight": some(2, WIDE),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(layers):
        at = f"encoder.layer.{number}"
        sizes = {"attention.output.dense": (WIDE, WIDE), "intermediate.dense": (64, WIDE)}
        sizes |= {f"attention.self.{part}": (WIDE, WIDE) for part in ("query", "key", "value")}
        sizes["output.dense"] = (WIDE, 64)
        for name, size in sizes.items():
            found[f"{at}.{name}.weight"], found[f"{at}.{name}.bias"] = some(*size), some(size[0])
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    for name in norms:
        found[f"{name}.weight"], found[f"{name}.bias"] = np.ones(WIDE, np.float32), some(WIDE)
    return found


def saved(path: Path, tensors: Tensors) -> None:
    save: Any = np.savez
    save(path, **tensors)


def loaded(model: bytes | Path) -> Any:
    return importlib.import_module("onnxruntime").InferenceSession(model)


def aligning() -> Tensors:
    chance = np.random.default_rng(1)
    return encoder(2) | {
        "project.weight": chance.standard_normal((8, WIDE)).astype(np.float32),
        "whole.weight": np.eye(WIDE, dtype=np.float32),
        "weigh.weight": np.zeros((1, WIDE), np.float32),
        "weigh.bias": np.ones(1, np.float32),
        "steep": np.array([12, 10], np.float32),
        "offset": np.array([8, 9], np.float32),
        "share": np.zeros(1, np.float32),
        "scale": np.array([6], np.float32),
        "mix": np.array([0, -20], np.float32),
        "rarity": np.arange(VOCABULARY, dtype=np.float32),
        "rarity_share": np.array([0.5], np.float32),
    }


@pytest.mark.parametrize("precision", Precision)
def test_a_text_is_aligned_alike_alone_and_beside_a_longer_one(precision: Precision) -> None:
    model = aligner.write_graph(aligning(), precision, "test")
    session = loaded(model.SerializeToString())
    short, long = [1, 5, 7, 2], [1, 9, 8, 7, 6, 5, 2]
    both = np.zeros((2, len(long)), np.int64)
    both[0, : len(short)], both[1] = short, long
    mask = (both > 0).astype(np.int64)
    words, weights, gist = session.run(None, {"input_ids": both, "attention_mask": mask})
    one = np.array([short])
    alone = session.run(None, {"input_ids": one, "attention_mask": np.ones_like(one)})
    assert words.shape == (2, 7, 8)
    np.testing.assert_allclose(words[:1, :4], alone[0], atol=1e-4)
    np.testing.assert_allclose(gist[:1], alone[2], atol=1e-5)
    np.testing.assert_allclose(weights[0, :4], 1 + 0.5 * np.array(short), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(gist, axis=1), 1, atol=1e-5)


def test_the_manifest_of_an_aligner_has_its_prices(tmp_path: Path) -> None:
    saved(tmp_path / "weights.npz", aligning())
    aligner.main([str(tmp_path / "weights.npz"), "--output", str(tmp_path / "out")])
    prices = Bundle.open(tmp_path / "out", ModelTask.ALIGN).manifest.aligning
    assert prices is not None
    assert (prices.word_steep, prices.gist_offset, prices.gist_share) == (12, 9, 0.5)


def test_a_judge_and_a_verdict_share_a_trunk_and_another_trunk_is_refused(tmp_path: Path) -> None:
    judge = encoder(7) | {"head.weight": np.ones((1, WIDE), np.float32)}
    verdict = encoder(7) | {"head.weight": np.ones((3, WIDE), np.float32)}
    saved(tmp_path / "judge.npz", judge)
    saved(tmp_path / "same.npz", verdict)
    verdict["encoder.layer.5.output.dense.bias"] += 1
    saved(tmp_path / "other.npz", verdict)
    recipe = {"version": 1, "judging": {"slope": 1.0}, "deciding": {"threshold": 0.5}}
    rest = (WEIGHTS / TOKENIZER, tmp_path / "out", recipe, Precision.INT8)
    trunk.export(tmp_path / "judge.npz", tmp_path / "same.npz", *rest)
    runs = {
        name: loaded(tmp_path / "out" / name / "model.onnx")
        for name in ("trunk", "judge", "verdict")
    }
    ids = np.array([1, 5, 7, 2])
    states = runs["trunk"].run(None, {"ids": ids, "types": np.zeros_like(ids)})[0]
    assert runs["judge"].run(None, {"states": states})[0].shape == (1,)
    assert runs["verdict"].run(None, {"states": states})[0].shape == (3,)
    with pytest.raises(InputError, match=r"differ in 'encoder\.layer\.5\.output\.dense\.bias'"):
        trunk.export(tmp_path / "judge.npz", tmp_path / "other.npz", *rest)
    made = Bundle.open(tmp_path / "out" / "judge", ModelTask.JUDGE)
    assert made.trunk is not None
    (tmp_path / "out" / "trunk" / MODEL).write_bytes(b"another")
    with pytest.raises(ResourceMissing, match="damaged"):
        made.trunk.read(MODEL)
