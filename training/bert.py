"""A small BERT in plain PyTorch, by default all-MiniLM-L6-v2, with the heads we train on top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Shape:
    """How large the network is; the defaults are MiniLM's."""

    vocabulary: int = 30522
    positions: int = 512
    hidden: int = 384
    heads: int = 12
    layers: int = 6
    inner: int = 1536
    epsilon: float = 1e-12


MINILM = Shape()


class Layer(nn.Module):
    """One transformer layer, normalized after each half."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        wide = shape.hidden
        self.heads = shape.heads
        self.query, self.key, self.value = (nn.Linear(wide, wide) for _ in range(3))
        self.output = nn.Linear(wide, wide)
        self.attended = nn.LayerNorm(wide, shape.epsilon)
        self.rise = nn.Linear(wide, shape.inner)
        self.fall = nn.Linear(shape.inner, wide)
        self.normed = nn.LayerNorm(wide, shape.epsilon)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the states after this layer; `mask` is true where there is a token."""
        batch, length, wide = x.shape
        split = (batch, length, self.heads, wide // self.heads)
        q, k, v = (f(x).view(split).transpose(1, 2) for f in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = self.attended(x + self.drop(self.output(mixed.transpose(1, 2).reshape(x.shape))))
        return self.normed(x + self.drop(self.fall(F.gelu(self.rise(x)))))


class Bert(nn.Module):
    """The encoder: token ids in, one state for each token out."""

    def __init__(self, shape: Shape = MINILM, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden)
        self.kinds = nn.Embedding(2, shape.hidden)
        self.normed = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.drop = nn.Dropout(dropout)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Return the last states."""
        return self.every(ids, kinds, mask)[-1]

    def every(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> list[Tensor]:
        """Return the states after each layer, and before the first."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.words(ids) + self.places(places) + self.kinds(kinds)
        x = self.drop(self.normed(x))
        states = [x]
        for layer in self.layers:
            states.append(layer(states[-1], mask))
        return states


class TanhHead(nn.Module):
    """What published rerankers have: a layer, a tanh, and a linear output."""

    def __init__(self, wide: int, outputs: int) -> None:
        super().__init__()
        self.dense = nn.Linear(wide, wide)
        self.out = nn.Linear(wide, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of a state."""
        return self.out(torch.tanh(self.dense(x)))


class Scorer(nn.Module):
    """The encoder with a head on the first token: a judge (1 output) or a verdict (3)."""

    def __init__(
        self,
        shape: Shape = MINILM,
        outputs: int = 1,
        dropout: float = 0.1,
        *,
        tanh: bool = False,
    ) -> None:
        super().__init__()
        self.bert = Bert(shape, dropout)
        if tanh:
            self.head: nn.Module = TanhHead(shape.hidden, outputs)
            return
        self.head = nn.Linear(shape.hidden, outputs)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Return the logits of each pair."""
        return self.head(self.bert(ids, kinds, mask)[:, 0])


# Our names → those of the published file, {n} being the number of a layer.
_TOP = {
    "words.weight": "embeddings.word_embeddings.weight",
    "places.weight": "embeddings.position_embeddings.weight",
    "kinds.weight": "embeddings.token_type_embeddings.weight",
    "normed.weight": "embeddings.LayerNorm.weight",
    "normed.bias": "embeddings.LayerNorm.bias",
}
_IN_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "attended": "attention.output.LayerNorm",
    "rise": "intermediate.dense",
    "fall": "output.dense",
    "normed": "output.LayerNorm",
}


def published_name(name: str) -> str:
    """Return what the published file calls one of the encoder's parameters."""
    if name in _TOP:
        return _TOP[name]
    _, number, part, what = name.split(".")
    return f"encoder.layer.{number}.{_IN_LAYER[part]}.{what}"


def layers_in(tensors: Mapping[str, Tensor]) -> int:
    """Return how many layers some published tensors have."""
    places = [name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")]
    return 1 + max(map(int, places))


def load(bert: Bert, tensors: Mapping[str, Tensor], keep: tuple[int, ...] | None = None) -> None:
    """Fill the encoder from the published tensors; `keep` names the layers to take, in order."""
    own = bert.state_dict()
    for name in own:
        wanted = name
        if keep is not None and name.startswith("layers."):
            _, number, rest = name.split(".", 2)
            wanted = f"layers.{keep[int(number)]}.{rest}"
        own[name] = tensors[published_name(wanted)].to(torch.float32)
    bert.load_state_dict(own)


def exported(model: nn.Module) -> dict[str, Tensor]:
    """Return a model's tensors under the published names, with its head as `head.*`."""
    found = {}
    for name, value in model.state_dict().items():
        inside = name.removeprefix("bert.")
        found[published_name(inside) if inside != name else name] = value.detach().cpu()
    return found
