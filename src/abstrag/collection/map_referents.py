"""Referents: nodes that merges join, unless something contradicts it.

Merges that meet may contradict each other though each looks well by itself. The cheaper one goes
first, and a member that would bring a clash with it stays out. Inside a referent a chain of merges
costs the sum of its merges, so going around is never cheaper than it looks and never free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count

from abstrag.collection.entries import NamedThing
from abstrag.collection.homonyms import (
    is_full,
    is_short,
    kinds_clash,
    persons_clash,
    same_long_form,
)
from abstrag.collection.merge import DocumentTerm, Merge, MergeReason, NameSense, Refusal, by_member
from abstrag.config import COST_UNIT, TAU_MAX
from abstrag.search.bridges.paths import to_units

_LIMIT = to_units(TAU_MAX)


@dataclass(frozen=True, slots=True)
class MergePath:
    """A chain of merges from one node to another."""

    node: DocumentTerm
    units: int
    steps: tuple[Merge, ...]
    through: tuple[DocumentTerm, ...] = ()  # nodes between the two ends

    @property
    def cost(self) -> float:
        """What the merges cost together."""
        return self.units / COST_UNIT


@dataclass(slots=True)
class _Profile:
    """What is known of a referent that could contradict another one."""

    label: str
    nodes: list[DocumentTerm]
    kinds: set[str] = field(default_factory=set)
    long_forms: dict[str, set[str]] = field(default_factory=dict)
    people: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, node: DocumentTerm, entry: NamedThing) -> _Profile:
        made = cls(entry.label, [node], set(entry.kinds))
        spelled_out = not is_short(entry.label)
        for name in entry.names:
            if name.licence is not None and name.form.startswith("=") and spelled_out:
                made.long_forms.setdefault(name.form, set()).add(entry.label)
        if entry.kinds == ("person",) and is_full(entry.label):
            made.people.add(entry.label)
        return made

    def clash(self, other: _Profile) -> str | None:
        """Return why two referents cannot be the same, or None."""
        if kinds_clash(self.kinds, other.kinds):
            one, two = " or ".join(sorted(self.kinds)), " or ".join(sorted(other.kinds))
            return f"one is shown to be a {one}, the other a {two}"
        for short in sorted(self.long_forms.keys() & other.long_forms.keys()):
            for one in sorted(self.long_forms[short]):
                for two in sorted(other.long_forms[short]):
                    if not same_long_form(one, two):
                        return f"{short[1:]} stands for {one} in one and for {two} in the other"
        for one in sorted(self.people):
            for two in sorted(other.people):
                if persons_clash(one, two):
                    return f"{one} and {two} are two people"
        return None

    def take(self, other: _Profile) -> None:
        self.nodes += other.nodes
        self.kinds |= other.kinds
        self.people |= other.people
        for short, long_forms in other.long_forms.items():
            self.long_forms.setdefault(short, set()).update(long_forms)


class Referents:
    """The referents that a set of merges makes of its nodes."""

    def __init__(
        self,
        entries: Mapping[DocumentTerm, NamedThing],
        merges: Iterable[Merge],
        refusals: Iterable[Refusal] = (),
    ) -> None:
        self._profile = {node: _Profile.of(node, entry) for node, entry in entries.items()}
        self._root = {node: node for node in entries}
        self.refusals = list(refusals)
        self.told: list[Merge] = []  # those that put something together that was not before
        self._merges: list[Merge] = []
        clashes: dict[tuple[str, str], Refusal] = {}
        for merge in sorted(merges, key=_order):
            self._put(merge, clashes)
        self.refusals += clashes.values()
        self._merges = [part for merge in self._merges for part in self._within(merge)]
        self._at = by_member(self._merges)
        informative: defaultdict[DocumentTerm, set[DocumentTerm]] = defaultdict(set)
        for node, entry in entries.items():
            if entry.classes or any(name.licence for name in entry.names):
                informative[self.root(node)].add(node)
        self._informative = {root: frozenset(nodes) for root, nodes in informative.items()}

    def _put(self, merge: Merge, clashes: dict[tuple[str, str], Refusal]) -> None:
        first = self.root(merge.members[0])
        kept, fresh = [merge.members[0]], False
        for node in merge.members[1:]:
            root = self.root(node)
            if root != first:
                reason = self._profile[first].clash(self._profile[root])
                if reason is not None:
                    clashes.setdefault(
                        (merge.name, reason), self._refused(merge, first, root, reason)
                    )
                    continue
                first, fresh = self._join(first, root), True
            kept.append(node)
        if len({node.document for node in kept}) > 1:
            self._merges.append(merge)
            if fresh or merge.evidence is not MergeReason.CONTEXT:
                self.told.append(replace(merge, members=tuple(kept)))

    def _join(self, one: DocumentTerm, other: DocumentTerm) -> DocumentTerm:
        low, high = sorted((one, other))
        big, small = self._profile[low], self._profile.pop(high)
        big.take(small)
        self._root[high] = low
        return low

    def _refused(
        self, merge: Merge, one: DocumentTerm, other: DocumentTerm, reason: str
    ) -> Refusal:
        sides = tuple(
            NameSense(self._profile[root].label, tuple(sorted(self._profile[root].nodes)))
            for root in sorted((one, other))
        )
        return Refusal(merge.name, reason, sides)

    def _within(self, merge: Merge) -> Iterable[Merge]:
        """Cut a merge into what it joins inside each referent."""
        parts: dict[DocumentTerm, list[DocumentTerm]] = {}
        for node in merge.members:
            parts.setdefault(self.root(node), []).append(node)
        if len(parts) == 1:
            return (merge,)
        return (replace(merge, members=tuple(part)) for part in parts.values() if len(part) > 1)

    def root(self, node: DocumentTerm) -> DocumentTerm:
        """Return the node that stands for a referent: the first of its members."""
        while self._root[node] != node:
            self._root[node] = node = self._root[self._root[node]]
        return node

    def groups(self) -> Iterable[Sequence[DocumentTerm]]:
        """Go through the referents as sorted members, in order."""
        for root in sorted(self._profile):
            yield sorted(self._profile[root].nodes)

    def informative(self, node: DocumentTerm) -> frozenset[DocumentTerm]:
        """Return the members of a node's referent whose documents state something of it."""
        return self._informative.get(self.root(node), frozenset()) - {node}

    def merge_paths(
        self, start: DocumentTerm, to: frozenset[DocumentTerm] | None = None
    ) -> dict[DocumentTerm, MergePath]:
        """Return the cheapest chains of merges to the nodes of the referent, or to some."""
        found: dict[DocumentTerm, MergePath] = {}
        left = None if to is None else set(to)
        crossed: set[int] = set()
        serial = count()
        heap = [(0, next(serial), MergePath(start, 0, ()))]
        while heap and (left is None or left):
            units, _, path = heappop(heap)
            if path.node in found:
                continue
            found[path.node] = path
            if left is not None:
                left.discard(path.node)
            through = (*path.through, path.node) if path.steps else ()
            for place in self._at.get(path.node, ()):
                merge = self._merges[place]
                if place in crossed or units + merge.units > _LIMIT:
                    continue
                crossed.add(place)  # whoever gets to a merge first gets to all its members first
                for node in merge.members:
                    if node not in found:
                        total = units + merge.units
                        made = MergePath(node, total, (*path.steps, merge), through)
                        heappush(heap, (total, next(serial), made))
        return {n: path for n, path in found.items() if n != start and (to is None or n in to)}


def _order(merge: Merge) -> tuple[int, MergeReason, str, int, str, tuple[DocumentTerm, ...]]:
    return (
        merge.units,
        merge.evidence,
        merge.name,
        len(merge.members),
        merge.shared,
        merge.members,
    )
