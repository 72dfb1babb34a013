"""BERT as an ONNX graph over one text or one pair of texts, written out by hand.

An embedder takes token ids and gives the mean of the tokens' last states, scaled to length 1. A
judge takes token ids and, for each, 0 in the query and 1 in the passage; it gives logits of the
first token's last state. Nothing else of the last layer is asked for, so there only the first
token attends: the same numbers in an eighth less time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, helper

from abstrag.errors import InputError
from abstrag.neural.bundle import ModelTask
from tools.export.graph import FUSED, Float32, Graph, Int8, Numbers, Precision
from tools.export.published import LABELS, Bert, Floats, Head, Recipe, Tensors

LOGITS = {ModelTask.JUDGE: 1, ModelTask.VERDICT: len(LABELS)}


def write_graph(
    bert: Bert, weights: Tensors, recipe: Recipe, precision: Precision
) -> tuple[ModelProto, int]:
    """Write the network as an ONNX model, and say how many numbers it gives."""
    g = Graph()
    numbers: Numbers = Int8(g) if precision is Precision.INT8 else Float32(g)
    network = Network(g, numbers, bert, weights)
    length = max_tokens(bert, recipe)
    if recipe.head is Head.MEAN:
        x = network.words("ids", length)
        for layer in range(bert.layers):
            x = network.layer(x, layer)
        mean = g.add("ReduceMean", x, axes=[0], keepdims=0)
        g.nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], axis=-1, p=2))
        return g.model(recipe.name, ["ids"], "embedding", bert.hidden), bert.hidden
    x = network.words("ids", length, types="types")
    for layer in range(bert.layers - 1):
        x = network.layer(x, layer)
    first = network.layer(x, bert.layers - 1, only_first=True)
    logits = network.head(first, recipe)
    g.nodes.append(helper.make_node("Squeeze", [logits, g.axis(0)], ["logits"]))
    return g.model(recipe.name, ["ids", "types"], "logits", LOGITS[recipe.task]), LOGITS[
        recipe.task
    ]


def max_tokens(bert: Bert, recipe: Recipe) -> int:
    """Return how many tokens are read at a time: what the recipe says, where there are places."""
    return min(recipe.max_tokens, bert.positions)


@dataclass(frozen=True, slots=True)
class Batch:
    """Names of what a graph over several texts has to know: how many, how long, what is there."""

    sizes: str  # texts and tokens, the longest's
    mask: str  # for each text and token, whether there is one


@dataclass(frozen=True, slots=True)
class Network:
    """The parts of the network, each of which adds its nodes to the graph.

    States are rows, one for each token; those of several texts stand below each other.
    """

    graph: Graph
    numbers: Numbers
    bert: Bert
    weights: Tensors
    batch: Batch | None = None

    def words(self, ids: str, length: int, *, types: str | None = None) -> str:
        """Return the sum of word, place and type of each token, normed."""
        g, batch = self.graph, self.batch
        if batch:
            ids = g.add("Reshape", ids, g.axis(-1))
        name = "word.table" if batch else "words"  # a graph over several texts gives `words`
        x = self.numbers.look_up(name, self._tensor("embeddings.word_embeddings.weight"), ids)
        places = self._tensor("embeddings.position_embeddings.weight")[:length]
        kinds = self._tensor("embeddings.token_type_embeddings.weight")
        begin = g.constant("begin", np.array([0], np.int64))
        place = g.constant("places", places if types else places + kinds[0])
        if batch:
            end = g.add("Gather", batch.sizes, g.constant("second", np.array([1], np.int64)))
            x = g.add("Add", self.apart(x), g.add("Slice", place, begin, end))
            x = self._rows(x)
        else:
            x = g.add("Add", x, g.add("Slice", place, begin, g.add("Shape", ids)))
        if types:
            x = g.add("Add", x, g.add("Gather", g.constant("types.table", kinds), types))
        return self._norm(x, "embeddings.LayerNorm")

    def layer(self, x: str, number: int, *, only_first: bool = False) -> str:
        """Return the states after a layer; with `only_first`, of the first token alone."""
        g, at = self.graph, f"encoder.layer.{number}"
        mixed = self._attention(x, f"{at}.attention.self", only_first=only_first)
        if only_first:
            x = self._first(x)
        out = f"{at}.attention.output"
        x = self._residual(x, mixed, f"{out}.dense", f"{out}.LayerNorm", one_row=only_first)
        inner = f"{at}.intermediate.dense"
        wide = self._product(x, inner, one_row=only_first)
        wide = g.add("BiasGelu", wide, self._bias(inner), domain=FUSED)
        out = f"{at}.output"
        return self._residual(x, wide, f"{out}.dense", f"{out}.LayerNorm", one_row=only_first)

    def head(self, first: str, recipe: Recipe) -> str:
        """Return the logits of the first token's state; they are few, and stay floats."""
        last = "head"
        if recipe.head is Head.TANH:
            first = self.graph.add("Tanh", self._linear(first, "head.dense"))
            last = "head.out"
        order = list(range(LOGITS[recipe.task]))
        if recipe.task is ModelTask.VERDICT:
            order = [recipe.labels.index(label) for label in LABELS]
        return self._linear(first, last, order)

    def _linear(self, x: str, name: str, order: list[int] | None = None) -> str:
        g, weight = self.graph, self._tensor(f"{name}.weight")
        bias = self.weights.get(f"{name}.bias", np.zeros(len(weight), np.float32))
        if order is not None:
            if len(weight) != len(order):
                raise InputError(
                    f"{name}.weight has {len(weight)} rows", hint=f"{len(order)} logits are wanted"
                )
            weight, bias = weight[order], bias[order]
        made = g.add("MatMul", x, g.constant(f"{name}.weight", weight.T))
        return g.add("Add", made, g.constant(f"{name}.bias", bias))

    def _attention(self, x: str, name: str, *, only_first: bool) -> str:
        g, size = self.graph, self.bert.hidden
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        tables = [self._tensor(f"{part}.weight") for part in parts]
        biases = np.concatenate([self._tensor(f"{part}.bias") for part in parts])
        if only_first:
            asking = self.numbers.product(self._first(x), parts[0], tables[0], one_row=True)
            asked = self.numbers.product(x, name, np.concatenate(tables[1:]))
            pieces = [g.add("Unsqueeze", asking, g.axis(0))]
            halves = g.constant("halves", np.array([size] * 2, np.int64))
            asked = g.add("Unsqueeze", asked, g.axis(0))
            pieces += g.split("Split", 2, asked, halves, axis=-1)
        else:
            joined = self.apart(self.numbers.product(x, name, np.concatenate(tables)))
            sizes = g.constant("sizes", np.array([size] * 3, np.int64))
            pieces = g.split("Split", 3, joined, sizes, axis=-1)
        made = g.add(
            "MultiHeadAttention",
            *pieces,
            g.constant(f"{name}.bias", biases),
            *([self.batch.mask] if self.batch else []),
            domain=FUSED,
            num_heads=self.bert.heads,
        )
        return self._rows(made)

    def apart(self, x: str) -> str:
        """Return rows of tokens as texts of tokens."""
        g = self.graph
        if self.batch is None:
            return g.add("Unsqueeze", x, g.axis(0))
        return g.add("Reshape", x, g.add("Concat", self.batch.sizes, g.axis(-1), axis=0))

    def _rows(self, x: str) -> str:
        g = self.graph
        if self.batch is None:
            return g.add("Squeeze", x, g.axis(0))
        rows = g.constant("rows", np.array([-1, self.bert.hidden], np.int64))
        return g.add("Reshape", x, rows)

    def _residual(self, x: str, change: str, dense: str, name: str, *, one_row: bool) -> str:
        # Add and norm stay apart: onnxruntime's fused kernel is five times slower.
        g = self.graph
        change = g.add("Add", self._product(change, dense, one_row=one_row), self._bias(dense))
        return self._norm(g.add("Add", x, change), name)

    def _first(self, x: str) -> str:
        return self.graph.add("Gather", x, self.graph.constant("begin", np.array([0], np.int64)))

    def _norm(self, x: str, name: str) -> str:
        g = self.graph
        scale = g.constant(f"{name}.weight", self._tensor(f"{name}.weight"))
        return g.add(
            "LayerNormalization", x, scale, self._bias(name), axis=-1, epsilon=self.bert.epsilon
        )

    def _product(self, x: str, name: str, *, one_row: bool) -> str:
        return self.numbers.product(x, name, self._tensor(f"{name}.weight"), one_row=one_row)

    def _bias(self, name: str) -> str:
        return self.graph.constant(f"{name}.bias", self._tensor(f"{name}.bias"))

    def _tensor(self, name: str) -> Floats:
        if name not in self.weights:
            raise InputError(
                f"the weights have no tensor {name!r}", hint="is config.json or the head another's?"
            )
        return self.weights[name]
