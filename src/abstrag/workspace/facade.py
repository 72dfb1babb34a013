"""AbstRAG: the one object most people need."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from abstrag.backgrounds.compiled import CompiledBackground
from abstrag.backgrounds.compiled import load as load_background
from abstrag.config import TAU, Settings
from abstrag.engine.answer import answer
from abstrag.engine.generator import TOP, Generator
from abstrag.engine.library import Library
from abstrag.engine.prompting import Prompting
from abstrag.engine.searcher import DEFAULT_K, Searcher
from abstrag.engine.verdicts import installed_verdicts
from abstrag.errors import InputError
from abstrag.llm.connect import Models
from abstrag.model.answer import Answer
from abstrag.model.background import Background
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, WhyNot
from abstrag.rank.judging import Judge
from abstrag.rank.relevance import DEFAULT_PRESET, PRESETS, Preset
from abstrag.stores.open import default_store, open_store
from abstrag.stores.protocol import DocumentInfo


class AbstRAG:
    """Indexes documents and answers questions about them, on this machine and without a key.

    With `models` language models take part: in building the index, in reading queries, in judging.
    The last document indexed or opened is the one that is asked; `document=` names another.

        rag = AbstRAG(":memory:")
        rag.index("report.pdf")
        for hit in rag.search("Who bought the company?", k=3).hits:
            print(hit.page, hit.quote, hit.reading)
    """

    def __init__(
        self,
        store: str | Path | None = None,
        *,
        background: Background | CompiledBackground | str | Path | None = None,
        settings: Settings | None = None,
        preset: Preset | str = DEFAULT_PRESET,
        judge: Judge | None = None,
        models: Models | None = None,
    ) -> None:
        """Open a store: a file, ":memory:", postgresql://…, or the one in your data folder."""
        self._prompting = Prompting.of(models) if models is not None else None
        self._preset = _preset(preset)
        self._judge = judge
        known = (
            background
            if isinstance(background, Background | CompiledBackground | None)
            else load_background(background)
        )
        self._store = open_store(store if store is not None else default_store())
        self._library = Library(
            self._store,
            known,
            settings or Settings(),
            prompts=self._prompting.index if self._prompting else None,
        )
        self._searchers: dict[str, Searcher] = {}
        self._current: str | None = None

    def index(self, source: str | Path | Document) -> DocumentIndex:
        """Index a file or a document, unless nothing about it has changed, and open it."""
        if isinstance(source, Document):
            made = self._library.index_document(source)
        else:
            made = self._library.open(str(source))
        name = made.document.id
        self._searchers[name] = self._searcher(made)
        self._current = name
        return made

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe what is in the store."""
        return self._store.documents()

    def search(
        self, query: str, *, k: int = DEFAULT_K, tau: float = TAU, document: str | None = None
    ) -> Ranking:
        """Rank the segments of a document as evidence for a question or a claim."""
        return self.open(document).search(query, k=k, tau=tau)

    def explain(
        self, query: str, segment: str, *, tau: float = TAU, document: str | None = None
    ) -> Hit:
        """Return the full trace of one segment: literals, bridges, costs, licences."""
        return self.open(document).explain(query, segment, tau=tau)

    def why_not(
        self,
        query: str,
        *,
        text: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float = TAU,
        document: str | None = None,
    ) -> WhyNot:
        """Say the one first cause why a passage is not among the first k hits."""
        return self.open(document).why_not(query, passage=text, segment=segment, k=k, tau=tau)

    def budget(self, query: str, *, document: str | None = None) -> BudgetCurve:
        """Say at which budget τ each segment meets the whole query."""
        return self.open(document).budget(query)

    def ask(
        self,
        query: str,
        *,
        k: int = TOP,
        tau: float = TAU,
        document: str | None = None,
        generator: Generator | None = None,
    ) -> Answer:
        """Answer a question with exact quotations, or give a verdict on a claim.

        Without a generator the answer is quoted from the document and says so.
        """
        return answer(
            self.open(document),
            query,
            k=k,
            tau=tau,
            generator=generator,
            verdicts=installed_verdicts(),
        )

    def open(self, document: str | None = None) -> Searcher:
        """Return the searcher of a document: a file, an id, or the last one indexed."""
        name = document or self._current
        if name is None:
            raise InputError("no document has been indexed yet", hint="call .index(path) first")
        if name not in self._searchers:
            self._searchers[name] = self._searcher(self._library.open(name))
        self._current = name
        return self._searchers[name]

    def _searcher(self, index: DocumentIndex) -> Searcher:
        if self._prompting is not None and self._judge is None:
            return self._prompting.searcher(index, preset=self._preset, memory=self._store)
        return Searcher(index, preset=self._preset, judge=self._judge, memory=self._store)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def __enter__(self) -> AbstRAG:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _preset(preset: Preset | str) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise InputError(f"no preset is called {preset!r}", hint=f"one of: {', '.join(PRESETS)}")
    return PRESETS[preset]
