"""What documents are called in a store, and which one a person means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from typing import Final

from abstrag.errors import UnknownDocument

SUFFIX_LENGTHS: Final = (6, 12, 64)  # of the hash behind an id that another source holds
SHOWN: Final = 3  # names in a hint


def candidates(document_id: str, source_path: str | None) -> tuple[str, ...]:
    """Return the ids a source may have in a store, the nicest first."""
    digest = sha256((source_path or "").encode()).hexdigest()
    return (document_id, *(f"{document_id}-{digest[:length]}" for length in SUFFIX_LENGTHS))


def choose(
    wanted: Sequence[str], holders: Mapping[str, str | None], *, source_path: str | None
) -> str:
    """Return the id this source already holds, or else the first that is free.

    Args:
        wanted: The candidates, the nicest first.
        holders: Which source path holds an id; an id that is not in it is free.
        source_path: The source that needs an id.
    """
    held = [name for name in wanted if name in holders and holders[name] == source_path]
    free = [name for name in wanted if name not in holders]
    return (held or free)[0]


def complete(name: str, ids: Sequence[str]) -> str:
    """Return the id that a person means by its name or a unique beginning of it."""
    if name in ids:
        return name
    fitting = _fitting(name, ids)
    if len(fitting) == 1:
        return fitting[0]
    raise unknown(name, ids)


def unknown(name: str, ids: Sequence[str]) -> UnknownDocument:
    """Say that no document, or more than one, goes by a name, and which ones come close."""
    fitting = _fitting(name, ids)
    if len(fitting) > 1:
        return UnknownDocument(
            f"{name!r} is the beginning of {len(fitting)} document ids, not of one",
            hint=f"did you mean {_either(fitting)}?",
        )
    near = fitting or get_close_matches(name, ids, n=SHOWN)
    if near:
        hint = f"did you mean {_either(near)}?"
    elif ids:
        hint = f"the store holds {_either(ids)}"
    else:
        hint = "the store is empty; abstrag index FILE puts a document into it"
    return UnknownDocument(f"the store holds no document {name!r}", hint=hint)


def _fitting(name: str, ids: Sequence[str]) -> list[str]:
    return [each for each in ids if name and each.startswith(name)]


def _either(names: Sequence[str]) -> str:
    shown = " or ".join(repr(name) for name in names[:SHOWN])
    return f"{shown} or {len(names) - SHOWN} more" if names[SHOWN:] else shown
