"""Train the static embedder: a vector for each token, so that sums say what the embedder says.

    python training/static.py --texts build/training/texts.npz --examples \
        build/training/examples.npz --output build/static [--recipe '{"dimensions": 128}']

It starts from the embedder's vector of each token alone, in the directions in which sentences
differ most, a frequent token weighing less (a / (a + p)). Then sums of tokens are pulled towards
its vector of the text, and their cosines towards its cosines; what comes out is a mean of the start
and the end. A recipe with `marked` also pulls a query towards the passages marked for it. It takes
half a minute of one core; the same recipe gives the same vectors on the same machine.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from descent import descend
from embedder import SHARP, hide_other_gold
from judge import drawn, listed
from metrics import by_source, ndcg
from torch import Tensor, nn
from torch.nn import functional as F

from examples import Examples

ELSEWHERE = "scifact"  # where abstracts that belong to no case come from
_WIDE = 32  # passages a judge looks at


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what comes out, besides the data."""

    name: str = "static"
    dimensions: int = 192
    special: int = 999  # tokens before this are padding, marks and unused ones, and count nothing
    rare: float = 1e-3  # a of the start's weights
    epochs: int = 4
    rate: float = 3e-3
    warm_up: float = 0.05
    texts: int = 512  # a step
    cosines: float = 4.0  # weight of their squared error
    keep: float = 0.3  # share of the start in what comes out
    marked: float = 0.0  # weight of the marked passages; 0: nothing of the data sets' labels
    queries: int = 64
    candidates: int = 8
    hard: int = 5
    elsewhere: int = 0
    binary: float = 0.0
    repeats: Mapping[str, int] = field(default_factory=lambda: {"scifact": 2, "qasper": 3})
    without: tuple[str, ...] = ()  # data sets left out, texts included
    only_most: Mapping[str, int] = field(default_factory=dict)
    most_each: int | None = None
    train_dev: bool = False
    seed: int = 0
    fold: int = 0


class Static(nn.Module):
    """A table of token vectors."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors)

    def forward(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Return a row of length 1 for each list of token ids."""
        flat = torch.from_numpy(np.concatenate([*texts, [0]]).astype(np.int64))[:-1]
        begins = torch.tensor(np.cumsum([0, *map(len, texts)])[:-1])
        return F.normalize(F.embedding_bag(flat, self.vectors, begins, mode="sum"), dim=-1)


class Texts:
    """What `static_texts.py` wrote."""

    def __init__(self, path: Path, names: Sequence[str], without: Sequence[str]) -> None:
        file = np.load(path)
        self._flat, self._at = file["texts_flat"], file["texts_at"]
        self.tokens = torch.from_numpy(file["tokens"])
        self.targets = torch.from_numpy(file["targets"]).float()
        left_out = {i for i, name in enumerate([*names, ELSEWHERE]) if name in without}
        sources = file["sources"]
        self.kept = [i for i in range(len(sources)) if int(sources[i]) not in left_out]

    def ids(self, text: int) -> np.ndarray:
        """Return the tokens of a text."""
        return self._flat[self._at[text] : self._at[text + 1]]

    def frequencies(self) -> Tensor:
        """Return how probable each token is; one that never occurs is as rare as one seen once."""
        counts = np.bincount(self._flat, minlength=len(self.tokens)).astype(np.float32)
        return torch.from_numpy(np.maximum(counts, 1) / counts.sum())


def start(texts: Texts, recipe: Recipe) -> tuple[Static, Tensor]:
    """Return the table to start from and the targets, both in the same few dimensions."""
    some = texts.targets[texts.kept]
    _, vectors = torch.linalg.eigh((some.T @ some).double())
    directions = vectors.flip(1)[:, : recipe.dimensions].float()
    # eigenvectors are known but for their sign
    directions *= torch.sign(
        directions[directions.abs().argmax(0), torch.arange(recipe.dimensions)]
    )
    weights = recipe.rare / (recipe.rare + texts.frequencies())
    table = texts.tokens @ directions * weights[:, None]
    table[: recipe.special] = 0.0
    return Static(table), F.normalize(texts.targets @ directions, dim=-1)


def fit(model: Static, texts: Texts, targets: Tensor, examples: Examples, recipe: Recipe) -> None:
    """Train in place."""
    chance = random.Random(recipe.seed)
    steps: list[list[int]] = []
    for _ in range(recipe.epochs):
        order = chance.sample(texts.kept, len(texts.kept))
        steps += [order[i : i + recipe.texts] for i in range(0, len(order), recipe.texts)]
    asked: list[int] = []
    epoch = 0
    while recipe.marked and len(asked) < len(steps) * recipe.queries:
        asked += [q for q in listed(examples, recipe, epoch) if examples.gold(q)]
        epoch += 1
    turn = iter([asked[i : i + recipe.queries] for i in range(0, len(asked), recipe.queries)])

    def loss(step: Sequence[int]) -> Tensor:
        made, wanted = model([texts.ids(i) for i in step]), targets[step]
        total = 1 - (made * wanted).sum(-1).mean()
        if recipe.cosines:
            total = total + recipe.cosines * F.mse_loss(made @ made.T, wanted @ wanted.T)
        if recipe.marked:
            total = total + recipe.marked * told_apart(model, examples, next(turn), recipe, chance)
        return total

    begun = model.vectors.detach().clone()
    adam = torch.optim.Adam(model.parameters(), lr=recipe.rate)
    descend(model, adam, steps, loss, warm_up=recipe.warm_up)
    with torch.no_grad():
        model.vectors.mul_(1 - recipe.keep).add_(recipe.keep * begun)


def told_apart(
    model: Static,
    examples: Examples,
    queries: Sequence[int],
    recipe: Recipe,
    chance: random.Random,
) -> Tensor:
    """Return how hard it is to find each query's marked passage among all of the step."""
    rows = [drawn(examples, query, recipe, {}, chance)[0] for query in queries]
    asked = model([examples.query(q) for q in queries])
    near = SHARP * asked @ model([examples.passage(p) for row in rows for p in row]).T
    near = hide_other_gold(near, examples, queries, rows)
    return F.cross_entropy(near, torch.arange(len(rows)) * len(rows[0]))


@torch.no_grad()
def evaluate(model: Static, examples: Examples) -> dict[str, Any]:
    """Return nDCG@10 by data set on the documents held out, and how much evidence is near."""
    found: dict[str, list[float]] = {}
    near_enough: dict[str, list[float]] = {}
    read, shown = -1, torch.zeros(0)
    for query in range(len(examples)):
        if not examples.is_dev(query) or not examples.gold(query):
            continue
        pool = examples.pool(query)
        if examples.document(query) != read:
            read, shown = examples.document(query), model([examples.passage(p) for p in pool])
        near = (shown @ model([examples.query(query)])[0]).numpy()
        gold = {g - pool.start for g in examples.gold(query)}
        found.setdefault(examples.source(query), []).append(ndcg(near, gold))
        if len(pool) > _WIDE:
            first = set(np.argsort(-near, kind="stable")[:_WIDE].tolist())
            near_enough.setdefault(examples.source(query), []).append(len(gold & first) / len(gold))
    recall = {s: round(100 * float(np.mean(v)), 2) for s, v in sorted(near_enough.items())}
    return {**by_source(found), f"recall@{_WIDE}": recall}


def save(model: Static, folder: Path, tokenizer: Path) -> None:
    """Write a folder that `tools.export` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors = model.vectors.detach().numpy().astype(np.float32)
    np.savez(folder / "model.npz", vectors=vectors)
    shutil.copy(tokenizer, folder / "tokenizer.json")
    recipe = {"name": "abstrag-static", "task": "static", "max_tokens": 0, "licence": "Apache-2.0"}
    (folder / "recipe.json").write_text(json.dumps(recipe) + "\n", "utf-8")


def main() -> None:
    """Train one recipe, print before and after, save the vectors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path, help="examples of the report part, to measure with")
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    recipe = Recipe(**json.loads(given.recipe))
    examples = Examples(given.examples, recipe.fold)
    texts = Texts(given.texts, examples.names, recipe.without)
    began = time.perf_counter()
    torch.manual_seed(recipe.seed)
    torch.set_num_threads(1)
    model, targets = start(texts, recipe)
    before = evaluate(model, examples)
    fit(model, texts, targets, examples, recipe)
    after = evaluate(model, examples)
    seconds = round(time.perf_counter() - began, 1)
    told = {"recipe": asdict(recipe), "before": before, **after, "seconds": seconds}
    if given.report:
        told["report"] = evaluate(model, Examples(given.report, None))
    print(json.dumps(told), flush=True)
    if given.output:
        save(model, given.output, given.tokenizer)


if __name__ == "__main__":
    main()
