"""Every step of training once, on toy data and a toy network, on a processor in seconds.

    python training/smoke.py [--client PYTHON]

The toy task can be learned: a passage is evidence when it holds a mark, and the kind of mark says
whether it speaks for or against. Whatever does not learn that is broken, and the script says so
with a non-zero exit. PYTHON is one with abstrag installed, whose client then asks a served toy.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import torch
from bert import Scorer, Shape, exported, load
from claims import Claim, read_claims, write_claims
from judge import Recipe as JudgeRecipe
from judge import evaluate, ranked, train
from judge import fit as fit_judge
from opinions import doubted, together
from questions import learn, write
from smoke_kinds import check_kinds, check_start, check_words, toy_pairs
from smoke_large import check_large
from smoke_plans import check_plans
from smoke_serve import check_serving
from smol import END, Reader, SmolExamples
from soup import mixed
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM
from verdict import NOT_ENOUGH, read_orders
from verdict import Recipe as VerdictRecipe
from verdict import evaluate as evaluate_verdict
from verdict import fit as fit_verdict
from words import CONTENT, STARTS

from examples import Examples, View, write_logits

SHAPE = Shape(vocabulary=200, positions=64, hidden=32, heads=2, layers=1, inner=64)
WORDS, DOCUMENTS, PASSAGES = range(120, 200), 60, 8
ASKED, MARKS = 109, (110, 111)  # in every query; of passages that speak for it or against it
SPECIAL = 100  # tokens that are no words
CPU = torch.device("cpu")
TOY = JudgeRecipe(
    epochs=4, rate=3e-3, queries=16, candidates=8, hard=4, elsewhere=1, dropout=0.0,
    repeats={}, view=View(most=32),
)  # fmt: skip


def toy(path: Path) -> None:
    """Write a file of examples as `prepare.py` would."""
    chance = random.Random(0)
    passages: list[list[int]] = []
    queries, gold, hard, documents, asked = [], [], [], [], []
    for number in range(DOCUMENTS):
        first, label = len(passages), number % 3
        marked = [] if label == NOT_ENOUGH else sorted(chance.sample(range(PASSAGES), 2))
        for place in range(PASSAGES):
            words = [chance.choice(WORDS) for _ in range(4)]
            passages.append([MARKS[label], *words] if place in marked else words)
        documents.append((0, first, first + PASSAGES, chance.randrange(6)))
        for _ in range(2):
            queries.append([ASKED, chance.choice(WORDS)])
            gold.append(marked)
            hard.append(chance.sample(range(PASSAGES), PASSAGES))
            asked.append((number, label))
    parts = {"passages": passages, "queries": queries, "gold": gold, "hard": hard}
    parts["titles"] = [[120]] * DOCUMENTS
    for name, lists in (("passage_words", passages), ("query_words", queries)):
        parts[name] = [[STARTS + CONTENT] * len(one) for one in lists]
    arrays = {}
    for name, lists in parts.items():
        arrays[f"{name}_flat"] = np.array([x for one in lists for x in one], np.uint16)
        arrays[f"{name}_at"] = np.cumsum([0, *map(len, lists)])
    np.savez(
        path,
        allow_pickle=False,
        names=np.array(["toy"]),
        documents=np.array(documents),
        asked=np.array(asked),
        **arrays,
    )


def check(what: str, value: float, least: float) -> None:
    """Print a figure, and stop where it is too low."""
    print(f"{what:24} {value:6.2f}   at least {least}")
    if value < least:
        raise SystemExit(f"{what} did not learn the toy task")


class ToyTokenizer:
    """Knows one token for any frame of a pair or a prompt, and nothing else."""

    def encode(self, text: str, *, add_special_tokens: bool) -> SimpleNamespace:
        """Return the token of a text."""
        del add_special_tokens
        return SimpleNamespace(ids=[101 + len(text) % 8])


def check_smol(path: Path) -> None:
    """Have a toy language model learn to read pairs, and another one to write queries."""
    examples = SmolExamples(path, cast("Tokenizer", ToyTokenizer()), fold=0)
    config = LlamaConfig(
        vocab_size=SHAPE.vocabulary, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=128,
    )  # fmt: skip
    recipe = replace(TOY, epochs=6, rate=5e-3)
    reader = Reader(LlamaForCausalLM(config))
    fit_judge(reader, examples, recipe, {}, CPU)
    told, _ = evaluate(reader, examples, examples.held(), recipe.view, CPU)
    check("teacher, nDCG@10", told["mean"], 80)
    writer = LlamaForCausalLM(config)
    asked = [q for q in range(len(examples)) if examples.gold(q)]
    prompts = [examples.prompt("toy", examples.document(q), examples.gold(q)) for q in asked]
    rows = [(p, [ASKED, END]) for p in prompts] * 12
    learn(writer, rows, CPU, rate=5e-3, size=16)
    written = write(writer, prompts, CPU)
    check("writer, share as taught", float(np.mean([one == [ASKED] for one in written])), 0.8)


def check_taught(path: Path, said: Mapping[int, np.ndarray], start: Mapping[str, Tensor]) -> None:
    """Train a judge on nothing but what teachers think of made queries, where these agree."""
    before = len(Examples(path))
    both = Examples(path, 0, path)
    opinions = {before + q: logits for q, logits in together([said, said]).items()}
    marked = {q: logits for q, logits in opinions.items() if both.gold(q)}
    doubts = doubted(both, marked)
    check("made, share trusted", 1 - len(doubts) / len(marked), 0.8)
    both.skipped = doubts | set(range(before)) | (opinions.keys() - marked.keys())
    recipe = replace(TOY, epochs=6)
    pupil = train(both, recipe, start, CPU, SHAPE, marked)
    told, _ = evaluate(pupil, both, both.held(), recipe.view, CPU)
    check("pupil, nDCG@10", told["mean"], 80)


def orders_by_file(examples: Examples, said: Mapping[int, np.ndarray]) -> dict[int, list[int]]:
    """Return the order of the evidence as it comes back from two files of logits."""
    held = examples.held()
    parts = held, [query for query in examples.held(without=["toy"]) if query not in held]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.npz" for number in range(len(parts))]
        for path, queries in zip(paths, parts, strict=True):
            write_logits(path, {query: said[query] for query in queries})
        orders = read_orders(examples, paths)
    check("logits, queries read", len(orders), len(said))
    return orders


def check_soup(start: Mapping[str, Tensor], judge: nn.Module) -> None:
    """Mix two sets of weights, and see that the mixture lies between them where it should."""
    runs = [{k: v.numpy() for k, v in one.items()} for one in (start, exported(judge))]
    mean = mixed(runs, [0.4, 0.6])["head.weight"]
    between = 0.4 * runs[0]["head.weight"] + 0.6 * runs[1]["head.weight"]
    check("soup, closeness", 1 - float(np.abs(mean - between).max()), 0.99)


def taught_claims(
    examples: Examples, path: Path, queries: Sequence[int], orders: Mapping[int, Sequence[int]]
) -> list[Claim]:
    """Return claims that a sure teacher has labelled right, as they come back from a file."""
    claims = []
    for query in queries:
        shares = tuple(0.8 if answer == examples.label(query) else 0.1 for answer in range(3))
        words = tuple(examples.query(query).tolist())
        claims.append(Claim(words, tuple(orders[query][:3]), examples.label(query), shares))
    write_claims(path, claims)
    found = read_claims([path])
    same = [
        (one.words, one.passages, one.meant) == (two.words, two.passages, two.meant)
        and np.allclose(one.shares, two.shares, atol=0.01)
        for one, two in zip(claims, found, strict=True)
    ]
    check("claims, as written", float(np.mean(same)), 1)
    return found


def main() -> None:
    """Write the toy data, then learn from it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", type=Path, help="a Python that has abstrag")
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "examples.npz"
        toy(path)
        train_all(path)
    check_serving(check, given.client)


def train_all(path: Path) -> None:
    """Train a judge, its teachers and its pupil, and a verdict model."""
    examples = Examples(path, fold=0)
    start = exported(Scorer(SHAPE, dropout=0.0))
    recipe = replace(TOY, rounds=2, average=0.3)
    judge = train(examples, recipe, start, CPU, SHAPE)
    told, _ = evaluate(judge, examples, examples.held(), recipe.view, CPU)
    check("judge, nDCG@10", told["mean"], 90)
    queries = range(len(examples))
    said = dict(zip(queries, ranked(judge, examples, queries, recipe.view, CPU), strict=True))
    check_soup(start, judge)
    check_start(check)
    check_words(check)
    check_kinds(path, start, SHAPE, TOY, check)
    check_taught(path, said, start)
    check_smol(path)
    check_large(path, SHAPE.vocabulary, TOY, check)
    check_plans(path, check)

    held = examples.held()
    verdict = Scorer(SHAPE, outputs=3, dropout=0.0)
    load(verdict.bert, exported(judge))
    orders = orders_by_file(examples, said)
    deciding = VerdictRecipe(epochs=20, rate=5e-3, batch=16, flip=0.0, blank=0.0, repeats={})
    seen = [query for query in queries if not examples.is_dev(query)]
    pairs = toy_pairs((ASKED, *MARKS, WORDS[0]), 3)
    taught = taught_claims(examples, path.with_name("claims.npz"), seen, orders)
    deciding = replace(deciding, taught=len(taught), softness=2.0, marks=2.0, trust=0.2)
    fit_verdict(
        verdict, examples, seen, orders, deciding, lambda _claim, _chance: None, CPU, pairs, taught
    )
    check(
        "verdict, accuracy",
        evaluate_verdict(verdict, examples, held, orders, CPU)["toy"]["accuracy"],
        0.5,
    )


if __name__ == "__main__":
    main()
