"""Participants: what the arguments of events stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from abstrag.indexing.abstraction.offices import office_of, owner_of_unit, role_at
from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.indexing.operator import IndexDraft
from abstrag.language.keys import term_id
from abstrag.lexicon.roles import Roles
from abstrag.model.term import Mention, TermKind

_ROLE: Final = f"{TermKind.ROLE.value}:"


@dataclass(frozen=True, slots=True)
class Participants:
    """What the arguments of a draft's events stand for."""

    roles: Roles
    role_terms: dict[tuple[int, int], str]  # segment and where a role's name ends → its term
    names: dict[int, list[Mention]]  # segment → entity mentions in its text
    links: dict[int, list[tuple[int, int, str]]]  # segment → where an anaphor stands for whom
    times: dict[tuple[int, int | None, int], str]  # segment, header, offset → time term

    @classmethod
    def of(cls, draft: IndexDraft, roles: Roles) -> Participants:
        """Collect names, anaphora and times."""
        assert draft.coreference is not None
        assert draft.entities is not None
        assert draft.times is not None
        assert draft.concepts is not None
        names: dict[int, list[Mention]] = {}
        for mention in draft.entities.mentions:
            if mention.header is None:
                names.setdefault(mention.segment, []).append(mention)
        links: dict[int, list[tuple[int, int, str]]] = {}
        for link in draft.coreference.links:
            for mention in names.get(link.antecedent_segment, ()):
                if mention.start < link.antecedent_end and link.antecedent_start < mention.end:
                    anaphor = (link.start, link.end, mention.term)
                    links.setdefault(link.segment, []).append(anaphor)
                    break
        role_terms = {
            (m.segment, m.end): m.term
            for m in sorted(draft.concepts.mentions, key=lambda m: m.start)
            if m.header is None and m.term.startswith(_ROLE)
        }  # of two that end together the shorter stands: the role, not the office
        times = {(m.segment, m.header, m.start): m.term for m in draft.times.mentions}
        return cls(roles, role_terms, names, links, times)

    def stands_for(self, passage: ParsedPassage, token: int) -> tuple[str | None, bool]:
        """Return the term an argument stands for, and whether an office had to be coerced."""
        if token in passage.names:
            return passage.names[token].term, False
        start = passage.offset(token)
        for first, last, term in self.links.get(passage.segment, ()):
            if passage.header is None and first <= start < last:
                return term, False
        at = role_at(passage, token, self.roles)
        if at is not None:
            office = office_of(passage, at)
            if office is not None:
                return office.organization, True
            return term_id(TermKind.ROLE, at.role.key), False
        if name := passage.name(token):
            return name.term, False
        if owner := owner_of_unit(passage, token):
            return owner.term, True
        end = passage.offsets(token, token + 1)[1]  # a role that only the Background knows
        return self.role_terms.get((passage.segment, end)), False
