"""How training is judged while it runs: nDCG@10, and how far scores are probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def ndcg(scores: np.ndarray, gold: set[int], k: int = 10) -> float:
    """Return nDCG@k of one query; ties go to the earlier passage."""
    order = np.argsort(-scores, kind="stable")[:k]
    gains = sum(1 / np.log2(rank + 2) for rank, i in enumerate(order) if int(i) in gold)
    best = sum(1 / np.log2(rank + 2) for rank in range(min(k, len(gold))))
    return float(gains / best)


def by_source(found: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the mean of each data set, times 100, and the mean of the means."""
    means = {name: round(100 * float(np.mean(values)), 2) for name, values in sorted(found.items())}
    return {"ndcg": means, "mean": round(float(np.mean(list(means.values()))), 2)}


def calibration(examples: Any, logits: Mapping[int, np.ndarray]) -> dict[str, float]:
    """Fit p = sigmoid(a · logit + b), each data set weighing the same; return a, b and the ECE."""
    x, y, w = [], [], []
    weight: dict[str, int] = {}
    for query in logits:
        weight[examples.source(query)] = weight.get(examples.source(query), 0) + len(logits[query])
    for query, values in logits.items():
        first = examples.pool(query).start
        gold = {g - first for g in examples.gold(query)}
        x.append(values)
        y.append(np.array([float(i in gold) for i in range(len(values))]))
        w.append(np.full(len(values), 1 / weight[examples.source(query)]))
    flat, target, scale = (np.concatenate(part).astype(np.float64) for part in (x, y, w))
    a, b = platt(flat, target, scale)
    p = 1 / (1 + np.exp(-np.clip(a * flat + b, -60, 60)))
    bins = np.minimum((p * 10).astype(int), 9)
    error = (
        sum(abs(np.sum(scale[bins == i] * (p - target)[bins == i])) for i in range(10))
        / scale.sum()
    )
    return {"a": round(a, 4), "b": round(b, 4), "ece": round(float(error), 4)}


def platt(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, float]:
    """Fit a logistic curve with weights: Newton's method, halving a step that does not help."""
    w = w / w.sum()
    rows = np.stack([x, np.ones_like(x)])
    found = np.array([1.0, 0.0])

    def loss(ab: np.ndarray) -> float:
        z = ab @ rows
        return float(np.sum(w * (np.logaddexp(0, z) - y * z)))

    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(found @ rows, -60, 60)))
        gradient = rows @ (w * (p - y))
        hessian = (rows * (w * p * (1 - p))) @ rows.T + 1e-10 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-6 and loss(found - size * step) > loss(found):
            size /= 2
        found = found - size * step
        if np.abs(size * step).max() < 1e-7:
            break
    return float(found[0]), float(found[1])
