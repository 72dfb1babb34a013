"""Roles and offices as phrases: "the CTO of Anthropic", "Anthropic's CTO", "the Anthropic CTO"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from abstrag.indexing.abstraction.passage import NameMention, ParsedPassage
from abstrag.language.words import NOUNS, folded
from abstrag.lexicon.roles import OFFICIAL, ORGANIZATION_UNITS, OfficeRole, Roles, is_person

_BODIES: Final = frozenset({"ORG", "GPE"})
_OF: Final = frozenset({"of", "at", "for"})


@dataclass(frozen=True, slots=True)
class RoleMention:
    """A role named at some tokens; `head` is the noun the rest of the sentence hangs from."""

    role: OfficeRole
    first: int
    head: int
    last: int  # the token after the last


@dataclass(frozen=True, slots=True)
class Office:
    """A role held in an organization that the text names: the whole phrase, and the name's term."""

    at: RoleMention
    organization: str
    key: str
    first: int
    last: int


def role_at(passage: ParsedPassage, token: int, roles: Roles) -> RoleMention | None:
    """Return the role that a noun names, by the longest name that fits."""
    words = passage.words
    if words.pos[token] not in NOUNS:
        return None
    if not roles.is_head(words.key[token]):
        return _by_its_place(passage, token)
    if token + 2 < passage.last and words.lower[token + 1] == "of":
        longer = f"{words.key[token]} of {words.lower[token + 2]}"
        if role := roles.find(longer):  # "secretary of state"
            return RoleMention(role, token, token, token + 3)
    for first in range(max(passage.first, token - 4), token + 1):
        if role := roles.find(words.phrase_key(first, token)):
            return RoleMention(role, first, token, token + 1)
    return None


def _by_its_place(passage: ParsedPassage, token: int) -> RoleMention | None:
    """Read "the reeve of Upper Vell, Anselm Kroll,": a noun in the place of an office.

    It must be no word for people, such as "mother", and not be said of anything ("is the brand of
    Acme, Ann Lee says"), stand in the singular with an article or an owner, and be followed by "of"
    a body or place, if by anything, and then by a person's name.
    """
    words = passage.words
    first = next((c for c in words.children[token] if words.dep[c] in ("det", "poss")), None)
    if first is None or words.tag[token] != "NN" or words.dep[token] == "attr":
        return None
    if is_person(words.key[token]):
        return None
    owned = words.dep[first] == "poss"
    if not owned and words.lower[first] != "the":
        return None
    after = token + 1
    if after < passage.last and words.lower[after] in _OF:
        place = words.child(after, "pobj")
        if place is None or passage.name(place) is None:
            return None
        after = passage.name(place).last  # type: ignore[union-attr]
        owned = True
    named = (
        after + 1 < passage.last and words.text[after] == "," and words.kind[after + 1] == "PERSON"
    )
    if not (owned and named):
        return None
    role = OfficeRole(words.key[token], types=(OFFICIAL, "leader"), of="organization")
    return RoleMention(role, token, token, token + 1)


def office_of(passage: ParsedPassage, at: RoleMention) -> Office | None:
    """Return the office that a role is, when it is one and the text says in which organization."""
    return None if at.role.of is None else _after(passage, at) or _before(passage, at)


def _after(passage: ParsedPassage, at: RoleMention) -> Office | None:
    """Find "ROLE of ORG", "ROLE of ORG's division", "ROLE of marketing at ORG"."""
    for place, direct in _places(passage, at):
        own = passage.name(place)
        name = own or owner_of_unit(passage, place)
        if name is None:
            continue
        last = max(place + 1, name.last)
        if direct and own is not None:
            key = f"{at.role.key} of {_key_of(name)}"
        else:
            key = f"{at.role.key} {folded(passage.quote(at.last, last))}"
        return Office(at, name.term, key, at.first, last)
    return None


def _places(passage: ParsedPassage, at: RoleMention) -> list[tuple[int, bool]]:
    """Return the nouns that prepositions after a role lead to, and whether from the role itself."""
    words = passage.words
    found: list[tuple[int, bool]] = []
    holders = [at.head]
    for holder in holders:
        for prep in words.children[holder]:
            if words.dep[prep] == "prep" and prep >= at.last and words.lower[prep] in _OF:
                place = words.child(prep, "pobj")
                if place is not None and words.pos[place] in NOUNS:
                    found.append((place, holder == at.head))
                    if holder == at.head and passage.name(place) is None:
                        holders.append(place)
    return found


def owner_of_unit(passage: ParsedPassage, token: int) -> NameMention | None:
    """Return the name of the organization that a division or team is a part of."""
    words = passage.words
    if words.key[token] not in ORGANIZATION_UNITS:
        return None
    for child in words.children[token]:
        owner: int | None = None
        if words.dep[child] in ("poss", "compound", "nmod"):
            owner = child
        elif words.dep[child] == "prep" and words.lower[child] in _OF:
            place = words.child(child, "pobj")  # a branch of TSMC, but not a branch of AI
            owner = place if place is not None and words.kind[place] in _BODIES else None
        if owner is not None and (name := passage.name(owner)):
            return name
    return None


def _before(passage: ParsedPassage, at: RoleMention) -> Office | None:
    """Find "ORG's ROLE" and "ORG ROLE"."""
    words = passage.words
    token = at.first - 1
    while token >= passage.first and words.pos[token] == "ADJ" and token not in passage.names:
        token -= 1  # "Anthropic's new CTO"
    owned = token > passage.first and words.tag[token] == "POS"
    if owned:
        token -= 1
    if token < passage.first or not (owned or token in passage.names):
        return None  # "Senior Director": without 's only an entity is sure to be an owner
    name = passage.name(token)
    inside = range(at.first, at.head + 1)
    if name is None or not {words.head[token], words.head[words.head[token]]} & {*inside}:
        return None
    return Office(at, name.term, f"{at.role.key} of {_key_of(name)}", name.first, at.last)


def _key_of(name: NameMention) -> str:
    return name.term.partition(":")[2]
