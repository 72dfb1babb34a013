"""`abstrag feedback`: say which hits are evidence and which steps are right; it is learned from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
from rich.markup import escape

from abstrag.cli.opened import opened
from abstrag.cli.options import DocumentTarget, json_option, policy_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import describe, print_refinement
from abstrag.errors import InputError
from abstrag.policy.location import DEFAULT_FAMILY
from abstrag.refine.feedback import parse_step
from abstrag.workspace.lessons import export_packs, learn
from abstrag.workspace.options import WorkspaceConfig


@click.command("feedback")
@click.argument("target", required=False, type=DocumentTarget())
@click.argument("query", required=False)
@click.option("--good", multiple=True, help="A segment that is evidence: its id or its words.")
@click.option("--bad", multiple=True, help="A segment that is none.")
@click.option("--right", multiple=True, metavar="ASKED=SAID", help="A step that holds.")
@click.option("--wrong", multiple=True, metavar="ASKED=SAID", help="A step that does not.")
@click.option("--refine", is_flag=True, help="Mend the search for the query at once if it fails.")
@click.option(
    "--export",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all feedback as training cases (a pack) instead; FILE.jsonl or FILE.jsonl.gz.",
)
@policy_option
@click.option("--family", default=DEFAULT_FAMILY, show_default=True, help="Whose policy to use.")
@search_options
@json_option
def feedback_command(
    config: WorkspaceConfig,
    target: str | None,
    query: str | None,
    good: tuple[str, ...],
    bad: tuple[str, ...],
    right: tuple[str, ...],
    wrong: tuple[str, ...],
    refine: bool,
    export: Path | None,
    policy: Path | None,
    family: str,
    as_json: bool,
) -> None:
    """Say what you know about the hits for QUERY in TARGET.

    A hit is named as `abstrag search` prints it. What you call evidence is gold for every later
    refinement, and must not get lost. A step you call wrong (collaboration=visit: a visit is no
    collaboration) costs all there is from now on. What three documents of one genre ask for is
    tried on all solved queries and then holds for the genre.
    """
    config = replace(config, policy=policy, family=family)
    with opened(config) as workspace:
        if export is not None:
            cases = export_packs(workspace, export)
            if as_json:
                print_json({"file": str(export), "cases": cases})
            else:
                console().print(f"{cases} cases written to {escape(str(export))}")
            return
        if target is None or query is None:
            raise InputError(
                "feedback needs a TARGET and a QUERY, or --export FILE",
                hint='abstrag feedback report.pdf "Who paid for it?" --good s12 --bad s3',
            )
        document = workspace.document(target)
        noted = document.feedback(
            query,
            good=good,
            bad=bad,
            right=[parse_step(one) for one in right],
            wrong=[parse_step(one) for one in wrong],
        )
        made = workspace.document(target).refine(query) if refine else None
        lessons = learn(workspace)
        if as_json:
            print_json({"noted": noted, "refinement": made, "lessons": lessons})
            return
        out = console()
        only = "" if good or bad else "; steps only"
        out.print(f"noted as [bold]{noted.episode}[/]: {len(good)} good, {len(bad)} bad{only}")
        for patch in noted.patches:
            out.print(f"[green]in force[/]  {patch.id}  {escape(describe(patch, document.index))}")
        for reason in noted.refused:
            out.print(f"[red]refused[/]   {escape(reason)}")
        if made is not None:
            print_refinement(out, made, document.index)
        for entry in lessons:
            out.print(f"[cyan]lesson[/]    {escape(entry.reason)}")
        if lessons:
            family = escape(workspace.patches.family)
            out.print(f"[dim]abstrag policy blame lessons --family {family}[/]")
