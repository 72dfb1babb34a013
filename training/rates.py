"""Which weights learn how fast: frozen and slower layers, and changes of low rank."""

from __future__ import annotations

from typing import Any

import torch
from bert import Bert, Layer
from torch import Tensor, nn
from torch.nn.utils import parametrize

_FEW = 12  # numbers of a parameter that count as single ones: one for each layer


class LowRank(nn.Module):
    """A matrix that changes by a product of two thin ones, which is zero at first."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        self.down = nn.Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.up = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the changed matrix."""
        return weight + self.up @ self.down


def thin(bert: Bert, rank: int) -> None:
    """Freeze an encoder but for low-rank changes of the matrices of its layers."""
    bert.requires_grad_(requires_grad=False)
    for layer in bert.layers:
        for part in layer.children():
            if isinstance(part, nn.Linear):
                change = LowRank(part.weight, rank).to(part.weight.device)
                parametrize.register_parametrization(part, "weight", change)


def thick(bert: Bert) -> None:
    """Make the low-rank changes part of the matrices, and forget how they came about."""
    for layer in bert.layers:
        for part in layer.children():
            if parametrize.is_parametrized(part):
                parametrize.remove_parametrizations(part, "weight", leave_parametrized=True)
    bert.requires_grad_(requires_grad=True)


def freeze(bert: Bert, layers: int) -> None:
    """Freeze the embeddings and so many of the lowest layers."""
    for part in (bert.words, bert.places, bert.kinds, bert.normed, *bert.layers[:layers]):
        part.requires_grad_(requires_grad=False)


def groups(
    model: nn.Module,
    bert: Bert | None,
    rate: float,
    decay: float,
    by_layer: float = 1.0,
    new: float = 1.0,
    single: float | None = None,
) -> list[dict[str, Any]]:
    """Return a model's parameters as an optimizer takes them.

    Each layer learns at `by_layer` times the rate of the one above it, the embeddings slowest;
    what is not part of the encoder learns `new` times as fast as its last layer, and of that single
    numbers `single` times where it is said. Without an encoder of ours all learn alike.
    """
    layers: list[Layer] = list(bert.layers) if bert else []
    factor: dict[int, float] = {}
    for number, layer in enumerate(layers):
        for one in layer.parameters():
            factor[id(one)] = by_layer ** (len(layers) - 1 - number)
    for one in bert.parameters() if bert else ():
        factor.setdefault(id(one), by_layer ** len(layers))
    found: dict[tuple[float, float], list[nn.Parameter]] = {}
    for one in model.parameters():
        if one.requires_grad:
            fresh = single if single is not None and one.numel() <= _FEW else new
            key = factor.get(id(one), fresh), decay if one.ndim >= 2 else 0.0
            found.setdefault(key, []).append(one)
    return [
        {"params": some, "lr": rate * times, "weight_decay": drop}
        for (times, drop), some in found.items()
    ]
