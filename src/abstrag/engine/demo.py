"""The bundled article and Background: the paper's motivating example, ready to run."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Final

from abstrag.documents.load import load
from abstrag.indexing.pipeline import index
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex

DEMO_QUERY: Final = "Give me all collaborations between LLM companies and chip suppliers in 2024"
DEMO_SENTENCE: Final = (
    "The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday."
)


def demo_document() -> Document:
    """Load the bundled article."""
    with as_file(files("abstrag.data") / "demo" / "chips.md") as path:
        return load(path)


def demo_background() -> Background:
    """Load the Background that goes with it."""
    with as_file(files("abstrag.data") / "demo" / "chips.toml") as path:
        return Background.load(path)


def demo_index(*, with_background: bool = True) -> DocumentIndex:
    """Index the bundled article."""
    background = demo_background() if with_background else EMPTY
    return index(demo_document(), background=background)
