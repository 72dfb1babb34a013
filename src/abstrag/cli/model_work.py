"""Work on a document that models may help with: connect, open, and say what it took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from abstrag.cli.llm_options import LlmOptions, print_estimate, print_ledger
from abstrag.cli.options import SearchOptions
from abstrag.cli.output import print_json
from abstrag.cli.patch_options import Patched, PatchOptions
from abstrag.engine.refinement import refinement_estimate
from abstrag.engine.searcher import Searcher
from abstrag.llm.connect import Models
from abstrag.llm.estimate import Estimate
from abstrag.model.record import to_data


@dataclass(frozen=True, slots=True)
class Work:
    """An open document with the patches kept for it, and the models at hand."""

    document: Patched
    models: Models | None = None

    @property
    def searcher(self) -> Searcher:
        """The document, ready to be asked."""
        return self.document.searcher

    @property
    def notes(self) -> tuple[str, ...]:
        """What the models said that could not be used."""
        return self.searcher.notes

    def report(self) -> dict[str, Any]:
        """Return what a JSON result carries besides the result."""
        patches = {"patches": [each.id for each in self.document.in_force]}
        if self.models is None:
            return patches
        return {**patches, "notes": list(self.notes), "ledger": to_data(self.models.ledger())}

    def print_report(self) -> None:
        """Say on standard error what the models took and what of it was of no use."""
        if self.models is not None:
            for note in self.notes:
                click.echo(f"note: {note}", err=True)
            print_ledger(self.models.ledger())

    def print_patches(self, out: Console) -> None:
        """Say which patches are in force; nothing where none was kept."""
        if self.document.sentence:
            out.print(f"[dim]{escape(self.document.sentence)}[/]")


@contextmanager
def model_work(
    options: SearchOptions,
    models_options: LlmOptions,
    patches_options: PatchOptions,
    target: str,
    *,
    as_json: bool,
    singly: bool = False,
    cycles: int = 0,
) -> Iterator[Work | None]:
    """Open a document with the models that were asked for; None when it was a dry run.

    `singly` tells a dry run that segments may be judged one at a time, and `cycles` how often at
    most the query is refined.
    """
    with models_options.connect() or nullcontext() as models:
        if models_options.dry_run:
            indexing, search = options.estimate(target, models, singly=singly)
            if models is not None and cycles:
                search += refinement_estimate(models, cycles)
            tell_estimate(indexing, search, as_json=as_json)
            yield None
        else:
            yield Work(patches_options.open(options, target, models), models)


def tell_estimate(indexing: Estimate, asking: Estimate, *, as_json: bool) -> None:
    """Say what a dry run found: what indexing takes where it is due, and the rest at most."""
    if as_json:
        print_json({"indexing": to_data(indexing), "estimate": to_data(asking)})
        return
    if indexing.calls or indexing.cached:
        click.echo(f"indexing comes first: {indexing.sentence}")
    print_estimate(asking)
