"""Events across documents: tellings that may be of one event, and those that cannot.

An event of one document and one of another are merged when they are of one type, everybody who
takes part may be taken for the same, and their times agree. The merge presupposes the merges of
the participants and pays for them as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from abstrag.collection.entries import Happening
from abstrag.collection.map_referents import Way
from abstrag.collection.merge import Cited, Evidence, Merge, Node, Refusal, Side
from abstrag.config import COST_UNIT
from abstrag.model.distances import event_distance
from abstrag.model.term import Family, Interval

_MOST_QUOTED = 4


@dataclass(frozen=True, slots=True)
class _Telling:
    document: str
    happening: Happening

    @property
    def node(self) -> Node:
        """The telling as a node: the event, and where the document tells it."""
        span = self.happening.licence.span
        return Node(self.document, f"{self.happening.event}@{span.start if span else 0}")


Ways = Callable[[Node], Mapping[Node, Way]]


def merged_happenings(
    told: Mapping[str, Sequence[Happening]], referent: Callable[[Node], Node], ways: Ways
) -> tuple[list[Merge], list[Refusal]]:
    """Return the merges of events, and the tellings that their times keep apart.

    `referent` names the thing a node is taken for, `ways` says what it costs to.
    """
    groups: defaultdict[tuple[str, tuple[Node, ...]], list[_Telling]] = defaultdict(list)
    for document in sorted(told):
        for happening in told[document]:
            named = {referent(Node(document, term)) for _, term in happening.participants}
            groups[happening.event, tuple(sorted(named))].append(_Telling(document, happening))
    merges: list[Merge] = []
    refusals: list[Refusal] = []
    for (event, who), tellings in sorted(groups.items()):
        if len({t.document for t in tellings}) > 1:
            name = _called(event, who)
            _by_time(name, tellings, ways, merges, refusals)
    return merges, refusals


def _by_time(
    name: str,
    tellings: list[_Telling],
    ways: Ways,
    merges: list[Merge],
    refusals: list[Refusal],
) -> None:
    """Put tellings together whose times agree; one that fits two times fits neither."""
    parts: list[tuple[Interval, list[_Telling]]] = []
    doubtful: list[_Telling] = []
    dated = [t for t in tellings if t.happening.when is not None]
    for telling in sorted(dated, key=_narrow):
        when = telling.happening.when
        assert when is not None
        fitting = [members for own, members in parts if own.overlaps(when)]
        if len(fitting) == 1:
            fitting[0].append(telling)
        elif fitting:
            doubtful.append(telling)
        else:
            parts.append((when, [telling]))
    if len(parts) > 1:
        refusals.append(_refused(name, "the times differ", parts))
    if doubtful:
        open_ = [(t.happening.when, [t]) for t in doubtful if t.happening.when is not None]
        refusals.append(_refused(name, "the time fits several of them", open_))
    undated = [t for t in tellings if t.happening.when is None]
    groups = [members for _, members in parts] or [[]]
    if len(groups) == 1:
        groups[0].extend(undated)
    several = (group for group in groups if len({t.document for t in group}) > 1)
    merges.extend(_merge(name, group, ways) for group in several)


def _merge(name: str, tellings: Sequence[_Telling], ways: Ways) -> Merge:
    undated = any(t.happening.when is None for t in tellings)
    coerced = max(t.happening.coerced for t in tellings)
    own = event_distance(unfilled=int(undated), coerced=coerced, artifact=False)
    members = tuple(sorted({t.node for t in tellings}))
    cited = {t.node: Cited(t.document, t.happening.licence) for t in tellings}
    return Merge(
        name=name,
        family=Family.EVENT,
        evidence=Evidence.HAPPENING,
        members=members,
        distance=round(own + _presupposed(tellings, ways) / COST_UNIT, 4),
        licences=tuple(cited[node] for node in members[:_MOST_QUOTED]),
    )


def _presupposed(tellings: Sequence[_Telling], ways: Ways) -> int:
    """Return what it costs to take the participants of any two tellings for the same."""
    terms = sorted(
        {Node(t.document, term) for t in tellings for _, term in t.happening.participants}
    )
    dearest: defaultdict[Node, int] = defaultdict(int)
    for node in terms:
        reached = ways(node)
        group = min((node, *reached))
        for other in terms:
            if other in reached:
                dearest[group] = max(dearest[group], reached[other].units)
    return sum(dearest.values())


def _narrow(telling: _Telling) -> tuple[int, str, str, Node]:
    when = telling.happening.when
    assert when is not None
    return -_shared_prefix(when), when.start, when.end, telling.node


def _shared_prefix(when: Interval) -> int:
    """Count the leading characters of an ISO date that a time fixes: a day 10, a year 5."""
    pairs = zip(when.start, when.end, strict=True)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(when.start))


def _called(event: str, who: Sequence[Node]) -> str:
    names = ", ".join(node.term.partition(":")[2] for node in who)
    return f"{event.partition(':')[2]}({names})"


def _refused(
    name: str, reason: str, parts: Sequence[tuple[Interval, Sequence[_Telling]]]
) -> Refusal:
    sides = tuple(
        Side(
            when.start if when.start == when.end else f"{when.start} to {when.end}",
            tuple(sorted({t.node for t in tellings})),
        )
        for when, tellings in parts
    )
    return Refusal(name, reason, sides)
