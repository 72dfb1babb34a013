"""Documents ready to be asked: the latest few, with whatever was edited in their maps.

The engine is imported when the first document is opened, for the language model's library takes a
second to load and the server is up before that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from abstrag.engine.kept import Kept
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch
from abstrag.server.aids import JudgeOf
from abstrag.server.refusals import NotBuilt
from abstrag.stores.open import Target, open_store
from abstrag.stores.protocol import DocumentInfo, Store
from abstrag.workspace.edits import Edits, EditStore, applied
from abstrag.workspace.patches import Patches

if TYPE_CHECKING:
    from abstrag.engine.searcher import Searcher
    from abstrag.rank.relevance import Preset

_VARIANTS: Final = 3  # searchers kept for each document: presets, edits being tried out
_WARM: Final = "evidence"
_UNEDITED: Final = Edits()


@dataclass(frozen=True, slots=True)
class Asking:
    """How a document is to be asked: which preset, the judge or not, which edits tried out.

    Patches of refinement are in force unless `patched` says otherwise.
    """

    preset: str | None = None
    judge: bool = False
    trial: Edits = _UNEDITED
    patched: bool = True


_PLAIN: Final = Asking()


class Shelf:
    """Opens documents of a store; threads share what is open."""

    def __init__(
        self,
        store: Target,
        edits: EditStore,
        *,
        patches: Patches,
        keep: int,
        judge_of: JudgeOf | None = None,
    ) -> None:
        self._store = store
        self._edits = edits
        self._patches = patches
        self._judge_of = judge_of
        self._indexes: Kept[DocumentIndex] = Kept(keep)
        self._searchers: Kept[Searcher] = Kept(keep * _VARIANTS)

    @property
    def has_judge(self) -> bool:
        """True when there is a judge to ask."""
        return self._judge_of is not None

    def open_store(self) -> Store:
        """Open the store for the calling thread; the caller closes it."""
        return open_store(self._store)

    def infos(self) -> tuple[DocumentInfo, ...]:
        """Describe every document."""
        with self.open_store() as store:
            return store.documents()

    def info(self, document: str) -> DocumentInfo:
        """Describe one document."""
        with self.open_store() as store:
            return store.find(document)

    def remove(self, document: str) -> DocumentInfo:
        """Forget a document and what was edited in it, and say what it was."""
        with self.open_store() as store:
            info = store.find(document)
            store.remove(info.id)
        self._edits.forget(info.id)
        return info

    def index(self, document: str) -> DocumentIndex:
        """Return the index of a document as the chain made it."""
        with self.open_store() as store:
            info = store.find(document)
            return self._indexes.get(_version(info), lambda: _named(store.get(info.id), info.id))

    def edited(self, document: str) -> DocumentIndex:
        """Return the index of a document with its map as a person left it."""
        index = self.index(document)
        return applied(index, self._edits.read(index.document.id))

    def searcher(self, document: str, asking: Asking = _PLAIN) -> Searcher:
        """Return a document ready to be asked, everything in it built."""
        info = self.info(document)
        index = self.index(info.id)
        edits = self._edits.read(info.id) | asking.trial
        patches = self._patches.in_force(index) if asking.patched else ()
        names = tuple(patch.id for patch in patches)
        key = (_version(info), edits, names, asking.preset, asking.judge)
        return self._searchers.get(key, lambda: self._built(applied(index, edits), patches, asking))

    def _built(self, index: DocumentIndex, patches: tuple[Patch, ...], asking: Asking) -> Searcher:
        from abstrag.engine.prompting import judged_preset
        from abstrag.engine.searcher import Searcher

        preset, judge = _preset(asking.preset, judged=asking.judge), None
        if asking.judge:
            if self._judge_of is None:
                raise NotBuilt("there is no judge on this server", hint="leave judge out")
            preset, judge = judged_preset(preset), self._judge_of(index)
        made = Searcher(index, preset=preset, judge=judge, patches=patches)
        # What a searcher builds on first use is built here, by one thread.
        made.budget(_WARM)
        if judge is None:
            made.search(_WARM, k=1)
        return made


def _preset(name: str | None, *, judged: bool) -> Preset:
    """Return the preset that is asked for, less its judge where none is to be asked."""
    from abstrag.rank.relevance import DEFAULT_PRESET, FAST, PRESETS

    if name is None:
        return DEFAULT_PRESET if judged else FAST
    if name not in PRESETS:
        raise InputError(f"no preset is called {name!r}", hint=f"one of: {', '.join(PRESETS)}")
    return PRESETS[name] if judged or not PRESETS[name].judge_weight else PRESETS[name].unjudged


def _version(info: DocumentInfo) -> tuple[str, str, str, str]:
    """Name a document as it is now; indexing it again makes another version."""
    return info.id, info.content_hash, info.fingerprint, info.indexed_at


def _named(index: DocumentIndex, name: str) -> DocumentIndex:
    """Return an index whose document is called as in the store, so that hits name it right."""
    if index.document.id == name:
        return index
    return replace(index, document=replace(index.document, id=name))
