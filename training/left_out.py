"""Train without a kind of document, measure on it: one run of the table that decides.

    python training/left_out.py --examples examples.npz --start reranker.npz --model judge \
        --name plain --leave contracts --recipe '{"epochs": 2}' --shares 0.5 1 --output build/kinds

Writes what the model says of every passage to `OUTPUT/NAME/KINDS.npz`, for sampled queries about
the kinds left out and, to know what that costs at home, about fold 0 of the others, which no model
here learns from. A judge can be measured mixed with the weights it began with: `NAME@0.5`.
`--model dense` measures an embedder as it comes, and a judge of no epochs is a reranker as it
comes. `table.py` makes the table of it, and `sweep.py` runs many of these at once.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import aligner
import judge
import numpy as np
import torch
from bert import MINILM, Bert, Scorer, Shape, layers_in, load
from kinds import KINDS, sampled, sources_of
from opinions import doubted, read_opinions
from torch import Tensor, nn
from torch.nn import functional as F
from vocabulary import Vocabulary
from weights import judge_of, read_weights, save

from examples import CLS, SEP, Examples, View, applied, read_logits, write_logits


class FirstToken(nn.Module):
    """An embedder whose vector of a text is the state of its first token."""

    def __init__(self, start: Mapping[str, Tensor], shape: Shape = MINILM) -> None:
        super().__init__()
        self.bert = Bert(replace(shape, layers=layers_in(start)), 0.0)
        load(self.bert, start)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Return a vector of length 1 for each text."""
        return F.normalize(self.bert(ids, torch.zeros_like(kinds), mask)[:, 0].float(), dim=-1)


@torch.no_grad()
def cosines(
    model: nn.Module, examples: Examples, queries: Sequence[int], device: torch.device
) -> list[np.ndarray]:
    """Return, for each query, its cosine with all passages of its document."""
    passages = sorted({p for q in queries for p in examples.pool(q)})
    place = {p: i for i, p in enumerate(passages)}
    texts = [examples.passage(p) for p in passages] + [examples.query(q) for q in queries]
    framed = [([CLS, *text[:510].tolist(), SEP], 512) for text in texts]
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        vectors = applied(model, framed, device, 1 << 16)
    found = []
    for row, query in enumerate(queries):
        first = place[examples.pool(query).start]
        part = vectors[first : first + len(examples.pool(query))]
        found.append((part @ vectors[len(passages) + row]).cpu().numpy())
    return found


def mixed_with(
    model: Scorer, start: Mapping[str, Tensor], share: float, device: torch.device
) -> Scorer:
    """Return a judge between the weights it began with (0) and its own (1)."""
    first = judge_of(start, device, model.bert.shape).state_dict()
    between = {
        name: (1 - share) * first[name].float() + share * value.float()
        for name, value in model.state_dict().items()
    }
    other = judge_of(start, device, model.bert.shape)
    other.load_state_dict(between)
    return other.eval()


def trained(given: argparse.Namespace, recipe: Mapping[str, Any], device: torch.device) -> Any:
    """Return the model of a run, trained as its recipe says."""
    start = read_weights(given.start)
    fields = {**recipe, "without": sources_of(given.leave), "fold": 0}
    examples = Examples(given.examples, 0)
    if given.model == "dense":
        return FirstToken(start).to(device).eval()
    if given.model == "aligner":
        shape = aligner.Recipe(**fields)
        words = Vocabulary.read(given.words) if given.words else None
        model = aligner.start_model(shape, start, vocabulary=words).to(device)
        teachers = aligner.teachers_of(given.teacher, device)
        lessons = Examples(given.examples, 0, given.made) if given.made else examples
        opinions = read_opinions(given.opinions, given.made, len(examples)) if given.made else {}
        lessons.skipped = doubted(lessons, opinions)
        aligner.fit(model, lessons, shape, device, teachers, opinions)
        return model
    lessons, opinions = examples, {}
    if given.opinions:
        lessons = Examples(given.examples, 0, given.made)
        opinions = read_opinions(given.opinions, given.made, len(examples))
        lessons.skipped = doubted(lessons, opinions)
    taught = read_logits(given.taught, examples)
    plan = judge.Recipe(**fields)
    return judge.train(lessons, plan, start, device, opinions=opinions, taught_by=taught)


def write_said(
    folder: Path, leave: Sequence[str], queries: Sequence[int], said: Sequence[np.ndarray]
) -> None:
    """Write what a model said, under the kinds it was trained without."""
    write_logits(folder / ("+".join(leave) + ".npz"), dict(zip(queries, said, strict=True)))


def main() -> None:
    """Train one model without some kinds, and write what it says of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--model", choices=("judge", "aligner", "dense"), required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--leave", nargs="+", choices=KINDS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--recipe", default="{}")
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0])
    parser.add_argument("--teacher", type=Path, nargs="+", default=[], help="of an aligner")
    parser.add_argument("--words", type=Path, help="friends and foes, for an aligner")
    parser.add_argument("--made", type=Path, help="queries that a machine wrote, for a judge")
    parser.add_argument("--opinions", type=Path, nargs="+", help="what teachers think of them")
    parser.add_argument("--taught", type=Path, nargs="+", default=[], help="as for judge.py")
    parser.add_argument("--most", type=int, default=250, help="queries of each data set")
    parser.add_argument("--inside", type=int, default=50, help="the same, of kinds not left out")
    parser.add_argument("--weights", type=Path, help="where to keep the trained ones")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    began = time.perf_counter()
    model = trained(given, json.loads(given.recipe), device)
    seconds = time.perf_counter() - began
    if given.weights:
        save(model, given.weights)
    examples = Examples(given.examples, 0)
    others = [kind for kind in KINDS if kind not in given.leave]
    queries = sampled(examples, sources_of(given.leave), given.most, None)
    queries += sampled(examples, sources_of(others), given.inside, 0)
    for share in given.shares:
        if given.model == "dense":
            said = cosines(model, examples, queries, device)
        elif given.model == "aligner":
            said = aligner.ranked(model, examples, queries, device)
        else:
            between = model
            if share != 1:
                between = mixed_with(model, read_weights(given.start), share, device)
            said = judge.ranked(between, examples, queries, View(), device)
        name = given.name if share == 1 else f"{given.name}@{share:g}"
        write_said(given.output / name, given.leave, queries, said)
    total = time.perf_counter() - began
    print(f"{given.name} without {given.leave}: {seconds:.0f} s, {total:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
