"""Turns of a conversation: who speaks is told by the name and the colon a turn begins with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from abstrag.documents.lines import SourceLine

_CLOCK: Final = r"[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?[\])]?"
_NAME: Final = r"[A-Z][\w.'’-]*(?: (?:[A-Z0-9(][\w.'’)-]*|of|the|de|van|von)){0,4}"
_TURN: Final = re.compile(rf"\s*(?:{_CLOCK}\s+)?(?P<speaker>{_NAME})(?:\s+{_CLOCK})?\s*:(?=\s|$)")
_SENTENCE: Final = re.compile(r"[.?!…](?:\s|$)")
_LEAST: Final = 6  # turns; fewer are a list of labels as likely as a conversation
_TIMES: Final = 2  # that people speak, on average


def speaker_of(text: str) -> str | None:
    """Return the name a text begins with if a colon follows it, as in "Ann Lee: I agree."."""
    found = _TURN.match(text)
    return found["speaker"] if found else None


def speakers(texts: Iterable[str]) -> Counter[str]:
    """Return how often each speaks, where these texts are a conversation; else nobody does.

    In a conversation people speak more than once, take turns and say sentences. A glossary has as
    many names as entries, and the rows of a table begin with the same one again and again.
    """
    turns = [(name, text) for text in texts if (name := speaker_of(text))]
    said = Counter(name for name, _ in turns)
    changes = sum(one != other for (one, _), (other, _) in pairwise(turns))
    sentences = sum(bool(_SENTENCE.search(text)) for _, text in turns)
    talk = (
        len(turns) >= max(_LEAST, _TIMES * len(said))
        and sum(times > 1 for times in said.values()) > 1
        and changes >= (len(turns) - 1) / 2
        and sentences >= len(turns) / 4
    )
    return said if talk else Counter()


def cut_at_turns(
    group: Sequence[SourceLine], who: Counter[str]
) -> list[tuple[Sequence[SourceLine], bool]]:
    """Cut lines before every turn; say of each part whether it is one."""
    starts = [i for i, line in enumerate(group) if speaker_of(line.text) in who]
    bounds = [0, *starts, len(group)] if not starts or starts[0] else [*starts, len(group)]
    return [(group[first:end], first in starts) for first, end in pairwise(bounds) if end > first]
