"""S(s) with a model: what segments state and how firmly, where a model reads it better than cues.

A statement has no price: it weighs in the utility prior and nowhere else. So a model's reading
takes the place of the rules' reading of the same words, and its call is noted as the cue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.prompted.plan import Plan, planned
from abstrag.indexing.prompted.reader import Batch, StageReader, batches, prose
from abstrag.language.places import overlaps
from abstrag.llm.budget import Batching
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import Percent
from abstrag.model.record import record
from abstrag.model.statement import Profile, Statement, StatementKind

_EACH: Final = 160  # tokens of a reply for a segment

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
        each=_EACH,
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
    return planned(prompt, inputs, each=_EACH)


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
