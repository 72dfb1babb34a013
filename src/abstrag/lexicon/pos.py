"""The four parts of speech that the lexicon knows."""

from __future__ import annotations

from enum import StrEnum


class Pos(StrEnum):
    """A part of speech, valued as WordNet writes it; a satellite adjective is an adjective."""

    NOUN = "n"
    VERB = "v"
    ADJECTIVE = "a"
    ADVERB = "r"
