"""PyTerrier: a retriever over documents, and a reranker of results that have a `text` column.

AbstragTransformer(AbstRAG("library.db"), k=5).search("Who bought the company?")

Neither starts Java.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from abstrag.collection.filters import Filters
from abstrag.engine.searcher import DEFAULT_K
from abstrag.integrations.evidence import SearchScope, TextReading, missing, ranked
from abstrag.model.background import Background
from abstrag.model.ranking import Hit
from abstrag.workspace.facade import AbstRAG

try:
    import pandas as pd
    import pyterrier as pt
except ImportError as error:
    raise missing("PyTerrier", "pyterrier", error) from error

_RESULT: Final = ("docno", "score", "rank")
_HIT: Final = (*(each.name for each in fields(Hit)), "title")
_SAID: Final = ("score", "rank", "quote", "trace", "reading")


class AbstragTransformer(pt.Transformer):
    """Turns queries into results: a row for each passage, whose columns are all fields of a hit.

    `docno` is DOCUMENT:SEGMENT; the column `document` has the document alone.
    """

    def __init__(
        self,
        rag: AbstRAG,
        *,
        document: str | None = None,
        folder: str | Path | None = None,
        filters: Filters | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
    ) -> None:
        """Take what is asked; without a document, all documents of the store."""
        super().__init__()
        self.rag = rag
        self.scope = SearchScope(document, folder, filters, k, tau)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the evidence for each query, best first."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        columns = list(dict.fromkeys([*inp.columns, *_RESULT, *_HIT]))
        rows: list[dict[str, Any]] = []
        for asked in inp.to_dict("records"):
            for rank, each in enumerate(self.scope.find(self.rag, asked["query"])):
                rows.append(
                    {**each.metadata, **asked, "docno": each.id, "text": each.text, "rank": rank}
                )
        return pd.DataFrame(rows, columns=columns)


class AbstragReranker(pt.Transformer):
    """Orders results by the evidence their texts hold for the query; those without any go.

    The best passage of each text is told in the columns `quote`, `trace` and `reading`. Each text
    is read by itself; nothing is kept of it.
    """

    def __init__(
        self,
        *,
        k: int = DEFAULT_K,
        tau: float | None = None,
        preset: str | None = None,
        background: Background | str | Path | None = None,
    ) -> None:
        """Take how many results of a query are kept, and how texts are read."""
        super().__init__()
        self.k = k
        self._reading = TextReading.of(tau=tau, preset=preset, background=background)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the results of each query that hold evidence, best first."""
        pt.validate.result_frame(inp, extra_columns=["query", "text"])
        columns = list(dict.fromkeys([*inp.columns, *_SAID]))
        rows: list[dict[str, Any]] = []
        for _, results in inp.groupby("qid", sort=False):
            given = results.to_dict("records")
            texts = [str(row["text"]) for row in given]
            query = given[0]["query"]
            for rank, each in enumerate(ranked(texts, query, self._reading, k=self.k, passages=1)):
                said = {name: each.metadata[name] for name in _SAID if name != "rank"}
                rows.append({**given[each.position], **said, "rank": rank})
        return pd.DataFrame(rows, columns=columns)
