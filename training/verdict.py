"""Train the verdict model: does the evidence support the claim, refute it, or say too little?

    python training/verdict.py --examples build/training/examples.npz --tokenizer tokenizer.json \
        --judge build/training/judge/weights.npz --output build/training/verdict

It starts from the judge, which has learned what bears on a claim, and sees the claim with five
passages: those marked, or those a judge ranks highest, as it will when it is used. With --evidence
that order comes from logits that `judge.py --logits` wrote for documents it had not seen. --pairs
adds claims that come with their evidence, as `verdict_pairs.py` writes them, --taught claims of
which only a teacher said something (`large_teacher.py`), with --made for the documents that nobody
asked about.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bert import MINILM, Scorer, TanhHead, layers_in, load
from claims import SHOWN, Claim, aim, is_dev, read_claims
from descent import descend
from flips import Flipper
from judge import ranked
from rates import freeze
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from verdict_pairs import Pair, read_pairs
from weights import has_tanh, judge_of, read_weights, save

from examples import CLS, SEP, Examples, View, applied, read_logits

Flip = Callable[[Sequence[int], random.Random], list[int] | None]  # a claim's opposite
SUPPORTS, REFUTES, NOT_ENOUGH = range(3)
CLAIMS = ("scifact", "contractnli", "feverous", "check_covid", "fm2", "toy")  # labels of claims
MOST, EVIDENCE, EACH = 320, SHOWN, 110
SHORTEST, LONGEST = 6, 40  # tokens of a passage that is a claim as it stands


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what comes out, besides the data."""

    name: str = "verdict"
    epochs: int = 2
    rate: float = 1.2e-4
    warm_up: float = 0.1
    batch: int = 32
    flip: float = 0.1  # share of supported claims that are turned around
    blank: float = 0.12  # share shown with passages that are no evidence
    marked: float = 0.5  # share shown the marked passages first
    echoes: float = 0.1  # as many claims again, as a share, that repeat a passage or its opposite
    average: float = 0.4  # share of the last steps whose weights are averaged
    smoothing: float = 0.05
    dropout: float = 0.1
    repeats: Mapping[str, int] = field(
        default_factory=lambda: {"scifact": 3, "contractnli": 2, "feverous": 1}
    )
    without: tuple[str, ...] = ()
    train_dev: bool = False
    seed: int = 0
    fold: int = 0
    frozen: int | None = None  # lowest layers that stay the judge's, to be shared with it
    taught: int = 0  # claims an epoch that only a teacher has labelled
    trust: float = 0.0  # share of what their writer meant in what is learned of them
    softness: float = 1.0  # of the teacher's shares and of ours, where they are compared
    marks: float = 1.0  # weight of what people labelled
    layers: tuple[int, ...] | None = None  # which of the judge's layers to take, in order


def framed(
    examples: Examples, claim: Sequence[int], passages: Sequence[int]
) -> tuple[list[int], int]:
    """Return the ids of a claim with its evidence, best first, and where the evidence begins."""
    words: list[int] = []
    for passage in passages[:EVIDENCE]:
        words += [*examples.passage(passage)[:EACH].tolist(), SEP]
    start = [CLS, *map(int, claim), SEP]
    return [*start, *words[: MOST - len(start)]], len(start)


def best(examples: Examples, query: int, logits: np.ndarray) -> list[int]:
    """Return the passages of a query's document, most probable first."""
    return [examples.pool(query).start + int(i) for i in np.argsort(-logits, kind="stable")]


def shown(
    examples: Examples,
    query: int,
    order: Sequence[int],
    recipe: Recipe,
    flip: Flip,
    chance: random.Random,
) -> tuple[tuple[list[int], int], int]:
    """Return one training pair and its label."""
    claim, label = examples.query(query).tolist(), examples.label(query)
    gold = examples.gold(query)
    passages = list(order)
    if label != NOT_ENOUGH and gold:
        others = [p for p in order if p not in set(gold)]
        if len(others) >= 2 and chance.random() < recipe.blank:
            return framed(examples, claim, others), NOT_ENOUGH
        if chance.random() < recipe.marked:
            passages = [*gold, *others][:EVIDENCE]
        elif not set(gold) & set(passages[:EVIDENCE]):
            passages = [gold[0], *others]  # a label must not contradict what is shown
    if label == SUPPORTS and chance.random() < recipe.flip:
        turned = flip(claim, chance)
        if turned is not None:
            claim, label = turned, REFUTES
    return framed(examples, claim, passages), label


def turned(
    pair: Pair, recipe: Recipe, flip: Flip, chance: random.Random
) -> tuple[tuple[list[int], int], int]:
    """Return a pair that came with its evidence, some of the supported ones turned around."""
    claim, label = list(pair.claim), pair.label
    if label == SUPPORTS and chance.random() < recipe.flip:
        other = flip(claim, chance)
        if other is not None:
            claim, label = other, REFUTES
    start = [CLS, *claim, SEP]
    return ([*start, *pair.evidence[: MOST - len(start) - 1], SEP], len(start)), label


def echoed(
    examples: Examples,
    order: Sequence[int],
    flip: Flip,
    chance: random.Random,
) -> tuple[tuple[list[int], int], int] | None:
    """Return a pair whose claim is what a passage says, or the opposite; None without such a one.

    Whoever claims what the document says word for word must not be told that it is refuted.
    """
    said = [p for p in order if SHORTEST <= len(examples.passage(p)) <= LONGEST]
    if not said:
        return None
    passage = chance.choice(said)
    claim, label = examples.passage(passage).tolist(), SUPPORTS
    if chance.random() < 0.5:
        turned = flip(claim, chance)
        if turned is None:
            return None
        claim, label = turned, REFUTES
    others = [p for p in order if p != passage][: EVIDENCE - 1]
    place = chance.randrange(len(others) + 1)
    return framed(examples, claim, [*others[:place], passage, *others[place:]]), label


def logits_of(
    model: nn.Module, pairs: Sequence[tuple[list[int], int]], device: torch.device
) -> Tensor:
    """Return three logits for each pair."""
    return applied(model, pairs, device, 1 << 15)


def heard(logits: Tensor, shares: Tensor, softness: float) -> Tensor:
    """Return how far what we say is from what a teacher says, both made softer."""
    aim = F.softmax(shares.clamp_min(1e-3).log() / softness, -1)
    return F.cross_entropy(logits / softness, aim) * softness**2


def fit(
    model: nn.Module,
    examples: Examples,
    queries: Sequence[int],
    orders: Mapping[int, Sequence[int]],
    recipe: Recipe,
    flip: Flip,
    device: torch.device,
    pairs: Sequence[Pair] = (),
    taught: Sequence[Claim] = (),
) -> None:
    """Train in place, on queries, on pairs that come with their evidence and on taught claims."""
    chance = random.Random(recipe.seed)
    steps = []
    for _ in range(recipe.epochs):
        order: list[int | Pair | Claim] = [
            q for q in queries for _ in range(recipe.repeats.get(examples.source(q), 1))
        ]
        order += pairs
        order += chance.sample(taught, min(len(taught), recipe.taught))
        chance.shuffle(order)
        steps += [order[i : i + recipe.batch] for i in range(0, len(order), recipe.batch)]
    learning = [one for one in model.parameters() if one.requires_grad]
    adam = torch.optim.AdamW(
        learning, lr=recipe.rate, weight_decay=0.01, fused=device.type == "cuda"
    )

    def loss(mixed: Sequence[int | Pair | Claim]) -> Tensor:
        some = [one for one in mixed if isinstance(one, int)]
        made = [shown(examples, q, orders[q], recipe, flip, chance) for q in some]
        made += [turned(one, recipe, flip, chance) for one in mixed if isinstance(one, Pair)]
        again = chance.sample(some, min(len(some), round(recipe.echoes * len(made))))
        echoes = [echoed(examples, orders[query], flip, chance) for query in again]
        made += [pair for pair in echoes if pair is not None]
        told = [one for one in mixed if isinstance(one, Claim)]
        put = [framed(examples, one.words, one.passages) for one in told]
        target = torch.tensor([label for _, label in made], dtype=torch.long, device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits = logits_of(model, [*(pair for pair, _ in made), *put], device)
        weights = recipe.marks * len(made), float(len(told))
        total = logits.new_zeros(())
        if made:
            marked = F.cross_entropy(logits[: len(made)], target, label_smoothing=recipe.smoothing)
            total = total + weights[0] / sum(weights) * marked
        if told:
            shares = torch.tensor([aim(one, recipe.trust) for one in told], device=device)
            said = heard(logits[len(made) :], shares, recipe.softness)
            total = total + weights[1] / sum(weights) * said
        return total

    descend(model, adam, steps, loss, warm_up=recipe.warm_up, average=recipe.average)


@torch.no_grad()
def evaluate(
    model: nn.Module,
    examples: Examples,
    queries: Sequence[int],
    orders: Mapping[int, Sequence[int]],
    device: torch.device,
) -> dict[str, Any]:
    """Return accuracy and recalls by data set, and the temperature that calibrates best."""
    pairs = [framed(examples, examples.query(q).tolist(), orders[q]) for q in queries]
    logits = logits_of(model, pairs, device).cpu().numpy()
    truth = np.array([examples.label(q) for q in queries])
    told: dict[str, Any] = {}
    for source in sorted({examples.source(q) for q in queries}):
        mine = np.array([examples.source(q) == source for q in queries])
        said, right = logits[mine].argmax(1), truth[mine]
        recalls = [
            round(float((said[right == c] == c).mean()), 3) if (right == c).any() else None
            for c in range(3)
        ]
        told[source] = {
            "accuracy": round(float((said == right).mean()), 3),
            "recalls": recalls,
            "macro": round(float(np.mean([r for r in recalls if r is not None])), 3),
            "log_loss": round(_log_loss(logits[mine], right), 4),
            "n": int(mine.sum()),
        }
        told[source]["answered"] = round(answered(logits[mine], right)[0], 3)
    grid = np.geomspace(0.5, 5, 40)
    losses = [_log_loss(logits / t, truth) for t in grid]
    told["temperature"] = round(float(grid[int(np.argmin(losses))]), 3)
    told["log_loss"] = round(min(losses), 4)
    for source in sorted({examples.source(q) for q in queries}):
        mine = np.array([examples.source(q) == source for q in queries])
        even = answered(logits[mine] / told["temperature"], truth[mine])[1]
        told[source]["threshold"] = round(even, 3)
    return told


def answered(logits: np.ndarray, truth: np.ndarray, wrong: float = 0.08) -> tuple[float, float]:
    """Return the largest share of claims that can be answered with so many of all wrong.

    And the probability of the least sure of these.
    """
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    sure = (shifted / shifted.sum(1, keepdims=True)).max(1)
    order = np.argsort(-sure, kind="stable")
    errors = np.cumsum(logits.argmax(1)[order] != truth[order])
    count = int((errors <= wrong * len(truth)).sum())
    return count / len(truth), float(sure[order][max(0, count - 1)])


def _log_loss(logits: np.ndarray, truth: np.ndarray) -> float:
    shifted = logits - logits.max(1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return float(-log_p[np.arange(len(truth)), truth].mean())


def orders_of(
    judge: nn.Module, examples: Examples, queries: Sequence[int], device: torch.device
) -> dict[int, list[int]]:
    """Return the evidence of queries in the order in which a judge ranks it."""
    found = ranked(judge, examples, queries, View(), device)
    return {q: best(examples, q, logits) for q, logits in zip(queries, found, strict=True)}


def read_orders(examples: Examples, paths: Sequence[Path]) -> dict[int, list[int]]:
    """Return the same from files of logits, for the queries that have a label.

    Where each query was judged by a model that had not seen its document, training shows the
    evidence that will be shown later, and not that of a judge who knows the answer.
    """
    found = read_logits(paths, examples)
    return {q: best(examples, q, said) for q, said in found.items() if examples.label(q) >= 0}


def main() -> None:
    """Train one recipe, print how it does on the documents held out, save the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--judge", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--report", type=Path, help="examples of the report part, to measure with")
    parser.add_argument("--evidence", type=Path, nargs="+", help="logits, not to ask the judge")
    parser.add_argument("--ranker", type=Path, help="a judge to ask instead, for training")
    parser.add_argument("--pairs", type=Path, help="claims with evidence, of verdict_pairs.py")
    parser.add_argument("--taught", type=Path, nargs="*", default=(), help="a teacher's opinions")
    parser.add_argument("--made", type=Path, help="the documents of made.py, for --taught")
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(**json.loads(given.recipe))
    more = [given.made] if given.made else []
    examples = Examples(given.examples, recipe.fold, *more)
    began = time.perf_counter()
    weights = read_weights(given.judge)
    judge = judge_of(weights, device)
    ranker = judge_of(read_weights(given.ranker), device) if given.ranker else judge
    labelled = [
        q for q in range(len(examples)) if examples.label(q) >= 0 and examples.source(q) in CLAIMS
    ]
    orders = (
        read_orders(examples, given.evidence)
        if given.evidence
        else orders_of(ranker, examples, labelled, device)
    )
    torch.manual_seed(0)  # every run begins with the same head, so that their mean has one too
    shape = replace(MINILM, layers=len(recipe.layers or range(layers_in(weights))))
    model = Scorer(shape, outputs=3, dropout=recipe.dropout, tanh=has_tanh(weights))
    torch.manual_seed(recipe.seed)
    load(model.bert, weights, recipe.layers)
    if isinstance(model.head, TanhHead):  # its layer is known, only the three outputs are new
        dense = {k: weights[f"head.dense.{k}"].float() for k in ("weight", "bias")}
        model.head.dense.load_state_dict(dense)
    model.to(device)
    if recipe.frozen is not None:
        freeze(model.bert, recipe.frozen)
    queries = [
        q
        for q in labelled
        if examples.source(q) not in recipe.without and (recipe.train_dev or not examples.is_dev(q))
    ]
    fit(
        model,
        examples,
        queries,
        orders,
        recipe,
        Flipper(Tokenizer.from_file(str(given.tokenizer))),
        device,
        [one for one in read_pairs(given.pairs) if one.source not in recipe.without],
        [
            one
            for one in read_claims(given.taught)
            if one.shares and (recipe.train_dev or not is_dev(examples, one))
        ],
    )
    dev = sorted(set(labelled) & set(examples.held(recipe.without)))
    told = evaluate(model, examples, dev, orders, device)
    if given.report:
        held = Examples(given.report, None)
        asked = [q for q in range(len(held)) if held.label(q) >= 0]
        orders = orders_of(judge, held, asked, device)
        told["report"] = evaluate(model, held, asked, orders, device)
    told["seconds"] = round(time.perf_counter() - began, 1)
    print(json.dumps({"recipe": asdict(recipe), **told}), flush=True)
    if given.output:
        save(model, given.output)


if __name__ == "__main__":
    main()
