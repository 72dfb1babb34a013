"""A ledger of terms, mentions and edges that an operator fills while it reads."""

from __future__ import annotations

from abstrag.model.term import Edge, Mention, Quantity, Term, TermKind


class TermCollector:
    """Collects terms with their surfaces, mentions and edges; what comes out is sorted.

    Several edges for one step may come in; the first one of each licence is kept, and BuildMap
    decides between licences.
    """

    def __init__(self) -> None:
        self._terms: dict[str, tuple[TermKind, str, Quantity | None]] = {}
        self._surfaces: dict[str, set[str]] = {}
        self._mentions: dict[Mention, None] = {}
        self._edges: dict[tuple[str, str, str, str], Edge] = {}

    def __contains__(self, term: str) -> bool:
        return term in self._terms

    def term(self, term: str, kind: TermKind, label: str, quantity: Quantity | None = None) -> None:
        """Make sure a term exists; the first label stands."""
        if term not in self._terms:
            self._terms[term] = (kind, label, quantity)
            self._surfaces[term] = set()

    def mention(self, mention: Mention, surface: str) -> None:
        """Note where a term that exists is mentioned."""
        self._mentions[mention] = None
        self._surfaces[mention.term].add(surface)

    def edge(self, edge: Edge) -> None:
        """Note an edge between terms that exist here or in an earlier layer."""
        step = (edge.source, edge.target, edge.licence.kind, edge.licence.reference)
        if edge.source != edge.target:
            self._edges.setdefault(step, edge)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Every term, by id."""
        return tuple(
            Term(term, kind, label, tuple(sorted(self._surfaces[term])), quantity=quantity)
            for term, (kind, label, quantity) in sorted(self._terms.items())
        )

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Every mention, in reading order."""
        return tuple(sorted(self._mentions, key=_place))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge, by source and target."""
        return tuple(edge for _, edge in sorted(self._edges.items(), key=lambda item: item[0]))


def _place(mention: Mention) -> tuple[int, int, int, int, str]:
    header = -1 if mention.header is None else mention.header
    return mention.segment, header, mention.start, mention.end, mention.term
