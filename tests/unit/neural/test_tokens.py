"""Where a text is cut: only its beginning is looked at, and nobody can tell."""

from __future__ import annotations

import json

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from abstrag.neural.bundle import TOKENIZER
from abstrag.neural.embedder import WEIGHTS
from abstrag.neural.tokens import Tokenizer
from tests.unit.neural.tiny import tokenizer

LIMIT = 6  # so that 96 characters are looked at first
DATA = (WEIGHTS / TOKENIZER).read_text("utf-8")
WHOLE = tokenizers.Tokenizer.from_str(DATA)
SHORT = Tokenizer(DATA.encode(), limit=LIMIT)
PIECES = [
    "a",
    "Anna ",
    "é",
    "e\u0301",
    "\u0301",
    "中",
    " ",
    "  \n",
    "-",
    ".",
    "[SEP]",
    "x" * 101,
    "\x00",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=120).map("".join))
def test_the_beginning_is_enough(text: str) -> None:
    ids = WHOLE.encode(text).ids
    expected = ids if len(ids) <= LIMIT else [*ids[: LIMIT - 1], ids[-1]]
    assert SHORT(text).tolist() == (expected if len(expected) > 2 else [])
    assert SHORT.truncates(text) == (len(ids) > LIMIT)


def test_a_text_after_much_empty_space_is_found() -> None:
    assert SHORT(" " * 5000 + "dog").tolist() == WHOLE.encode("dog").ids


def test_half_a_character_is_left_out() -> None:
    assert SHORT("\ud800dog\udfff").tolist() == WHOLE.encode("dog").ids


def test_the_length_a_tokenizer_was_saved_with_does_not_count() -> None:
    cut = Tokenizer(json.dumps(tokenizer()).encode(), limit=10)
    assert len(cut("a dog barks . a hound")) == 9
