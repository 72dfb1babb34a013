"""Descriptions that became names: "the AI startup", where it never means anything else."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.indexing.coref import DESCRIPTION
from abstrag.indexing.layers import CoreferenceLink
from abstrag.indexing.naming.labels import Canonical
from abstrag.indexing.naming.sightings import Sighting
from abstrag.indexing.operator import IndexDraft
from abstrag.language.keys import key

_THE = re.compile(r"^the\s+", re.IGNORECASE)
# what stands between a name and its description: "Anthropic, an AI startup"; "AI startup Anthropic"
_AFTER_NAME = re.compile(r"[\s,(–—-]+(?:(?:is|was)\s+)?(?:an?|the)?\s*(?:[\w-]+\s+){0,2}")
_BEFORE_NAME = re.compile(r"[\s,]+")
_FARTHEST: Final = 40  # characters


@dataclass(frozen=True, slots=True)
class Described:
    """A description that always stands for one thing, and the words that say so."""

    key: str
    surfaces: tuple[str, ...]
    meaning: Canonical
    segment: int
    start: int
    end: int


def described(
    draft: IndexDraft,
    pairs: Sequence[tuple[CoreferenceLink, Sighting]],
    names: Sequence[Sighting],
    canonical: Mapping[str, Canonical],
) -> list[Described]:
    """Return the descriptions that stand for the same thing every time they occur."""
    uses: dict[str, list[tuple[CoreferenceLink, Sighting]]] = defaultdict(list)
    for link, sighting in pairs:
        if link.kind == DESCRIPTION:
            text = draft.segments[link.segment].text[link.start : link.end]
            uses[_THE.sub("", text).lower()].append((link, sighting))
    if not uses:
        return []
    pages = _Pages(draft, names)
    made: list[Described] = []
    for phrase in sorted(uses):
        meanings = {canonical[sighting.name] for _, sighting in uses[phrase]}
        if len(meanings) == 1:
            meaning = meanings.pop()
            own = frozenset(one for one, c in canonical.items() if c == meaning)
            if place := pages.defining(phrase, uses[phrase], own):
                surfaces = tuple(sorted({_noun(draft, link) for link, _ in uses[phrase]}))
                made.append(Described(key(phrase), surfaces, meaning, *place))
    return made


def _noun(draft: IndexDraft, link: CoreferenceLink) -> str:
    return _THE.sub("", draft.segments[link.segment].text[link.start : link.end])


class _Pages:
    """The document's texts and where its names stand, looked up by many phrases."""

    def __init__(self, draft: IndexDraft, names: Sequence[Sighting]) -> None:
        self.texts = [segment.text for segment in draft.segments]
        self.lower = [text.lower() for text in self.texts]
        self.names: dict[int, list[Sighting]] = defaultdict(list)
        for name in names:
            if name.header is None:
                self.names[name.segment].append(name)

    def defining(
        self, phrase: str, uses: Sequence[tuple[CoreferenceLink, Sighting]], own: frozenset[str]
    ) -> tuple[int, int, int] | None:
        """Return the place that defines a phrase, or None when it is used for something else too.

        Besides the linked uses, the phrase may only stand next to the thing's own name; the first
        such place defines it. Without one, that is where the first use's antecedent stands.
        """
        pattern = re.compile(rf"\b{re.escape(phrase)}s?\b", re.IGNORECASE)
        linked = {(link.segment, link.end) for link, _ in uses}
        first: tuple[int, int, int] | None = None
        for i, lower in enumerate(self.lower):
            if phrase not in lower:
                continue
            for found in pattern.finditer(self.texts[i]):
                if (i, found.end()) in linked:
                    continue
                name = self._beside(i, found.start(), found.end(), own)
                if name is None:
                    return None
                first = first or (i, min(name.start, found.start()), max(name.end, found.end()))
        antecedent = uses[0][1]
        return first or (antecedent.segment, antecedent.start, antecedent.end)

    def _beside(self, segment: int, start: int, end: int, own: frozenset[str]) -> Sighting | None:
        text = self.texts[segment]
        for name in self.names[segment]:
            if name.name not in own:
                continue
            if name.start <= start and end <= name.end:
                return name  # "river" in "Hudson River"
            if 0 < start - name.end < _FARTHEST and _AFTER_NAME.fullmatch(text, name.end, start):
                return name
            if 0 < name.start - end < _FARTHEST and _BEFORE_NAME.fullmatch(text, end, name.start):
                return name
        return None
