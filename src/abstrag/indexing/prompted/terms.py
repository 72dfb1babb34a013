"""Which term stands at a place of a draft, by the layers that are there."""

from __future__ import annotations

from collections import defaultdict

from abstrag.indexing.operator import IndexDraft
from abstrag.language.places import Place
from abstrag.model.term import Mention, Term


class TermsAt:
    """The terms that segments mention, by place; a later layer knows more than an earlier one."""

    def __init__(self, draft: IndexDraft) -> None:
        layers = [x for x in (draft.entities, draft.concepts, draft.events) if x is not None]
        self.terms: dict[str, Term] = {t.id: t for layer in layers for t in layer.terms}
        self._at: defaultdict[int, list[Mention]] = defaultdict(list)
        for layer in layers:
            for mention in layer.mentions:
                if mention.header is None:
                    self._at[mention.segment].append(mention)

    def term(self, segment: int, place: Place, *, prefix: str = "") -> str | None:
        """Return the term mentioned at exactly this place, or the longest that ends the place."""
        start, end = place
        best: tuple[int, str] | None = None
        for mention in self._at[segment]:
            if mention.end == end and mention.start >= start and mention.term.startswith(prefix):
                found = (mention.start, mention.term)
                best = found if best is None else min(best, found)
        return best[1] if best else None

    def within(self, segment: int, place: Place) -> str | None:
        """Return the first term mentioned inside a place; names go before words."""
        start, end = place
        inside = [m for m in self._at[segment] if start <= m.start and m.end <= end]
        return inside[0].term if inside else None
