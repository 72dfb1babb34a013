"""Triggers: the words of a passage that say that something happened, or that left it behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.events import (
    LIGHT_VERBS,
    SHARING_VERBS,
    event_key,
    idiom_at,
    inventory,
    names_event,
)

_EMPTY: Final = frozenset({"be", "have", "do", "get", "let"})  # they say nothing by themselves
_FAILING: Final = frozenset({"fail", "refuse", "decline", "deny", "avoid", "neglect", "forget"})
_PHRASAL: Final = 2  # words of a verb with a particle
_NOBODY: Final = frozenset({"nobody", "none", "nothing", "neither"})
_WITHOUT: Final = frozenset({"without", "no", "neither", "nor"})


@dataclass(frozen=True, slots=True)
class Trigger:
    """An event at some tokens: `verb` carries subject and tense, `noun` names the event if any."""

    event: str
    verb: int | None
    noun: int | None
    first: int
    last: int  # the token after the last
    artifact: bool = False
    negated: bool = False


More = Mapping[str, tuple[str, bool]]  # noun or "verb object" → its event, and whether an artifact


def find_triggers(passage: ParsedPassage, more: More) -> list[Trigger]:
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
) -> Iterator[Trigger]:
    words = passage.words
    for token in range(passage.first, passage.last):
        if token in passage.times or token in idle:
            continue
        idiom = idiom_at(words.lemma, words.lower, token)
        if idiom and not (idiom.size == _PHRASAL and words.begins_phrase(token + 1)):
            for meaning in idiom.meanings:
                last = token + idiom.size - 1
                yield _made(words, event_key(meaning, "VERB"), token, None, start=last)
            idle.update(range(token, token + idiom.size))
            continue
        if not _is_verb(words, token):
            continue
        lemma, noun = words.lemma[token], _object(words, token)
        frame = None if noun is None else _frame(words, token, noun, more)
        if noun is not None and frame is not None:
            yield _made(words, frame, token, noun)
            shared[noun] = token
        elif noun is not None and lemma in LIGHT_VERBS and is_event_noun(words, noun):
            carried[noun] = token
        elif lemma not in _EMPTY:
            yield _verb_trigger(words, token)
            if noun is not None and lemma in SHARING_VERBS:
                shared[noun] = token


def _noun_triggers(
    passage: ParsedPassage, more: More, carried: dict[int, int], shared: dict[int, int]
) -> Iterator[Trigger]:
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
            made = _made(words, event, verb, noun, artifact and verb is None, first)
            yield replace(made, verb=shared[noun]) if noun in shared else made


def _defined_term(passage: ParsedPassage, noun: int) -> bool:
    """True for "this Agreement": a noun written large within a sentence names a thing."""
    words = passage.words
    large = words.text[noun][:1].isupper() and not words.text[noun].isupper()
    before = words.text[noun - 1] if noun > passage.first else ""
    return large and passage.header is None and before.islower()


def _made(
    words: Words,
    event: str,
    verb: int | None,
    noun: int | None,
    artifact: bool = False,
    start: int | None = None,
) -> Trigger:
    ends = [t for t in (verb, noun, start) if t is not None]
    negated = any(_negated(words, t) for t in (verb, noun) if t is not None)
    return Trigger(event, verb, noun, min(ends), max(ends) + 1, artifact, negated)


def _is_verb(words: Words, token: int) -> bool:
    """True for a verb with letters in it that is no preposition: not "including", not "•"."""
    return (
        words.pos[token] == "VERB"
        and words.dep[token] != "prep"
        and words.text[token][:1].isalpha()
        and len(words.key[token]) > 1
    )


# --- Verbs ----------------------------------------------------------------------------------------


def _verb_trigger(words: Words, verb: int) -> Trigger:
    """Make the trigger of a verb, with a particle ("team up") or a prefix ("fine-tune")."""
    lemma, types = words.key[verb], inventory().verbs
    after = verb + 1
    if after < words.size:
        phrasal = f"{lemma} {words.lower[after]}"
        if phrasal in types or (words.dep[after] == "prt" and words.head[after] == verb):
            return _made(words, event_key(phrasal, "VERB"), verb, None, start=after)
    particle = words.child(verb, "prt")
    if particle is not None:  # "laid ten engineers off"
        return _made(words, event_key(f"{lemma} {words.lower[particle]}", "VERB"), verb, None)
    if words.glued(verb) and f"{words.lower[verb - 2]}-{lemma}" in types:
        whole = f"{words.lower[verb - 2]}-{lemma}"
        return _made(words, event_key(whole, "VERB"), verb, None, start=verb - 2)
    return _made(words, event_key(lemma, "VERB"), verb, None)


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


def is_event_noun(words: Words, noun: int) -> bool:
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
