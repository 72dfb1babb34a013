"""`abstrag budget`: what each budget τ reaches, as numbers and as a plot."""

from __future__ import annotations

from textwrap import shorten

import click
from rich.console import Console
from rich.markup import escape

from abstrag.cli.opened import opened, print_models, print_patches, report_of, tell_estimate
from abstrag.cli.options import (
    DocumentTarget,
    LlmOptions,
    bridging_options,
    json_option,
    llm_options,
    patch_options,
)
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import print_query
from abstrag.config import TAU_MAX
from abstrag.model.ranking import BudgetCurve
from abstrag.model.record import to_data
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import WorkspaceConfig

_WIDTH = 60
_LISTED = 15


@click.command("budget")
@click.argument("target", type=DocumentTarget())
@click.argument("query")
@bridging_options
@llm_options
@patch_options
@json_option
def budget_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    target: str,
    query: str,
    as_json: bool,
) -> None:
    """Show at which budget τ each segment of TARGET meets the whole of QUERY."""
    with opened(config, models_options) as workspace:
        if models_options.dry_run:
            tell_estimate(*workspace.estimate(target), as_json=as_json)
            return
        document = workspace.document(target)
        curve = document.budget(query)
        if as_json:
            print_json({**to_data(curve), **report_of(document)})
            return
        print_models(document)
        _print(console(), document, curve)


def _print(out: Console, document: SearchableDocument, curve: BudgetCurve) -> None:
    print_query(out, curve.query)
    _plot(out, curve, document.options.tau)
    texts = {s.id: s.text for s in document.index.segments}
    for entry in curve.entries[:_LISTED]:
        said = shorten(texts[entry.segment], 90, placeholder=" …")
        out.print(f"  [bold]{entry.tau:4.2f}[/]  {entry.segment:>5}  {escape(said)}")
    if len(curve.entries) > _LISTED:
        out.print(f"  [dim]and {len(curve.entries) - _LISTED} more: --json lists them[/]")
    if curve.covers is None:
        out.print("no budget makes one segment meet the whole query")
    else:
        out.print(
            f"the cheapest budget at which one segment meets it all: [bold]{curve.covers:.2f}[/]"
        )
    if curve.covers_together is not None:
        out.print(
            f"each literal is met by some segment from [bold]{curve.covers_together:.2f}[/] on"
        )
    print_patches(out, document)


def _plot(out: Console, curve: BudgetCurve, mark: float) -> None:
    """Draw the segments reached over τ as bars; the row of the budget in force is marked."""
    most = max((s.reachable for s in curve.steps), default=0)
    out.print(f"\n[dim]segments that meet the whole query, by budget (◂ τ {mark:g})[/]")
    for tenth in range(0, round(TAU_MAX * 10) + 1, 2):
        tau = tenth / 10
        count = sum(1 for e in curve.entries if e.tau <= tau + 1e-9)
        share = max((s.best_share for s in curve.steps if s.tau <= tau + 1e-9), default=0.0)
        bar = "█" * (round(_WIDTH * count / most) if most else 0)
        here = "◂" if tau <= mark < tau + 0.2 - 1e-9 else " "
        out.print(f"  τ {tau:3.1f} {here} {count:>4} {bar} [dim]best share {share:.0%}[/]")
    out.print()
