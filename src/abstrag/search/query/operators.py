"""The six query operators, by name: what a search uses unless it is told otherwise."""

from __future__ import annotations

from typing import Final

from abstrag.search.query.alias import ExpandAlias
from abstrag.search.query.event import ExpandEvent
from abstrag.search.query.hypernym import ExpandHypernym
from abstrag.search.query.operator import QueryOperator
from abstrag.search.query.role import ExpandRole
from abstrag.search.query.synonym import ExpandSynonym
from abstrag.search.query.time import ExpandTime
from abstrag.search.query.vocabulary import Vocabulary

OPERATORS: Final = ("alias", "synonym", "hypernym", "role", "event", "time")


def standard_operators(
    vocabulary: Vocabulary, *, without: frozenset[str] = frozenset()
) -> tuple[QueryOperator, ...]:
    """Return the operators for one index, less those an ablation leaves out."""
    made: tuple[QueryOperator, ...] = (
        ExpandAlias(vocabulary.names),
        ExpandSynonym(vocabulary.terms),
        ExpandHypernym(),
        ExpandRole(),
        ExpandEvent(),
        ExpandTime(vocabulary.times),
    )
    return tuple(op for op in made if op.name not in without)
