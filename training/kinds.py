"""Kinds of documents, and the data sets of each: what is left out of training is left out whole.

A figure on a kind that a model was not trained on says what users will see, who bring documents
that nobody trained on. Data sets that share documents, questions or manner are of one kind.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from examples import Examples

KINDS: Mapping[str, tuple[str, ...]] = {
    "contracts": ("contractnli", "cuad"),
    "papers": ("qasper",),
    "science": ("scifact", "check_covid", "covidqa"),
    "claims": ("fm2", "feverous"),
    "tables": ("tatqa", "fetaqa", "hybridqa"),
    "dialogue": ("friendsqa",),
    "wikipedia": ("xquad", "expmrc", "qed", "clapnq", "quotesum"),
    "multihop": ("hotpotqa", "2wiki", "musique"),
}
# Fewer trainings while recipes are searched: each leaves out two or three kinds that have little
# in common. The figures that decide are made with one kind at a time.
GROUPS: tuple[tuple[str, ...], ...] = (
    ("contracts", "dialogue", "multihop"),
    ("papers", "claims", "tables"),
    ("science", "wikipedia"),
)


def sources_of(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the data sets of some kinds, and the queries that a machine wrote about them."""
    plain = [source for kind in kinds for source in KINDS[kind]]
    return (*plain, *(f"made-{source}" for source in plain))


def sampled(examples: Examples, sources: Sequence[str], most: int, fold: int | None) -> list[int]:
    """Return queries with evidence to measure with, the same ones on every call.

    At most so many of each data set are drawn; of all its documents, or of one fold's.
    """
    found: dict[str, list[int]] = {}
    for query in range(len(examples)):
        inside = fold is None or examples.fold_of(query) == fold
        if inside and examples.source(query) in sources and examples.gold(query):
            found.setdefault(examples.source(query), []).append(query)
    chosen: list[int] = []
    for source, queries in sorted(found.items()):
        chance = random.Random(f"kinds/{source}")
        chosen += chance.sample(queries, most) if len(queries) > most else queries
    return sorted(chosen)
