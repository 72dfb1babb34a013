"""Have SmolLM2-135M write queries about documents that nobody has asked about.

    python training/questions.py --examples build/smol/examples.npz \
        --unasked build/smol/unasked.npz --model SmolLM2-135M-Instruct.Q4_1.gguf \
        --tokenizer smol.json --output build/made.jsonl

First it learns, from the marked cases, to write the query that a passage is evidence for. Then it
is shown passages of `unasked` (`made.py`) and writes in the manner of one data set or another. The
passage shown is what counts as marked until teachers have had their say.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from descent import descend
from smol import END, SmolExamples, load, parser_of
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

# Of the cases of a data set, which share is learned from, and how often; tables are left out.
LEARNED: Final[Mapping[str, tuple[float, int]]] = {
    "scifact": (1.0, 6),
    "qasper": (1.0, 8),
    "covidqa": (1.0, 4),
    "xquad": (1.0, 2),
    "feverous": (0.6, 2),
    "contractnli": (0.15, 2),  # it has seventeen hypotheses, and no more
}
# What is written about a document of each kind: passages shown, and in whose manner.
WRITTEN: Final[Mapping[str, tuple[tuple[int, tuple[str, ...]], ...]]] = {
    "made-scifact": ((3, ("scifact",)), (1, ("covidqa", "qasper", "xquad"))),
    "made-qasper": ((30, ("qasper",)),),
    "made-covidqa": ((16, ("covidqa",)), (6, ("scifact",))),
    "made-xquad": ((3, ("xquad",)),),
    "made-contractnli": ((12, ("feverous", "xquad", "qasper")),),
}
SENTENCES: Final = ("made-scifact", "made-covidqa")  # here a second one is shown now and then
FEWEST_TOKENS, FEWEST_LETTERS = 10, 12  # of a passage that is shown, of a query that is kept
Row = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Task:
    """A query to be written."""

    document: int
    style: str
    shown: tuple[int, ...]  # passages, by their numbers in the file


def lessons(examples: SmolExamples, chance: random.Random) -> list[Row]:
    """Return prompts and the queries that people wrote for them, shuffled."""
    rows: list[Row] = []
    for query in range(len(examples)):
        source, gold = examples.source(query), examples.gold(query)
        share, times = LEARNED.get(source, (0.0, 0))
        if examples.is_dev(query) or not gold or chance.random() > share:
            continue
        shown = sorted(gold if len(gold) <= 3 else chance.sample(gold, 3))
        prompt = examples.prompt(source, examples.document(query), shown)
        rows += [(prompt, [*examples.query(query).tolist(), END])] * times
    chance.shuffle(rows)
    return rows


def learn(
    model: Any,
    rows: Sequence[Row],
    device: torch.device,
    rate: float,
    size: int,
    end: int = END,
) -> None:
    """Teach the model to go on after each prompt as people did; `end` fills short rows."""
    adam = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)

    def loss(step: Sequence[Row]) -> Tensor:
        longest = max(len(prompt) + len(written) for prompt, written in step)
        ids = np.full((len(step), longest), end, np.int64)
        aims = np.full((len(step), longest), -1, np.int64)
        for row, (prompt, written) in enumerate(step):
            both = len(prompt) + len(written)
            ids[row, :both] = [*prompt, *written]
            aims[row, len(prompt) : both] = written
        given, aim = (torch.from_numpy(x).to(device) for x in (ids, aims[:, 1:]))
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            states = model.model(input_ids=given, use_cache=False).last_hidden_state[:, :-1]
            logits = model.lm_head(states[aim >= 0])
        return F.cross_entropy(logits.float(), aim[aim >= 0])

    steps = [rows[i : i + size] for i in range(0, len(rows), size)]
    descend(model, adam, steps, loss, warm_up=0.1)


def tasks(unasked: SmolExamples, chance: random.Random) -> Iterator[Task]:
    """Choose what to write about."""
    for document, (source, first, end, _) in enumerate(unasked.documents.tolist()):
        name = unasked.names[source]
        long = [p for p in range(first, end) if len(unasked.passage(p)) >= FEWEST_TOKENS]
        for wanted, styles in WRITTEN[name]:
            for passage in chance.sample(long, min(wanted, len(long))):
                two = name in SENTENCES and passage + 1 < end and chance.random() < 0.25
                shown = (passage, passage + 1) if two else (passage,)
                yield Task(document, chance.choice(styles), shown)


@torch.no_grad()
def write(
    model: Any,
    prompts: Sequence[Sequence[int]],
    device: torch.device,
    size: int = 512,
    end: int = END,
    likeliest: int = 0,
) -> list[list[int]]:
    """Return what the model writes after each prompt; nothing where it does not come to an end.

    Each token is drawn from the `likeliest`, which is faster where there are many, or from those
    that have 95 % together.
    """
    order = sorted(range(len(prompts)), key=lambda i: -len(prompts[i]))
    found: list[list[int]] = [[] for _ in prompts]
    for at in range(0, len(order), size):
        some = order[at : at + size]
        longest = len(prompts[some[0]])
        ids = np.full((len(some), longest), end, np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(some):
            ids[row, longest - len(prompts[i]) :] = prompts[i]
            mask[row, longest - len(prompts[i]) :] = 1
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            out = model.generate(
                input_ids=torch.from_numpy(ids).to(device),
                attention_mask=torch.from_numpy(mask).to(device),
                do_sample=True,
                temperature=0.9,
                top_p=1.0 if likeliest else 0.95,
                top_k=likeliest,
                max_new_tokens=44,
                pad_token_id=end,
                eos_token_id=end,
            )
        for row, i in enumerate(some):
            said = out[row, longest:].tolist()
            found[i] = said[: said.index(end)] if end in said else []
    return found


def lines(
    unasked: SmolExamples, chosen: Sequence[Task], texts: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Go through what was written, without what is too short or was written before."""
    seen: set[tuple[int, str]] = set()
    for task, text in zip(chosen, texts, strict=True):
        key = task.document, text.lower()
        if len(text) < FEWEST_LETTERS or key in seen:
            continue
        seen.add(key)
        first = int(unasked.documents[task.document, 1])
        gold = [passage - first for passage in task.shown]
        yield {"document": task.document, "style": task.style, "gold": gold, "query": text}


def main() -> None:
    """Learn, write, save."""
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--unasked", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--fold", type=int, default=1, help="held out: no query of it is learned")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    chance = random.Random(7)
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    model = load(given.model).to(device)
    examples = SmolExamples(given.examples, tokenizer, given.fold)
    learn(model, lessons(examples, chance), device, rate=1e-4, size=64)
    unasked = SmolExamples(given.unasked, tokenizer, None)
    chosen = list(tasks(unasked, chance))
    prompts = [unasked.prompt(task.style, task.document, task.shown) for task in chosen]
    texts = [tokenizer.decode(ids).strip() for ids in write(model, prompts, device)]
    written = "".join(f"{json.dumps(line)}\n" for line in lines(unasked, chosen, texts))
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(written, "utf-8")
    print(f"{len(chosen)} asked for, {written.count(chr(10))} written")


if __name__ == "__main__":
    main()
