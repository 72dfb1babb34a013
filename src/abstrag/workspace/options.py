"""How a workspace is opened and how its documents are searched, as values that may travel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from abstrag.config import TAU, DocumentBudget, Settings
from abstrag.errors import InputError
from abstrag.policy.location import DEFAULT_FAMILY
from abstrag.search.relevance import DEFAULT_PRESET, FAST, PRESETS, Preset, judged_preset
from abstrag.stores.open import Target, default_store, resolved
from abstrag.workspace.edits import Edits

if TYPE_CHECKING:
    from abstrag.engine.library import Knowledge
    from abstrag.engine.searcher import Reprice

DOCUMENTS_KEPT: Final = 64  # open documents, the last ones used


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How documents are searched: the same for every question put to what was opened with it."""

    preset: Preset = DEFAULT_PRESET
    tau: float = TAU
    without: frozenset[str] = frozenset()  # query operators that are left out
    judge: bool = True  # a language model that judges has its say; False: in no preset
    patched: bool = True  # what refinement has kept is in force
    edits: Edits = field(default_factory=Edits)  # tried out, on top of those that are kept
    reprice: Reprice | None = None  # gives every costed edge another weight, for experiments

    @property
    def idle(self) -> str:
        """Why patches that are kept are not in force; nothing where they are."""
        return "--without changes what they were made for" if self.without else ""


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """Everything a workspace is opened with that another process can be told."""

    store: Target | None = None  # None: the user's own
    create: bool = True  # make the store where there is none
    background: Knowledge | str | Path | None = None  # None: what a document was indexed with
    settings: Settings = field(default_factory=Settings)
    options: SearchOptions | None = None  # None: the defaults, at the budget of the settings
    policy: Path | None = None  # None: the user's own
    family: str = DEFAULT_FAMILY  # whose patches hold
    keep: int = DOCUMENTS_KEPT
    budget: DocumentBudget = field(
        default_factory=DocumentBudget
    )  # of a document that another process indexes

    @property
    def target(self) -> Target:
        """The store that is meant."""
        return self.store if self.store is not None else default_store()

    @property
    def defaults(self) -> SearchOptions:
        """How documents are searched where nobody says otherwise."""
        return self.options or SearchOptions(tau=self.settings.tau)

    def elsewhere(self) -> WorkspaceConfig:
        """Return the same for another process, which may run in another folder.

        Documents are indexed here, so the Background stays with them.
        """
        return replace(self, store=resolved(self.target), background=None)


def chosen_preset(
    name: str | None = None, *, judge: bool | None = None, exact: bool = False
) -> Preset:
    """Return the preset that a name and a wish for or against the judge mean together.

    `judge` True gives the judge its say in any preset, False takes it away. With `exact` it is
    asked about every segment that may still get in.
    """
    if name is not None and name not in PRESETS:
        raise InputError(f"no preset is called {name!r}", hint=f"one of: {', '.join(PRESETS)}")
    chosen = DEFAULT_PRESET if name is None else PRESETS[name]
    if judge is False:
        chosen = FAST if name is None else chosen.unjudged if chosen.judge_weight else chosen
    elif judge:
        chosen = judged_preset(chosen)
    if exact and not chosen.judge_weight:
        raise InputError(
            f"--exact is about the judge, and preset {chosen.name!r} has none",
            hint=f"leave --exact out, or take --preset {DEFAULT_PRESET.name}",
        )
    return replace(chosen, judged=None) if exact else chosen
