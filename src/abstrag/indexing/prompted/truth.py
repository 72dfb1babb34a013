"""Truth evaluation: whether a segment can be told true or false in its context (appendix D).

A verdict is the majority of three samples at temperature 0.3; what is missing is the union over
the samples. A reply that cannot be read counts as "not evaluable" under the label `parse_error`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from abstrag.config import JUDGE_SAMPLES, JUDGE_TEMPERATURE
from abstrag.errors import BadReply, ModelError
from abstrag.indexing.prompted.context_values import said_name
from abstrag.llm.budget import room
from abstrag.llm.prompt import Answered, Prompt
from abstrag.model.background import Background
from abstrag.model.document import Document
from abstrag.model.index import Context, Field
from abstrag.model.record import record

SUFFICIENT: Final = "sufficient"
PARSE_ERROR: Final = "parse_error"
EACH: Final = 70  # tokens of a reply for a segment
_FACTS: Final = 60  # of the world model that are shown


@record
class SegmentVerdict:
    """What one sample says about one segment."""

    segment: str
    label: Literal["sufficient", "insufficient"]
    missing: tuple[str, ...]


@record
class SegmentVerdicts:
    """The reply of the program `truth_eval`."""

    verdicts: tuple[SegmentVerdict, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A segment as the judge sees it: id, words, and the context it is to be read in."""

    id: str
    text: str
    context: Context

    def shown(self) -> dict[str, Any]:
        """Return what the program is given."""
        pairs = [
            {"name": said_name(value), "value": value.value}
            for part, value in self.context.to_read()
            if part is not Field.EVIDENCE  # how firmly something is said settles no word of it
        ]
        return {"id": self.id, "text": self.text, "context": pairs}


@dataclass(frozen=True, slots=True)
class SegmentVote:
    """The vote on one segment: the labels of all samples, and what is missing by any of them."""

    labels: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def sufficient(self) -> bool:
        """True when most samples say so."""
        return 2 * Counter(self.labels)[SUFFICIENT] > len(self.labels)


def world_model(background: Background) -> tuple[str, ...]:
    """Return the facts that a Background states: a frozen set of sentences, and no model in it."""
    facts = [
        f"{name} is also called {other}"
        for name, all_ in background.aliases.items()
        for other in all_
    ]
    facts += [
        f"{thing} is a {kind}" for thing, kinds in background.classes.items() for kind in kinds
    ]
    facts += [f"{role} is a {kind}" for role, kinds in background.roles.items() for kind in kinds]
    facts += [f"{words} means {when}" for words, when in background.anchors.items()]
    facts += [f"{term} is known" for term in background.known]
    return tuple(sorted(set(facts)))


def header_facts(document: Document) -> tuple[str, ...]:
    """Return what a document's header says of it."""
    said = (("title", document.title), ("date", document.metadata.date))
    return tuple(f"the document's {name} is {value}" for name, value in said if value)


def shown_facts(facts: Sequence[str], document: Document) -> list[str]:
    """Return the facts a judge is given: the header first, then the Background's."""
    return [*header_facts(document), *facts][:_FACTS]


def vote(
    prompt: Prompt, groups: Sequence[Sequence[Claim]], facts: Sequence[str]
) -> list[list[SegmentVote] | ModelError]:
    """Judge groups of claims, each group in one call a sample.

    A group has the model's error in its place when the model could not be asked at all; a reply
    that came but cannot be read is a vote against.
    """
    inputs = [{"facts": list(facts), "segments": [c.shown() for c in g]} for g in groups]
    samples = [
        prompt.ask_many(
            SegmentVerdicts,
            inputs,
            sample=sample,
            temperature=JUDGE_TEMPERATURE,
            max_tokens=room(inputs, EACH),
        )
        for sample in range(JUDGE_SAMPLES)
    ]
    return [
        _counted(group, replies)
        for group, replies in zip(groups, zip(*samples, strict=True), strict=True)
    ]


def _counted(
    group: Sequence[Claim], replies: Sequence[Answered[SegmentVerdicts] | ModelError]
) -> list[SegmentVote] | ModelError:
    said: list[Mapping[str, SegmentVerdict]] = []
    for reply in replies:
        if isinstance(reply, ModelError) and not isinstance(reply, BadReply):
            return reply
        verdicts = () if isinstance(reply, ModelError) else reply.value.verdicts
        said.append({v.segment.strip(): v for v in reversed(verdicts)})
    return [_voted([sample.get(claim.id) for sample in said]) for claim in group]


def _voted(votes: Sequence[SegmentVerdict | None]) -> SegmentVote:
    missing = (words for v in votes if v is not None for words in v.missing if words.strip())
    return SegmentVote(
        labels=tuple(PARSE_ERROR if v is None else v.label for v in votes),
        missing=tuple(dict.fromkeys(words.strip() for words in missing)),
    )
