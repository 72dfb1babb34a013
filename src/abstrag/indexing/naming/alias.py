"""Names and the reasons to take two of them for one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from abstrag.indexing.naming.mentions import UNLABELLED
from abstrag.language.persons import PersonName, person_name
from abstrag.model.term import TermKind


class AliasReason(IntEnum):
    """Why two names are one, the strongest reason first."""

    BACKGROUND = 0  # a Background file says so
    DEFINED = 1  # the text says so: an acronym in brackets, a defined term
    SPELLING = 2  # they differ in nothing that tells names apart
    LEGAL_FORM = 3  # one has the legal form the other leaves out
    PERSON = 4  # one is part of the only full name it can belong to
    DESCRIPTION = 5  # a definite description that always means the same thing here


@dataclass(frozen=True, slots=True, order=True)
class AliasEvidence:
    """One reason; `definition` is the number of the definition that states it, if one does."""

    why: AliasReason
    alias: str
    name: str
    definition: int | None = None


@dataclass(slots=True)
class NameGroup:
    """Everything written that has one key."""

    id: str
    surfaces: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    cited: bool = False  # somewhere it is the author of a citation
    common: bool = False  # its word also occurs in small letters
    given: str = ""  # the Background's own name for the thing, where this is it

    @property
    def kind(self) -> TermKind:
        """Entity, or concept for a common noun that has an acronym."""
        return TermKind(self.id.partition(":")[0])

    @property
    def surface(self) -> str:
        """The way it is written most often; of equals the first in the alphabet."""
        return min(self.surfaces, key=lambda s: (-self.surfaces[s], s))

    @property
    def count(self) -> int:
        """How often the document writes it."""
        return self.surfaces.total()

    @property
    def label(self) -> str:
        """The entity label it is given most often."""
        labels = {n: -c for n, c in self.labels.items() if n != UNLABELLED}
        return min(labels, key=lambda n: (labels[n], n)) if labels else UNLABELLED

    @property
    def person(self) -> PersonName | None:
        """The name in parts, when it is a person's; a lone word may be a surname."""
        lone = self.label == UNLABELLED and " " not in self.surface
        return person_name(self.surface) if self.label == "PERSON" or lone else None
