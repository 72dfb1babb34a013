"""The hash that names a program by its content: what an edit was forked from."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from abstrag.llm.prompt import Program
from abstrag.model.record import to_data


def canonical(data: Any) -> bytes:
    """Write data as JSON in the one way that hashes are taken of."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # half a surrogate pair has no bytes


def base_hash(program: Program) -> str:
    """Name a program by its four slots; how its file is laid out makes no difference."""
    return content_hash(canonical(to_data(program)))


def content_hash(content: bytes) -> str:
    """Name a file by its bytes."""
    return sha256(content).hexdigest()
