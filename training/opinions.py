"""What teachers think of queries that a machine wrote, and which of these deserve a lesson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from examples import Examples, read_logits

Opinions = Mapping[int, np.ndarray]  # logits over the whole document of a query
TRUSTED = 3  # the passage a query was written from has to be among the teachers' first three


def read_opinions(paths: Sequence[Path], made: Path, before: int) -> Opinions:
    """Return the teachers' mean opinion; a query's number goes on after the `before` others."""
    examples = Examples(made, None)
    said = [read_logits([path], examples) for path in paths]
    return {before + query: logits for query, logits in together(said).items()}


def together(teachers: Sequence[Opinions]) -> dict[int, np.ndarray]:
    """Return the mean of several opinions, each as wide spread as the first."""
    centred = [{q: logits - logits.mean() for q, logits in one.items()} for one in teachers]
    spread = [np.sqrt(np.mean(np.concatenate(list(one.values())) ** 2)) for one in centred]
    return {
        query: np.mean(
            [one[query] * spread[0] / own for one, own in zip(centred, spread, strict=True)], axis=0
        )
        for query in centred[0]
    }


def doubted(examples: Examples, opinions: Opinions, trusted: int = TRUSTED) -> frozenset[int]:
    """Return the queries whose marked passages all come later than the teachers trust."""
    found = []
    for query, logits in opinions.items():
        first = examples.pool(query).start
        best = max(logits[passage - first] for passage in examples.gold(query))
        if np.sum(logits > best) >= trusted:
            found.append(query)
    return frozenset(found)
