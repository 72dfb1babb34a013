"""Options of every command that searches under the patches refinement has kept for a document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from abstrag.cli.options import SearchOptions
from abstrag.engine.prompting import Prompting
from abstrag.engine.searcher import Searcher
from abstrag.errors import PolicyError
from abstrag.llm.connect import Models
from abstrag.model.index import DocumentIndex
from abstrag.policy.store import DEFAULT_FAMILY, PolicyStore
from abstrag.refine.ledger import Kept, Ledger, text_hash

_Command = Callable[..., Any]

policy_option: Final = click.option(
    "--policy",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="ABSTRAG_POLICY",
    help="The policy folder.  [default: in your data folder]",
)
family_option: Final = click.option(
    "--family", default=DEFAULT_FAMILY, show_default=True, help="Whose patches to use."
)
no_patches_option: Final = click.option(
    "--no-patches", is_flag=True, help="Leave out what refinement has kept for the document."
)


@dataclass(frozen=True, slots=True)
class PatchOptions:
    """Whose patches hold, and whether any do."""

    policy: Path | None
    family: str
    wanted: bool

    @property
    def ledger(self) -> Ledger:
        """The log that patches are read from and written to."""
        return Ledger(PolicyStore.open(self.policy, self.family))

    def open(self, options: SearchOptions, target: str, models: Models | None = None) -> Patched:
        """Open a document under the patches kept for its text."""
        searcher = options.open(target, models)
        kept = self._kept(searcher.index) if self.wanted else ()
        if not kept:
            return Patched(searcher)
        if options.without:
            return Patched(searcher, kept, idle="--without changes what they were made for")
        prompting = Prompting.of(models) if models else None
        patches = [each.patch for each in kept]
        return Patched(options.over(searcher.index, prompting, patches), kept)

    def _kept(self, index: DocumentIndex) -> tuple[Kept, ...]:
        try:
            return self.ledger.kept(text_hash(index))
        except PolicyError as error:
            hint = "--no-patches searches without what refinement has kept"
            raise type(error)(
                str(error), hint=f"{error.hint}; {hint}" if error.hint else hint
            ) from error


@dataclass(frozen=True, slots=True)
class Patched:
    """An open document and the patches kept for it; `idle` says why they are not in force."""

    searcher: Searcher
    kept: tuple[Kept, ...] = ()
    idle: str = ""

    @property
    def in_force(self) -> tuple[Kept, ...]:
        """The patches that the searcher works under."""
        return () if self.idle else self.kept

    @property
    def sentence(self) -> str:
        """What there is to say about patches; nothing where there are none."""
        return patches_sentence(len(self.kept), self.idle)


def patches_sentence(count: int, idle: str = "") -> str:
    """Say how many patches are in force, or why those that were kept are not."""
    if not count:
        return ""
    patches = "1 patch" if count == 1 else f"{count} patches"
    if idle:
        return f"{patches} kept for this document left out: {idle}"
    return f"{patches} in force (abstrag policy diff shows, --no-patches leaves out)"


def patch_options(command: _Command) -> _Command:
    """Hand a command its `patches_options` as `PatchOptions`."""

    @wraps(command)
    def called(policy: Path | None, family: str, no_patches: bool, **rest: Any) -> Any:
        return command(patches_options=PatchOptions(policy, family, not no_patches), **rest)

    return policy_option(family_option(no_patches_option(called)))
