"""Which names are those of countries, states and provinces, by WordNet."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

_TERRITORIES: Final = ("country.n.02", "state.n.01", "island.n.01")


@lru_cache(maxsize=4096)
def names_territory(name: str) -> bool:
    """True for the name of a country, state or province: "Egypt", "Puerto Rico"."""
    net = wordnet()
    kinds = set(map(net.synset, _TERRITORIES))
    found = (s for s in net.synsets(name, Pos.NOUN) if net.is_instance(s))
    return any(not kinds.isdisjoint(net.ancestors(s)) for s in found)


@lru_cache(maxsize=4096)
def territory_classes(name: str) -> tuple[str, ...]:
    """Return what a territory is, and what of: France is a European country, so it is European."""
    net = wordnet()
    kinds = set(map(net.synset, _TERRITORIES))
    found: dict[str, None] = {}
    for sense in net.synsets(name, Pos.NOUN):
        if not net.is_instance(sense) or kinds.isdisjoint(net.ancestors(sense)):
            continue
        for label in (label for up in net.hypernyms(sense) for label in net.lemmas(up)):
            found[label] = None
            *mark, kind = label.split(" ")
            found[kind] = None
            if mark:
                found[" ".join(mark)] = None
        break
    return tuple(found)
