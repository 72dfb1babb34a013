"""The aligner: every content word of a query is met by the word of a passage that suits it best.

    python training/aligner.py --examples build/training/examples.npz --start start.npz \
        --output build/training/aligner [--recipe '{"dimensions": 128}'] [--teacher judge.npz …]

`aligner_model.py` says how it scores. It learns like the judge, from lists of one marked passage
against others; from a teacher that reads pairs if one is given; and, with the words that
`word_pairs.py` writes, from queries of which one word was replaced (`word_losses.py`).
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from aligner_model import Aligner, Read, Recipe, part, picked, places, start_model
from descent import descend
from judge import agreement, drawn, heard, listed, scores
from metrics import by_source, ndcg
from opinions import Opinions, doubted, read_opinions
from rates import freeze, groups
from torch import Tensor, nn
from torch.nn import functional as F
from unmarked import Text, Unmarked
from vocabulary import Vocabulary
from weights import judge_of, read_weights, save
from word_losses import Variant, among, unchanged, variants_of, word_losses

from examples import CLS, SEP, Examples, View, applied, read_logits


def texts_of(
    examples: Examples, queries: Sequence[int], passages: Sequence[int]
) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[tuple[np.ndarray, np.ndarray]]]:
    """Return ids and marks of queries and of passages."""
    return (
        [(examples.query(q), examples.query_words(q)) for q in queries],
        [(examples.passage(p), examples.passage_words(p)) for p in passages],
    )


def list_scores(
    model: Aligner,
    examples: Examples,
    rows: Sequence[tuple[int, Sequence[int]]],
    device: torch.device,
    chance: random.Random | None = None,
    unmarked: Sequence[tuple[Text, Sequence[int]]] = (),
) -> tuple[Tensor, Tensor]:
    """Return the scores of lists of passages of one length, and the losses about their words.

    Words are replaced where there is a chance to draw them with. Unmarked lists come last.
    """
    recipe = model.recipe
    flat = [p for _, passages in (*rows, *unmarked) for p in passages]
    asked, shown = texts_of(examples, [q for q, _ in rows], flat)
    asked += [text for text, _ in unmarked]
    query = model.read(asked, device, 1 << 15, asked=True)
    other = part(model.read(shown, device, 1 << 15, asked=False), len(asked))
    near = model.cosines(query, other)
    best = near.amax(-1)
    whole = torch.einsum("qd,qcd->qc", query.whole, other.whole)
    found = model.score(best, whole, query.weights, model.fits(query, other, near))
    lost = found.new_zeros(())
    if recipe.apart:
        real = query.there[:, None, :]
        same = (query.keys[:, None, :, None] == other.keys[:, :, None, :]).any(-1) & real
        away = [[p not in examples.pool(q) for p in passages] for q, passages in rows]
        away += [[False] * len(passages) for _, passages in unmarked]
        foreign = torch.tensor(away, device=device)[..., None] & real
        same[len(rows) :] = False
        lost = lost + recipe.apart * model.strayed(best, same, foreign)
    if chance and model.vocabulary is not None and (recipe.swapped or recipe.renamed):
        keys = other.keys.cpu().numpy()
        known = [(text, places(text[1], recipe)) for text in asked[: len(rows)]]
        seen = [set(one.ravel().tolist()) for one in keys[: len(rows)]]
        variants = variants_of(model.vocabulary, known, seen, chance)
        if variants:
            lost = lost + varied(model, variants, query, other, best, keys)
    return found, lost


def varied(
    model: Aligner,
    variants: Sequence[Variant],
    query: Read,
    other: Read,
    best: Tensor,
    keys: np.ndarray,
) -> Tensor:
    """Return the losses about queries with one word replaced."""
    recipe, device = model.recipe, best.device
    source = [one.row for one in variants]
    changed = model.read([one.text for one in variants], device, 1 << 15, asked=True)
    passages = picked(other, source)
    raised = model.steep[0] * model.cosines(changed, passages) - model.offset[0]
    at = torch.tensor([one.place for one in variants], device=device)
    rows = torch.arange(len(variants), device=device)
    kin = torch.from_numpy(among(keys[source], variants)).to(device)
    before = torch.tensor([one.before for one in variants], device=device)
    unmet, met = word_losses(
        raised[rows, :, at],
        passages.there,
        kin,
        passages.keys == before[:, None, None],
        torch.tensor([one.kind for one in variants], device=device),
    )
    size = min(raised.shape[2], best.shape[2])
    real = changed.there[:, :size] & query.there[source][:, :size]
    real = real & (torch.arange(size, device=device) != at[:, None])
    now, then = raised.amax(-1)[..., :size], model.steep[0] * best[source] - model.offset[0]
    kept = unchanged(now, then[..., :size], real[:, None, :].expand_as(now))
    return recipe.swapped * unmet + recipe.renamed * met + recipe.steady * kept


def teachers_of(paths: Sequence[Path], device: torch.device) -> list[nn.Module]:
    """Return judges to be asked; on a GPU in half precision, for they are asked a lot."""
    found = [judge_of(read_weights(path), device) for path in paths]
    return [one.to(torch.bfloat16) if device.type == "cuda" else one for one in found]


def said_by(
    teachers: Sequence[nn.Module],
    examples: Examples,
    lists: Sequence[tuple[Text, Sequence[int]]],
    device: torch.device,
) -> Tensor:
    """Return the teachers' mean opinion of lists, all spread as widely as the first one's."""
    pairs = []
    for (ids, _), passages in lists:
        asked = ids.tolist()
        for passage in passages:
            words = examples.passage(passage)[: View().most - len(asked) - 3].tolist()
            pairs.append(([CLS, *asked, SEP, *words, SEP], len(asked) + 2))
    said: list[Tensor] = []
    for teacher in teachers:
        one = applied(teacher, pairs, device, 1 << 16).float().view(len(lists), -1)
        one = one - one.mean(-1, keepdim=True)
        said.append(one if not said else one * (said[0].std() / one.std().clamp(min=1e-3)))
    return torch.stack(said).mean(0)


def fit(
    model: Aligner,
    examples: Examples,
    recipe: Recipe,
    device: torch.device,
    teachers: Sequence[nn.Module] = (),
    opinions: Opinions = MappingProxyType({}),
) -> None:
    """Train in place; `opinions` are logits of judges that had not seen a query's document.

    Of marked lists only the first teacher is asked, of unmarked ones all of them.
    """
    torch.manual_seed(recipe.seed)
    if recipe.frozen is not None:
        freeze(model.bert, recipe.frozen)
    steps = []
    for epoch in range(recipe.epochs):
        order = [q for q in listed(examples, recipe, epoch) if examples.gold(q)]
        steps += [order[i : i + recipe.queries] for i in range(0, len(order), recipe.queries)]
    adam = torch.optim.AdamW(
        groups(
            model,
            model.bert,
            recipe.rate,
            recipe.decay,
            recipe.by_layer,
            recipe.new,
            recipe.scalars,
        ),
        lr=recipe.rate,
        fused=device.type == "cuda",
    )
    chance = random.Random(recipe.seed)
    others = Unmarked(examples, recipe.without) if recipe.unmarked else None

    def loss(queries: Sequence[int]) -> Tensor:
        rows = [(q, drawn(examples, q, recipe, {}, chance)[0]) for q in queries]
        lists = []
        if others:
            size, hard = recipe.candidates, recipe.hard
            lists = [others.draw(size, hard, chance) for _ in range(recipe.unmarked)]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            every, lost = list_scores(model, examples, rows, device, chance, lists)
            every = every.float()
            found = every[: len(rows)]
            total = F.cross_entropy(found, torch.zeros(len(rows), dtype=torch.long, device=device))
            total = total + lost
            told = [i for i, (q, _) in enumerate(rows) if q in opinions] if recipe.heard else []
            if told:
                thought = heard(examples, [rows[i] for i in told], opinions).to(device)
                total = total + recipe.heard * agreement(found[told], thought, recipe.softness)
            if recipe.teach:
                pairs = [(q, p) for q, passages in rows for p in passages]
                with torch.no_grad(), torch.autocast(device.type, enabled=False):
                    own = scores(teachers[0], examples, pairs, View(), device, 1 << 16)
                own = own.view(len(rows), -1)
                total = total + recipe.teach * agreement(found, own, recipe.softness)
            if lists:
                with torch.no_grad(), torch.autocast(device.type, enabled=False):
                    said = said_by(teachers, examples, lists, device)
                apart = agreement(every[len(rows) :], said, recipe.softness)
                total = total + recipe.unmarked_weight * apart
        return total

    descend(model, adam, steps, loss, warm_up=recipe.warm_up, average=recipe.average)


@torch.no_grad()
def ranked(
    model: Aligner, examples: Examples, queries: Sequence[int], device: torch.device
) -> list[np.ndarray]:
    """Return, for each query, the scores of all passages of its document."""
    found: dict[int, np.ndarray] = {}
    by_document: dict[int, list[int]] = {}
    for query in queries:
        by_document.setdefault(examples.document(query), []).append(query)
    groups_of: list[list[int]] = [[]]  # whole documents, some thousand passages at a time
    size = 0
    for document, some in by_document.items():
        groups_of[-1].append(document)
        size += len(examples.pool(some[0]))
        if size > 4000:
            groups_of.append([])
            size = 0
    for documents in filter(None, groups_of):
        pools = {d: examples.pool(by_document[d][0]) for d in documents}
        passages = [p for pool in pools.values() for p in pool]
        here = [q for d in documents for q in by_document[d]]
        asked, shown = texts_of(examples, here, passages)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            asking = model.read(asked, device, 1 << 16, asked=True)
            telling = model.read(shown, device, 1 << 16, asked=False)
        at = dict(zip(pools, np.cumsum([0, *map(len, pools.values())]), strict=False))
        for row, number in enumerate(here):
            first = int(at[examples.document(number)])
            here_at = torch.arange(first, first + len(examples.pool(number)), device=device)
            one, other = picked(asking, [row]), part(picked(telling, here_at), 1)
            near = model.cosines(one, other)
            fits = model.fits(one, other, near)
            whole = other.whole[0] @ asking.whole[row]
            told = model.score(
                near[0].amax(-1).float(),
                whole.float(),
                asking.weights[row].float(),
                None if fits is None else fits[0],
            )
            found[number] = told.float().cpu().numpy()
    return [found[query] for query in queries]


def evaluate(
    model: Aligner, examples: Examples, queries: Sequence[int], device: torch.device
) -> dict[str, object]:
    """Return nDCG@10 by data set."""
    dev = [q for q in queries if examples.gold(q)]
    found: dict[str, list[float]] = {}
    for query, said in zip(dev, ranked(model, examples, dev, device), strict=True):
        first = examples.pool(query).start
        value = ndcg(said, {g - first for g in examples.gold(query)})
        found.setdefault(examples.source(query), []).append(value)
    return by_source(found)


def main() -> None:
    """Train one recipe, print how it does on what it has not seen, save the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, nargs="+", default=[], help="weights of judges")
    parser.add_argument("--taught", type=Path, nargs="+", help="logits of documents unseen by them")
    parser.add_argument("--made", type=Path, help="queries that a machine wrote, of made.py")
    parser.add_argument("--opinions", type=Path, nargs="+", help="what teachers think of them")
    parser.add_argument("--report", type=Path, help="examples of the report part, to measure with")
    parser.add_argument("--words", type=Path, help="friends and foes, of word_pairs.py")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--unmeasured", action="store_true", help="only train and save")
    parser.add_argument("--recipe", default="{}")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(**json.loads(given.recipe))
    examples = Examples(given.examples, recipe.fold)
    began = time.perf_counter()
    teachers = teachers_of(given.teacher, device)
    words = Vocabulary.read(given.words) if given.words else None
    model = start_model(recipe, read_weights(given.start), vocabulary=words).to(device)
    taught_by = dict(read_logits(given.taught, examples)) if given.taught else {}
    lessons = examples
    if given.made:
        lessons = Examples(given.examples, recipe.fold, given.made)
        opinions = read_opinions(given.opinions, given.made, len(examples))
        lessons.skipped = doubted(lessons, opinions)
        taught_by |= opinions
    fit(model, lessons, recipe, device, teachers, taught_by)
    if given.report:
        report = Examples(given.report, None)
        told = evaluate(model, report, report.held(), device)
        print(json.dumps({"report": told}), flush=True)
    if given.unmeasured:
        save(model, given.output)
        return
    told = evaluate(model, examples, examples.held(recipe.without), device)
    seconds = round(time.perf_counter() - began, 1)
    print(json.dumps({"recipe": asdict(recipe), **told, "seconds": seconds}), flush=True)
    if given.output:
        save(model, given.output)


if __name__ == "__main__":
    main()
