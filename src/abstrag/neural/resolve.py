"""A model by the word a user gives for it.

That is the name of a shipped one (`aligner`, `judge`), the path of a folder of our own
format (a manifest and what it vouches for), or else a model of sentence-transformers by path or by
its name on the Hugging Face hub.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from abstrag.errors import InputError
from abstrag.neural.bundle import MANIFEST, WEIGHTS, Bundle, ModelTask
from abstrag.neural.embedder import Embedder
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.judge import EvidenceJudge, SegmentJudge
from abstrag.neural.whole_text import WholeTextEncoder

SHIPPED: Final = ("aligner", "judge", "verdict")


def resolve_encoder(name: str, *, threads: int | None = None) -> TextEncoder:
    """Return the encoder that a word means.

    Raises:
        InputError: There is no such model, or it is for something else.
        ResourceMissing: Its files are damaged, or a library it needs is not installed.
    """
    folder = _own_folder(name)
    if folder is None:
        from abstrag.neural.foreign import ForeignEncoder

        return ForeignEncoder(name)
    task = Bundle.open(folder).manifest.task
    if task is ModelTask.ALIGN:
        return WholeTextEncoder.load(folder, threads=threads)
    return Embedder.load(folder, threads=threads)


def resolve_judge(name: str, *, threads: int | None = None) -> SegmentJudge:
    """Return the judge that a word means.

    Raises:
        InputError: There is no such model, or it is for something else.
        ResourceMissing: Its files are damaged, or a library it needs is not installed.
    """
    folder = _own_folder(name)
    if folder is None:
        from abstrag.neural.foreign import ForeignJudge

        return ForeignJudge(name)
    return EvidenceJudge.load(folder, threads=threads)


def _own_folder(name: str) -> Path | None:
    """Return the folder of our format that a word means, or None for somebody else's model."""
    if not name.strip():
        raise InputError(
            "a model needs a name", hint="a shipped one, a folder, or a name on the hub"
        )
    if name in SHIPPED:
        return WEIGHTS / name
    path = Path(name).expanduser()
    if (path / MANIFEST).is_file():
        return path
    looks_like_a_path = path.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1
    if looks_like_a_path and not path.exists():
        raise InputError(f"there is no model at {name!r}", hint="name a folder with a model in it")
    return None
