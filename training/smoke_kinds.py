"""The part of `smoke.py` about kinds left out: gentle training, the aligner, and the table."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import aligner
import judge
import numpy as np
import onnx
import torch
from bert import Shape
from blend import blended, shares
from kinds import sampled
from left_out import mixed_with, write_said
from onnx import TensorProto, helper, numpy_helper
from start_weights import dequantized
from table import difference, figures, standardized
from torch import Tensor
from verdict_pairs import Pair
from vocabulary import Vocabulary
from words import CONTENT, STARTS

from examples import Examples

CPU = torch.device("cpu")
Check = Callable[[str, float, float], None]


def check_kinds(
    path: Path, start: Mapping[str, Tensor], shape: Shape, recipe: judge.Recipe, check: Check
) -> None:
    """Train a judge in every gentle way, and an aligner; compare what they say."""
    examples = Examples(path, fold=0)
    held = sampled(examples, ["toy"], 1000, 0)
    tried = {
        "kept, nDCG@10": replace(recipe, keep=0.1, crossed=0.5),
        "frozen, nDCG@10": replace(recipe, frozen=0, by_layer=0.9),
        "low rank, nDCG@10": replace(recipe, rank=8, rate=1e-2),
    }
    judges = {}
    for name, one in tried.items():
        judges[name] = judge.train(examples, one, start, CPU, shape)
        told, _ = judge.evaluate(judges[name], examples, held, one.view, CPU)
        check(name, told["mean"], 80)
    trained = judges["kept, nDCG@10"]
    half = mixed_with(trained, start, 0.5, CPU).state_dict()
    middle = (trained.state_dict()["head.weight"] + start["head.weight"]) / 2
    check("half way, closeness", 1 - float((half["head.weight"] - middle).abs().max()), 0.99)

    plan = aligner.Recipe(
        epochs=6, rate=3e-3, new=1.0, queries=16, candidates=8, hard=4, elsewhere=1, repeats={},
        dimensions=16, gist=32, most=32, teach=0.1, average=0.3, apart=0.5, scalars=3.0, unmarked=4,
    )  # fmt: skip
    align = aligner.start_model(plan, start, shape)
    aligner.fit(align, examples, plan, CPU, [trained])
    told = aligner.evaluate(align, examples, held, CPU)
    check("aligner, nDCG@10", float(str(told["mean"])), 80)
    plain = replace(plan, apart=0.0)
    loose = aligner.start_model(plain, start, shape)
    aligner.fit(loose, examples, plain, CPU, [trained])
    gained = strayed(loose, examples, held) - strayed(align, examples, held)
    check("  words stray less by", gained, 0.1)
    rows = [(q, list(examples.pool(q))) for q in held]
    whole = aligner.ranked(align, examples, held, CPU)
    listed = aligner.list_scores(align, examples, rows, CPU)[0].detach().numpy()
    check("aligner, same by list", 1 - float(np.abs(np.stack(whole) - listed).max()), 0.99)

    check_replaced(examples, held, plan, start, shape, check)
    check_table(examples, held, whole, check)


def check_replaced(
    examples: Examples,
    held: Sequence[int],
    plan: aligner.Recipe,
    start: Mapping[str, Tensor],
    shape: Shape,
    check: Check,
) -> None:
    """Train an aligner with replaced words: every token is a word, its neighbour means the same."""
    count = shape.vocabulary
    vocabulary = Vocabulary(
        [f"w{i}" for i in range(count)],
        list(range(count)),
        [0] * count,
        np.linspace(-1, 1, count).astype(np.float32),
        [(i,) for i in range(count)],
        [[i ^ 1] if (i ^ 1) < count else [] for i in range(count)],
        [[(i + 7) % count] for i in range(count)],
    )
    plan = replace(
        plan,
        apart=0.0,
        swapped=0.5,
        renamed=0.5,
        mix=(1,),
        rare=0.5,
        sealed=True,
        teach=0.0,
        unmarked=0,
    )
    rows = [(q, [*examples.gold(q)[:1], *list(examples.pool(q))[:3]]) for q in held]

    def lost(model: aligner.Aligner) -> float:
        return aligner.list_scores(model, examples, rows, CPU, random.Random(0))[1].item()

    model = aligner.start_model(plan, start, shape, vocabulary)
    before = lost(model)
    aligner.fit(model, examples, plan, CPU)
    check("replaced words, gain", before - lost(model), 0.1)
    told = aligner.evaluate(model, examples, held, CPU)
    check("aligner of words, nDCG@10", float(str(told["mean"])), 80)
    ids = torch.arange(4, 12)[None]
    words, weights, contexts, gist = model.tokens(ids, torch.ones_like(ids, dtype=torch.bool))
    sizes = (words.shape[1:], weights.shape[1:], contexts.shape[1:], gist.shape[1:])
    check("aligner, sizes", float(sizes == ((8, plan.dimensions), (8,), (8, 0), (plan.gist,))), 1)
    check_contexts(examples, held, plan, start, shape, vocabulary, check)


def check_contexts(
    examples: Examples,
    held: Sequence[int],
    plan: aligner.Recipe,
    start: Mapping[str, Tensor],
    shape: Shape,
    vocabulary: Vocabulary,
    check: Check,
) -> None:
    """Train an aligner whose words have contexts: alone they must rank, and words stay theirs."""
    plan = replace(plan, context=8, fit=1.0, share=-20.0, share_learns=False, renamed=0.0)
    plan = replace(plan, swapped=0.0)
    model = aligner.start_model(plan, start, shape, vocabulary)
    before = model.project.weight.detach().clone()
    aligner.fit(model, examples, replace(plan, decay=0.0), CPU)
    told = aligner.evaluate(model, examples, held, CPU)
    check("contexts alone, nDCG@10", float(str(told["mean"])), 80)
    moved = float((model.project.weight - before).detach().abs().max())
    check("  meanings unmoved", 1 - moved, 1)


def strayed(model: aligner.Aligner, examples: Examples, queries: Sequence[int]) -> float:
    """Return how far the words of queries stray among passages of another document."""
    model.recipe = replace(model.recipe, apart=1.0)
    other = [examples.pool(queries[i - 1]) for i in range(len(queries))]
    rows = [(q, [*examples.gold(q)[:1], *pool]) for q, pool in zip(queries, other, strict=True)]
    return aligner.list_scores(model, examples, rows, CPU)[1].item()


def check_table(
    examples: Examples, held: Sequence[int], said: Sequence[np.ndarray], check: Check
) -> None:
    """Write what a model says as `left_out.py` does, and read it as `table.py` does."""
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        write_said(Path(folder) / "aligner", ["papers"], held, said)
        found, _ = figures(examples, Path(folder) / "aligner")
    check("figures, queries read", len(found.inside), len(held))
    names = examples.names[:]
    examples.names[:] = ["qasper"] * len(names)  # so that the toy is of a kind
    noise = {q: 100 * float(draw.random()) for q in held}
    low, high = difference(examples, dict.fromkeys(held, 100.0), noise)["mean"][1:]
    check("difference, its low end", low, 0)
    check("  width of the interval", high - low, 1)
    first = {q: standardized(one) for q, one in zip(held, said, strict=True)}
    none = {q: np.zeros_like(one) for q, one in first.items()}
    best = max(shares(2), key=lambda w: sum(blended(examples, [first, none], w).values()))
    check("blend, share of the better", best[0], 0.1)
    examples.names[:] = names


def check_start(check: Check) -> None:
    """Round a product of a named place to 8 bits as ONNX does, and read it back as floats."""
    weight = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    scale = np.float32(np.abs(weight).max() / 127)
    rounded = np.round(weight / scale).astype(np.int8)
    zero = np.zeros((), np.int8)
    place = "/bert/encoder/layer.0/output/dense/MatMul_quant"
    inputs = ["x", "m_quantized", "xz", "m_zero_point"]
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", inputs, ["y"], name=place)],
        "toy",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 3])],
        [
            numpy_helper.from_array(np.asarray(value), name)
            for name, value in (
                ("m_quantized", rounded), ("m_zero_point", zero), ("xz", zero), ("m_scale", scale),
                ("bert.encoder.layer.0.output.dense.bias", np.ones(3, np.float32)),
            )
        ],
    )  # fmt: skip
    model: onnx.ModelProto = helper.make_model(graph)
    found = dequantized(model)
    apart = np.abs(found["encoder.layer.0.output.dense.weight"] - weight.T).max()
    check("start, closeness", 1 - float(apart) - abs(len(found) - 2), 0.95)


def check_words(check: Check) -> None:
    """Number the words of a text: two pieces of one, one without content, and another."""
    marks = np.array([STARTS + CONTENT, CONTENT, STARTS, STARTS + CONTENT])
    right = aligner.places(marks, aligner.Recipe()) == [0, 0, -1, 1]
    nothing = aligner.places(np.array([STARTS, STARTS]), aligner.Recipe()) == [0, 1]
    check("words, right", float(right) + float(nothing), 2)


def toy_pairs(ids: Sequence[int], labels: int) -> list[Pair]:
    """Return claims whose evidence is one token, which says what is true of them."""
    return [Pair("toy", (ids[0],), (ids[1 + i % labels],), i % labels) for i in range(60)]
