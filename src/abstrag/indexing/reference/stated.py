"""Which named thing a definite description can mean: what the text said each of them is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from abstrag.indexing.naming.mentions import UNLABELLED, PlacedName
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.reference.agreement import Cast
from abstrag.indexing.reference.descriptions import Definite, Description, stated
from abstrag.indexing.reference.discourse import SentenceSpan
from abstrag.indexing.reference.phrases import Phrase
from abstrag.indexing.reference.pronouns import coarguments
from abstrag.language.nouns import ORGANIZATIONS, TYPICAL, VAGUE

_PROMINENT: Final = 0.45  # a subject, an object, an oblique; not a modifier
_TYPICAL_HEADS: Final = frozenset(head for heads in TYPICAL.values() for head in heads)


class Stated:
    """What a text says its named things are, and the nouns it may therefore call them by."""

    def __init__(self, draft: IndexDraft, names: Sequence[PlacedName], cast: Cast) -> None:
        """Read what stands around every name."""
        self.said: dict[str, list[tuple[int, Description]]] = defaultdict(list)
        self.by_head: dict[str, dict[str, int]] = defaultdict(dict)  # noun → things, since when
        for name in names:
            group = cast.groups[name.text]
            nouns = _class_words(name)
            for description in stated(draft.parses[name.parse], name):
                self.said[group].append((name.segment, description))
                nouns.add(description.head)
            for noun in nouns:
                self.by_head[noun].setdefault(group, name.segment)
        self.heads = frozenset(self.by_head) | _TYPICAL_HEADS
        self.typical = {
            group: _typical(cast, group, {d.head for _, d in self.said[group]})
            for group in cast.labels
        }

    def candidates(
        self, sentence: SentenceSpan, definite: Definite, history: Sequence[Phrase]
    ) -> list[str]:
        """Return everything a description can mean; an unnamed thing counts under its own key.

        A description with modifiers may go back to any earlier statement. A bare noun, "the
        company", goes back to what was prominent lately, and counts everything the text has
        called so.
        """
        wanted = definite.description
        if wanted.head in VAGUE:
            return []
        apart = {
            p.referent
            for p in history
            if p.sentence == sentence and coarguments(definite.head, definite.head.doc[p.head])
        }
        if not wanted.words:
            found = self._bare(sentence, definite, history)
        else:
            found = {
                group
                for group, since in self.by_head.get(wanted.head, {}).items()
                if since <= sentence.segment and self._said(group, wanted, sentence.segment)
            }
        found -= apart  # "Microsoft bought the company"
        if found:
            found |= self._unnamed(definite, history, sentence)
        return sorted(found)

    def _bare(
        self, sentence: SentenceSpan, definite: Definite, history: Sequence[Phrase]
    ) -> set[str]:
        head = definite.description.head
        near: dict[str, float] = defaultdict(float)
        for p in history:
            if p.name is not None and (p.sentence != sentence or p.head < definite.first):
                near[p.referent] = max(near[p.referent], p.weight)
        called = {
            group
            for group, since in self.by_head.get(head, {}).items()
            if since <= sentence.segment
        }
        found = {g for g in near if g in called or head in self.typical.get(g, ())}
        if not any(near[group] >= _PROMINENT for group in found):
            return set()  # "a US official left the country"
        return found | called

    def _said(self, group: str, wanted: Description, segment: int) -> bool:
        return any(at <= segment and d.covers(wanted) for at, d in self.said[group])

    def _unnamed(
        self, definite: Definite, history: Sequence[Phrase], sentence: SentenceSpan
    ) -> set[str]:
        """Return other things of the same noun: "a startup", "the two companies"."""
        return {
            p.referent
            for p in history
            if p.noun == definite.description.head
            and p.name is None
            and (p.sentence != sentence or p.head < definite.first)
        }


def _typical(cast: Cast, group: str, said: set[str]) -> frozenset[str]:
    """Return the nouns that fit a thing by its label, or by what it was called, alone."""
    if said & ORGANIZATIONS:
        return TYPICAL["ORG"]
    labels = cast.labels[group]
    label = min(labels, key=lambda one: (one == UNLABELLED, -labels[one], one))
    if label == "PERSON" and group not in cast.people:
        return frozenset()
    return TYPICAL.get(label, frozenset())


def _class_words(name: PlacedName) -> set[str]:
    """Return the nouns in a name that say what it names: `River`, `University` of Chicago."""
    words = name.text.lower().split()
    if len(words) < 2 or name.label == "PERSON":  # a Miller is no miller
        return set()
    return {words[-1], words[0]} if words[1] == "of" else {words[-1]}
