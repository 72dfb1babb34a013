"""Tokens counted without a tokenizer: a likely number to plan with, and one never exceeded."""

from __future__ import annotations

import json
from typing import Final

from abstrag.llm.model import ModelRequest

_BYTES_A_TOKEN: Final = 4  # of English text, for the vocabularies in use
_FRAME: Final = 16  # tokens that mark where messages begin and end
_TEMPLATE: Final = 512  # the most a server adds of its own accord: default prompts, tool headers


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-_size(text) // _BYTES_A_TOKEN)


def tokens_in(request: ModelRequest) -> int:
    """Return about how many tokens a request sends."""
    return tokens_of(request.system) + tokens_of(request.user) + _FRAME


def most_tokens(*texts: str) -> int:
    """Return what sending these texts cannot exceed: a token is at least one byte."""
    return sum(_size(text) for text in texts) + _TEMPLATE


def schema_text(request: ModelRequest) -> str:
    """Return the schema of a request as text; empty when it has none."""
    return "" if request.schema is None else json.dumps(request.schema, ensure_ascii=False)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
