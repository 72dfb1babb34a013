"""The aligner: every content word of a query is met by the word of a passage that suits it best.

    python training/aligner.py --examples build/training/examples.npz --start start.npz \
        --output build/training/aligner [--recipe '{"dimensions": 128}'] [--teacher judge.npz]

A text is read by itself. Each of its content words has a vector: the mean of the states of its
pieces, projected and scaled to length 1. How well a query's word is met is the highest cosine c
with a word of the passage, and has a price: log(1 + exp(offset − steep · c)). A passage's score is
minus the mean of these prices, weighted by a learned weight of each query word, and of one price
more for the whole: the gist, from the first tokens. Learns like the judge, from lists of one marked
passage against others, and from a teacher that reads pairs if one is given.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from bert import MINILM, Bert, Shape, layers_in, load
from descent import descend
from judge import agreement, drawn, listed, scores
from metrics import by_source, ndcg
from rates import freeze, groups
from torch import Tensor, nn
from torch.nn import functional as F
from weights import judge_of, read_weights, save
from words import CONTENT, STARTS

from examples import CLS, SEP, Examples, View

MARKERS = (1, 2)  # unused tokens that stand before a query or a passage where a start knows them


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what comes out, besides the data."""

    name: str = "aligner"
    epochs: int = 2
    rate: float = 1e-4
    warm_up: float = 0.1
    queries: int = 24
    candidates: int = 16
    hard: int = 10
    elsewhere: int = 2
    binary: float = 0.0
    dropout: float = 0.0
    decay: float = 0.01
    new: float = 10.0  # how much faster the parts learn that the start does not have
    scalars: float = 10.0  # the same for single numbers: steepness, offset, shares
    apart: float = 0.0  # weight of: no word is met by another document that does not have it
    layers: tuple[int, ...] | None = None
    frozen: int | None = None
    by_layer: float = 1.0
    dimensions: int = 128  # of a word
    gist: int = 128  # dimensions of the whole; 0: there is no such term
    prices: bool = True  # else plain cosines are added up
    content: bool = True  # else every word counts
    pooled: bool = True  # else every piece is a word
    markers: bool = False
    teach: float = 0.0  # weight of a teacher's opinion of the passages shown
    softness: float = 1.5
    repeats: Mapping[str, int] = field(default_factory=lambda: {"scifact": 2, "qasper": 3})
    without: tuple[str, ...] = ()
    only_most: Mapping[str, int] = field(default_factory=dict)
    most_each: int | None = None
    train_dev: bool = False
    average: float = 0.4
    seed: int = 0
    fold: int = 0
    most: int = 256  # tokens of a passage


@dataclass(frozen=True)
class Read:
    """Texts as the aligner has read them: vectors of words, which are there, and of the whole."""

    words: Tensor  # texts, words, dimensions
    there: Tensor  # texts, words
    whole: Tensor  # texts, dimensions
    weights: Tensor  # texts, words
    keys: Tensor  # texts, words: equal for words of the same pieces


def keys_of(ids: Sequence[int], numbers: Sequence[int], most: int) -> list[int]:
    """Return a number for each word, the same for the same pieces, and 0 where there is none."""
    pieces: dict[int, list[int]] = {}
    for token, number in zip(ids, numbers, strict=True):
        if number >= 0:
            pieces.setdefault(number, []).append(token)
    return [hash(tuple(pieces[i])) if i in pieces else 0 for i in range(most)]


def places(marks: np.ndarray, recipe: Recipe) -> list[int]:
    """Return the number of the word each token belongs to, −1 where it counts for nothing."""
    starts = (marks & STARTS).astype(bool) if recipe.pooled else np.ones(len(marks), bool)
    kept = (marks & CONTENT).astype(bool) if recipe.content else np.ones(len(marks), bool)
    if not kept.any():
        kept[:] = True
    numbers = np.cumsum(starts & kept) - 1
    return np.where(kept, np.maximum(numbers, 0), -1).tolist()


class Aligner(nn.Module):
    """An encoder with a projection of words, a weight of query words, and the price of a cosine."""

    def __init__(self, shape: Shape, recipe: Recipe, bert: Bert | None = None) -> None:
        super().__init__()
        self.recipe = recipe
        self.depth: int | None = None  # layers that are used, of an encoder shared with a judge
        self.bert = bert or Bert(shape, recipe.dropout)
        self.project = nn.Linear(shape.hidden, recipe.dimensions, bias=False)
        nn.init.orthogonal_(self.project.weight)
        self.whole = nn.Linear(shape.hidden, max(recipe.gist, 1), bias=False)
        if recipe.gist == shape.hidden:
            nn.init.eye_(self.whole.weight)
        else:
            nn.init.orthogonal_(self.whole.weight)
        self.weigh = nn.Linear(shape.hidden, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.ones_(self.weigh.bias)
        self.steep = nn.Parameter(torch.tensor([12.0, 12.0]))  # of a word, of the whole
        self.offset = nn.Parameter(torch.tensor([8.0, 8.0]))
        self.share = nn.Parameter(torch.tensor([-1.0]))  # of the whole, before a logistic curve
        self.scale = nn.Parameter(torch.tensor([8.0]))

    def forward(self, ids: Tensor, mask: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean state of every word, and the state of the first token."""
        states = self.bert(ids, torch.zeros_like(ids), mask, self.depth).float()
        count = int(numbers.max()) + 1
        into = torch.where(numbers < 0, count, numbers)
        sums = states.new_zeros(len(ids), count + 1, states.shape[-1])
        sums = sums.scatter_add(1, into[..., None].expand_as(states), states)
        sizes = states.new_zeros(len(ids), count + 1).scatter_add(
            1, into, torch.ones_like(into, dtype=states.dtype)
        )
        return sums[:, :count] / sizes[:, :count, None].clamp(min=1), states[:, 0]

    def read(
        self,
        texts: Sequence[tuple[np.ndarray, np.ndarray]],
        device: torch.device,
        tokens: int,
        *,
        asked: bool,
    ) -> Read:
        """Return texts, given as ids and marks, as vectors; only what is asked has weights."""
        recipe = self.recipe
        front = [CLS, MARKERS[0 if asked else 1]] if recipe.markers else [CLS]
        framed = []
        for ids, marks in texts:
            room = recipe.most - len(front) - 1
            numbers = places(marks[:room], recipe)
            framed.append(([*front, *ids[:room].tolist(), SEP], [*[-1] * len(front), *numbers, -1]))
        order = sorted(range(len(framed)), key=lambda i: -len(framed[i][0]))
        states, firsts, sizes = [], [], [max(numbers) + 1 for _, numbers in framed]
        most, start = max(sizes), 0
        while start < len(order):
            long = len(framed[order[start]][0])
            long += -long % 8
            rows = order[start : start + max(1, tokens // long)]
            ids = np.zeros((len(rows), long), np.int64)
            into = np.full((len(rows), long), -1, np.int64)
            mask = np.zeros((len(rows), long), bool)
            for row, place in enumerate(rows):
                given, numbers = framed[place]
                ids[row, : len(given)] = given
                into[row, : len(given)] = numbers
                mask[row, : len(given)] = True
            made, first = self(*(torch.from_numpy(x).to(device) for x in (ids, mask, into)))
            states.append(F.pad(made, (0, 0, 0, most - made.shape[1])))
            firsts.append(first)
            start += len(rows)
        back = torch.tensor(np.argsort(order), device=device)
        words, whole = torch.cat(states)[back], torch.cat(firsts)[back]
        there = torch.arange(most, device=device) < torch.tensor(sizes, device=device)[:, None]
        weights = F.softplus(self.weigh(words)[..., 0]) * there if asked else there.float()
        return Read(
            F.normalize(self.project(words), dim=-1),
            there,
            F.normalize(self.whole(whole), dim=-1),
            weights / weights.sum(-1, keepdim=True),
            torch.tensor([keys_of(*one, most) for one in framed], device=device),
        )

    def score(self, best: Tensor, whole: Tensor, weights: Tensor) -> Tensor:
        """Return the score of passages from the best cosine of each query word and of the whole.

        `best` is (…, passages, words), `whole` (…, passages), `weights` (…, words).
        """
        if self.recipe.prices:
            best = -F.softplus(self.offset[0] - self.steep[0] * best)
            whole = -F.softplus(self.offset[1] - self.steep[1] * whole)
        else:
            best, whole = self.steep[0] * best, self.steep[1] * whole
        share = torch.sigmoid(self.share) if self.recipe.gist else torch.zeros_like(self.share)
        met = (best * weights[..., None, :]).sum(-1)
        return self.scale * ((1 - share) * met + share * whole)

    def strayed(self, best: Tensor, same: Tensor, foreign: Tensor) -> Tensor:
        """Return how far words are met that should not be, and not met that should.

        P = exp(−price) is how probably a word is met. It should be low in passages of other
        documents that do not have the word (`foreign` and not `same`), and high in the marked
        passage, the first, where it has the very word. All are (queries, passages, words).
        """
        raised = self.steep[0] * best - self.offset[0]
        away = F.softplus(raised)[foreign & ~same]
        here = F.softplus(-raised)[:, 0][same[:, 0]]
        return sum((one.mean() for one in (away, here) if len(one)), raised.new_zeros(()))


def texts_of(
    examples: Examples, queries: Sequence[int], passages: Sequence[int]
) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[tuple[np.ndarray, np.ndarray]]]:
    """Return ids and marks of queries and of passages."""
    return (
        [(examples.query(q), examples.query_words(q)) for q in queries],
        [(examples.passage(p), examples.passage_words(p)) for p in passages],
    )


def list_scores(
    model: Aligner,
    examples: Examples,
    rows: Sequence[tuple[int, Sequence[int]]],
    device: torch.device,
) -> tuple[Tensor, Tensor]:
    """Return the scores of lists of passages of one length, and how far words strayed in them."""
    flat = [p for _, passages in rows for p in passages]
    asked, shown = texts_of(examples, [q for q, _ in rows], flat)
    query = model.read(asked, device, 1 << 15, asked=True)
    other = model.read(shown, device, 1 << 15, asked=False)
    words = other.words.view(len(rows), -1, *other.words.shape[1:])
    near = torch.einsum("qid,qcjd->qcij", query.words, words)
    there = other.there.view(len(rows), -1, 1, other.there.shape[-1])
    best = near.masked_fill(~there, -1.0).amax(-1)
    whole = torch.einsum("qd,qcd->qc", query.whole, other.whole.view(len(rows), words.shape[1], -1))
    found = model.score(best, whole, query.weights)
    if not model.recipe.apart:
        return found, found.new_zeros(())
    keys = other.keys.view(len(rows), -1, 1, other.keys.shape[-1])
    real = query.there[:, None, :]
    same = (query.keys[:, None, :, None] == keys).any(-1) & real
    away = [[p not in examples.pool(q) for p in passages] for q, passages in rows]
    foreign = torch.tensor(away, device=device)[..., None] & real
    return found, model.strayed(best, same, foreign)


def start_model(recipe: Recipe, start: Mapping[str, Tensor], shape: Shape = MINILM) -> Aligner:
    """Return an aligner that has learned nothing yet."""
    count = len(recipe.layers) if recipe.layers else layers_in(start)
    torch.manual_seed(0)  # all runs begin with one projection, so that their mean makes sense
    model = Aligner(replace(shape, layers=count), recipe)
    load(model.bert, start, recipe.layers)
    for name, value in model.state_dict().items():
        if not name.startswith("bert.") and name in start:
            value.copy_(start[name].float())
    return model


def fit(
    model: Aligner,
    examples: Examples,
    recipe: Recipe,
    device: torch.device,
    teacher: nn.Module | None = None,
) -> None:
    """Train in place."""
    torch.manual_seed(recipe.seed)
    if recipe.frozen is not None:
        freeze(model.bert, recipe.frozen)
    steps = []
    for epoch in range(recipe.epochs):
        order = [q for q in listed(examples, recipe, epoch) if examples.gold(q)]
        steps += [order[i : i + recipe.queries] for i in range(0, len(order), recipe.queries)]
    adam = torch.optim.AdamW(
        groups(
            model,
            model.bert,
            recipe.rate,
            recipe.decay,
            recipe.by_layer,
            recipe.new,
            recipe.scalars,
        ),
        lr=recipe.rate,
        fused=device.type == "cuda",
    )
    chance = random.Random(recipe.seed)

    def loss(queries: Sequence[int]) -> Tensor:
        rows = [(q, drawn(examples, q, recipe, {}, chance)[0]) for q in queries]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            found, strayed = list_scores(model, examples, rows, device)
            found = found.float()
            total = F.cross_entropy(found, torch.zeros(len(rows), dtype=torch.long, device=device))
            total = total + recipe.apart * strayed
            if teacher is None or not recipe.teach:
                return total
            pairs = [(q, p) for q, passages in rows for p in passages]
            with torch.no_grad():
                said = scores(teacher, examples, pairs, View(), device, 1 << 16)
        return total + recipe.teach * agreement(found, said.view(len(rows), -1), recipe.softness)

    descend(model, adam, steps, loss, warm_up=recipe.warm_up, average=recipe.average)


@torch.no_grad()
def ranked(
    model: Aligner, examples: Examples, queries: Sequence[int], device: torch.device
) -> list[np.ndarray]:
    """Return, for each query, the scores of all passages of its document."""
    found: dict[int, np.ndarray] = {}
    by_document: dict[int, list[int]] = {}
    for query in queries:
        by_document.setdefault(examples.document(query), []).append(query)
    groups_of, size = [[]], 0  # whole documents, some thousand passages at a time
    for document, some in by_document.items():
        groups_of[-1].append(document)
        size += len(examples.pool(some[0]))
        if size > 4000:
            groups_of.append([])
            size = 0
    for documents in filter(None, groups_of):
        pools = {d: examples.pool(by_document[d][0]) for d in documents}
        passages = [p for pool in pools.values() for p in pool]
        here = [q for d in documents for q in by_document[d]]
        asked, shown = texts_of(examples, here, passages)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            query = model.read(asked, device, 1 << 16, asked=True)
            other = model.read(shown, device, 1 << 16, asked=False)
        at = dict(zip(pools, np.cumsum([0, *map(len, pools.values())]), strict=False))
        for row, number in enumerate(here):
            first = int(at[examples.document(number)])
            part = slice(first, first + len(examples.pool(number)))
            near = torch.einsum("id,cjd->cij", query.words[row], other.words[part])
            best = near.masked_fill(~other.there[part, None], -1.0).amax(-1)
            whole = other.whole[part] @ query.whole[row]
            told = model.score(best.float(), whole.float(), query.weights[row].float())
            found[number] = told.float().cpu().numpy()
    return [found[query] for query in queries]


def evaluate(
    model: Aligner, examples: Examples, queries: Sequence[int], device: torch.device
) -> dict[str, object]:
    """Return nDCG@10 by data set."""
    dev = [q for q in queries if examples.gold(q)]
    found: dict[str, list[float]] = {}
    for query, said in zip(dev, ranked(model, examples, dev, device), strict=True):
        first = examples.pool(query).start
        value = ndcg(said, {g - first for g in examples.gold(query)})
        found.setdefault(examples.source(query), []).append(value)
    return by_source(found)


def main() -> None:
    """Train one recipe, print how it does on what it has not seen, save the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, help="a judge's weights, where one teaches")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(**json.loads(given.recipe))
    examples = Examples(given.examples, recipe.fold)
    began = time.perf_counter()
    teacher = judge_of(read_weights(given.teacher), device) if given.teacher else None
    model = start_model(recipe, read_weights(given.start)).to(device)
    fit(model, examples, recipe, device, teacher)
    told = evaluate(model, examples, examples.held(recipe.without), device)
    seconds = round(time.perf_counter() - began, 1)
    print(json.dumps({"recipe": asdict(recipe), **told, "seconds": seconds}), flush=True)
    if given.output:
        save(model, given.output)


if __name__ == "__main__":
    main()
