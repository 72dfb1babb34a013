"""`abstrag ask`: an answer with numbered quotations, a verdict on a claim, or what is missing."""

from __future__ import annotations

from dataclasses import replace
from textwrap import shorten
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from abstrag.answers.answer import NOT_HERE, THESE, THIS, generation_task
from abstrag.answers.generator import GenerationTask
from abstrag.answers.verdicts import BY, BY_RULES, WEIGHED
from abstrag.cli.opened import (
    CollectionOptions,
    collection_options,
    estimate_of_many,
    opened,
    print_models,
    print_patches,
    report_of,
    report_of_models,
    tell_estimate,
)
from abstrag.cli.options import LlmOptions, json_option, llm_options, patch_options, search_options
from abstrag.cli.output import console, print_json
from abstrag.config import GIVEN_PASSAGES
from abstrag.llm.budget import Estimate
from abstrag.model.answer import (
    Answer,
    AnswerMode,
    AnswerSentence,
    Asked,
    Citation,
    Evidence,
    Label,
    Verdict,
)
from abstrag.model.record import to_data
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

_CLOSEST = 300  # characters of a passage that is shown though it answers nothing
_COLOURS = {Label.SUPPORTS: "green", Label.REFUTES: "red", Label.NOT_ENOUGH_INFO: "yellow"}


@click.command("ask")
@collection_options("target", "query")
@click.option(
    "-k",
    "--k",
    "--top",
    "k",
    type=click.IntRange(1, 20),
    help=f"Passages used.  [default: {GIVEN_PASSAGES}, and {WEIGHED} for a claim without a model]",
)
@click.option(
    "--as",
    "asked",
    type=click.Choice([one.value for one in Asked]),
    help="What QUERY is.  [default: told by its wording]",
)
@search_options
@llm_options
@patch_options
@json_option
def ask_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    collection: CollectionOptions,
    target: str,
    query: str,
    k: int | None,
    asked: str | None,
    as_json: bool,
) -> None:
    """Answer QUERY from TARGET with exact quotations, or say what is missing.

    TARGET is a file (indexed first when it is new or changed) or a document id. A claim gets
    SUPPORTS, REFUTES or NOT ENOUGH INFO. With --llm a model writes the answer from the best
    passages and every quotation is checked; without, the document is quoted.

    TARGET may be a collection, as for `abstrag search`. Then every quotation names its document,
    and where documents answer differently each answer is shown.
    """
    how: dict[str, Any] = {"k": k, "asked": Asked(asked) if asked else None}
    place = collection.place(config, target)
    if place is not None:
        with place.open(models_options, as_json=as_json) as many:
            if models_options.dry_run:
                indexing, total = estimate_of_many(many, query)
                total += _answer_estimate(many.workspace, many.generation_task(query, **how))
                tell_estimate(indexing, total, as_json=as_json)
                return
            made = many.ask(query, **how)
            if as_json:
                print_json({"ledger": None, **to_data(made), **report_of_models(many)})
                return
            print_models(many)
            print_answer(console(), made, named=True)
        return
    with opened(config, models_options) as workspace:
        if models_options.dry_run:
            _dry_run(config, workspace, target, query, how, as_json=as_json)
            return
        document = workspace.document(target)
        document.expect(query)
        made = document.ask(query, **how)
        if as_json:
            print_json({"ledger": None, **to_data(made), **report_of(document)})
            return
        print_models(document)
        out = console()
        print_answer(out, made)
        print_patches(out, document)


def _dry_run(
    config: WorkspaceConfig,
    workspace: Workspace,
    target: str,
    query: str,
    how: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Say what asking would take: indexing where it is due, one search, one answer at most.

    The passages are those of a local search; the models' own may be a little longer.
    """
    indexing, total = workspace.estimate(target)
    if workspace.generator is not None:
        searcher = workspace.local_document(target).searcher
        given = {**how, "k": how["k"] or GIVEN_PASSAGES}
        task = generation_task(searcher, query, tau=config.defaults.tau, **given)
        total += _answer_estimate(workspace, task)
    tell_estimate(indexing, total, as_json=as_json)


def _answer_estimate(workspace: Workspace, task: GenerationTask | None) -> Estimate:
    """Say what writing an answer takes at most; nothing where there is nothing to write from."""
    models, generator = workspace.models, workspace.generator
    if models is None or generator is None or task is None:
        return Estimate(most=True)
    return models.estimate([generator.request(task)], most=True)


def print_answer(out: Console, made: Answer, *, named: bool = False) -> None:
    """Print an answer: the verdict, the sentences, the quotations, what is missing.

    The sentences of an answer without a model are its quotations, and are printed once; what is
    read from tables is said in a sentence, with the cells below. Where documents are `named`, every
    quotation has its own, and answers of others that differ follow.
    """
    if made.others:
        out.print("[yellow]documents answer differently[/]")
    for one in (made, *made.others):
        _print_one(out, one, named=named)
        if one is not (made, *made.others)[-1]:
            out.print()


def _print_one(out: Console, made: Answer, *, named: bool) -> None:
    written = made.mode is AnswerMode.GENERATED
    said = written or made.short is not None
    if made.verdict is not None:
        _print_verdict(out, made.verdict)
    elif not made.found:
        nowhere = NOT_HERE.format(THESE if named else THIS)
        out.print(f"[bold yellow]{escape(nowhere if written else made.note)}[/]")
    for one in made.differences:
        doubt = "" if one.certain else " [dim](perhaps of something else)[/]"
        out.print(f"[yellow]the evidence says:[/] {escape(one.text)}{doubt}")
    for sentence in made.sentences if said else ():
        _print_sentence(out, sentence)
    if made.verdict is not None or made.differences or said:
        out.print()
    _print_quotes(out, made, named=named)
    if made.missing:
        out.print(f"\n[yellow]missing:[/] {escape(', '.join(made.missing))}")
    if made.found or written:
        out.print(f"\n[dim]{escape(made.note)}[/]")


def _print_quotes(out: Console, made: Answer, *, named: bool) -> None:
    """Print what is cited, and where nothing is, the passages that were looked at."""
    for citation in made.citations:
        _print_quote(out, str(citation.number), citation, named=named)
    if not made.citations and made.evidence:
        out.print("[dim]not an answer yet; the closest passages:[/]")
        for passage in made.evidence:
            text = shorten(passage.text, _CLOSEST, placeholder=" …")
            _print_quote(out, "–", replace(passage, text=text), named=named)


def _print_verdict(out: Console, verdict: Verdict) -> None:
    sure = "" if verdict.confidence is None else f", {verdict.confidence:.0%} sure"
    label = f"[bold {_COLOURS[verdict.label]}]{verdict.label.value}[/]"
    who = "by" if verdict.by == BY_RULES else "in the opinion of"
    out.print(f"{label}  [dim]{who} {escape(verdict.by)}{sure}[/]")
    if verdict.by == BY:
        out.print("[dim]a small model's opinion: read what is quoted before you rely on it[/]")
    if not verdict.grounded:
        out.print("[yellow]unsupported:[/] none of its quotations stands in the evidence")


def _print_sentence(out: Console, sentence: AnswerSentence) -> None:
    numbers = "".join(f"\\[{number}]" for number in sentence.citations)
    out.print(f"[bold]{escape(sentence.text)}[/] [cyan]{numbers}[/]".rstrip())
    if sentence.doubt is not None:
        out.print(f"    [yellow]unsupported:[/] {escape(sentence.doubt)}")


def _print_quote(out: Console, number: str, one: Citation | Evidence, *, named: bool) -> None:
    out.print(f"[cyan]{number:>3}[/]  “{escape(one.text)}”")
    parts = [*([one.document] if named else []), one.segment]
    if one.headers:
        parts.append(f"under {', '.join(each.rstrip(' ,') for each in one.headers)}")
    if one.section:
        parts.append(" › ".join(one.section))
    if one.page is not None:
        parts.append(f"page {one.page}")
    if one.cell is not None:
        parts.append(f"cell {one.cell}")
    parts.append(f"characters {one.span.start} to {one.span.end}")
    out.print(f"     [dim]{escape(' · '.join(parts))}[/]")
