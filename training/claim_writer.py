"""Have a large language model write claims that passages support, refute or leave open.

    python training/claim_writer.py --examples examples.npz --made made.npz --model FOLDER \
        --tokenizer tokenizer.json --ranker reranker.npz --output written.npz --seconds 240

First it learns, from labelled claims and the passages they were put to, to write the claim when it
is told the answer. Then it is shown passages of every document at hand, in an order that chance
decides, until its time is over. What it wrote is put to the passages that `--ranker` likes best, as
it will be when it is used. Only `large_teacher.py` says what they really say of it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import verdict
from claims import Claim, write_claims
from large_reader import text_of, thick, thin
from large_teacher import load
from questions import Row, learn, write
from tokenizers import Tokenizer
from torch import nn
from weights import judge_of, read_weights

from examples import CLS, SEP, Examples, applied

ASKED: Final = "Evidence: {evidence}\nA claim in the manner of {style} that is {answer}:"
ANSWERS: Final = ("true", "false", "unknown")
WANTED: Final = (0.34, 0.4, 0.26)  # how often each is asked for
LEARNED: Final[Mapping[str, tuple[float, int]]] = {  # which share of a data set, and how often
    "scifact": (1.0, 4),
    "check_covid": (1.0, 2),
    "fm2": (0.4, 1),
    "feverous": (0.4, 1),
    "toy": (1.0, 12),
}
WRITTEN: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {  # manner, and claims a document
    "made-scifact": (("scifact", 10), ("check_covid", 1)),
    "made-covidqa": (("scifact", 30), ("check_covid", 30)),
    "check_covid": (("check_covid", 8), ("scifact", 4)),
    "fm2": (("fm2", 2),),
    "feverous": (("feverous", 2),),
    "clapnq": (("fm2", 4),),
    "toy": (("toy", 2),),
}
READ: Final = 3  # passages that its writer sees
FEWEST_TOKENS: Final = 10  # of a passage that a claim is written about
FEWEST_PIECES, MOST_PIECES = 4, 90  # of a claim
AT_ONCE: Final = 1024
LIKELIEST: Final = 50  # tokens that the next one is drawn from


@dataclass(frozen=True)
class Task:
    """A claim to be written."""

    document: int
    style: str
    shown: tuple[int, ...]  # passages
    meant: int


@dataclass(frozen=True)
class Voice:
    """The model with both ways of reading."""

    model: Any
    pieces: Tokenizer
    own: Tokenizer
    end: int
    examples: Examples

    def prompt(self, style: str, shown: Sequence[int], meant: int) -> list[int]:
        """Return what the model goes on from."""
        ids, second = verdict.framed(self.examples, [], shown)
        evidence = text_of(self.pieces, ids[second:])
        asked = ASKED.format(evidence=evidence, style=style, answer=ANSWERS[meant])
        found: list[int] = self.own.encode(asked, add_special_tokens=False).ids
        return found

    def answer(self, claim: Sequence[int]) -> list[int]:
        """Return a claim as the model is to write it, with its end."""
        text = " " + self.pieces.decode(list(map(int, claim)))
        return [*self.own.encode(text, add_special_tokens=False).ids, self.end]


def lessons(
    voice: Voice,
    queries: Sequence[int],
    orders: Mapping[int, Sequence[int]],
    chance: random.Random,
) -> list[Row]:
    """Return prompts and the claims that people wrote, shuffled."""
    rows: list[Row] = []
    examples = voice.examples
    for query in queries:
        source, label = examples.source(query), examples.label(query)
        share, times = LEARNED.get(source, (0.0, 0))
        if chance.random() >= share:
            continue
        gold = examples.gold(query) if label != verdict.NOT_ENOUGH else []
        others = [p for p in orders[query] if p not in set(gold)]
        shown = [*gold, *others][:READ]
        chance.shuffle(shown)
        row = voice.prompt(source, shown, label), voice.answer(examples.query(query).tolist())
        rows += [row] * times
    chance.shuffle(rows)
    return rows


def tasks(examples: Examples, chance: random.Random, held_out: int | None) -> list[Task]:
    """Choose what to write about, in an order that chance decides."""
    found: list[Task] = []
    for document, (source, first, end, fold) in enumerate(examples.documents.tolist()):
        long = [p for p in range(first, end) if len(examples.passage(p)) >= FEWEST_TOKENS]
        if fold == held_out or not long:
            continue
        for style, times in WRITTEN.get(examples.names[source], ()):
            for _ in range(times):
                about = chance.choice(long)
                others = chance.sample(long, min(len(long), READ))
                shown = [about, *[p for p in others if p != about]][:READ]
                chance.shuffle(shown)
                meant = chance.choices(range(len(WANTED)), WANTED)[0]
                found.append(Task(document, style, tuple(shown), meant))
    chance.shuffle(found)
    return found


@torch.no_grad()
def best_passages(
    ranker: nn.Module,
    examples: Examples,
    asked: Sequence[tuple[int, Sequence[int]]],
    device: torch.device,
) -> list[list[int]]:
    """Return the passages of its document that a judge likes best for each claim."""
    pairs, sizes = [], []
    for document, claim in asked:
        _, first, end, _ = examples.documents[document].tolist()
        for passage in range(first, end):
            words = examples.passage(passage)[: verdict.MOST - len(claim) - 3].tolist()
            pairs.append(([CLS, *claim, SEP, *words, SEP], len(claim) + 2))
        sizes.append(end - first)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        said = applied(ranker, pairs, device, 1 << 16)[:, 0].float().cpu().numpy()
    found, at = [], 0
    for (document, _), size in zip(asked, sizes, strict=True):
        first = int(examples.documents[document, 1])
        order = np.argsort(-said[at : at + size], kind="stable")[: verdict.EVIDENCE]
        found.append([first + int(i) for i in order])
        at += size
    return found


def written(
    voice: Voice, some: Sequence[Task], ranker: nn.Module, device: torch.device
) -> Iterator[Claim]:
    """Write claims; yield those of a good length that are new, with their passages."""
    prompts = [voice.prompt(task.style, task.shown, task.meant) for task in some]
    said = write(voice.model, prompts, device, AT_ONCE, voice.end, LIKELIEST)
    texts = [voice.own.decode(ids).strip() for ids in said]
    claims: dict[tuple[int, str], tuple[list[int], int]] = {}
    for task, text in zip(some, texts, strict=True):
        ids = voice.pieces.encode(text, add_special_tokens=False).ids
        if FEWEST_PIECES <= len(ids) <= MOST_PIECES and "\n" not in text:
            claims.setdefault((task.document, text), (ids, task.meant))
    if not claims:
        return
    asked = [(document, ids) for (document, _), (ids, _) in claims.items()]
    shown = best_passages(ranker, voice.examples, asked, device)
    for (ids, meant), passages in zip(claims.values(), shown, strict=True):
        yield Claim(tuple(ids), tuple(passages), meant)


def main() -> None:
    """Learn, write, save as it goes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--made", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="a folder of transformers")
    parser.add_argument("--tokenizer", type=Path, required=True, help="of the word pieces")
    parser.add_argument("--ranker", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="of all its work")
    parser.add_argument("--fold", type=int, help="held out: none of its claims is learned")
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    write_claims(given.output, [])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(given.seed)
    chance = random.Random(given.seed)
    examples = Examples(given.examples, given.fold, given.made)
    pieces = Tokenizer.from_file(str(given.tokenizer))
    own = Tokenizer.from_file(str(given.model / "tokenizer.json"))
    model: Any = load(given.model)
    thin(model.model, given.rank)
    model.to(device)
    end = int(own.encode("\n", add_special_tokens=False).ids[0])
    voice = Voice(model, pieces, own, end, examples)
    ranker = judge_of(read_weights(given.ranker), device)
    queries = [
        q
        for q in range(len(examples))
        if examples.label(q) >= 0
        and examples.source(q) in LEARNED
        and (given.fold is None or not examples.is_dev(q))
    ]
    orders = verdict.orders_of(ranker, examples, queries, device)
    model.lm_head.requires_grad_(requires_grad=False)
    learn(model, lessons(voice, queries, orders, chance), device, rate=1.5e-4, size=16, end=end)
    model.eval()
    thick(model.model)
    wanted = tasks(examples, chance, given.fold)
    found: list[Claim] = []
    for at in range(0, len(wanted), AT_ONCE):
        if time.perf_counter() - began > given.seconds:
            break
        found += written(voice, wanted[at : at + AT_ONCE], ranker, device)
        write_claims(given.output, found)
        print(f"{time.perf_counter() - began:.0f} s, {len(found)} claims", flush=True)
    for claim in found[:: max(1, len(found) // 20)]:
        print(ANSWERS[claim.meant], "|", pieces.decode(list(claim.words)), flush=True)


if __name__ == "__main__":
    main()
