"""How to trust several voices at once: weights of z-scores, chosen on other kinds than they serve.

    python training/blend.py --examples examples.npz --lexical lexical.npz --kinds build/kinds \
        --voices bm25 A-bge keep03

For each kind left out, the weights are those that do best on average over the other kinds; so the
figure says what a blend is worth on documents that neither the models nor the weights have seen.
Each voice is standardized over the document. `all` are the weights best on all kinds together.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from kinds import KINDS
from table import by_kind, difference, figures, line, of_query, standardized

from examples import Examples, read_logits

STEPS = 10  # the weights are multiples of one part in so many


def shares(voices: int, steps: int = STEPS) -> Iterator[tuple[float, ...]]:
    """Go through all weights that add up to 1."""
    if voices == 1:
        yield (steps / STEPS,)
        return
    for first in range(steps + 1):
        for rest in shares(voices - 1, steps - first):
            yield (first / STEPS, *rest)


def blended(
    examples: Examples, said: Sequence[Mapping[int, np.ndarray]], weights: Sequence[float]
) -> dict[int, float]:
    """Return nDCG@10 of each query that every voice has spoken about."""
    queries = set.intersection(*(set(one) for one in said))
    return {
        query: of_query(
            examples,
            query,
            np.sum([w * one[query] for w, one in zip(weights, said, strict=True)], 0),
        )
        for query in sorted(queries)
    }


def main() -> None:
    """Try all weights, and print what they are worth where they were not chosen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--lexical", type=Path, required=True)
    parser.add_argument("--kinds", type=Path, required=True)
    parser.add_argument("--voices", nargs="+", required=True)
    parser.add_argument("--against", help="a system to compare with")
    given = parser.parse_args()
    examples = Examples(given.examples, None)
    raw = [
        read_logits([given.lexical], examples)
        if voice == "bm25"
        else figures(examples, given.kinds / voice)[1]
        for voice in given.voices
    ]
    asked = set.intersection(*(set(one) for one in raw))
    said = [{query: standardized(one[query]) for query in asked} for one in raw]
    tried = {weights: blended(examples, said, weights) for weights in shares(len(said))}
    told = {weights: by_kind(examples, values) for weights, values in tried.items()}
    chosen: dict[int, float] = {}
    print(line(["kind", *given.voices, "nDCG@10"]))
    for kind in KINDS:
        best = max(told, key=lambda w: np.mean([v for k, v in told[w].items() if k != kind]))
        own = {q: v for q, v in tried[best].items() if examples.source(q) in KINDS[kind]}
        chosen |= own
        print(line([kind, *(f"{w:g}" for w in best), f"{told[best][kind]:.1f}"]))
    mean = np.mean(list(by_kind(examples, chosen).values()))
    best = max(told, key=lambda w: np.mean(list(told[w].values())))
    print(line(["all", *(f"{w:g}" for w in best), f"{np.mean(list(told[best].values())):.1f}"]))
    print(f"mean over kinds left out: {mean:.1f}")
    if given.against:
        other = figures(examples, given.kinds / given.against)[0].outside
        for kind, apart in difference(examples, chosen, other).items():
            print(f"{kind}, less {given.against}: " + "{:+.1f} [{:+.1f}, {:+.1f}]".format(*apart))


if __name__ == "__main__":
    main()
