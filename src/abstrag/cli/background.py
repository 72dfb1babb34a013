"""`abstrag background`: compile sources of names and classes, check them, look things up."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.markup import escape

from abstrag.backgrounds.build import build
from abstrag.backgrounds.compiled import BackgroundSummary, CompiledBackground, is_compiled, survey
from abstrag.backgrounds.source import DISTANCE, BackgroundSource
from abstrag.backgrounds.touched import SuggestionKind, TouchedFacts
from abstrag.cli.options import json_option
from abstrag.cli.output import console, print_json, progress
from abstrag.config import OMEGA
from abstrag.errors import InputError
from abstrag.model.record import to_data

_file = click.Path(dir_okay=False, path_type=Path)
_language_option = click.option(
    "--language", default="en", show_default=True, help="Of names in files with several languages."
)


@click.group("background")
def background_command() -> None:
    """Compile aliases, vocabularies and dumps into a Background, and look into it."""


@background_command.command("build")
@click.argument("files", nargs=-1, required=True, type=_file)
@click.option("-o", "--output", required=True, type=_file, help="The file to write.")
@click.option(
    "--trust",
    multiple=True,
    metavar="FILE=HOW",
    help="How far a file is believed: stated, which makes it a premise and free, or a distance."
    f"  [default: stated for CSV, TSV and TOML, {DISTANCE:g} for others]",
)
@_language_option
@json_option
def build_background(
    files: tuple[Path, ...], output: Path, trust: tuple[str, ...], language: str, as_json: bool
) -> None:
    """Compile FILES into one Background.

    FILES are CSV, TSV, TOML, SKOS and other RDF, Wikidata's JSON, MRCONSO.RRF and MRREL.RRF; they
    may be compressed with gzip or bzip2.
    """
    sources = _sources(files, trust, language)
    with progress(None, quiet=as_json) as bar:
        task = bar.task_ids[0]
        made = build(
            sources,
            output,
            on_facts=lambda source, count: bar.update(
                task, description=source.path.name, completed=count
            ),
        )
    found = survey(output)
    if as_json:
        print_json({"output": str(output), "built": made, **to_data(found)})
        return
    out = console()
    out.print(f"[bold]{escape(str(output))}[/] {'written' if made else 'unchanged'}")
    _print(found)


@background_command.command("check")
@click.argument("file", type=_file)
@_language_option
@json_option
def check_background(file: Path, language: str, as_json: bool) -> None:
    """Read FILE from end to end and count.

    FILE is a source or a compiled Background; a malformed line is named.
    """
    if is_compiled(file):
        found = survey(file)
    else:
        with TemporaryDirectory() as folder:
            compiled = Path(folder) / "check.db"
            build([BackgroundSource.of(file, language=language)], compiled)
            found = survey(compiled)
    if as_json:
        print_json(found)
    else:
        _print(found)


@background_command.command("look")
@click.argument("file", type=_file)
@click.argument("text")
@json_option
def look_up(file: Path, text: str, as_json: bool) -> None:
    """Say what FILE knows of the things in TEXT."""
    part = CompiledBackground.open(file).touched_by([text])
    if as_json:
        print_json(_data(part))
        return
    out = console()
    stated = part.background
    for relation, table in (("=", stated.aliases), ("is a", stated.classes | stated.roles)):
        for thing, others in table.items():
            for other in others:
                out.print(
                    f"[bold]0.00[/]  {escape(thing)} {relation} {escape(other)}  [dim]stated[/]"
                )
    for one in sorted(part.suggestions, key=lambda s: (s.form, s.distance, s.reference)):
        out.print(f"[bold]{_cost(one.says, one.distance):.2f}[/]  {escape(one.reference)}")
    if not (stated.aliases or stated.classes or stated.roles or part.suggestions):
        out.print("nothing in it is named there")


def _sources(
    files: tuple[Path, ...], trust: tuple[str, ...], language: str
) -> list[BackgroundSource]:
    told: dict[str, str] = {}
    for item in trust:
        name, mark, how = item.rpartition("=")
        if not mark or Path(name) not in files:
            raise InputError(
                f"--trust {item!r} names none of the files", hint="--trust FILE=stated or FILE=0.2"
            )
        told[str(Path(name))] = how
    return [BackgroundSource.of(file, told.get(str(file)), language=language) for file in files]


def _print(found: BackgroundSummary) -> None:
    out = console()
    for source in found.sources:
        how = "stated" if source.distance is None else f"suggested at distance {source.distance:g}"
        out.print(f"  {escape(source.name)}: {source.facts:,} facts, {how}")
    out.print(f"{found.things:,} things, {found.names:,} names, {found.links:,} links upward")
    odd = (
        (found.duplicates, "lines say what another has said", ()),
        (found.conflicts, "entries are given at two costs; the lower stands", ()),
        (found.homonyms, "names belong to several things and stay open", found.homonym_examples),
        (found.in_circles, "things are over some steps kinds of themselves", found.circle_examples),
    )
    for count, what, examples in odd:
        if count:
            shown = f": {', '.join(examples)}" if examples else ""
            out.print(f"[yellow]{count:,}[/] {what}{escape(shown)}")


def _cost(says: SuggestionKind, distance: float) -> float:
    return OMEGA["expression" if says is SuggestionKind.ALIAS else "concept"] + distance


def _data(part: TouchedFacts) -> dict[str, object]:
    return {
        "stated": part.background,
        "suggested": [
            {
                "form": one.form,
                "says": one.says.value,
                "target": one.target,
                "cost": round(_cost(one.says, one.distance), 4),
                "confidence": one.confidence,
                "reference": one.reference,
            }
            for one in part.suggestions
        ],
    }
