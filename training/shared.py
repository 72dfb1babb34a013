"""One encoder for two tasks: it judges pairs, and aligns the words of texts read one by one.

    python training/shared.py --examples examples.npz --start reranker.npz --name shared \
        --leave contracts --output build/kinds [--recipe '{"judge": {}, "aligner": {}}']

Each step both learn from the same lists: the judge as in `judge.py`, the aligner as in
`aligner.py`, taught by what the start says of the pairs. Measured on kinds left out, as in
`left_out.py`, under `NAME-judge` and `NAME-aligner`. The question is what it costs to ship one
network instead of two.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import aligner
import judge
import torch
from bert import MINILM
from descent import descend
from kinds import KINDS, sampled, sources_of
from left_out import write_said
from rates import groups
from torch import Tensor, nn
from torch.nn import functional as F
from weights import judge_of, read_weights

from examples import Examples, View


class Shared(nn.Module):
    """A judge and an aligner on one encoder."""

    def __init__(self, scorer: nn.Module, align: aligner.Aligner) -> None:
        super().__init__()
        self.scorer = scorer
        self.align = align


def fit(
    model: Shared,
    examples: Examples,
    judging: judge.Recipe,
    aligning: aligner.Recipe,
    original: nn.Module,
    device: torch.device,
) -> None:
    """Train in place."""
    steps = []
    for epoch in range(judging.epochs):
        order = [q for q in judge.listed(examples, judging, epoch) if examples.gold(q)]
        steps += [order[i : i + judging.queries] for i in range(0, len(order), judging.queries)]
    bert = model.align.bert
    adam = torch.optim.AdamW(
        groups(model.align, bert, judging.rate, judging.decay, 1.0, aligning.new)
        + groups(model.scorer.head, None, judging.rate, judging.decay),
        lr=judging.rate,
        fused=device.type == "cuda",
    )
    chance = random.Random(judging.seed)

    def loss(queries: Sequence[int]) -> Tensor:
        rows = [(q, judge.drawn(examples, q, judging, {}, chance)[0]) for q in queries]
        pairs = [(q, p) for q, passages in rows for p in passages]
        first = torch.zeros(len(rows), dtype=torch.long, device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            with torch.no_grad():
                said = judge.scores(original, examples, pairs, View(), device, 1 << 16)
            said = said.view(len(rows), -1)
            judged = judge.scores(model.scorer, examples, pairs, View(), device, 1 << 15)
            judged = judged.view(len(rows), -1)
            aligned = aligner.list_scores(model.align, examples, rows, device)[0].float()
        total = F.cross_entropy(judged, first) + F.cross_entropy(aligned, first)
        total = total + judging.keep * judge.agreement(judged, said, judging.softness)
        return total + aligning.teach * judge.agreement(aligned, said, aligning.softness)

    descend(model, adam, steps, loss, warm_up=judging.warm_up, average=judging.average)


def main() -> None:
    """Train both without some kinds, and write what they say of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--leave", nargs="+", choices=KINDS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--recipe", default="{}")
    parser.add_argument(
        "--depth", type=int, help="layers the aligner uses; all of them if not said"
    )
    parser.add_argument("--most", type=int, default=250)
    parser.add_argument("--inside", type=int, default=50)
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    fields = json.loads(given.recipe)
    without = sources_of(given.leave)
    judging = judge.Recipe(**{**fields.get("judge", {}), "without": without})
    aligning = aligner.Recipe(**{**fields.get("aligner", {}), "without": without})
    examples = Examples(given.examples, 0)
    start = read_weights(given.start)
    original = judge_of(start, device).requires_grad_(requires_grad=False)
    scorer = judge_of(start, device)
    torch.manual_seed(0)
    align = aligner.Aligner(MINILM, aligning, scorer.bert).to(device)
    align.depth = given.depth
    model = Shared(scorer, align)
    fit(model, examples, judging, aligning, original, device)
    others = [kind for kind in KINDS if kind not in given.leave]
    queries = sampled(examples, without, given.most, None)
    queries += sampled(examples, sources_of(others), given.inside, 0)
    said = judge.ranked(scorer, examples, queries, View(), device)
    write_said(given.output / f"{given.name}-judge", given.leave, queries, said)
    said = aligner.ranked(align, examples, queries, device)
    write_said(given.output / f"{given.name}-aligner", given.leave, queries, said)
    print(f"{given.name} without {given.leave}", flush=True)


if __name__ == "__main__":
    main()
