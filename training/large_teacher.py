"""Have a large language model learn to judge or to decide, and ask it about what it has not seen.

    python training/large_teacher.py judge --examples examples.npz --model FOLDER \
        --tokenizer tokenizer.json --output half0.npz --recipe '{"fold": 0, "parts": 2}' \
        --made made.npz --made-output made0.npz
    python training/large_teacher.py verdict --examples examples.npz --model FOLDER \
        --tokenizer tokenizer.json --pairs pairs.json.gz --ranker judge.npz --report report.npz \
        --made made.npz --opinions smol.npz one.npz --written written.npz --output taught.npz

FOLDER has the model and its tokenizer.json as transformers reads them. As a judge it is trained
without a part of the documents and asked about these: of each query the marked passages and the
first of BM25. As a verdict model it is asked about claims that a machine wrote (of `made.py` and
of `claim_writer.py`), their opposites, and claims put to other documents; `verdict.py --taught`
learns from what it says.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import verdict
from claims import ANSWERS, Claim, read_claims, write_claims
from flips import Flipper
from judge import Recipe as JudgeRecipe
from judge import fit as fit_judge
from judge import scores
from large_reader import JUDGE, VERDICT, LargeReader
from metrics import by_source, ndcg
from opinions import doubted, read_opinions
from tokenizers import Tokenizer
from torch import nn
from verdict_pairs import read_pairs
from weights import judge_of, read_weights

from examples import Examples, View, applied, write_logits

FIRST = 8  # passages of BM25 that a teacher is asked about, beside the marked ones
CLAIMED = ("made-scifact", "made-contractnli")  # styles of written queries that are claims
QUESTION = 1029  # the word piece of a question mark: what has one is no claim
TURNED = 0.25  # share of the written claims whose opposite is asked about, too
TOKENS = 1 << 14
ASKED_AT_ONCE = 1 << 16  # tokens
PART = 10_000  # claims between two times that opinions are written
TEACHER = JudgeRecipe(
    name="large", epochs=1, rate=1.5e-4, queries=8, candidates=8, hard=6, elsewhere=1, decay=0.0
)


def load(folder: Path) -> object:
    """Return the language model in half precision."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.bfloat16)


@torch.no_grad()
def opinions_of(
    model: nn.Module, examples: Examples, queries: Sequence[int], device: torch.device
) -> dict[int, np.ndarray]:
    """Return logits over the documents of queries: of the likely passages, the least elsewhere."""
    pairs = [(q, p) for q in queries for p in likely(examples, q)]
    flat = np.zeros(len(pairs), np.float32)
    for at in range(0, len(pairs), 20_000):
        some = pairs[at : at + 20_000]
        said = scores(model, examples, some, View(), device, TOKENS)
        flat[at : at + len(some)] = said[:, 0].float().cpu().numpy()
    found, at = {}, 0
    for query in queries:
        pool, asked = examples.pool(query), likely(examples, query)
        own = flat[at : at + len(asked)]
        at += len(asked)
        found[query] = np.full(len(pool), own.min(), np.float32)
        found[query][[p - pool.start for p in asked]] = own
    return found


def likely(examples: Examples, query: int) -> list[int]:
    """Return the passages of a document that may be evidence."""
    return list(dict.fromkeys([*examples.gold(query), *examples.hard(query)[:FIRST]]))


def told(examples: Examples, said: Mapping[int, np.ndarray]) -> dict[str, object]:
    """Return nDCG@10 by data set of what was said."""
    found: dict[str, list[float]] = {}
    for query, logits in said.items():
        first = examples.pool(query).start
        if gold := {g - first for g in examples.gold(query)}:
            found.setdefault(examples.source(query), []).append(ndcg(logits, gold))
    return by_source(found)


def teach_judging(given: argparse.Namespace, model: LargeReader, device: torch.device) -> None:
    """Train a judge on one part of the documents, write its opinion of the others and of made."""
    recipe = replace(TEACHER, **json.loads(given.recipe))
    examples = Examples(given.examples, recipe.fold, parts=recipe.parts)
    fit_judge(model, examples, recipe, {}, device)
    model.eval()
    said = opinions_of(model, examples, examples.held(), device)
    print(json.dumps(told(examples, said)), flush=True)
    write_logits(given.output, said)
    if given.made:
        made = Examples(given.made, None)
        write_logits(given.made_output, opinions_of(model, made, made.held(), device))


def asked_for(
    made: Examples, opinions: Mapping[int, np.ndarray], flip: verdict.Flip, chance: random.Random
) -> Iterator[Claim]:
    """Yield claims of written queries: as they are, turned around, and of other documents."""
    skipped = doubted(made, opinions)
    asked = [
        q
        for q in opinions
        if made.source(q) in CLAIMED and q not in skipped and QUESTION not in made.query(q)
    ]
    orders = {q: verdict.best(made, q, opinions[q]) for q in asked}
    for query in asked:
        claim = made.query(query).tolist()
        yield from changed(claim, orders[query], flip, chance)
        if chance.random() < 0.3:
            yield put(claim, orders[chance.choice(asked)])


def changed(
    words: Sequence[int], order: Sequence[int], flip: verdict.Flip, chance: random.Random
) -> Iterator[Claim]:
    """Yield a claim, its opposite, and now and then the claim put to weaker passages."""
    yield put(words, order)
    turned = flip(words, chance)
    if turned is not None:
        yield put(turned, order)
    if len(order) > verdict.EVIDENCE and chance.random() < 0.3:
        yield put(words, order[1:])


def put(words: Sequence[int], order: Sequence[int]) -> Claim:
    """Return a claim put to the first passages of an order."""
    return Claim(tuple(map(int, words)), tuple(order[: verdict.EVIDENCE]))


def opposites(
    examples: Examples,
    queries: Sequence[int],
    orders: Mapping[int, Sequence[int]],
    flip: verdict.Flip,
    chance: random.Random,
) -> Iterator[Claim]:
    """Yield people's claims turned around, and put to weaker evidence."""
    for query in queries:
        claim = examples.query(query).tolist()
        turned = flip(claim, chance)
        if turned is not None:
            yield put(turned, orders[query])
        if len(orders[query]) > verdict.EVIDENCE and chance.random() < 0.5:
            yield put(claim, orders[query][1:])


@torch.no_grad()
def said_of(
    model: nn.Module, examples: Examples, claims: Sequence[Claim], device: torch.device
) -> list[Claim]:
    """Return claims with what a teacher says of them."""
    shown = [verdict.framed(examples, one.words, one.passages) for one in claims]
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        said = applied(model, shown, device, ASKED_AT_ONCE).softmax(1).cpu()
    return [replace(one, shares=tuple(row)) for one, row in zip(claims, said.tolist(), strict=True)]


def ask(
    given: argparse.Namespace,
    model: nn.Module,
    examples: Examples,
    claims: Sequence[Claim],
    device: torch.device,
) -> None:
    """Ask about claims, a part of them after the other, and write what is known so far."""
    found: list[Claim] = []
    began = time.perf_counter()
    for at in range(0, len(claims), PART):
        found += said_of(model, examples, claims[at : at + PART], device)
        write_claims(given.output, found)
        took = time.perf_counter() - began
        print(f"{len(found)} of {len(claims)} claims in {took:.0f} s", flush=True)
        if given.seconds and took > given.seconds:
            break
    shares = np.array([one.shares for one in found])
    print(f"mean shares {shares.mean(0).round(3).tolist()}")
    for meant in range(ANSWERS):
        own = shares[[one.meant == meant for one in found]]
        if len(own):
            print(f"meant as {meant}: {len(own)}, {own.mean(0).round(3).tolist()}", flush=True)


def teach_deciding(given: argparse.Namespace, model: LargeReader, device: torch.device) -> None:
    """Train a verdict model, measure it, and write what it says of claims that nobody labelled."""
    recipe = verdict.Recipe(
        **{"rate": 1.5e-4, "batch": 16, "average": 0.0, **json.loads(given.recipe)}
    )
    examples = Examples(given.examples, recipe.fold, given.made)
    flip = Flipper(Tokenizer.from_file(str(given.tokenizer)))
    ranker = judge_of(read_weights(given.ranker), device)
    labelled = [
        q
        for q in range(len(examples))
        if examples.label(q) >= 0 and examples.source(q) in verdict.CLAIMS
    ]
    orders = verdict.orders_of(ranker, examples, labelled, device)
    queries = [q for q in labelled if recipe.train_dev or not examples.is_dev(q)]
    pairs = read_pairs(given.pairs)
    random.Random(recipe.seed).shuffle(pairs)
    verdict.fit(model, examples, queries, orders, recipe, flip, device, pairs[: given.most_pairs])
    model.eval()
    with torch.no_grad():
        dev = sorted(set(labelled) & set(examples.held()))
        measured = {"held": verdict.evaluate(model, examples, dev, orders, device)}
        if given.report:
            held = Examples(given.report, None)
            asked = [q for q in range(len(held)) if held.label(q) >= 0]
            found = verdict.orders_of(ranker, held, asked, device)
            measured["report"] = verdict.evaluate(model, held, asked, found, device)
    print(json.dumps(measured), flush=True)
    chance = random.Random(recipe.seed)
    made = Examples(given.made, None)
    before = len(examples) - len(made)  # queries of the other file
    opinions = {
        before + q: logits for q, logits in read_opinions(given.opinions, given.made, 0).items()
    }
    claims = [
        *asked_for(examples, opinions, flip, chance),
        *opposites(examples, queries, orders, flip, chance),
    ]
    chance.shuffle(claims)
    written = read_claims(given.written)
    turned = [
        put(other, one.passages)
        for one in written
        if chance.random() < TURNED and (other := flip(one.words, chance)) is not None
    ]
    claims = [*claims[: given.most_claims], *written, *turned]
    chance.shuffle(claims)
    ask(given, model, examples, claims, device)


def main() -> None:
    """Train one teacher and write what it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("judge", "verdict"))
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="a folder of transformers")
    parser.add_argument("--tokenizer", type=Path, required=True, help="of the word pieces")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--made", type=Path)
    parser.add_argument("--made-output", type=Path)
    parser.add_argument("--opinions", type=Path, nargs="+")
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--written", type=Path, nargs="*", default=(), help="of claim_writer.py")
    parser.add_argument("--most-pairs", type=int)
    parser.add_argument("--most-claims", type=int, default=45_000)
    parser.add_argument("--seconds", type=float, help="after which no more claims are asked about")
    parser.add_argument("--ranker", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    began = time.perf_counter()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    frame = JUDGE if given.task == "judge" else VERDICT
    pieces = Tokenizer.from_file(str(given.tokenizer))
    own = Tokenizer.from_file(str(given.model / "tokenizer.json"))
    model = LargeReader(load(given.model), pieces, own, frame, given.rank).to(device)
    (teach_judging if given.task == "judge" else teach_deciding)(given, model, device)
    print(f"{time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
