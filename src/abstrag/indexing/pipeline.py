"""Idx(D): the eight operators in the paper's order, and the index they leave (Eq. 4).

The operators are loaded when a document is indexed: a search of one that is indexed already names
the types below and runs none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from abstrag.config import Settings
from abstrag.errors import InputError
from abstrag.language.parser import parses_from_bytes, parses_to_bytes
from abstrag.memory import collector_relaxed
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document, Genre
from abstrag.model.index import DocumentIndex, SegmentRecord
from abstrag.model.record import from_json, to_json
from abstrag.model.segment import Granularity
from abstrag.telemetry import span

if TYPE_CHECKING:
    from abstrag.indexing.operator import Chain, IndexDraft, Operator, Shortfall
    from abstrag.indexing.prompted.prompts import IndexPrompts
    from abstrag.indexing.utility import Schedule


from collections.abc import Iterable

from abstrag.indexing.layers import Rewrite
from abstrag.indexing.operator import IndexDraft

# S_can(s): a segment's text with the zero-cost rewrites applied.


def canonical_texts(draft: IndexDraft) -> tuple[str, ...]:
    """Return the canonical text of every segment.

    Only the layers of Coref, NormNE and NormTime have rewrites. Where two overlap the earlier
    operator's stands: a pronoun has become a name before names are made canonical.
    """
    texts = [s.text for s in draft.segments]
    chosen: dict[int, list[Rewrite]] = {}
    for layer in (draft.coreference, draft.entities, draft.times):
        for rewrite in layer.rewrites if layer else ():
            taken = chosen.setdefault(rewrite.segment, [])
            if all(rewrite.end <= r.start or r.end <= rewrite.start for r in taken):
                taken.append(rewrite)
    for segment, rewrites in chosen.items():
        texts[segment] = rewritten(texts[segment], rewrites)
    return tuple(texts)


def rewritten(text: str, rewrites: Iterable[Rewrite]) -> str:
    """Return a text with rewrites applied; they must not overlap."""
    for rewrite in sorted(rewrites, key=lambda r: r.start, reverse=True):
        text = text[: rewrite.start] + rewrite.text + text[rewrite.end :]
    return text


PARSES: Final = "parses"
_MODELS: Final = "+"  # between what local mode depends on and what models add to that
_INCOMPLETE: Final = "incomplete:"  # before the fingerprint of an index that lacks answers

OnStep = Callable[[str], None]
OnShortfall = Callable[["Shortfall"], None]


class LayerCache(Protocol):
    """Keeps what operators made, by document and by operator with all before it."""

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what was put, or None."""
        ...

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep one layer."""
        ...


def standard_chain(
    background: Background = EMPTY,
    settings: Settings | None = None,
    prompts: IndexPrompts | None = None,
) -> Chain:
    """Build the chain of the paper for local mode, or with a model behind it given prompts."""
    from abstrag.indexing.build_map import BuildMap
    from abstrag.indexing.concepts import AbstractConcepts
    from abstrag.indexing.coref import ResolveCoreference
    from abstrag.indexing.entities import NormalizeEntities
    from abstrag.indexing.events import AbstractEvents
    from abstrag.indexing.lift import LiftContext
    from abstrag.indexing.naming.alias_rules import with_plurals
    from abstrag.indexing.operator import Chain
    from abstrag.indexing.segment import SegmentLayout
    from abstrag.indexing.times import NormalizeTimes

    settings = settings or Settings()
    granularity = _member(Granularity, settings.granularity, "granularity")
    genre = _member(Genre, settings.genre, "genre")
    aliases, classes, roles = (
        tuple(sorted(entries.items()))
        for entries in (background.aliases, background.classes, background.roles)
    )

    def source(*entries: object) -> tuple[str, ...]:
        """Name the Background to those operators only that get something of it."""
        return (background.name,) if any(entries) else ()

    local = Chain(
        SegmentLayout(granularity, genre),
        ResolveCoreference(),
        NormalizeEntities(with_plurals(aliases), *source(aliases)),
        NormalizeTimes(tuple(sorted(background.anchors.items()))),
        LiftContext(),
        AbstractConcepts(classes, roles, *source(classes, roles)),
        AbstractEvents(background.events, *source(background.events)),
        BuildMap(),
    )
    if prompts is None:
        return local
    from abstrag.indexing.prompted.chain import prompted

    return prompted(local, prompts, background)


def index(
    document: Document,
    *,
    background: Background = EMPTY,
    settings: Settings | None = None,
    schedule: Schedule | None = None,
    prompts: IndexPrompts | None = None,
    cache: LayerCache | None = None,
    on_step: OnStep = lambda _name: None,
    on_shortfall: OnShortfall = lambda _shortfall: None,
) -> DocumentIndex:
    """Index a document: eight operators, then the utility prior.

    With a cache, an operator whose settings and predecessors are unchanged is not run again.
    `on_step` is told the name of each operator that does run, `on_shortfall` what a model did not
    give. An index that lacks answers is complete in all else; its fingerprint says that it lacks
    some, so that the next run asks again, and only for those that no call has answered.
    """
    settings = settings or Settings()
    with span("abstrag.index", {"abstrag.document": document.id}) as recorded:
        chain = standard_chain(background, settings, prompts)
        with collector_relaxed():
            draft = run_chain(chain, document, cache, on_step)
        for shortfall in draft.shortfalls:
            on_shortfall(shortfall)
        made = assemble(
            draft, background=background, settings=settings, schedule=schedule, prompts=prompts
        )
        recorded.note({"abstrag.segments": len(made.segments)})
    return made


def fingerprint(
    background: Background = EMPTY,
    settings: Settings | None = None,
    schedule: Schedule | None = None,
    prompts: IndexPrompts | None = None,
) -> str:
    """Name everything an index depends on besides the document, as one hash.

    With prompts a second hash follows, of models and programs.
    """
    from abstrag.indexing.utility import VERSION

    settings = settings or Settings()
    prior = (VERSION, settings.alpha, background.known, sorted((schedule or {}).items()))
    last = standard_chain(background, settings).fingerprints()[-1]
    own = sha256(f"{last}|{prior!r}".encode()).hexdigest()
    if prompts is None:
        return own
    return f"{own}{_MODELS}{standard_chain(background, settings, prompts).fingerprints()[-1]}"


def serves(have: str, wanted: str) -> bool:
    """Tell whether an index with one fingerprint will do where another is wanted.

    What a model added to an index stays of use when no model is at hand.
    """
    if _MODELS in wanted:
        return have == wanted
    return have.removeprefix(_INCOMPLETE).partition(_MODELS)[0] == wanted


def assemble(
    draft: IndexDraft,
    *,
    background: Background = EMPTY,
    settings: Settings | None = None,
    schedule: Schedule | None = None,
    prompts: IndexPrompts | None = None,
) -> DocumentIndex:
    """Turn a finished draft into the index: canonical texts, utilities, one record a segment."""
    from abstrag.indexing.operator import as_ambiguities
    from abstrag.indexing.pipeline import canonical_texts
    from abstrag.indexing.utility import utilities

    settings = settings or Settings()
    assert draft.segmented is not None
    assert draft.coreference is not None
    assert draft.entities is not None
    assert draft.times is not None
    assert draft.contexts is not None
    assert draft.mapped is not None
    genre = draft.segmented.genre
    worth = utilities(
        draft.segments,
        draft.contexts.statements,
        genre,
        known=background.known,
        alpha=settings.alpha,
        schedule=schedule,
    )
    records = tuple(
        SegmentRecord(*parts)
        for parts in zip(
            draft.segments,
            canonical_texts(draft),
            draft.contexts.contexts,
            draft.contexts.statements,
            worth,
            strict=True,
        )
    )
    open_questions = (
        *draft.coreference.ambiguities,
        *draft.entities.ambiguities,
        *draft.times.ambiguities,
        *draft.contexts.ambiguities,
        *as_ambiguities(draft.shortfalls, draft.segments),
    )
    mark = fingerprint(background, settings, schedule, prompts)
    return DocumentIndex(
        document=draft.document,
        genre=genre,
        granularity=draft.segmented.granularity,
        records=records,
        map=draft.mapped.map,
        mentions=draft.mapped.mentions,
        frames=draft.mapped.frames,
        ambiguities=tuple(sorted(open_questions, key=lambda a: (a.segment, a.start, a.end))),
        fingerprint=_INCOMPLETE + mark if _lacks(draft) else mark,
        background=background,
    )


def _lacks(draft: IndexDraft) -> bool:
    return any(shortfall.missed for shortfall in draft.shortfalls)


def run_chain(
    chain: Chain,
    document: Document,
    cache: LayerCache | None = None,
    on_step: OnStep = lambda _name: None,
) -> IndexDraft:
    """Run the chain; an operator whose settings and whose input are unchanged does not run.

    A layer is kept under a hash of its operator and of what the layers before it hold. So when an
    operator runs again and finds what it found before, those after it need not. From the first
    layer that lacks a model's answer on, nothing is put into the cache. Nor is the map, which is
    put together of the layers before it in less time than it takes to read it.
    """
    from abstrag.indexing.operator import IndexDraft, Layer

    draft = IndexDraft(document)
    if cache is None:
        for op in chain.operators:
            on_step(op.name)
            draft = op(draft)
        return draft
    content, before, parses_mark = document.content_hash, "", ""
    for op in chain.operators:
        if op.provides is Layer.MAP:
            on_step(op.name)
            draft = op(draft)
            continue
        mark = sha256(f"{before}|{op.version}|{op!r}".encode()).hexdigest()
        parses_mark = parses_mark or mark  # those of the first operator
        lacking = _lacks(draft)
        data = None if lacking else cache.get_layer(content, op.provides, mark)
        if data is not None:
            draft = draft.with_(**{op.provides.value: _read(op, data)})
        else:
            if draft.segmented is not None and not draft.parses:
                draft = _with_parses(draft, chain, cache.get_layer(content, PARSES, parses_mark))
            on_step(op.name)
            draft = op(draft)
            data = to_json(getattr(draft, op.provides.value)).encode()
            if not _lacks(draft):
                cache.put_layer(content, op.provides, mark, data)
                if not before:
                    cache.put_layer(content, PARSES, mark, parses_to_bytes(draft.parses))
        before = sha256(before.encode() + data).hexdigest()
    return draft


def _read(op: Operator, data: bytes) -> object:
    from abstrag.indexing.operator import LAYER_RECORDS

    made: object = from_json(LAYER_RECORDS[op.provides], data)
    return made


def _with_parses(draft: IndexDraft, chain: Chain, kept: bytes | None) -> IndexDraft:
    """Return a draft whose segments were kept with the parse that operators read."""
    from abstrag.indexing.operator import IndexDraft

    if kept is not None:
        return draft.with_(parses=parses_from_bytes(kept))
    return draft.with_(parses=chain.operators[0](IndexDraft(draft.document)).parses)


_Named = TypeVar("_Named", Granularity, Genre)


def _member(kind: type[_Named], value: str | None, what: str) -> _Named | None:
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        raise InputError(f"no {what} is called {value!r}", hint=f"one of: {choices}") from None
