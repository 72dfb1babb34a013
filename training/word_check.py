"""Do an aligner's prices tell words that mean the same from words that do not?

    python training/word_check.py --examples examples.npz --words words.npz --weights weights.npz \
        --tokenizer tokenizer.json --recipe '{"gist": 384}'

Replaces words of held-out queries that are never replaced in training: by another query's word, by
a friend, by a foe (`word_pairs.py`), and prices them in the marked passage. Then a list of pairs
written by hand, each with its price, and what the passage meets the word with at which price.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from aligner import texts_of
from aligner_model import DEAREST, Aligner, Recipe, part, picked, places, start_model
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F
from vocabulary import Vocabulary, spans
from weights import read_weights
from word_losses import OPPOSED, RENAMED, SWAPPED, among, variants_of
from words import marks

from examples import Examples

LIKELY = 0.5  # a word is met where P is at least this
# Query, passage, word of the query, word of the passage, whether the one should meet the other.
_PAIRS = """
Which physician treated him?|The doctor saw him twice in May.|physician|doctor|met
Can either side cancel the deal?|Each party may terminate this Agreement.|cancel|terminate|met
Did profits decline last year?|Net income fell to $12 million.|decline|fell|met
Which antihypertensive was given?|Patients received lisinopril.|antihypertensive|lisinopril|met
Who bought the start-up?|Acme was acquired by Widget Ltd.|bought|acquired|met
Was mortality reduced?|Deaths diminished after treatment.|reduced|diminished|met
Who will create the committee?|A committee was instituted by the board.|create|instituted|met
Which LLM did they use?|The survey was published in 2024.|llm|2024|not
Which company filed?|Revenue grew in 2023 by a tenth.|company|2023|not
May either party assign it?|Neither party may assign this Agreement.|either|neither|not
Does stress lower resilience?|We saw a decrease in sleep quality.|resilience|decrease|not
Cash from financing activities?|Cash used in investing activities was $3m.|financing|investing|not
"""
PAIRS = tuple(tuple(line.split("|")) for line in _PAIRS.strip().splitlines())


@torch.no_grad()
def replaced_words(
    model: Aligner, examples: Examples, vocabulary: Vocabulary, device: torch.device, most: int
) -> dict[str, Any]:
    """Return how words that were put into held-out queries are priced in marked passages."""
    chance = random.Random(0)
    queries = [q for q in examples.held() if examples.gold(q)]
    queries = chance.sample(queries, min(most, len(queries)))
    told: dict[int, list[tuple[float, float]]] = {kind: [] for kind in range(3)}
    for at in range(0, len(queries), 32):
        some = queries[at : at + 32]
        asked, shown = texts_of(examples, some, [examples.gold(q)[0] for q in some])
        other = part(model.read(shown, device, 1 << 15, asked=False), len(some))
        keys = other.keys.cpu().numpy()
        known = [(text, places(text[1], model.recipe)) for text in asked]
        seen = [set(one.ravel().tolist()) for one in keys]
        variants = variants_of(vocabulary, known, seen, chance, held=True)
        if not variants:
            continue
        source = [one.row for one in variants]
        changed = model.read([one.text for one in variants], device, 1 << 15, asked=True)
        near = model.cosines(changed, picked(other, source))
        kin = among(keys[source], variants)
        for row, one in enumerate(variants):
            prices = price(model, near[row, 0, one.place]).cpu().numpy()
            stood = keys[one.row, 0] == one.before
            if one.kind == RENAMED:
                told[RENAMED].append((float(prices.min()), float(prices[stood].min())))
            elif not kin[row].any():
                told[one.kind].append((float(prices.min()), 0.0))
    limit = -np.log(LIKELY)
    best = {kind: np.array([one[0] for one in some]) for kind, some in told.items()}
    there = np.array([one[1] for one in told[RENAMED]])
    return {
        "auc": auc(best[RENAMED], best[SWAPPED]),
        "auc_foes": auc(best[RENAMED], best[OPPOSED]),
        "swapped_met": round(float((best[SWAPPED] <= limit).mean()), 3),
        "foes_met": round(float((best[OPPOSED] <= limit).mean()), 3),
        "renamed_met": round(float((best[RENAMED] <= limit).mean()), 3),
        "renamed_met_there": round(float((there <= limit).mean()), 3),
        "n": [len(best[kind]) for kind in range(3)],
        "quartiles": {
            name: np.quantile(best[kind], (0.25, 0.5, 0.75)).round(2).tolist()
            for name, kind in (("swapped", SWAPPED), ("renamed", RENAMED), ("foes", OPPOSED))
        },
    }


def price(model: Aligner, cosines: Tensor) -> Tensor:
    """Return what words cost that are met with these cosines."""
    return F.softplus((model.offset[0] - model.steep[0] * cosines).clamp(max=DEAREST))


def auc(low: np.ndarray, high: np.ndarray) -> float:
    """Return how often one of the first is below one of the second."""
    return round(float((low[:, None] < high).mean() + 0.5 * (low[:, None] == high).mean()), 3)


@torch.no_grad()
def by_hand(model: Aligner, tokenizer: Tokenizer, device: torch.device) -> list[str]:
    """Return a line for each pair of the list."""
    lines = []
    for asked, text, word, other, met in PAIRS:
        known = []
        for one in (asked, text):
            encoding = tokenizer.encode(one, add_special_tokens=False)
            known.append((np.array(encoding.ids), np.array(marks(one, encoding))))
        names = []
        for ids, some in known:
            found = spans(some, places(some, model.recipe))
            names.append([tokenizer.decode(ids[a:b].tolist()) for a, b in found])
        query = model.read(known[:1], device, 1 << 15, asked=True)
        passage = part(model.read(known[1:], device, 1 << 15, asked=False), 1)
        prices = price(model, model.cosines(query, passage)[0, 0]).cpu()
        row, place = names[0].index(word), names[1].index(other)
        best = int(prices[row].argmin())
        share = float(query.weights[0, row])
        lines.append(
            f"{met} {word} -> {other} {prices[row, place]:.2f}, best"
            f" {names[1][best]} {prices[row, best]:.2f}, weight {share:.2f} of {len(names[0])}"
        )
    return lines


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--words", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--recipe", default="{}")
    parser.add_argument("--most", type=int, default=1500, help="queries")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vocabulary = Vocabulary.read(given.words)
    recipe = Recipe(**json.loads(given.recipe))
    model = start_model(recipe, read_weights(given.weights), vocabulary=vocabulary)
    model = model.to(device).eval()
    examples = Examples(given.examples, 0)
    told = replaced_words(model, examples, vocabulary, device, given.most)
    numbers = [model.steep, model.offset, model.share, model.scale]
    numbers += [model.mix.softmax(0)] if recipe.mix else []
    numbers += [model.rarity_share] if recipe.rare else []
    told["numbers"] = [one.detach().cpu().numpy().round(3).tolist() for one in numbers]
    print(json.dumps(told))
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    print("\n".join(by_hand(model, tokenizer, device)), flush=True)


if __name__ == "__main__":
    main()
