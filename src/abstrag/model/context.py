"""The context C = ⟨E, T, Σ, ℰ⟩ that a segment needs (appendix D), and the statements it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from abstrag.config import W_ASRT, W_TRUST
from abstrag.model.record import Unit, record
from abstrag.model.span import Span


class Field(StrEnum):
    """The four parts of a context."""

    ENTITIES = "entities"
    TIME = "time"
    SCOPE = "scope"
    EVIDENCE = "evidence"


@record
class FieldValue:
    """One value of a context: what it settles, to what, how surely, and where that stands.

    It supplies at most one term; a heading that names several is there once for each.
    """

    name: str  # what is bound: a pronoun, "anchor", "section", "caption", "reference", …
    value: str
    confidence: Unit
    span: Span | None = None
    term: str | None = None


@record
class Context:
    """Entity bindings E, temporal anchor T, scope Σ and evidence profile ℰ."""

    entities: tuple[FieldValue, ...] = ()
    time: tuple[FieldValue, ...] = ()
    scope: tuple[FieldValue, ...] = ()
    evidence: tuple[FieldValue, ...] = ()

    def values(self) -> Iterator[tuple[Field, FieldValue]]:
        """Go through every value with the part it belongs to."""
        for field in Field:
            for value in getattr(self, field.value):
                yield field, value

    def to_read(self) -> Iterator[tuple[Field, FieldValue]]:
        """Go through the values as a reader needs them: a heading that names two terms once."""
        seen: set[tuple[Field, str, str]] = set()
        for field, value in self.values():
            said = field, value.name, value.value
            if said not in seen:
                seen.add(said)
                yield field, value

    def without(self, field: Field, value: FieldValue) -> Context:
        """Return the context with one value dropped."""
        kept = tuple(v for v in getattr(self, field.value) if v is not value)
        return replace(self, **{field.value: kept})


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
