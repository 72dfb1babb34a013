"""A large language model that reads the same pairs as our networks, and teaches them.

It takes word pieces, as judge and verdict model do, turns them into text again and reads that in
tokens of its own, so that it stands wherever they stand in training. Its matrices change by
products of two thin ones; its head begins with what it would have answered in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from examples import CLS, SEP


@dataclass(frozen=True)
class Frame:
    """How a pair is put to the model, and the words whose logits are what it says."""

    text: str  # with {first} and {second}
    answers: tuple[str, ...]
    less: str | None = None  # a word whose logit is taken off the others'


JUDGE = Frame(
    "Passage: {second}\nQuery: {first}\nDoes the passage hold evidence for the query? Answer:",
    (" Yes",),
    " No",
)
VERDICT = Frame(
    "Evidence: {second}\nClaim: {first}\nGiven the evidence, the claim is",
    (" true", " false", " unknown"),
)


class ThinLinear(nn.Module):
    """A frozen matrix and a product of two thin ones that is added to it, zero at first."""

    def __init__(self, inside: nn.Linear, rank: int) -> None:
        super().__init__()
        self.inside = inside.requires_grad_(requires_grad=False)
        self.down = nn.Parameter(torch.randn(rank, inside.in_features) / inside.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(inside.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """Return the product with the changed matrix."""
        kind = self.inside.weight.dtype
        x = x.to(kind)
        return self.inside(x) + F.linear(F.linear(x, self.down.to(kind)), self.up.to(kind))


def thin(module: nn.Module, rank: int) -> None:
    """Freeze a module but for low-rank changes of all its matrices."""
    module.requires_grad_(requires_grad=False)
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, ThinLinear(child, rank))
        else:
            thin(child, rank)


def thick(module: nn.Module) -> None:
    """Make the low-rank changes part of the matrices: whoever only asks is answered sooner."""
    for name, child in module.named_children():
        if isinstance(child, ThinLinear):
            change = child.up.detach() @ child.down.detach()
            child.inside.weight.data += change.to(child.inside.weight.dtype)
            setattr(module, name, child.inside)
        else:
            thick(child)


def text_of(pieces: Tokenizer, ids: Sequence[int]) -> str:
    """Return word pieces as text, a line for each part between separators."""
    parts: list[list[int]] = [[]]
    for one in ids:
        if one == SEP:
            parts.append([])
        elif one != CLS:
            parts[-1].append(one)
    return "\n".join(pieces.decode(part) for part in parts if part)


class LargeReader(nn.Module):
    """The language model with a head on the last token of a framed pair."""

    def __init__(
        self, language_model: Any, pieces: Tokenizer, own: Tokenizer, frame: Frame, rank: int = 32
    ) -> None:
        super().__init__()
        self.body = language_model.model
        self._pieces, self._own, self._frame = pieces, own, frame
        table = language_model.get_output_embeddings().weight.detach().float()
        rows = torch.stack([table[self._token(word)] for word in frame.answers])
        if frame.less is not None:
            rows = rows - table[self._token(frame.less)]
        self.head = nn.Linear(rows.shape[1], len(rows))
        with torch.no_grad():
            self.head.weight.copy_(rows)
            self.head.bias.zero_()
        thin(self.body, rank)

    def _token(self, word: str) -> int:
        return int(self._own.encode(word, add_special_tokens=False).ids[0])

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Return the logits of each pair; padding comes last, where no token looks."""
        texts = [
            self._framed(row[:size], second[:size])
            for row, second, size in zip(
                ids.tolist(), kinds.tolist(), mask.sum(1).tolist(), strict=True
            )
        ]
        rows = [one.ids for one in self._own.encode_batch(texts, add_special_tokens=False)]
        longest = max(map(len, rows))
        filled = [[*row, *[0] * (longest - len(row))] for row in rows]
        read = torch.tensor(filled, device=ids.device)
        states = self.body(input_ids=read, use_cache=False).last_hidden_state
        last = torch.tensor([len(row) - 1 for row in rows], device=ids.device)
        found = states[torch.arange(len(rows), device=ids.device), last].float()
        with torch.autocast(ids.device.type, enabled=False):
            return self.head(found)

    def _framed(self, ids: Sequence[int], kinds: Sequence[int]) -> str:
        first = [i for i, kind in zip(ids, kinds, strict=True) if not kind]
        second = [i for i, kind in zip(ids, kinds, strict=True) if kind]
        return self._frame.text.format(
            first=text_of(self._pieces, first), second=text_of(self._pieces, second)
        )
