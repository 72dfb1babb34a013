"""S_can(s): a segment's text with the zero-cost rewrites applied."""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.indexing.layers import Rewrite
from abstrag.indexing.operator import IndexDraft


def canonical_texts(draft: IndexDraft) -> tuple[str, ...]:
    """Return the canonical text of every segment.

    Only the layers of Coref, NormNE and NormTime have rewrites. Where two overlap the earlier
    operator's stands: a pronoun has become a name before names are made canonical.
    """
    texts = [s.text for s in draft.segments]
    chosen: dict[int, list[Rewrite]] = {}
    for layer in (draft.coreference, draft.entities, draft.times):
        for rewrite in layer.rewrites if layer else ():
            taken = chosen.setdefault(rewrite.segment, [])
            if all(rewrite.end <= r.start or r.end <= rewrite.start for r in taken):
                taken.append(rewrite)
    for segment, rewrites in chosen.items():
        texts[segment] = rewritten(texts[segment], rewrites)
    return tuple(texts)


def rewritten(text: str, rewrites: Iterable[Rewrite]) -> str:
    """Return a text with rewrites applied; they must not overlap."""
    for rewrite in sorted(rewrites, key=lambda r: r.start, reverse=True):
        text = text[: rewrite.start] + rewrite.text + text[rewrite.end :]
    return text
