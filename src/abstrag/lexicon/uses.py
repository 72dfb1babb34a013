"""How often the senses of a word are meant."""

from __future__ import annotations

from abstrag.lexicon.wordnet import wordnet


def sense_uses(lemma: str, synsets: tuple[int, ...]) -> list[int]:
    """Return how often a word was seen in each of its senses, most frequent first, plus one.

    Nothing is seen so rarely that it cannot be meant.
    """
    uses = [1] * len(synsets)
    if len(synsets) < 2:
        return uses  # there is nothing to compare
    for i, synset in enumerate(synsets):
        seen = wordnet().count(lemma, synset)
        if not seen:
            break  # and so are all rarer ones
        uses[i] += seen
    return uses
