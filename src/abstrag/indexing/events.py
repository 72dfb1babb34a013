"""AbsEvent: events with their participants, and the edges to what they may be read as.

Every content verb, every noun that names an act and every artifact of the inventory is a term
`event:KEY`, where KEY follows the rule of `abstrag.lexicon.events`; so a verb and its noun are one
term. A frame tells who takes part in one mention of it. What an event may be read as (a visit as a
meeting) is an edge and is paid; whether the slots fit is for the ranker to weigh. Where a word of
`tellings.toml` tells an event of what is listed for it, a term of its own says so, and an edge
leads to what a query asks for with any other word of that line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from abstrag.config import DELTA_EVENT_ARTIFACT, OMEGA
from abstrag.indexing.abstraction.arguments import (
    More,
    Participants,
    find_triggers,
    made_trigger,
    slot_at,
    slots_of,
    times_of,
)
from abstrag.indexing.abstraction.nominals import (
    TermCollector,
    choose_senses,
    class_key,
    nodes,
    sense_edges,
)
from abstrag.indexing.abstraction.passage import ParsedPassage, passages
from abstrag.indexing.abstraction.tellings import ToldAt, tellings_in, told_of
from abstrag.indexing.layers import Events
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.language.words import key, term_id
from abstrag.lexicon.events import Telling, event_type, inventory, named_event, names_event
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import roles
from abstrag.lexicon.wordnet import lexicon_version
from abstrag.model.background import EventRule
from abstrag.model.term import Edge, Family, Frame, Licence, LicenceKind, Relation, TermKind

NAME: Final = "abstract_events"
TELLINGS: Final = "tellings"  # the operator of edges that a line of `tellings.toml` licenses
_TYPICAL: Final = 0.8  # how sure the inventory is of a reading
_RULE: Final = 1.0


@dataclass(frozen=True, slots=True)
class AbstractEvents:
    """Find events and link them to types; `rules` are the Background's event schemas."""

    rules: tuple[EventRule, ...] = ()
    background: str = "background"
    lexicon: str = field(default_factory=lexicon_version)

    name: ClassVar[str] = NAME
    requires: ClassVar[Layer | None] = Layer.CONCEPTS
    provides: ClassVar[Layer] = Layer.EVENTS
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 9

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Add the layer of events."""
        ledger = TermCollector()
        frames: list[Frame] = []
        events: dict[str, None] = {}
        more = _more(self.rules)
        participants = Participants.of(draft, roles())
        for passage in passages(draft):
            frames += _read(passage, ledger, events, more, participants)
            frames += _read_tellings(passage, ledger, participants)
        _add_inventory(ledger, events)
        self._add_rules(ledger, events)
        _add_senses(ledger, events)
        frames.sort(key=lambda frame: (frame.segment, frame.start))
        layer = Events(ledger.terms, ledger.mentions, tuple(frames), ledger.edges)
        return draft.with_(events=layer)

    def _add_rules(self, ledger: TermCollector, events: dict[str, None]) -> None:
        for rule in self.rules:
            source, target = named_event(key(rule.source)), named_event(key(rule.target))
            if source in events:
                reference = f"{self.background}: events {rule.source} -> {rule.target}"
                licence = Licence(LicenceKind.BACKGROUND, reference)
                _link(ledger, source, target, licence, _RULE, artifact=rule.artifact)


def _more(rules: tuple[EventRule, ...]) -> More:
    """Return what the rules start from and nothing else would take for an event."""
    more: dict[str, tuple[str, bool]] = {}
    for rule in rules:
        event = named_event(key(rule.source))
        for word in (key(rule.source), class_key(rule.source)):
            if not names_event(word) and word not in inventory().artifacts:
                more[word] = (event, rule.artifact)
    return more


def _read(
    passage: ParsedPassage,
    ledger: TermCollector,
    events: dict[str, None],
    more: More,
    participants: Participants,
) -> list[Frame]:
    """Note the events of a passage; those of its text, not of headers, have frames."""
    triggers = find_triggers(passage, more)
    whens = times_of(passage, triggers) if passage.times else {}
    frames: list[Frame] = []
    for i, trigger in enumerate(triggers):
        events[trigger.event] = None
        term = _term(ledger, trigger.event)
        mention = passage.mention(term, trigger.first, trigger.last)
        ledger.mention(mention, passage.quote(trigger.first, trigger.last))
        if passage.header is None:
            slots = slots_of(passage, trigger, whens.get(i, []), participants)
            frames.append(
                Frame(
                    event=term,
                    segment=passage.segment,
                    start=mention.start,
                    end=mention.end,
                    slots=slots,
                    artifact=trigger.artifact,
                    negated=trigger.negated,
                )
            )
    return frames


def _read_tellings(
    passage: ParsedPassage, ledger: TermCollector, participants: Participants
) -> list[Frame]:
    """Note what a passage tells in words that are listed as telling the same as others."""
    frames: list[Frame] = []
    for told in tellings_in(passage.words, passage.first, passage.last):
        term = _told_term(ledger, told)
        mention = passage.mention(term, told.first, told.last)
        ledger.mention(mention, passage.quote(told.first, told.last))
        if passage.header is None:
            noun = passage.words.pos[told.first] == "NOUN"
            verb, act = (None, told.first) if noun else (told.first, None)
            trigger = made_trigger(passage.words, told.word.name, verb, act, start=told.last - 1)
            slots = slots_of(passage, trigger, [], participants)
            parties = told_of(passage.words, told)
            named = [slot_at(passage, "whom", each, participants) for each in parties]
            known = {(slot.start, slot.end) for slot in slots}
            slots += tuple(slot for slot in named if (slot.start, slot.end) not in known)
            place = passage.segment, mention.start, mention.end
            frames.append(Frame(term, *place, slots, negated=trigger.negated))
    return frames


def _told_term(ledger: TermCollector, told: ToldAt) -> str:
    """Add the term of a word of a telling, and the edges to what it may be asked for by."""
    telling, name = told.telling, told.word.name
    term = term_id(TermKind.EVENT, f"{name} in {telling.key}")
    if term in ledger:
        return term
    ledger.term(term, TermKind.EVENT, name)
    for wider in (False, True):
        if wider and not telling.wider:
            continue
        family = Family.EVENT if wider else Family.EXPRESSION
        target = asked_term(telling, wider=wider)
        ledger.term(target, TermKind.EVENT, (telling.wider if wider else telling.verbs)[0])
        ledger.edge(
            Edge(
                source=term,
                target=target,
                relation=Relation.IMPLIES,
                family=family,
                operator=TELLINGS,
                weight=OMEGA[family],
                distance=0.0,
                truth_preserving=False,
                confidence=_TYPICAL,
                licence=Licence(LicenceKind.LEXICON, f"tellings: {telling.line}"),
            )
        )
    return term


def asked_term(telling: Telling, *, wider: bool) -> str:
    """Return the term that a query has beside its own where it asks for what a telling lists."""
    return term_id(TermKind.EVENT, f"what tells {telling.key}{' and more' if wider else ''}")


def _term(ledger: TermCollector, event: str) -> str:
    term = term_id(TermKind.EVENT, event)
    if term not in ledger:
        kind = event_type(event)
        ledger.term(term, TermKind.EVENT, kind.label if kind else event)
    return term


def _add_inventory(ledger: TermCollector, events: dict[str, None]) -> None:
    for event in events:
        kind = event_type(event)
        for related in kind.related if kind else ():
            licence = Licence(LicenceKind.LEXICON, f"event inventory: {event} -> {related}")
            _link(ledger, event, related, licence, _TYPICAL)
        for implied in inventory().artifacts.get(event, ()):
            reference = f"event inventory: {event} (artifact) -> {implied}"
            licence = Licence(LicenceKind.LEXICON, reference)
            _link(ledger, event, implied, licence, _TYPICAL, artifact=True)


def _link(
    ledger: TermCollector,
    source: str,
    target: str,
    licence: Licence,
    confidence: float,
    *,
    artifact: bool = False,
) -> None:
    ledger.edge(
        Edge(
            source=_term(ledger, source),
            target=_term(ledger, target),
            relation=Relation.IMPLIES,
            family=Family.EVENT,
            operator=NAME,
            weight=OMEGA[Family.EVENT],
            distance=DELTA_EVENT_ARTIFACT if artifact else 0.0,
            truth_preserving=False,
            confidence=confidence,
            licence=licence,
        )
    )


def _add_senses(ledger: TermCollector, events: dict[str, None]) -> None:
    """Link every event to its verb's sense; a type goes by the first verb that names it."""
    verbs: dict[str, str] = {}
    for event in events:
        kind = event_type(event)
        verb = event if kind is None else next(iter(kind.verbs), None)
        if verb is not None:
            verbs[event] = verb
    chosen = choose_senses(dict.fromkeys(verbs.values()), Pos.VERB)
    for event, verb in verbs.items():
        if verb in chosen:
            for node in nodes(chosen[verb][0], Pos.VERB):
                ledger.term(f"event:{node.name}", TermKind.EVENT, node.label)
            term = term_id(TermKind.EVENT, event)
            for edge in sense_edges(term, TermKind.EVENT, Pos.VERB, chosen[verb], NAME):
                ledger.edge(edge)
