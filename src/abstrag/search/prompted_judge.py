"""A judge with a model behind it: which conditions of a query does each segment meet? (appendix E).

Segments are judged many in a call, in the order they come, which is that of their bounds. What a
model says of one segment may depend on its neighbours in the call as far as any prompt allows, and
no further: temperature 0, the same cut for the same order, and the answer is kept by the content
of the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from abstrag.indexing.prompted.context_values import said_name
from abstrag.llm.budget import Batching, room, tokens_in, tokens_of
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import expected
from abstrag.model.index import Context, DocumentIndex, Field
from abstrag.model.query import Query
from abstrag.model.record import record
from abstrag.model.segment import Segment
from abstrag.search.calibration import ModelCalibration
from abstrag.search.relevance import Coverage

MAX_TOKENS: Final = 4096  # of a reply
_EACH: Final = (40, 24)  # tokens of a reply for a segment, and for each condition besides
MAX_QUERY_TOKENS: Final = 1024  # of the query and its literals in a call
_ENTRY: Final = 24  # tokens of the JSON around a segment
_LIMIT: Final = 20  # segments in a call, where the program sets no limit of its own
_ENTAILED: Final = 0.5
MET: Final = {"yes": 1.0, "perhaps": 0.5, "no": 0.0}


@record
class LiteralJudgement:
    """Whether a segment meets one condition, and where the model tells it, how probably."""

    literal: str
    met: Literal["yes", "perhaps", "no"]
    met_weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def p(self) -> float:
        """How probably it is met: the mean over the words that the model might have said."""
        return expected(self.met, self.met_weights, MET)


@record
class SegmentJudgement:
    """What is said of one segment."""

    segment: str
    literals: tuple[LiteralJudgement, ...]


@record
class Judgements:
    """The reply of the program `entailment`."""

    judgements: tuple[SegmentJudgement, ...]


@dataclass(slots=True)
class JudgedSegments:
    """What a judge was told in this process: a segment is judged once for a query."""

    said: dict[tuple[Query, str], Mapping[str, float]] = field(default_factory=dict)
    unanswered: int = 0  # segments that no reply mentions, though asked about twice


@dataclass(frozen=True, slots=True)
class PromptedJudge:
    """RefinementRoles segments by per-literal entailment; implements `search.judging.Judge`.

    Graded, a segment's value is the share of the literals' weight that it is expected to meet, or
    what a calibration makes of that; hard, it is 1 when it meets every literal and 0 otherwise. A
    segment that the model passes over is asked about once more, and is then taken to meet nothing.
    What was said of a segment is remembered, so that an explanation has the judgement of the
    ranking it explains.
    """

    prompt: Prompt
    contexts: Mapping[str, Context] = field(default_factory=dict)  # by segment id
    coverage: Coverage = Coverage.GRADED
    calibration: ModelCalibration | None = None
    batching: Batching = field(default_factory=Batching)
    threads: int = 1  # judges of several documents that may ask at once
    memory: JudgedSegments = field(default_factory=JudgedSegments, compare=False, repr=False)

    @classmethod
    def of(cls, index: DocumentIndex, prompt: Prompt, **settings: Any) -> PromptedJudge:
        """Make a judge that reads a document's segments in their lifted contexts."""
        return cls(prompt, {r.segment.id: r.context for r in index.records}, **settings)

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Return a value in [0, 1] for each segment.

        Raises:
            ModelError: The model failed; calls that were answered are in the log.
        """
        known = self.memory.said
        for _attempt in range(2):
            if fresh := [s for s in segments if (query, s.id) not in known]:
                said = self._ask(query, fresh)
                known.update({(query, name): literals for name, literals in said.items()})
        passed_over = [s for s in segments if (query, s.id) not in known]
        self.memory.unanswered += len(passed_over)
        known.update({(query, s.id): {} for s in passed_over})
        return [self._value(query, known[query, s.id]) for s in segments]

    def most_calls(self, segments: Sequence[Segment], batch: int) -> tuple[int, int]:
        """Return how many calls judging all of these takes at most, and the tokens they send.

        They come `batch` at a time in an order that is not known yet. Two runs next to each other
        hold more than a batch has room for, or they would be one; and everybody may be passed over.
        """
        sizes = [self._size(segment) for segment in segments]
        together = min(batch, self.batching.items, self.prompt.limit("judgements", _LIMIT))
        once = -(-len(sizes) // together) + 2 * sum(sizes) // self.batching.tokens
        frame = tokens_in(self.prompt.program.request(self.prompt.role, {}))
        return 2 * once, 2 * (once * (frame + MAX_QUERY_TOKENS) + sum(sizes))

    def _ask(self, query: Query, segments: Sequence[Segment]) -> dict[str, Mapping[str, float]]:
        runs = [[segments[i] for i in run] for run in self._cut(segments)]
        inputs = [self._inputs(query, run) for run in runs]
        said: dict[str, Mapping[str, float]] = {}
        each = _EACH[0] + _EACH[1] * len(query.literals)
        most = min(MAX_TOKENS, room(inputs, each))
        replies = self.prompt.ask_many(Judgements, inputs, max_tokens=most, weighed="met")
        for run, reply in zip(runs, replies, strict=True):
            if isinstance(reply, Exception):
                raise reply
            asked = {s.id for s in run}
            for one in reply.value.judgements:
                if one.segment.strip() in asked:
                    found = {literal.literal.strip(): literal.p for literal in one.literals}
                    said.setdefault(one.segment.strip(), found)
        return said

    def _cut(self, segments: Sequence[Segment]) -> list[range]:
        sizes = [self._size(segment) for segment in segments]
        return self.batching.cut(sizes, most=self.prompt.limit("judgements", _LIMIT))

    def _size(self, segment: Segment) -> int:
        return tokens_of(str(self._shown(segment))) + _ENTRY

    def _inputs(self, query: Query, segments: Sequence[Segment]) -> dict[str, Any]:
        return {
            "query": query.text,
            "answer_type": query.answer_type or "",
            "literals": [
                {"id": f"q{n}", "kind": literal.kind.value, "label": literal.label}
                for n, literal in enumerate(query.literals, 1)
            ],
            "segments": [self._shown(segment) for segment in segments],
        }

    def _shown(self, segment: Segment) -> dict[str, Any]:
        """Return a segment with what it needs to be understood: headers, section, context."""
        headers = [header.text for header in segment.headers]
        text = " | ".join([*headers, segment.text])
        context = self.contexts.get(segment.id)
        values = context.to_read() if context else ()
        lifted = [
            f"{said_name(value)}: {value.value}"
            for part, value in values
            if part is not Field.EVIDENCE  # the text itself says how firmly
        ]
        if not lifted and segment.section:
            lifted = [f"section: {segment.section[-1]}"]
        return {"id": segment.id, "text": text, "context": lifted}

    def _value(self, query: Query, said: Mapping[str, float]) -> float:
        """Put the conditions' probabilities together; one that is not answered is not met."""
        met = [said.get(f"q{n}", 0.0) for n in range(1, len(query.literals) + 1)]
        if self.coverage is Coverage.HARD:
            return float(all(p >= _ENTAILED for p in met))
        share = sum(one.weight * p for one, p in zip(query.literals, met, strict=True))
        value = self.calibration(share) if self.calibration else share
        return min(1.0, round(value, 9))
