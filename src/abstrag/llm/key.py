"""The id of a call: a hash of everything that its answer depends on."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from abstrag.llm.model import ModelRequest

_LENGTH: Final = 16  # hexadecimal digits: 64 bits, and short enough to be read out


def call_id(model: str, request: ModelRequest) -> str:
    """Return the id of asking a model for something; equal questions have equal ids.

    Role and stage say what the answer is for, not what it is, so they are no part of it. Nor is
    the address of the endpoint: a recording replays anywhere.
    """
    content = {
        "model": model,
        "system": request.system,
        "user": request.user,
        "schema": request.schema,
        "temperature": float(request.temperature),
        "sample": request.sample,
        "max_tokens": request.max_tokens,
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # a lone surrogate cannot be encoded, yet may stand in a text that was read from anywhere
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
