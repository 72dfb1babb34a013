"""Train the evidence judge: a cross-encoder that says how probably a passage is evidence.

    python training/judge.py --examples build/training/examples.npz --start start.npz \
        --output build/training/judge [--recipe '{"epochs": 4}'] [--logits judged.npz]

For each query one marked passage stands against fifteen others of its document, ten of them those
that BM25 likes best, and the marked one has to win (softmax over the list). A small binary term
gives the scores an absolute meaning, also for queries that have no evidence at all. What is
measured, and written with --logits, is the fold held out or, where a recipe leaves data sets out,
every document of these. Of queries that a machine wrote, the softmax is pulled towards what
teachers think of the passages.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from bert import MINILM, Scorer, Shape, layers_in, load
from descent import descend
from metrics import by_source, calibration, ndcg
from opinions import Opinions, doubted, read_opinions
from rates import freeze, groups, thick, thin
from torch import Tensor, nn
from torch.nn import functional as F
from weights import has_tanh, load_head, read_weights, save

from examples import Examples, View, applied, read_logits, write_logits


@dataclass(frozen=True)
class Drawing:
    """Which queries an epoch has, and which passages each of them is shown."""

    queries: int = 24  # a step
    candidates: int = 16  # a query
    hard: int = 10  # of them, by BM25 or the round before
    elsewhere: int = 2  # candidates from other documents
    binary: float = 0.1  # weight of the binary term
    repeats: Mapping[str, int] = field(default_factory=lambda: {"scifact": 2, "qasper": 3})
    without: tuple[str, ...] = ()  # data sets left out, for zero-shot figures
    only_most: Mapping[str, int] = field(default_factory=dict)  # queries an epoch of a data set
    most_each: int | None = None  # queries an epoch of any data set
    train_dev: bool = False  # the final fit uses the development documents too
    seed: int = 0
    fold: int = 0  # held out
    parts: int | None = None  # folds there are: 2, and half of the documents are held out


@dataclass(frozen=True)
class Recipe(Drawing):
    """Everything that decides what comes out, besides the data."""

    name: str = "judge"
    epochs: int = 4
    rate: float = 8e-5
    warm_up: float = 0.1
    smoothing: float = 0.0
    dropout: float = 0.1
    decay: float = 0.01
    layers: tuple[int, ...] | None = None  # which of the start's layers to keep
    teach: float = 0.0  # weight of what judges that had not seen the documents think of them
    view: View = View()
    average: float = 0.0  # share of the last steps whose weights are averaged
    rounds: int = 1  # further rounds mine their hard candidates with the model itself
    softness: float = 1.5  # divides the logits of teachers
    keep: float = 0.0  # weight of what the start itself thinks of the passages shown
    crossed: float = 0.0  # as many queries again, as a share, asked of other documents for that
    frozen: int | None = None  # lowest layers that do not learn; 0: only the embeddings do not
    by_layer: float = 1.0  # each layer learns at this share of the rate of the one above
    rank: int = 0  # of the changes to the layers' matrices; 0: they change freely


def listed(examples: Examples, recipe: Drawing, epoch: int) -> list[int]:
    """Return the queries of one epoch in their order."""
    chance = random.Random(f"{recipe.seed}/{epoch}")
    found: dict[str, list[int]] = {}
    for query in range(len(examples)):
        source = examples.source(query)
        if source in recipe.without or query in examples.skipped:
            continue
        if examples.is_dev(query) and not recipe.train_dev:
            continue
        if not examples.gold(query) and (not recipe.binary or chance.random() < 0.5):
            continue
        found.setdefault(source, []).append(query)
    order: list[int] = []
    for source, queries in sorted(found.items()):
        most = recipe.only_most.get(source, recipe.most_each)
        if most is not None and len(queries) > most:
            queries = chance.sample(queries, most)
        order += queries * recipe.repeats.get(source, 1)
    chance.shuffle(order)
    return order


def drawn(
    examples: Examples,
    query: int,
    recipe: Drawing,
    mined: Mapping[int, Sequence[int]],
    chance: random.Random,
) -> tuple[list[int], bool]:
    """Return the passages a query is shown, the marked one first, and whether one is marked."""
    gold = set(examples.gold(query))
    pool = [p for p in examples.pool(query) if p not in gold]
    wanted = recipe.candidates - 1
    likely = [p for p in mined.get(query) or examples.hard(query) if p not in gold]
    chosen = likely[: recipe.hard]
    taken = set(chosen)
    rest = [p for p in pool if p not in taken]
    chosen += chance.sample(rest, min(len(rest), wanted - recipe.elsewhere - len(chosen)))
    total = int(examples.documents[-1, 2])
    while len(chosen) < wanted:
        other = chance.randrange(total)
        if other not in gold and examples.source_of(other) not in recipe.without:
            chosen.append(other)
    first = chance.choice(sorted(gold)) if gold else chance.choice(chosen)
    return [first, *chosen[:wanted]], bool(gold)


def crossed(
    examples: Examples, queries: Sequence[int], recipe: Recipe, chance: random.Random
) -> list[tuple[int, list[int]]]:
    """Return queries asked of the documents of others, with passages of these."""
    found = []
    for _ in range(round(recipe.crossed * len(queries))):
        asked, about = chance.sample(queries, 2)
        pool = examples.pool(about)
        found.append((asked, chance.choices(pool, k=recipe.candidates)))
    return found


def scores(
    model: nn.Module,
    examples: Examples,
    pairs: Sequence[tuple[int, int]],
    view: View,
    device: torch.device,
    tokens: int = 1 << 14,
) -> Tensor:
    """Return the logits of pairs of query and passage."""
    ids = [examples.pair(query, passage, view) for query, passage in pairs]
    return applied(model, ids, device, tokens)


def wanted(
    examples: Examples, query: int, passages: Sequence[int], opinions: Opinions, recipe: Recipe
) -> list[float]:
    """Return how a query's softmax should look: the marked passage, or what a teacher thinks."""
    said = opinions.get(query)
    if said is None:
        return [1.0] + [0.0] * (len(passages) - 1)
    pool = examples.pool(query)
    lowest = float(said.min())
    logits = np.array([said[p - pool.start] if p in pool else lowest for p in passages])
    raised = np.exp((logits - logits.max()) / recipe.softness)
    return (raised / raised.sum()).tolist()


def loss_of(logits: Tensor, aim: Tensor, marked: Tensor, taught: Tensor, recipe: Recipe) -> Tensor:
    """Return the listwise loss of the marked rows plus the binary one of all not taught."""
    total = logits.new_zeros(())
    if marked.any():
        total = F.cross_entropy(logits[marked], aim[marked], label_smoothing=recipe.smoothing)
    if recipe.binary and not taught.all():
        logits, marked = logits[~taught], marked[~taught]
        target = torch.zeros_like(logits)
        target[:, 0] = marked.float()
        weight = torch.where(target > 0, 4.0, 1.0)
        total = total + recipe.binary * F.binary_cross_entropy_with_logits(
            logits, target, weight=weight
        )
    return total


def heard(
    examples: Examples, rows: Sequence[tuple[int, Sequence[int]]], opinions: Opinions
) -> Tensor:
    """Return what teachers said of lists of passages; of other documents', the least they said."""
    found = []
    for query, passages in rows:
        said, pool = opinions[query], examples.pool(query)
        lowest = float(said.min())
        found.append([said[p - pool.start] if p in pool else lowest for p in passages])
    return torch.tensor(np.array(found), dtype=torch.float32)


def agreement(logits: Tensor, said: Tensor, softness: float) -> Tensor:
    """Return how far two softmaxes over the same lists are apart."""
    aim = F.softmax(said.float() / softness, -1)
    ours = F.log_softmax(logits.float() / softness, -1)
    return F.kl_div(ours, aim, reduction="batchmean") * softness**2


def train(
    examples: Examples,
    recipe: Recipe,
    start: Mapping[str, Tensor],
    device: torch.device,
    shape: Shape = MINILM,
    opinions: Opinions = MappingProxyType({}),
    taught_by: Opinions = MappingProxyType({}),
) -> Scorer:
    """Return a trained judge."""
    if recipe.layers is not None:
        shape = replace(shape, layers=len(recipe.layers))
    elif shape == MINILM:
        shape = replace(shape, layers=layers_in(start))
    torch.manual_seed(0)  # every run begins with the same head, so that their mean has one too
    model = Scorer(shape, dropout=recipe.dropout, tanh=has_tanh(start))
    torch.manual_seed(recipe.seed)
    load(model.bert, start, recipe.layers)
    if any(name.startswith("head.") for name in start):
        load_head(model, start)
    model.to(device)
    original = deepcopy(model).eval().requires_grad_(requires_grad=False) if recipe.keep else None
    if recipe.frozen is not None:
        freeze(model.bert, recipe.frozen)
    if recipe.rank:
        thin(model.bert, recipe.rank)
        model.to(device)
    mined: dict[int, list[int]] = {}
    for number in range(recipe.rounds):
        if number:
            mined = mine(model, examples, recipe, device)
        fit(
            model,
            examples,
            replace(recipe, seed=recipe.seed + 1000 * number),
            mined,
            device,
            opinions,
            original,
            taught_by,
        )
    if recipe.rank:
        thick(model.bert)
    return model.eval()


def fit(
    model: nn.Module,
    examples: Examples,
    recipe: Recipe,
    mined: Mapping[int, Sequence[int]],
    device: torch.device,
    opinions: Opinions = MappingProxyType({}),
    original: nn.Module | None = None,
    taught_by: Opinions = MappingProxyType({}),
) -> None:
    """Train in place.

    `original` is asked for its opinion where the recipe wants it kept; `taught_by` are logits of
    judges that had not seen a query's document, beside the marks.
    """
    orders = [listed(examples, recipe, epoch) for epoch in range(recipe.epochs)]
    steps = [
        order[i : i + recipe.queries]
        for order in orders
        for i in range(0, len(order), recipe.queries)
    ]
    bert = model.bert if isinstance(model, Scorer) else None
    adam = torch.optim.AdamW(
        groups(model, bert, recipe.rate, recipe.decay, recipe.by_layer),
        lr=recipe.rate,
        fused=device.type == "cuda",
    )
    chance = random.Random(recipe.seed)

    def loss(queries: Sequence[int]) -> Tensor:
        rows = [drawn(examples, query, recipe, mined, chance) for query in queries]
        extra = crossed(examples, queries, recipe, chance) if len(queries) > 1 else []
        shown = [*zip(queries, (passages for passages, _ in rows), strict=True), *extra]
        pairs = [(q, p) for q, passages in shown for p in passages]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            every = scores(model, examples, pairs, recipe.view, device, 1 << 15)
            every = every.view(len(shown), -1)
            logits = every[: len(queries)]
            kept = logits.new_zeros(())
            if original is not None:
                with torch.no_grad():
                    said = scores(original, examples, pairs, recipe.view, device, 1 << 16)
                kept = agreement(every, said.view(len(shown), -1), recipe.softness)
        marked = torch.tensor([has for _, has in rows], device=device)
        taught = torch.tensor([q in opinions for q in queries], device=device)
        aims = [
            wanted(examples, q, passages, opinions, recipe)
            for q, (passages, _) in zip(queries, rows, strict=True)
        ]
        aim = torch.tensor(aims, device=device)
        total = loss_of(logits, aim, marked, taught, recipe) + recipe.keep * kept
        told = [i for i, q in enumerate(queries) if q in taught_by] if recipe.teach else []
        if told:
            said = heard(examples, [(queries[i], rows[i][0]) for i in told], taught_by)
            total = total + recipe.teach * agreement(logits[told], said.to(device), recipe.softness)
        return total

    descend(model, adam, steps, loss, warm_up=recipe.warm_up, average=recipe.average)


@torch.no_grad()
def ranked(
    model: nn.Module, examples: Examples, queries: Sequence[int], view: View, device: torch.device
) -> list[np.ndarray]:
    """Return, for each query, the logits of all passages of its document."""
    pairs = [(q, p) for q in queries for p in examples.pool(q)]
    found: list[np.ndarray] = []
    flat = np.zeros(len(pairs), np.float32)
    for at in range(0, len(pairs), 20_000):
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            some = scores(model, examples, pairs[at : at + 20_000], view, device, 1 << 16)
        flat[at : at + len(some)] = some[:, 0].cpu().numpy()
    at = 0
    for q in queries:
        found.append(flat[at : at + len(examples.pool(q))])
        at += len(examples.pool(q))
    return found


def mine(
    model: nn.Module, examples: Examples, recipe: Recipe, device: torch.device
) -> dict[int, list[int]]:
    """Return, for each query, what the model itself ranks highest; BM25's best three stay."""
    queries = sorted(set(listed(examples, recipe, 0)))
    mistakes = {}
    for query, logits in zip(
        queries, ranked(model, examples, queries, recipe.view, device), strict=True
    ):
        own = [examples.pool(query).start + int(i) for i in np.argsort(-logits)]
        mistakes[query] = list(dict.fromkeys([*own[:8], *examples.hard(query)[:3], *own[8:]]))
    return mistakes


def evaluate(
    model: nn.Module, examples: Examples, queries: Sequence[int], view: View, device: torch.device
) -> tuple[dict[str, Any], dict[int, np.ndarray]]:
    """Return nDCG@10 by data set over some queries, and every logit."""
    logits = dict(zip(queries, ranked(model, examples, queries, view, device), strict=True))
    found: dict[str, list[float]] = {}
    for query in queries:
        if gold := examples.gold(query):
            first = examples.pool(query).start
            value = ndcg(logits[query], {g - first for g in gold})
            found.setdefault(examples.source(query), []).append(value)
    return {**by_source(found), "calibration": calibration(examples, logits)}, logits


def main() -> None:
    """Train one recipe, print how it does on what it has not seen, save the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path, help="examples of the report part, to measure with")
    parser.add_argument("--logits", type=Path, help="where to write those of what is held out")
    parser.add_argument("--made", type=Path, help="queries that a machine wrote, of made.py")
    parser.add_argument("--opinions", type=Path, nargs="+", help="what teachers think of them")
    parser.add_argument("--taught", type=Path, nargs="+", help="logits of documents unseen by them")
    parser.add_argument("--judged", type=Path, help="where to write what this judge thinks of them")
    parser.add_argument("--unmeasured", action="store_true", help="only train and save")
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fields = json.loads(given.recipe)
    fields["view"] = View(**fields.get("view", {}))
    recipe = Recipe(**fields)
    if given.logits and recipe.train_dev and not recipe.without:
        parser.error("with train_dev nothing is held out, so there are no logits to write")
    if (given.opinions or given.judged) and not given.made:
        parser.error("opinions are about made queries: give them with --made")
    examples = Examples(given.examples, recipe.fold, parts=recipe.parts)
    began = time.perf_counter()
    lessons = examples
    opinions: Opinions = {}
    taught_by = read_logits(given.taught, examples) if given.taught else {}
    if given.opinions:
        lessons = Examples(given.examples, recipe.fold, given.made, parts=recipe.parts)
        opinions = read_opinions(given.opinions, given.made, len(examples))
        lessons.skipped = doubted(lessons, opinions)
    start = read_weights(given.start)
    model = train(lessons, recipe, start, device, opinions=opinions, taught_by=taught_by)
    if given.judged:
        made = Examples(given.made, None)
        said = ranked(model, made, made.held(), recipe.view, device)
        write_logits(given.judged, dict(zip(made.held(), said, strict=True)))
    if given.unmeasured:
        save(model, given.output)
        return
    held = examples.held(recipe.without)
    told, logits = evaluate(model, examples, held, recipe.view, device)
    if given.logits:
        write_logits(given.logits, logits)
    if given.report:
        report = Examples(given.report, None)
        asked = report.held(recipe.without)
        told["report"], _ = evaluate(model, report, asked, recipe.view, device)
    told["seconds"] = round(time.perf_counter() - began, 1)
    print(json.dumps({"recipe": asdict(recipe), **told}), flush=True)
    if given.output:
        save(model, given.output)


if __name__ == "__main__":
    main()
