"""Weights on disk: an .npz of tensors under their published names, the head as `head.*`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from bert import MINILM, Scorer, Shape, exported, layers_in, load
from torch import Tensor, nn


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file."""
    return {name: torch.from_numpy(value) for name, value in np.load(path).items()}


def load_head(model: Scorer, weights: Mapping[str, Tensor]) -> None:
    """Fill the head of a judge."""
    names = model.head.state_dict()
    model.head.load_state_dict({name: weights[f"head.{name}"].float() for name in names})


def has_tanh(weights: Mapping[str, Tensor]) -> bool:
    """Tell whether a head has a layer of its own, as published rerankers do."""
    return "head.dense.weight" in weights


def judge_of(weights: Mapping[str, Tensor], device: torch.device, shape: Shape = MINILM) -> Scorer:
    """Return a trained judge, ready to be asked, with as many layers as the weights have."""
    shape = replace(shape, layers=layers_in(weights))
    model = Scorer(shape, dropout=0.0, tanh=has_tanh(weights))
    load(model.bert, weights)
    load_head(model, weights)
    return model.to(device).eval()


def save(model: nn.Module, folder: Path) -> None:
    """Write `weights.npz`, in half precision, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    half = {k: v.to(torch.float16).numpy() for k, v in exported(model).items()}
    np.savez(folder / "weights.npz", **half)
