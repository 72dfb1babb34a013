"""Where a text is cut: only its beginning is looked at, and nobody can tell."""

from __future__ import annotations

import json

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from abstrag.errors import ResourceMissing
from abstrag.neural.bundle import TOKENIZER, WEIGHTS
from abstrag.neural.runtime import Tokenizer
from tests.unit.neural.tiny import WORDS, tokenizer

LIMIT = 6  # so that 96 characters are looked at first
DATA = (WEIGHTS / TOKENIZER).read_text("utf-8")
WHOLE = tokenizers.Tokenizer.from_str(DATA)
SHORT = Tokenizer(DATA.encode(), limit=LIMIT, vocabulary=WHOLE.get_vocab_size())
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
    cut = Tokenizer(json.dumps(tokenizer()).encode(), limit=10, vocabulary=len(WORDS))
    assert len(cut("a dog barks . a hound")) == 9


def test_bare_ids_are_whole_and_stand_alone() -> None:
    texts = ["", "dog", "Anna " * 500, "\ud800dog"]
    expected = [WHOLE.encode(text, add_special_tokens=False).ids for text in [*texts[:3], "dog"]]
    assert SHORT.bare(texts) == expected
    assert [SHORT.begin, SHORT.end] == WHOLE.encode("").ids


def test_the_tokenizer_of_another_model_is_refused() -> None:
    with pytest.raises(ResourceMissing, match=r"knows 11 tokens and the model 30522"):
        Tokenizer(json.dumps(tokenizer()).encode(), limit=10, vocabulary=30522)


def test_a_tokenizer_that_frames_a_text_otherwise_is_refused() -> None:
    other = {**tokenizer(), "post_processor": None}
    with pytest.raises(ResourceMissing, match="puts 0 tokens around a text"):
        Tokenizer(json.dumps(other).encode(), limit=10, vocabulary=len(WORDS))
