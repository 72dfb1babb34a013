"""How a workspace is opened, how its documents are searched, and what a person has edited.

Edits of a document's map, edges added and edges hidden, lie beside the store and never in it: the
index stays what the chain made of the document, and taking an edit back is forgetting it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from abstrag.config import OMEGA, TAU, DocumentBudget, Settings
from abstrag.errors import InputError
from abstrag.files import write_whole
from abstrag.model.index import DocumentIndex
from abstrag.model.record import from_json, record, to_json
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, Term, TermKind
from abstrag.policy.location import DEFAULT_FAMILY
from abstrag.search.relevance import DEFAULT_PRESET, FAST, PRESETS, Preset, judged_preset
from abstrag.stores.open import Target, default_store, resolved

if TYPE_CHECKING:
    from abstrag.engine.library import Knowledge
    from abstrag.engine.searcher import Reprice


OPERATOR: Final = "by_hand"
LICENCE: Final = Licence(LicenceKind.BACKGROUND, "added by hand")
_BRIDGES: Final = tuple(f for f in Family if f is not Family.CONTEXT)


@record
class Edits:
    """Edges to add, and the ids of edges to leave out."""

    edges: tuple[Edge, ...] = ()
    removed: tuple[str, ...] = ()

    def with_edge(self, edge: Edge) -> Edits:
        """Return the edits with one more edge; adding a hidden one shows it again."""
        name = edge_id(edge)
        kept = tuple(e for e in self.edges if edge_id(e) != name)
        removed = tuple(r for r in self.removed if r != name)
        return Edits((*kept, edge), removed)

    def without_edge(self, name: str) -> Edits:
        """Return the edits with one edge less: an added one is dropped, any other is hidden."""
        kept = tuple(e for e in self.edges if edge_id(e) != name)
        if len(kept) < len(self.edges):
            return Edits(kept, self.removed)
        return Edits(kept, tuple(sorted({*self.removed, name})))

    def __or__(self, other: Edits) -> Edits:
        made = Edits(self.edges, tuple(sorted({*self.removed, *other.removed})))
        for edge in other.edges:
            made = made.with_edge(edge)
        return made


def edge_id(edge: Edge) -> str:
    """Name an edge by what it says, so that the name survives indexing again."""
    return sha256(to_json(edge).encode()).hexdigest()[:12]


def hand_made(
    index: DocumentIndex,
    *,
    source: str,
    target: str,
    relation: Relation,
    family: Family,
    weight: float | None = None,
    distance: float | None = None,
) -> Edge:
    """Make the edge a person asks for; its ends are term ids or labels of the document.

    Left out, the weight is the family's ω and the distance 0. What costs nothing at all counts as
    a premise, as in a Background file.
    """
    if family not in _BRIDGES:
        raise InputError(
            f"an edge of the family {family.value!r} cannot be added",
            hint=f"one of: {', '.join(f.value for f in _BRIDGES)}",
        )
    ends = [_term_id(index, name) for name in (source, target)]
    if ends[0] == ends[1]:
        raise InputError(f"an edge from {ends[0]!r} to itself says nothing")
    omega = OMEGA[family] if weight is None else weight
    delta = 0.0 if distance is None else distance
    return Edge(
        source=ends[0],
        target=ends[1],
        relation=relation,
        family=family,
        operator=OPERATOR,
        weight=omega,
        distance=delta,
        truth_preserving=omega + delta == 0,
        confidence=1.0,
        licence=LICENCE,
    )


def applied(index: DocumentIndex, edits: Edits) -> DocumentIndex:
    """Return the index with its map as edited; a term that only an edit names is added."""
    if edits == Edits():
        return index
    hidden = set(edits.removed)
    kept = [e for e in index.map.edges if not hidden or edge_id(e) not in hidden]
    edges = sorted((*kept, *edits.edges), key=lambda e: (e.source, e.target, e.family.value))
    known = {t.id for t in index.map.terms}
    named = {end for edge in edits.edges for end in (edge.source, edge.target)} - known
    terms = sorted((*index.map.terms, *map(_term, named)), key=lambda t: t.id)
    return replace(index, map=replace(index.map, terms=tuple(terms), edges=tuple(edges)))


def _term_id(index: DocumentIndex, name: str) -> str:
    """Return the id of the term a person means by an id or a label."""
    if any(term.id == name for term in index.map.terms):
        return name
    kind, _, key = name.partition(":")
    if kind in set(TermKind) and key.strip():
        return name  # a term that only queries speak of
    called = [t.id for t in index.map.terms if t.label.casefold() == name.casefold()]
    if len(called) == 1:
        return called[0]
    near = called or get_close_matches(name, [t.id for t in index.map.terms], n=3)
    raise InputError(
        f"{index.document.id!r} has {len(called) or 'no'} terms called {name!r}",
        hint=f"did you mean {' or '.join(map(repr, near[:3]))}?" if near else None,
    )


def _term(name: str) -> Term:
    kind, _, key = name.partition(":")
    return Term(name, TermKind(kind), key)


class EditStore:
    """Keeps the edits of each document in a file of its own, written whole or not at all.

    Without a folder they are kept in memory, as long as the store that they belong to.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._in_memory: dict[str, Edits] = {}
        self._lock = Lock()

    def read(self, document: str) -> Edits:
        """Return the edits of a document."""
        if self._folder is None:
            return self._in_memory.get(document, Edits())
        try:
            return from_json(Edits, self._path(self._folder, document).read_bytes())
        except FileNotFoundError:
            return Edits()

    def add(self, document: str, edge: Edge) -> None:
        """Add an edge to a document's map."""
        with self._lock:
            self._write(document, self.read(document).with_edge(edge))

    def hide(self, document: str, name: str, known: Iterable[str]) -> None:
        """Leave an edge out of a document's map, by its id."""
        with self._lock:
            edits = self.read(document)
            if name not in {*known, *map(edge_id, edits.edges)}:
                raise InputError(f"{document!r} has no edge {name!r}", hint="see its map")
            self._write(document, edits.without_edge(name))

    def forget(self, document: str) -> None:
        """Take every edit of a document back."""
        with self._lock:
            if self._folder is None:
                self._in_memory.pop(document, None)
            else:
                self._path(self._folder, document).unlink(missing_ok=True)

    @staticmethod
    def _path(folder: Path, document: str) -> Path:
        # a document may call itself anything; its name is never a path
        return folder / f"{sha256(document.encode()).hexdigest()[:32]}.json"

    def _write(self, document: str, edits: Edits) -> None:
        if self._folder is None:
            self._in_memory[document] = edits
            return
        write_whole(self._path(self._folder, document), to_json(edits, indent=1))


DOCUMENTS_KEPT: Final = 64  # open documents, the last ones used


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How documents are searched: the same for every question put to what was opened with it."""

    preset: Preset = DEFAULT_PRESET
    tau: float = TAU
    without: frozenset[str] = frozenset()  # query operators that are left out
    judge: bool = True  # a language model that judges has its say; False: in no preset
    patched: bool = True  # what refinement has kept is in force
    edits: Edits = field(default_factory=Edits)  # tried out, on top of those that are kept
    reprice: Reprice | None = None  # gives every costed edge another weight, for experiments

    @property
    def idle(self) -> str:
        """Why patches that are kept are not in force; nothing where they are."""
        return "--without changes what they were made for" if self.without else ""


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """Everything a workspace is opened with that another process can be told."""

    store: Target | None = None  # None: the user's own
    create: bool = True  # make the store where there is none
    background: Knowledge | str | Path | None = None  # None: what a document was indexed with
    settings: Settings = field(default_factory=Settings)
    options: SearchOptions | None = None  # None: the defaults, at the budget of the settings
    policy: Path | None = None  # None: the user's own
    family: str = DEFAULT_FAMILY  # whose patches hold
    keep: int = DOCUMENTS_KEPT
    budget: DocumentBudget = field(
        default_factory=DocumentBudget
    )  # of a document that another process indexes

    @property
    def target(self) -> Target:
        """The store that is meant."""
        return self.store if self.store is not None else default_store()

    @property
    def defaults(self) -> SearchOptions:
        """How documents are searched where nobody says otherwise."""
        return self.options or SearchOptions(tau=self.settings.tau)

    def elsewhere(self) -> WorkspaceConfig:
        """Return the same for another process, which may run in another folder.

        Documents are indexed here, so the Background stays with them.
        """
        return replace(self, store=resolved(self.target), background=None)


def chosen_preset(
    name: str | None = None, *, judge: bool | None = None, exact: bool = False
) -> Preset:
    """Return the preset that a name and a wish for or against the judge mean together.

    `judge` True gives the judge its say in any preset, False takes it away. With `exact` it is
    asked about every segment that may still get in.
    """
    if name is not None and name not in PRESETS:
        raise InputError(f"no preset is called {name!r}", hint=f"one of: {', '.join(PRESETS)}")
    chosen = DEFAULT_PRESET if name is None else PRESETS[name]
    if judge is False:
        chosen = FAST if name is None else chosen.unjudged if chosen.judge_weight else chosen
    elif judge:
        chosen = judged_preset(chosen)
    if exact and not chosen.judge_weight:
        raise InputError(
            f"--exact is about the judge, and preset {chosen.name!r} has none",
            hint=f"leave --exact out, or take --preset {DEFAULT_PRESET.name}",
        )
    return replace(chosen, judged=None) if exact else chosen
