"""Which word pieces of a text belong to one word, and which words carry content.

A word is what the tokenizer cuts at spaces and punctuation, all its pieces together; a number with
points or commas inside ("1,250.5") is one word too. Function words and punctuation carry no
content, signs of units and currencies do.
"""

from __future__ import annotations

from typing import Any, Final

from abstrag.neural.content_words import FUNCTION_WORDS, has_content, words_of

__all__ = ["CONTENT", "FUNCTION_WORDS", "STARTS", "marks"]

STARTS: Final = 1  # the piece is the first of its word
CONTENT: Final = 2  # the piece belongs to a word with content


def marks(text: str, encoding: Any) -> list[int]:
    """Return one number for each token of an encoded text: the sum of the constants that apply."""
    found = [0] * len(encoding.ids)
    for word in words_of(text, encoding.word_ids, encoding.offsets):
        content = CONTENT if has_content(text[word.start : word.end].lower()) else 0
        for place in range(word.first, word.last):
            found[place] = content + (STARTS if place == word.first else 0)
    return found
