"""ExpAlias: other names and spellings of an entity (expression gap)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from abstrag.config import OMEGA
from abstrag.model.distances import expression_distance
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind

_CLOSE: Final = 0.25  # at most this much of a name may be spelt differently
_SHORT: Final = 3  # letters below which any two names are close
_PREFIX: Final = f"{TermKind.ENTITY.value}:"


@dataclass(frozen=True, slots=True)
class ExpandAlias:
    """Offers names the document uses that are spelt almost like the one asked for.

    "Antropic" finds Anthropic, and "WHO" a World Health Organization that never introduces its
    initials. Both are guesses and pay for it.
    """

    names: Mapping[str, str]  # key of a surface → entity term
    name: ClassVar[str] = "alias"

    def admits(self, edge: Edge) -> bool:
        """Guessed aliases of the map."""
        return edge.family is Family.EXPRESSION and not edge.target.startswith("time:")

    def edges_into(self, term: str) -> Iterator[Edge]:
        """Offer names close to an entity the document does not know."""
        asked = term.removeprefix(_PREFIX)
        if not term.startswith(_PREFIX) or asked in self.names or len(asked) < 2:
            return
        found = {n for n in self.names if _initials(n) == asked.replace(".", "")}
        if len(asked) > _SHORT:
            scorer = Levenshtein.normalized_distance
            close = process.extract_iter(
                asked, list(self.names), scorer=scorer, score_cutoff=_CLOSE
            )
            found |= {name for name, _distance, _place in close}
        for name in sorted(found):
            if self.names[name] != term:
                yield Edge(
                    source=self.names[name],
                    target=term,
                    relation=Relation.IMPLIES,
                    family=Family.EXPRESSION,
                    operator=self.name,
                    weight=OMEGA[Family.EXPRESSION],
                    distance=expression_distance(asked, name, guessed=True),
                    truth_preserving=False,
                    confidence=0.5,
                    licence=Licence(LicenceKind.LEXICON, f"spelling: {asked} ~ {name}"),
                )


def _initials(name: str) -> str:
    words = [w for w in name.split() if w not in ("of", "the", "and", "for", "&")]
    return "".join(w[0] for w in words) if len(words) > 1 else ""
