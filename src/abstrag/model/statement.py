"""Statements: what a segment says, and how firmly it says it (appendices A and B)."""

from __future__ import annotations

from enum import StrEnum

from abstrag.config import W_ASRT, W_TRUST
from abstrag.model.record import Unit, record


class StatementKind(StrEnum):
    """The four kinds of semantic item of appendix A."""

    CLAIM = "claim"
    PROPERTY = "property"
    CONCEPT = "concept"
    EVIDENCE = "evidence"


class Profile(StrEnum):
    """The six epistemic profiles of appendix B."""

    ESTABLISHED = "established"
    STRONG_CLAIM = "strong_claim"
    CITED_EXTERNAL = "cited_external"
    HYPOTHESIS = "hypothesis"
    DISPUTED = "disputed"
    DEFEATED = "defeated"


@record
class Statement:
    """One thing said at `segment.text[start:end]`; `cue` is what gave its profile away."""

    kind: StatementKind
    profile: Profile
    confidence: Unit
    start: int
    end: int
    cue: str = ""

    @property
    def trust(self) -> float:
        """Trust(x) = w_trust(profile) · conf(x)."""
        return W_TRUST[self.profile] * self.confidence

    @property
    def assertedness(self) -> float:
        """Asrt(x): how much the statement is put forward as a result."""
        return W_ASRT[self.profile]
