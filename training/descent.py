"""Going down a loss: AdamW, a warm-up, a linear way to zero; every model is trained like this."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Step = TypeVar("Step")
_EVERY = 10  # steps between the weights that are averaged
_TOLD = 100  # steps between two lines about how far it is


def descend(
    model: nn.Module,
    adam: torch.optim.Optimizer,
    steps: Sequence[Step],
    loss_of: Callable[[Step], Tensor],
    *,
    warm_up: float,
    average: float = 0.0,
) -> None:
    """Train in place; `average` is the share of the last steps whose weights are averaged."""
    warm = max(1, int(warm_up * len(steps)))
    pace = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda i: min((i + 1) / warm, max(0.0, (len(steps) - i) / max(1, len(steps) - warm)))
    )
    mean: dict[str, Any] = {}
    counted = 0
    model.train()
    began = time.perf_counter()
    for number, step in enumerate(steps):
        loss = loss_of(step)
        if number % _TOLD == 0:
            speed = number / max(1e-9, time.perf_counter() - began)
            told = f"step {number} of {len(steps)}, loss {loss.item():.3f}, {speed:.1f} a second"
            print(told, file=sys.stderr, flush=True)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        pace.step()
        if average and number >= (1 - average) * len(steps) and number % _EVERY == 0:
            counted += 1
            for name, value in model.state_dict().items():
                mean[name] = mean.get(name, torch.zeros_like(value)) + value
    if counted:
        model.load_state_dict({name: value / counted for name, value in mean.items()})
    model.eval()
