"""Nominalizations: the verb whose doing a noun names ("evaluation" → "evaluate")."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import ORGANIZATION_UNITS
from abstrag.lexicon.uses import sense_uses
from abstrag.lexicon.wordnet import wordnet

# Acts and happenings, physical processes, mental processes.
_EVENTS: Final = ("event.n.01", "process.n.06", "process.n.02")
_THINGS: Final = ("group.n.01", "physical_entity.n.01")
_SUFFIXES: Final = tuple("tion sion ment ance ence ancy ency al ing sis ure th age".split())
_COINED: Final = (("ization", "ize"), ("ification", "ify"), ("ylation", "ylate"))
_SHARE: Final = 0.1
_THING_SHARE: Final = 0.25


@lru_cache(maxsize=65536)
def nominalized(noun: str) -> str | None:
    """Return the verb whose doing a noun names ("evaluation" → "evaluate"), or None.

    The noun must end like one, WordNet must derive it from another word that is a verb, and a tenth
    of its uses must mean events; a quarter, if it first of all means a body or a thing
    ("organization", "building"). All other nouns are events only where the inventory says so.
    """
    if not noun.endswith(_SUFFIXES):
        return None
    net = wordnet()
    if noun.endswith("isation"):
        noun = f"{noun.removesuffix('isation')}ization"
    verbs = [v for v, pos in net.derived(noun, Pos.NOUN) if pos is Pos.VERB and " " not in v]
    verbs = list(dict.fromkeys(map(one_spelling, verbs)))
    if not verbs:
        return _coined(noun)
    if noun in verbs or noun in ORGANIZATION_UNITS:
        return None
    senses = net.synsets(noun, Pos.NOUN)
    least = _THING_SHARE if _below(senses[0], _THINGS) else _SHARE
    uses = sense_uses(noun, senses)
    events = sum(n for n, s in zip(uses, senses, strict=True) if _below(s, _EVENTS))
    if events < least * sum(uses):
        return None
    return min(verbs, key=lambda v: (len(v) - _common(v, noun), v))


def _coined(noun: str) -> str | None:
    """Return the verb of a noun that WordNet links to none but whose ending leaves no doubt."""
    for ending, verb in _COINED:
        if noun.endswith(ending) and len(noun) > len(ending) + 2:
            return noun.removesuffix(ending) + verb
    return None


def _below(synset: int, names: tuple[str, ...]) -> bool:
    net = wordnet()
    roots = _synsets(names)
    return synset in roots or not roots.isdisjoint(net.ancestors(synset))


@cache
def _synsets(names: tuple[str, ...]) -> frozenset[int]:
    return frozenset(map(wordnet().synset, names))


def _common(a: str, b: str) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def one_spelling(verb: str) -> str:
    """Return the spelling in -ize or -yze of a verb in -ise or -yse, if it has one."""
    if not verb.endswith(("ise", "yse")):
        return verb
    other = f"{verb[:-2]}ze"
    net = wordnet()
    same = set(net.synsets(verb, Pos.VERB)) & set(net.synsets(other, Pos.VERB))
    return other if same else verb
