"""The words that say that something happened, and their arguments: who, whom, when and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.indexing.abstraction.role_terms import office_of, owner_of_unit, role_at
from abstrag.indexing.operator import IndexDraft
from abstrag.language.words import NOUNS, Words, term_id
from abstrag.lexicon.events import (
    LIGHT_VERBS,
    SHARING_VERBS,
    EventType,
    event_key,
    event_type,
    idiom_at,
    inventory,
    names_event,
)
from abstrag.lexicon.roles import Roles
from abstrag.model.term import Mention, Slot, TermKind

_EMPTY: Final = frozenset({"be", "have", "do", "get", "let"})  # they say nothing by themselves
_FAILING: Final = frozenset({"fail", "refuse", "decline", "deny", "avoid", "neglect", "forget"})
_PHRASAL: Final = 2  # words of a verb with a particle
_NOBODY: Final = frozenset({"nobody", "none", "nothing", "neither"})
_WITHOUT: Final = frozenset({"without", "no", "neither", "nor"})
_WHOM: Final = frozenset({"with", "to", "against"})
_WHERE: Final = frozenset({"in", "at", "near", "on"})
_PLACES: Final = frozenset({"GPE", "LOC", "FAC"})
_NOT_IN_ARGUMENT: Final = frozenset({"relcl", "acl", "advcl", "appos", "punct"})
_NOT_AT_ITS_END: Final = frozenset({"conj", "cc", "preconj", "case"})
_INHERITING: Final = frozenset({"xcomp", "conj", "advcl"})
_TIMES: Final = frozenset("time day week month year moment way reason".split())
_WITHOUT_OBJECT: Final = frozenset(
    "appear arrive come die fall go happen lie live look occur remain return rise sit sleep stand"
    " stay travel wait walk work".split()
)
_Found = tuple[str, int]  # slot name and head token
_ROLE: Final = f"{TermKind.ROLE.value}:"


@dataclass(frozen=True, slots=True)
class EventTrigger:
    """An event at some tokens: `verb` carries subject and tense, `noun` names the event if any."""

    event: str
    verb: int | None
    noun: int | None
    first: int
    last: int  # the token after the last
    artifact: bool = False
    negated: bool = False


More = Mapping[str, tuple[str, bool]]  # noun or "verb object" → its event, and whether an artifact


@dataclass(frozen=True, slots=True)
class Participants:
    """What the arguments of a draft's events stand for."""

    roles: Roles
    role_terms: dict[tuple[int, int], str]  # segment and where a role's name ends → its term
    names: dict[int, list[Mention]]  # segment → entity mentions in its text
    links: dict[int, list[tuple[int, int, str]]]  # segment → where an anaphor stands for whom
    times: dict[tuple[int, int | None, int], str]  # segment, header, offset → time term

    @classmethod
    def of(cls, draft: IndexDraft, roles: Roles) -> Participants:
        """Collect names, anaphora and times."""
        assert draft.coreference is not None
        assert draft.entities is not None
        assert draft.times is not None
        assert draft.concepts is not None
        names: dict[int, list[Mention]] = {}
        for mention in draft.entities.mentions:
            if mention.header is None:
                names.setdefault(mention.segment, []).append(mention)
        links: dict[int, list[tuple[int, int, str]]] = {}
        for link in draft.coreference.links:
            for mention in names.get(link.antecedent_segment, ()):
                if mention.start < link.antecedent_end and link.antecedent_start < mention.end:
                    anaphor = (link.start, link.end, mention.term)
                    links.setdefault(link.segment, []).append(anaphor)
                    break
        role_terms = {
            (m.segment, m.end): m.term
            for m in sorted(draft.concepts.mentions, key=lambda m: m.start)
            if m.header is None and m.term.startswith(_ROLE)
        }  # of two that end together the shorter stands: the role, not the office
        times = {(m.segment, m.header, m.start): m.term for m in draft.times.mentions}
        return cls(roles, role_terms, names, links, times)

    def stands_for(self, passage: ParsedPassage, token: int) -> tuple[str | None, bool]:
        """Return the term an argument stands for, and whether an office had to be coerced."""
        if token in passage.names:
            return passage.names[token].term, False
        start = passage.offset(token)
        for first, last, term in self.links.get(passage.segment, ()):
            if passage.header is None and first <= start < last:
                return term, False
        at = role_at(passage, token, self.roles)
        if at is not None:
            office = office_of(passage, at)
            if office is not None:
                return office.organization, True
            return term_id(TermKind.ROLE, at.role.key), False
        if name := passage.name(token):
            return name.term, False
        if owner := owner_of_unit(passage, token):
            return owner.term, True
        end = passage.offsets(token, token + 1)[1]  # a role that only the Background knows
        return self.role_terms.get((passage.segment, end)), False


def find_triggers(passage: ParsedPassage, more: More) -> list[EventTrigger]:
    """Find the events of a passage, in order, by the inventory, by WordNet and by `more`."""
    carried: dict[int, int] = {}  # noun → the light verb that is one event with it
    shared: dict[int, int] = {}  # noun → the verb whose subject takes part in both events
    idle: set[int] = set()  # words of idioms, which say nothing by themselves
    found = list(_verb_triggers(passage, more, carried, shared, idle))
    found += [t for t in _noun_triggers(passage, more, carried, shared) if t.noun not in idle]
    return sorted(found, key=lambda t: (t.first, t.last, t.event))


def _verb_triggers(
    passage: ParsedPassage,
    more: More,
    carried: dict[int, int],
    shared: dict[int, int],
    idle: set[int],
) -> Iterator[EventTrigger]:
    words = passage.words
    for token in range(passage.first, passage.last):
        if token in passage.times or token in idle:
            continue
        idiom = idiom_at(words.lemma, words.lower, token)
        if idiom and not (idiom.size == _PHRASAL and words.begins_phrase(token + 1)):
            for meaning in idiom.meanings:
                last = token + idiom.size - 1
                yield made_trigger(words, event_key(meaning, "VERB"), token, None, start=last)
            idle.update(range(token, token + idiom.size))
            continue
        if not _is_verb(words, token):
            continue
        lemma, noun = words.lemma[token], _object(words, token)
        frame = None if noun is None else _frame(words, token, noun, more)
        if noun is not None and frame is not None:
            yield made_trigger(words, frame, token, noun)
            shared[noun] = token
        elif noun is not None and lemma in LIGHT_VERBS and _is_event_noun(words, noun):
            carried[noun] = token
        elif lemma not in _EMPTY:
            yield _verb_trigger(words, token)
            if noun is not None and lemma in SHARING_VERBS:
                shared[noun] = token


def _noun_triggers(
    passage: ParsedPassage, more: More, carried: dict[int, int], shared: dict[int, int]
) -> Iterator[EventTrigger]:
    words = passage.words
    for noun in range(passage.first, passage.last):
        common = words.pos[noun] == "NOUN" or (
            words.pos[noun] == "PROPN" and noun not in passage.names
        )
        if not common or noun in passage.times or _defined_term(passage, noun):
            continue
        event, artifact, first = _noun_event(passage, noun, more)
        if event is not None:
            verb = carried.get(noun)
            made = made_trigger(words, event, verb, noun, artifact and verb is None, first)
            yield replace(made, verb=shared[noun]) if noun in shared else made


def _defined_term(passage: ParsedPassage, noun: int) -> bool:
    """True for "this Agreement": a noun written large within a sentence names a thing."""
    words = passage.words
    large = words.text[noun][:1].isupper() and not words.text[noun].isupper()
    before = words.text[noun - 1] if noun > passage.first else ""
    return large and passage.header is None and before.islower()


def made_trigger(
    words: Words,
    event: str,
    verb: int | None,
    noun: int | None,
    artifact: bool = False,
    start: int | None = None,
) -> EventTrigger:
    """Return the trigger of an event at its verb or noun; `start` is another token it spans."""
    ends = [t for t in (verb, noun, start) if t is not None]
    negated = any(_negated(words, t) for t in (verb, noun) if t is not None)
    return EventTrigger(event, verb, noun, min(ends), max(ends) + 1, artifact, negated)


def _is_verb(words: Words, token: int) -> bool:
    """True for a verb with letters in it that is no preposition: not "including", not "•"."""
    return (
        words.pos[token] == "VERB"
        and words.dep[token] != "prep"
        and words.text[token][:1].isalpha()
        and len(words.key[token]) > 1
    )


# --- Verbs ----------------------------------------------------------------------------------------


def _verb_trigger(words: Words, verb: int) -> EventTrigger:
    """Make the trigger of a verb, with a particle ("team up") or a prefix ("fine-tune")."""
    lemma, types = words.key[verb], inventory().verbs
    after = verb + 1
    if after < words.size:
        phrasal = f"{lemma} {words.lower[after]}"
        if phrasal in types or (words.dep[after] == "prt" and words.head[after] == verb):
            return made_trigger(words, event_key(phrasal, "VERB"), verb, None, start=after)
    particle = words.child(verb, "prt")
    if particle is not None:  # "laid ten engineers off"
        return made_trigger(
            words, event_key(f"{lemma} {words.lower[particle]}", "VERB"), verb, None
        )
    if words.glued(verb) and f"{words.lower[verb - 2]}-{lemma}" in types:
        whole = f"{words.lower[verb - 2]}-{lemma}"
        return made_trigger(words, event_key(whole, "VERB"), verb, None, start=verb - 2)
    return made_trigger(words, event_key(lemma, "VERB"), verb, None)


def _object(words: Words, verb: int) -> int | None:
    """Return the noun a verb is about: its object, its passive subject, or "into" something."""
    found = words.child(verb, "dobj", "nsubjpass")
    if found is None:
        into = next((c for c in words.children[verb] if words.lower[c] == "into"), None)
        found = None if into is None else words.child(into, "pobj")
    return found


def _frame(words: Words, verb: int, noun: int, more: More) -> str | None:
    pair = f"{words.key[verb]} {words.key[noun]}"
    if pair in more:
        return more[pair][0]
    frame = inventory().frames.get(pair)
    return frame.key if frame else None


def _is_event_noun(words: Words, noun: int) -> bool:
    """True when a noun names an event or what one leaves behind."""
    return words.pos[noun] in NOUNS and (
        names_event(words.key[noun]) or words.key[noun] in inventory().artifacts
    )


# --- Nouns ----------------------------------------------------------------------------------------


def _noun_event(passage: ParsedPassage, noun: int, more: More) -> tuple[str | None, bool, int]:
    """Return the event of a noun, whether it is only an artifact, and where its name begins."""
    words, types = passage.words, inventory()
    word = words.key[noun]
    for first in reversed(words.phrase(noun)):
        phrase = word if first == noun else words.phrase_key(first, noun)
        if phrase in more:
            return *more[phrase], first
        if first == noun or word in types.phrase_heads or words.glued(noun):
            phrase = phrase.replace(" - ", "-")
            if phrase in types.nouns or phrase in types.artifacts:
                own = phrase in types.nouns
                return event_key(phrase, "NOUN"), not own, first
    named = words.pos[noun] == "NOUN" and names_event(word)
    return (event_key(word, "NOUN") if named else None), False, noun


# --- Negation -------------------------------------------------------------------------------------


def _negated(words: Words, token: int) -> bool:
    """True when the event is said not to have happened."""
    for child in words.children[token]:
        if words.dep[child] == "neg" or words.lower[child] in _WITHOUT:
            return True
        if words.dep[child] in ("nsubj", "nsubjpass") and _nobody(words, child):
            return True
    head = words.head[token]
    if words.dep[token] in ("xcomp", "ccomp", "dobj") and words.lemma[head] in _FAILING:
        return True
    return words.dep[token] in ("pobj", "pcomp") and words.lower[head] in _WITHOUT


def _nobody(words: Words, subject: int) -> bool:
    """True for "nobody", "neither side", "no supplier"."""
    return words.lower[subject] in _NOBODY or any(
        words.dep[c] == "det" and words.lower[c] in _WITHOUT for c in words.children[subject]
    )


def slots_of(
    passage: ParsedPassage, trigger: EventTrigger, whens: list[int], participants: Participants
) -> tuple[Slot, ...]:
    """Fill the slots of an event; `whens` are the heads of the times that belong to it."""
    words = passage.words
    kind = event_type(trigger.event)
    found: list[_Found] = []
    if trigger.verb is not None:
        found += _of_verb(words, trigger.verb, trigger.noun)
    if trigger.noun is not None:
        found += _of_noun(words, trigger.noun, kind, bool(found))
    found = _settled(words, found)
    if kind is not None and kind.reciprocal:
        found = _reciprocal(found)
    slots = [
        slot_at(passage, name, token, participants)
        for name, token in found
        if _fits(passage, token)
    ]
    slots += _places(passage, trigger)
    slots += [_when(passage, token, participants) for token in whens]
    order = ("who", "whom", "when", "where")
    return tuple(sorted(dict.fromkeys(slots), key=lambda s: (order.index(s.name), s.start)))


# --- Verbs ----------------------------------------------------------------------------------------


def arguments_of(words: Words, token: int) -> list[_Found]:
    """Return the arguments of a verb, or of a noun that names an event: slots and head tokens."""
    verb = words.pos[token] not in NOUNS
    return list(_of_verb(words, token, None) if verb else _of_noun(words, token, None, False))


def _of_verb(words: Words, verb: int, noun: int | None) -> Iterator[_Found]:
    """Yield the arguments of a verb; the noun it carries is the event itself, not an argument."""
    subject = False
    for child in words.children[verb]:
        dep = words.dep[child]
        if child == noun:
            continue
        if dep in ("nsubj", "csubj"):
            subject = True
            done = words.child(verb, "agent") is not None and words.child(verb, "dobj") is None
            yield ("whom" if done else "who"), _antecedent(words, child, verb)
        elif dep == "nsubjpass":
            subject = True
            yield "whom", _antecedent(words, child, verb)
        elif dep in ("dobj", "dative") and words.pos[child] != "ADP":
            thing = _antecedent(words, child, verb)
            yield from _partners(words, verb, thing) or [("whom", thing)]
        elif dep == "agent":
            shared = None if words.child(child, "pobj") is not None else _later_object(words, verb)
            yield from _object_as(words, "who", child) if shared is None else [("who", shared)]
        elif dep in ("prep", "dative"):
            yield from _by_preposition(words, child)
    if not subject:
        yield from _inherited(words, verb)
    elif _leaves_out_its_object(words, verb):
        yield "whom", words.head[verb]
    yield from (("whom", shared) for shared in _next_objects(words, verb))


def _later_object(words: Words, verb: int) -> int | None:
    """Return what "by" shares with a later preposition: "owned by and held for the trust".

    A noun that stands bare between two prepositions is a part of them: "governed by and construed
    in accordance with the laws".
    """
    for other in (c for c in words.children[verb] if words.dep[c] == "conj" and c > verb):
        for prep in (c for c in words.children[other] if words.dep[c] == "prep"):
            place = words.child(prep, "pobj")
            while place is not None and words.children[place]:
                after = words.child(place, "prep")
                if words.children[place] != [after] or after is None or words.lower[after] == "of":
                    break
                place = words.child(after, "pobj")
            if place is not None:
                return place
    return None


def _leaves_out_its_object(words: Words, verb: int) -> bool:
    """Tell whether what a clause is about is what is done something to: "the post they hold"."""
    if words.dep[verb] != "relcl":
        return False
    own = words.child(verb, "dobj", "dative", "ccomp", "xcomp", "nsubjpass", "prep", "advmod")
    noun = words.pos[words.head[verb]] in NOUNS and words.lower[words.head[verb]] not in _TIMES
    asks = any(words.tag[c] in ("WDT", "WP", "WRB") for c in words.children[verb])
    return noun and own is None and not asks and words.lemma[verb] not in _WITHOUT_OBJECT


def _next_objects(words: Words, verb: int) -> Iterator[int]:
    """Yield the object that a bare verb shares with the next: "buys and sells old coins"."""
    own = words.child(verb, "dobj", "dative", "ccomp", "xcomp")
    bare = own is None and not _passive(words, verb) and words.lemma[verb] not in _WITHOUT_OBJECT
    later = [c for c in words.children[verb] if words.dep[c] == "conj" and c > verb]
    if not bare or not later or words.tag[verb] != words.tag[later[0]]:
        return
    if all(words.dep[t] in ("cc", "punct", "advmod") for t in range(verb + 1, later[0])):
        own = words.child(later[0], "dobj")
        yield from _next_objects(words, later[0]) if own is None else (own,)


def _partners(words: Words, verb: int, noun: int) -> list[_Found]:
    """Return with whom an event is signed or planned: "signed an agreement with TSMC"."""
    if words.lemma[verb] not in SHARING_VERBS or not _is_event_noun(words, noun):
        return []
    preps = (c for c in words.children[noun] if words.dep[c] == "prep")
    return [found for prep in preps for found in _by_preposition(words, prep)]


def _antecedent(words: Words, subject: int, verb: int) -> int:
    """Return what a relative pronoun stands for: "TSMC, which …"."""
    relative = words.tag[subject] in ("WDT", "WP") and words.dep[verb] == "relcl"
    return words.head[verb] if relative else subject


def _inherited(words: Words, verb: int) -> Iterator[_Found]:
    """Yield the subject that a verb without one shares with the word it hangs from."""
    dep, head = words.dep[verb], words.head[verb]
    if dep in ("acl", "amod", "relcl") and words.pos[head] in NOUNS:
        done = words.tag[verb] == "VBN" or words.child(verb, "agent") is not None
        yield ("whom" if done else "who"), head
    elif dep in _INHERITING and words.pos[head] == "VERB":
        asked = words.child(head, "dobj") if dep == "xcomp" else None
        if asked is not None:
            yield "who", asked  # "asked TSMC to visit"
            return
        subject = words.child(head, "nsubj", "nsubjpass")
        if subject is not None:
            yield ("whom" if _passive(words, verb) else "who"), _antecedent(words, subject, head)
        else:
            yield from _inherited(words, head)


def _passive(words: Words, verb: int) -> bool:
    """True for a passive, also one whose auxiliary stands before an earlier verb or nowhere."""
    if words.child(verb, "auxpass") is not None:
        return True
    if words.tag[verb] != "VBN" or words.child(verb, "aux") is not None:
        return False
    return words.dep[verb] != "conj" or _passive(words, words.head[verb])


def _by_preposition(words: Words, prep: int) -> Iterator[_Found]:
    word = words.lower[prep]
    if word == "between":
        yield from _between(words, prep)
    elif word in _WHOM:
        yield from _object_as(words, "whom", prep)


def _object_as(words: Words, slot: str, prep: int) -> Iterator[_Found]:
    place = words.child(prep, "pobj")
    if place is not None:
        yield slot, place


def _between(words: Words, prep: int) -> Iterator[_Found]:
    place = words.child(prep, "pobj")
    if place is not None:
        first, *rest = words.conjuncts(place)
        yield "who", first
        for other in rest:
            yield "whom", other


# --- Nouns ----------------------------------------------------------------------------------------


def _of_noun(words: Words, noun: int, kind: EventType | None, carried: bool) -> Iterator[_Found]:
    """Yield the arguments of a noun: "Anthropic's visit to TSMC", "a deal between A and B"."""
    by = any(words.lower[c] == "by" for c in words.children[noun])
    for child in (*words.children[noun], *_shared_of(words, noun)):
        word, dep = words.lower[child], words.dep[child]
        if dep == "poss" and not carried:
            yield ("whom" if by else "who"), child
        elif dep in ("prep", "agent"):
            if word == "by":
                yield from _object_as(words, "who", child)
            elif word == "of":
                of = kind.of if kind is not None else "whom"
                yield from _object_as(words, "whom" if carried else of, child)
            else:
                yield from _by_preposition(words, child)


def _shared_of(words: Words, noun: int) -> list[int]:
    """Return the "of" that a noun shares with one beside it: "sale and purchase of the shares"."""
    every = words.conjuncts(noun)
    if words.dep[noun] == "conj":
        every = [words.head[noun], *every]
    found = [c for each in every for c in words.children[each] if words.lower[c] == "of"]
    own = any(words.head[c] == noun for c in found)
    # what follows the first of them alone is no matter of the others: "the price of tin and sales"
    return [] if own else [c for c in found if c > noun][:1]


# --- Slots ----------------------------------------------------------------------------------------


def _settled(words: Words, found: list[_Found]) -> list[_Found]:
    """Return the arguments with those coordinated with them; nobody is both who and whom."""
    every = dict.fromkeys((name, each) for name, t in found for each in words.conjuncts(t))
    return [(name, t) for name, t in every if name == "whom" or ("whom", t) not in every]


def _reciprocal(found: list[_Found]) -> list[_Found]:
    """Give an event between equals a whom: "A and B met", "the merger of A and B"."""
    whos = [f for f in found if f[0] == "who"]
    if len(whos) < 2 or any(name == "whom" for name, _ in found):
        return found
    return [f if f is whos[0] or f[0] != "who" else ("whom", f[1]) for f in found]


def _fits(passage: ParsedPassage, token: int) -> bool:
    words = passage.words
    return (
        passage.first <= token < passage.last
        and token not in passage.times
        and words.pos[token] in ("NOUN", "PROPN", "PRON")
        and words.tag[token] not in ("EX", "WDT", "WP", "WRB")
    )


def slot_at(passage: ParsedPassage, name: str, token: int, participants: Participants) -> Slot:
    """Return a slot that a noun fills."""
    term, coerced = participants.stands_for(passage, token)
    start, end = passage.offsets(*_extent(passage, token))
    return Slot(name, start, end, term, coerced)


def _extent(passage: ParsedPassage, token: int) -> tuple[int, int]:
    """Return the words of an argument, without clauses and lists that hang from it."""
    words = passage.words
    name = passage.name(token)
    low, high = (name.first, name.last - 1) if name else (token, token)
    stack = [token]
    while stack:
        node = stack.pop()
        for child in words.children[node]:
            dep = words.dep[child]
            if dep in _NOT_IN_ARGUMENT or (node == token and dep in _NOT_AT_ITS_END):
                continue
            low, high = min(low, child), max(high, child)
            stack.append(child)
    return max(low, passage.first), min(high + 1, passage.last)


def _places(passage: ParsedPassage, trigger: EventTrigger) -> Iterator[Slot]:
    words = passage.words
    for head in (trigger.verb, trigger.noun):
        for child in words.children[head] if head is not None else ():
            if words.dep[child] == "prep" and words.lower[child] in _WHERE:
                place = words.child(child, "pobj")
                if place is None or words.kind[place] not in _PLACES:
                    continue
                if name := passage.name(place):
                    yield Slot("where", *passage.offsets(name.first, name.last), name.term)


def _when(passage: ParsedPassage, token: int, participants: Participants) -> Slot:
    time = passage.times[token]
    term = participants.times.get((time.segment, time.header, time.start))
    return Slot("when", time.start, time.end, term)


def times_of(passage: ParsedPassage, triggers: list[EventTrigger]) -> dict[int, list[int]]:
    """Return for each trigger the heads of its times: each goes to the nearest event above it."""
    words = passage.words
    owners: dict[int, list[int]] = {}
    for i, trigger in enumerate(triggers):
        for token in (trigger.noun, trigger.verb):
            if token is not None:
                owners.setdefault(token, []).append(i)
    found: dict[int, list[int]] = {}
    for token, time in sorted(passage.times.items()):
        if passage.times.get(words.head[token]) is time and words.head[token] != token:
            continue  # inside the expression, not its head
        for owner in next((owners[up] for up in words.up(token) if up in owners), ()):
            found.setdefault(owner, []).append(token)
    return found
