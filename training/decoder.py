"""A language model of the Llama or Qwen2 family with room for many conversations at once.

Keys and values lie in rows, one for each conversation under way, so that all of them are continued
by one pass over the weights, prompts of different lengths are read together, and the beginning of
a prompt that another row has read already is copied.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

NARROWEST = 512  # positions of a row that are looked at; else twice as many, and so on


class Decoder(nn.Module):
    """The layers of a model of transformers, with keys and values kept here."""

    def __init__(self, language_model: Any, rows: int, length: int) -> None:
        super().__init__()
        self.model = language_model.requires_grad_(requires_grad=False).eval()
        config = language_model.config
        self.heads, self.groups = config.num_attention_heads, config.num_key_value_heads
        self.size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.vocabulary = int(language_model.get_output_embeddings().weight.shape[0])
        self.rows, self.length = rows, length
        weight = language_model.get_output_embeddings().weight
        # one position more than can be used: what is written for the sake of the shape goes there
        shape = (config.num_hidden_layers, rows, length + 1, self.groups, self.size)
        self.keys = torch.zeros(shape, dtype=weight.dtype, device=weight.device)
        self.values = torch.zeros_like(self.keys)
        self.graphs: dict[tuple[int, ...], Graph] = {}
        self.pool: Any = None  # of memory, shared by the graphs: they never run at the same time

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.keys.device

    def copy(self, source: int, target: int, count: int) -> None:
        """Take over the first positions of another row."""
        for kept in (self.keys, self.values):
            kept[:, target, :count] = kept[:, source, :count]

    def width(self, longest: int) -> int:
        """Return up to where rows are looked at that hold so many positions."""
        width = NARROWEST
        while width < longest:
            width *= 2
        return min(self.length, width)

    @torch.no_grad()
    def forward(
        self, tokens: Tensor, positions: Tensor, last: Tensor, rows: Tensor | None, width: int
    ) -> Tensor:
        """Read tokens into rows; return the logits after the column `last` of each.

        Args:
            tokens: Of each row that is read, filled up with anything.
            positions: Of these tokens; `length` for what only fills up.
            last: The column that is answered.
            rows: Which rows are read; None for the first ones, which are then not copied.
            width: See there.
        """
        inner = self.model.model
        x = inner.embed_tokens(tokens)
        cos, sin = inner.rotary_emb(x, positions)
        batch, count = tokens.shape
        share = self.heads // self.groups
        seen = torch.arange(width, device=x.device) <= positions[:, :, None]
        seen = seen[:, None, :, None].expand(batch, 1, count, share, width)
        seen = seen.reshape(batch, 1, count * share, width)
        where = torch.arange(batch, device=x.device) if rows is None else rows
        for number, layer in enumerate(inner.layers):
            own = layer.self_attn
            h = layer.input_layernorm(x)
            q = turned(own.q_proj(h).view(batch, count, self.heads, self.size), cos, sin)
            k = turned(own.k_proj(h).view(batch, count, self.groups, self.size), cos, sin)
            v = own.v_proj(h).view(batch, count, self.groups, self.size)
            kept = []
            for cache, new in ((self.keys[number], k), (self.values[number], v)):
                cache[where[:, None], positions] = new
                part = cache[:batch, :width] if rows is None else cache[rows, :width]
                kept.append(part.transpose(1, 2))
            # heads that share keys are columns of one query, so that keys need not be repeated
            q = q.view(batch, count, self.groups, share, self.size).transpose(1, 2)
            q = q.reshape(batch, self.groups, count * share, self.size)
            told = F.scaled_dot_product_attention(q, kept[0], kept[1], attn_mask=seen)
            told = told.view(batch, self.groups, count, share, self.size).transpose(1, 2)
            x = x + own.o_proj(told.reshape(batch, count, self.heads * self.size))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        x = x[torch.arange(batch, device=x.device), last]
        return self.model.get_output_embeddings()(inner.norm(x)).float()

    def step(self, tokens: Tensor, positions: Tensor, last: Tensor, *, graphs: bool) -> Tensor:
        """Continue the first rows; with graphs, what is launched once is replayed from then on."""
        longest = int(positions[positions < self.length].max()) + 1
        width = self.width(longest)
        given = tuple(one.to(self.device) for one in (tokens, positions, last))
        if not graphs:
            return self(*given, None, width)
        key = (*tokens.shape, width)
        if key not in self.graphs:
            self.graphs[key] = Graph(self, given, width)
        return self.graphs[key](given)


class Graph:
    """One shape of `Decoder.forward`, recorded on a GPU and replayed without Python."""

    def __init__(self, decoder: Decoder, given: tuple[Tensor, ...], width: int) -> None:
        self.given = tuple(one.clone() for one in given)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                decoder(*self.given, None, width)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        decoder.pool = decoder.pool or torch.cuda.graph_pool_handle()
        with torch.cuda.graph(self.graph, pool=decoder.pool):
            self.said = decoder(*self.given, None, width)

    def __call__(self, given: tuple[Tensor, ...]) -> Tensor:
        """Return the logits; they are overwritten by the next call."""
        for own, new in zip(self.given, given, strict=True):
            own.copy_(new)
        self.graph.replay()
        return self.said


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate heads by their positions."""
    half = x.shape[-1] // 2
    other = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos[:, :, None] + other * sin[:, :, None]
