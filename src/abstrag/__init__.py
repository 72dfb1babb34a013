"""AbstRAG: find the evidence in a document, quote it exactly, and show why it is evidence.

Names are loaded when they are first used: `import abstrag` and `abstrag --help` do not wait for
the language model.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from abstrag.config import Settings
    from abstrag.engine.searcher import Searcher
    from abstrag.errors import AbstragError
    from abstrag.indexing.pipeline import index
    from abstrag.model.background import Background
    from abstrag.model.document import Document, Span
    from abstrag.model.index import DocumentIndex
    from abstrag.model.query import Bridge, Clause, Literal, Query
    from abstrag.model.ranking import BudgetCurve, GapTrace, Hit, Ranking, WhyNot
    from abstrag.model.segment import Segment
    from abstrag.model.term import AbstractionMap, Edge, Term
    from abstrag.search.relevance import Preset
    from abstrag.workspace.asynchronous import AsyncAbstRAG
    from abstrag.workspace.facade import AbstRAG
    from abstrag.workspace.workspace import Workspace

_HOMES = {
    "AbstRAG": "workspace.facade",
    "AbstractionMap": "model.term",
    "AbstragError": "errors",
    "AsyncAbstRAG": "workspace.asynchronous",
    "Background": "model.background",
    "Bridge": "model.query",
    "BudgetCurve": "model.ranking",
    "Clause": "model.query",
    "Document": "model.document",
    "DocumentIndex": "model.index",
    "Edge": "model.term",
    "GapTrace": "model.ranking",
    "Hit": "model.ranking",
    "Literal": "model.query",
    "Preset": "search.relevance",
    "Query": "model.query",
    "Ranking": "model.ranking",
    "Searcher": "engine.searcher",
    "Segment": "model.segment",
    "Settings": "config",
    "Span": "model.document",
    "Term": "model.term",
    "WhyNot": "model.ranking",
    "Workspace": "workspace.workspace",
    "index": "indexing.pipeline",
}

__all__ = [
    "AbstRAG",
    "AbstractionMap",
    "AbstragError",
    "AsyncAbstRAG",
    "Background",
    "Bridge",
    "BudgetCurve",
    "Clause",
    "Document",
    "DocumentIndex",
    "Edge",
    "GapTrace",
    "Hit",
    "Literal",
    "Preset",
    "Query",
    "Ranking",
    "Searcher",
    "Segment",
    "Settings",
    "Span",
    "Term",
    "WhyNot",
    "Workspace",
    "index",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'abstrag' has no attribute {name!r}")
    return getattr(import_module(f"abstrag.{_HOMES[name]}"), name)
