"""LiftCtx with a model: statements, context values that only a reader finds, and a judge's pruning.

The rules lift and prune first. A segment in which every word is bound by rule needs no judge. For
the others a model proposes values, quoted from the document, and a judge says by vote whether the
segment can be told true or false; values are then dropped, the least sure first, for as long as
the judge still says so. With the first question goes a second: whether the segment can do without
any of them. That mostly settles it. What goes on goes on side by side for a whole batch, so that a
round is one call a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from abstrag.config import JUDGE_CALL_BUDGET, JUDGE_SAMPLES
from abstrag.errors import ModelError
from abstrag.indexing.layers import Contexts
from abstrag.indexing.lift import LiftContext
from abstrag.indexing.minimize import Pruning, pruning
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.indexing.prompted.context_values import (
    Lifted,
    call_of,
    lift_inputs,
    open_words,
    read_values,
)
from abstrag.indexing.prompted.prompts import Plan, planned
from abstrag.indexing.prompted.reader import Batch, StageReader, batches, prose
from abstrag.indexing.prompted.truth import EACH, Claim, SegmentVote, shown_facts, vote
from abstrag.language.spelling import overlaps, places
from abstrag.llm.budget import Batching
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import Percent
from abstrag.model.index import Ambiguity, Context, FieldValue, Profile, Statement, StatementKind
from abstrag.model.record import record

# S(s) with a model: what segments state and how firmly, where a model reads it better than cues.
#
# A statement has no price: it weighs in the utility prior and nowhere else. So a model's reading
# takes the place of the rules' reading of the same words, and its call is noted as the cue.

_STATEMENT_TOKENS: Final = 160  # tokens of a reply for a segment

Said = tuple[Statement, ...]


@record
class ModelStatement:
    """A statement as the program reports it."""

    segment: str
    quote: str
    kind: StatementKind
    cue: str
    profile: Profile
    confidence: Percent


@record
class Statements:
    """The reply of the program `extract_statements`."""

    statements: tuple[ModelStatement, ...]


def read_statements(
    draft: IndexDraft,
    prompt: Prompt,
    batching: Batching,
    local: Sequence[Said],
    reader: StageReader,
) -> list[Said]:
    """Return the statements of every segment, the model's in place of those they overlap."""
    found: dict[int, list[Statement]] = {}
    for batch, reply in reader.ask(
        prompt,
        Statements,
        statement_batches(draft, batching),
        lambda batch: {"segments": reader.shown(batch)},
        each=_STATEMENT_TOKENS,
    ):
        for said in reply.value.statements:
            segment = reader.segment(said.segment, batch.segments)
            place = None if segment is None else reader.place(segment, said.quote)
            if segment is not None and place is not None:
                cue = f"model call {reply.call}"
                made = Statement(said.kind, said.profile, said.confidence, *place, cue)
                found.setdefault(segment, []).append(made)
    return [_merged(said, found.get(i, [])) for i, said in enumerate(local)]


def plan_statements(draft: IndexDraft, prompt: Prompt, batching: Batching) -> Plan:
    """Say how many calls that takes."""
    reader = StageReader(draft, "statements")
    inputs = [{"segments": reader.shown(b)} for b in statement_batches(draft, batching)]
    return planned(prompt, inputs, each=_STATEMENT_TOKENS)


def statement_batches(draft: IndexDraft, batching: Batching) -> list[Batch]:
    """Cut the prose of a document for `extract_statements`."""
    return batches(draft, prose(draft), batching)


def _merged(local: Said, said: Sequence[Statement]) -> Said:
    """Keep the rules' statements that no statement of the model of the same kind overlaps."""
    if not said:
        return local
    kept = [
        s
        for s in local
        if not any(m.kind is s.kind and overlaps((m.start, m.end), (s.start, s.end)) for m in said)
    ]
    return tuple(sorted({*kept, *said}, key=lambda s: (s.start, s.end, s.kind, s.profile)))


_LEAD: Final = 3  # segments before a batch, from which a value may come
_ROUNDS: Final = JUDGE_CALL_BUDGET // JUDGE_SAMPLES  # a round asks about a segment once a sample
_EACH: Final = 110  # tokens of a reply for a segment
_BARE: Final = "b"  # after a segment's id: the same segment without what a model proposed


@dataclass(frozen=True, slots=True)
class PromptedLift:
    """Lift by rule, then with a model where words stayed open; `facts` are the Background's."""

    statements: Prompt
    lift: Prompt
    truth: Prompt
    facts: tuple[str, ...] = ()
    local: LiftContext = field(default_factory=LiftContext)
    batching: Batching = field(default_factory=Batching)

    name: ClassVar[str] = LiftContext.name
    requires: ClassVar[Layer | None] = LiftContext.requires
    provides: ClassVar[Layer] = LiftContext.provides
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 1

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of contexts."""
        draft = self.local(draft)
        assert draft.contexts is not None
        stated, lifted = StageReader(draft, "statements"), StageReader(draft, "contexts")
        said = read_statements(
            draft, self.statements, self.batching, draft.contexts.statements, stated
        )
        contexts = self._proposed(draft, lifted)
        pruned, missing = self._pruned(draft, contexts, lifted)
        layer = Contexts(
            tuple(pruned.get(i, context) for i, context in enumerate(draft.contexts.contexts)),
            tuple(said),
            missing,
        )
        shortfalls = (*draft.shortfalls, *stated.shortfalls, *lifted.shortfalls)
        return draft.with_(contexts=layer, shortfalls=shortfalls)

    def plan(self, draft: IndexDraft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        assert draft.contexts is not None
        open_ = unsettled(draft)
        inputs = [lift_inputs(draft, batch) for batch in self._lift_batches(draft)]
        judged: list[Mapping[str, Any]] = []
        facts = shown_facts(self.facts, draft.document)
        for group in self._groups(draft, sorted(open_)):
            claims = [_claim(draft, i, draft.contexts.contexts[i]).shown() for i in group]
            judged.append({"facts": facts, "segments": claims * 2})
        return (
            plan_statements(draft, self.statements, self.batching),
            planned(self.lift, inputs, each=_EACH),
            planned(self.truth, judged * JUDGE_SAMPLES, each=EACH, exact=False),
        )

    def _lift_batches(self, draft: IndexDraft) -> list[Batch]:
        open_ = unsettled(draft)
        cut = batches(draft, prose(draft), self.batching, lead=_LEAD)
        return [batch for batch in cut if open_.intersection(batch.segments)]

    def _groups(self, draft: IndexDraft, segments: Sequence[int]) -> list[tuple[int, ...]]:
        """Cut the segments to judge; a group stays the same in every round."""
        most = self.truth.limit("verdicts", self.batching.items) // 2  # each may be asked twice
        return [b.segments for b in batches(draft, segments, self.batching, most=most)]

    def _proposed(self, draft: IndexDraft, reader: StageReader) -> dict[int, Context]:
        """Return the contexts of unsettled segments with what a model would add."""
        assert draft.contexts is not None
        contexts = {i: draft.contexts.contexts[i] for i in sorted(unsettled(draft))}
        for batch, reply in reader.ask(
            self.lift,
            Lifted,
            self._lift_batches(draft),
            lambda batch: lift_inputs(draft, batch),
            each=_EACH,
        ):
            for segment, part, value in read_values(draft, reader, batch, reply):
                if segment in contexts:
                    own = getattr(contexts[segment], part.value)
                    contexts[segment] = replace(contexts[segment], **{part.value: (*own, value)})
        return contexts

    def _pruned(
        self, draft: IndexDraft, contexts: Mapping[int, Context], reader: StageReader
    ) -> tuple[dict[int, Context], tuple[Ambiguity, ...]]:
        """Prune all contexts side by side; also return what the judge found missing."""
        done = dict(contexts)  # unpruned is safe: it only says too much
        missing: list[Ambiguity] = []
        prunings: dict[int, Pruning] = {}
        waiting: dict[int, Context] = {}
        groups = self._groups(draft, sorted(contexts))
        first = [[c for i in group for c in _both(draft, i, contexts[i])] for group in groups]
        for group, said in self._judged(draft, groups, first, reader):
            for i in group:
                name = draft.segments[i].id
                whole, bare = said[name], said.get(name + _BARE)
                if not whole.sufficient:
                    missing += _missing(draft, i, whole)
                elif bare is not None and bare.sufficient:
                    done[i] = _without(contexts[i])
                elif _values(contexts[i]) > 1:
                    prunings[i] = pruning(contexts[i], budget=_ROUNDS - 1, fixed=_fixed)
                    next(prunings[i])
                    waiting[i] = prunings[i].send(True)
        while waiting:
            asked = [tuple(i for i in group if i in waiting) for group in groups]
            asked = [group for group in asked if group]
            claims = [[_claim(draft, i, waiting.pop(i)) for i in group] for group in asked]
            for group, said in self._judged(draft, asked, claims, reader):
                for i in group:
                    try:
                        waiting[i] = prunings[i].send(said[draft.segments[i].id].sufficient)
                    except StopIteration as stop:
                        done[i] = stop.value
        return done, tuple(missing)

    def _judged(
        self,
        draft: IndexDraft,
        groups: Sequence[tuple[int, ...]],
        claims: Sequence[Sequence[Claim]],
        reader: StageReader,
    ) -> Iterator[tuple[tuple[int, ...], dict[str, SegmentVote]]]:
        """Go through the groups that were judged, with the verdicts by the claims' ids."""
        facts = shown_facts(self.facts, draft.document)
        votes = vote(self.truth, claims, facts)
        for group, asked, verdicts in zip(groups, claims, votes, strict=True):
            if isinstance(verdicts, ModelError):
                reader.miss(group, verdicts)
            else:
                yield group, {c.id: v for c, v in zip(asked, verdicts, strict=True)}


def unsettled(draft: IndexDraft) -> frozenset[int]:
    """Return the segments in which a rule left a reference or a time open."""
    return frozenset(open_words(draft)).intersection(prose(draft))


def _fixed(value: FieldValue) -> bool:
    """True for what the rules lifted: they keep only what they know to be needed."""
    return call_of(value) is None


def _values(context: Context) -> int:
    """Return how many values of a context a model proposed."""
    return sum(not _fixed(value) for _, value in context.values())


def _without(context: Context) -> Context:
    """Return a context without what a model proposed."""
    for part, value in tuple(context.values()):
        if not _fixed(value):
            context = context.without(part, value)
    return context


def _both(draft: IndexDraft, segment: int, context: Context) -> list[Claim]:
    """Return a segment in its whole context, and also in the rules' own where that is less."""
    whole = _claim(draft, segment, context)
    if not _values(context):
        return [whole]
    return [whole, replace(whole, id=whole.id + _BARE, context=_without(context))]


def _claim(draft: IndexDraft, segment: int, context: Context) -> Claim:
    source = draft.segments[segment]
    return Claim(source.id, source.text, context)


def _missing(draft: IndexDraft, segment: int, verdict: SegmentVote) -> list[Ambiguity]:
    """Note what the judge misses, where the segment has those words, else for all of it."""
    text = draft.segments[segment].text
    return [
        Ambiguity(segment, *next(places(text, words), (0, len(text))), f"context lacks: {words}")
        for words in verdict.missing
    ]
