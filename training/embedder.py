"""Train the embedder: a bi-encoder that learns from the marked passages and, if wanted, the judge.

    python training/embedder.py --examples build/training/examples.npz --start start.npz \
        --output build/training/embedder --recipe '{"teach": 0}'

A query's marked passage has to be nearer than every other passage of the step, those of its own
document and those of other queries. Besides, with `teach` and --judge, the nearness of a query's
own candidates is pulled towards what the judge thinks of them. What is measured is the fold held
out or, where a recipe leaves data sets out, every document of these.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from bert import Encoder, load
from descent import descend
from judge import drawn, listed, ranked
from metrics import by_source, ndcg
from torch import Tensor, nn
from torch.nn import functional as F
from weights import judge_of, read_weights, save

from examples import CLS, SEP, Examples, View, applied

SHARP = 20.0  # cosines are multiplied with this before a softmax


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what comes out, besides the data."""

    name: str = "embedder"
    epochs: int = 3
    rate: float = 3e-5
    warm_up: float = 0.1
    queries: int = 32
    candidates: int = 12
    hard: int = 7
    elsewhere: int = 0
    teach: float = 1.0  # weight of the judge's opinion; 0: no judge is needed
    binary: float = 0.0
    dropout: float = 0.0
    repeats: Mapping[str, int] = field(default_factory=lambda: {"scifact": 2, "qasper": 3})
    without: tuple[str, ...] = ()  # data sets left out, and measured with
    only_most: Mapping[str, int] = field(default_factory=dict)
    most_each: int | None = None
    train_dev: bool = False
    seed: int = 0
    fold: int = 0
    most: int = 256  # tokens of a passage


def embed(
    model: nn.Module, texts: Sequence[Sequence[int]], most: int, device: torch.device, tokens: int
) -> Tensor:
    """Return a row for each list of token ids."""
    framed = [([CLS, *text[: most - 2], SEP], most) for text in texts]
    return applied(model, framed, device, tokens)


def fit(
    model: nn.Module,
    examples: Examples,
    recipe: Recipe,
    opinions: Mapping[int, np.ndarray],
    device: torch.device,
) -> None:
    """Train in place."""
    steps = []
    for epoch in range(recipe.epochs):
        order = [q for q in listed(examples, recipe, epoch) if examples.gold(q)]
        steps += [order[i : i + recipe.queries] for i in range(0, len(order), recipe.queries)]
    adam = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=0.01)
    chance = random.Random(recipe.seed)

    def loss(queries: Sequence[int]) -> Tensor:
        rows = [drawn(examples, query, recipe, {}, chance)[0] for query in queries]
        asked = [examples.query(q) for q in queries]
        shown = [examples.passage(p) for row in rows for p in row]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            vectors = embed(model, [*asked, *shown], recipe.most, device, 1 << 14).float()
        near = SHARP * vectors[: len(asked)] @ vectors[len(asked) :].T
        wide = len(rows[0])
        first = torch.arange(len(rows), device=device) * wide
        near = hide_other_gold(near, examples, queries, rows)
        total = F.cross_entropy(near, first)
        if recipe.teach:
            own = torch.stack([near[i, i * wide : (i + 1) * wide] for i in range(len(rows))])
            thought = torch.tensor(
                np.stack(
                    [_opinion(examples, opinions, q, r) for q, r in zip(queries, rows, strict=True)]
                ),
                device=device,
            )
            total = total + recipe.teach * F.kl_div(
                F.log_softmax(own, -1), F.softmax(thought, -1), reduction="batchmean"
            )
        return total

    descend(model, adam, steps, loss, warm_up=recipe.warm_up)


def hide_other_gold(
    near: Tensor, examples: Examples, queries: Sequence[int], rows: Sequence[Sequence[int]]
) -> Tensor:
    """Take out, for each query, candidates that are marked for it but are not the one to find."""
    flat = [p for row in rows for p in row]
    hidden = torch.zeros_like(near, dtype=torch.bool)
    wide = len(rows[0])
    for i, query in enumerate(queries):
        gold = set(examples.gold(query))
        hidden[i] = torch.tensor([p in gold for p in flat], device=near.device)
        hidden[i, i * wide] = False
    return near.masked_fill(hidden, -1e4)


def _opinion(
    examples: Examples, opinions: Mapping[int, np.ndarray], query: int, row: Sequence[int]
) -> np.ndarray:
    """Return what the judge thinks of some passages; of those elsewhere, that they are none."""
    pool, said = examples.pool(query), opinions[query]
    floor = float(said.min())
    return np.array([said[p - pool.start] if p in pool else floor for p in row], np.float32)


@torch.no_grad()
def evaluate(
    model: nn.Module, examples: Examples, queries: Sequence[int], most: int, device: torch.device
) -> dict[str, object]:
    """Return nDCG@10 by data set over some queries."""
    dev = [q for q in queries if examples.gold(q)]
    passages = sorted({p for q in dev for p in examples.pool(q)})
    place = {p: i for i, p in enumerate(passages)}
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        shown = embed(model, [examples.passage(p) for p in passages], most, device, 1 << 16)
        asked = embed(model, [examples.query(q) for q in dev], most, device, 1 << 16)
    found: dict[str, list[float]] = {}
    for query, vector in zip(dev, asked.float(), strict=True):
        pool = examples.pool(query)
        near = (
            (shown[place[pool.start] : place[pool.start] + len(pool)].float() @ vector)
            .cpu()
            .numpy()
        )
        gold = {g - pool.start for g in examples.gold(query)}
        found.setdefault(examples.source(query), []).append(ndcg(near, gold))
    return by_source(found)


def main() -> None:
    """Train one recipe, print before and after, save the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--judge", type=Path, help="its weights, where the recipe has it teach")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path, help="examples of the report part, to measure with")
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(**json.loads(given.recipe))
    if recipe.teach and not given.judge:
        parser.error("a judge that teaches is needed: --judge, or teach 0 in the recipe")
    examples = Examples(given.examples, recipe.fold)
    began = time.perf_counter()
    opinions: dict[int, np.ndarray] = {}
    if recipe.teach:
        teacher = judge_of(read_weights(given.judge), device)
        queries = sorted({q for e in range(recipe.epochs) for q in listed(examples, recipe, e)})
        said = ranked(teacher, examples, queries, View(), device)
        opinions = dict(zip(queries, said, strict=True))
    torch.manual_seed(recipe.seed)
    model = Encoder(dropout=recipe.dropout)
    load(model.bert, read_weights(given.start))
    model.to(device).eval()
    held = examples.held(recipe.without)
    before = evaluate(model, examples, held, recipe.most, device)
    fit(model, examples, recipe, opinions, device)
    after = evaluate(model, examples, held, recipe.most, device)
    seconds = round(time.perf_counter() - began, 1)
    told = {"recipe": asdict(recipe), "before": before, **after, "seconds": seconds}
    if given.report:
        report = Examples(given.report, None)
        asked = report.held(recipe.without)
        told["report"] = evaluate(model, report, asked, recipe.most, device)
    print(json.dumps(told), flush=True)
    if given.output:
        save(model, given.output)


if __name__ == "__main__":
    main()
