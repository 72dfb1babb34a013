"""The part of `smoke.py` about a large language model that teaches ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import judge
import numpy as np
import torch
from large_reader import Frame, LargeReader
from large_teacher import opinions_of, told
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import Qwen2Config, Qwen2ForCausalLM

from examples import Examples

CPU = torch.device("cpu")
Check = Callable[[str, float, float], None]
FRAME = Frame("passage {second} query {first} evidence", ("yes",), "no")


def toy_tokenizer(size: int) -> Tokenizer:
    """Return a tokenizer of so many words, the frame's among them."""
    words = {f"w{number}": number for number in range(5, size)}
    words |= {"passage": 0, "query": 1, "evidence": 2, "yes": 3, "no": 4}
    made = Tokenizer(models.WordLevel(words, unk_token="no"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def check_large(path: Path, size: int, recipe: judge.Recipe, check: Check) -> None:
    """Have a toy of a large model learn to judge, from word pieces, by low-rank changes alone."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=size, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64,
    )  # fmt: skip
    examples = Examples(path, fold=0)
    tokenizer = toy_tokenizer(size)
    model = LargeReader(Qwen2ForCausalLM(config), tokenizer, tokenizer, FRAME, rank=8)
    before = model.body.layers[0].mlp.up_proj.inside.weight.detach().clone()
    judge.fit(model, examples, replace(recipe, epochs=8, rate=2e-2), {}, CPU)
    model.eval()
    said = opinions_of(model, examples, examples.held(), CPU)
    check("large teacher, nDCG@10", float(str(told(examples, said)["mean"])), 80)
    after = model.body.layers[0].mlp.up_proj.inside.weight
    check("  its own matrices kept", float(torch.equal(before, after)), 1)
    whole = [len(said[q]) == len(examples.pool(q)) for q in said]
    check("  a logit a passage", float(np.mean(whole)), 1)
