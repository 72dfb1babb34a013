"""`abstrag policy`: what the prompt programs have learnt, from whom, and how to take it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from abstrag.cli.options import (
    LlmOptions,
    json_option,
    llm_options,
    policy_option,
    print_ledger,
    store_option,
)
from abstrag.cli.output import console, counted, print_json
from abstrag.cli.trace import step_words
from abstrag.errors import InputError, NeedsModel, PolicyError, Regression
from abstrag.model.record import to_data
from abstrag.policy.audit import AuditEntry, EntryKind, PromotionStatus
from abstrag.policy.check import PolicyFault, check, diff
from abstrag.policy.load import base_hash, load_program
from abstrag.policy.location import DEFAULT_FAMILY, MUTABLE, PROGRAMS, families, known, policy_root
from abstrag.policy.store import PolicyStore
from abstrag.refine.gate import ReplayReport
from abstrag.refine.lessons import LessonVote, supporters
from abstrag.refine.patch_log import PatchLog
from abstrag.stores.open import Target

if TYPE_CHECKING:
    from abstrag.llm.connect import Models
    from abstrag.workspace.workspace import Workspace


def blame_lessons(store: PolicyStore, *, as_json: bool) -> None:
    """Say of every lesson, and of every candidate, which documents voted for it."""
    lessons, shown = PatchLog(store).lessons(), PatchLog(store).precedents()
    if as_json:
        print_json([{"id": one.id, **to_data(one)} for one in lessons + shown])
        return
    out = console()
    for one in lessons:
        state = f"[green]promoted {one.when}[/]" if one.when else "[dim]candidate[/]"
        said = escape(f"{one.genre}: {step_words(one.step)}")
        _print(out, f"[bold]{one.id}[/] {said}  {state}")
        _print_votes(out, one.votes)
    for taught in shown:
        state = f"[green]promoted {taught.when}[/]" if taught.when else "[dim]candidate[/]"
        state = "[red]refused[/]" if taught.refused else state
        said = f"{taught.genre}: where the answer to “{taught.precedent.question}” stands"
        _print(out, f"[bold]{taught.id}[/] {escape(said)}  {state}")
        names = ", ".join(taught.precedent.segments)
        _print(out, f"    [dim]{escape(f'{taught.name}: {names}')}[/]")
        votes = supporters(taught, shown) if taught.when else ()
        _print_votes(out, [vote for vote in votes if vote.patch != taught.id])
    if not (lessons or shown):
        out.print("no document has asked for a lesson yet")


def _print_votes(out: Console, votes: Sequence[LessonVote]) -> None:
    for vote in votes:
        _print(out, f"    [dim]{escape(f'{vote.name}: {vote.query} ({vote.patch})')}[/]")


def promote_lessons(store: PolicyStore, library: Target | None) -> tuple[AuditEntry, ...]:
    """Replay the lessons that have their votes, over the documents of a store."""
    patch_log = PatchLog(store)
    open_ones = any(not (one.when or one.refused) for one in patch_log.precedents())
    if not (open_ones or any(one.due for one in patch_log.lessons())):
        return ()
    from abstrag.workspace.lessons import learn

    with _workspace(library, store.root, store.family) as workspace:
        return learn(workspace)


def _workspace(
    library: Target | None, policy: Path, family: str, models: Models | None = None
) -> Workspace:
    # a replay needs the whole engine; the other commands do without
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    return Workspace(WorkspaceConfig(library, policy=policy, family=family), models=models)


LESSONS: Final = "lessons"  # in place of a program: what documents have taught their genre
_STYLE: Final = {"+": "green", "-": "red", " ": "dim"}

_family_option = click.option(
    "--family", default=DEFAULT_FAMILY, show_default=True, help="Whose programs."
)


@click.group("policy")
def policy_command() -> None:
    """Show, trace and take back what refinement has learnt: patches and prompt programs."""


@policy_command.command("list")
@policy_option
@_family_option
@json_option
def policy_list(policy: Path | None, family: str, as_json: bool) -> None:
    """List the programs and what is on its way into them, and count the patches in force."""
    store = PolicyStore.open(policy, family)
    patches = PatchLog(store).kept()
    waiting = [c for c in store.candidates() if c.status is not PromotionStatus.PROMOTED]
    rows = []
    for stage in PROGRAMS:
        program = store.program(stage)
        rows.append(
            {
                "program": stage,
                "editable": stage in MUTABLE,
                "rules": len(program.rules),
                "examples": len(program.few_shot),
                "changed": program != load_program(stage, root=store.root),
                "candidates": sum(c.edit.program == stage for c in waiting),
                "hash": base_hash(program),
            }
        )
    if as_json:
        print_json(
            {
                "family": family,
                "families": families(store.root),
                "programs": rows,
                "patches": len(patches),
            }
        )
        return
    table = Table(box=None, pad_edge=False)
    for name in ("program", "rules", "examples", "candidates", "hash", ""):
        table.add_column(name, justify="right" if name in ("rules", "examples") else "left")
    for row in rows:
        marks = [] if row["editable"] else ["fixed"]
        marks += ["differs from the baseline"] if row["changed"] else []
        table.add_row(
            str(row["program"]),
            str(row["rules"]),
            str(row["examples"]),
            str(row["candidates"] or ""),
            str(row["hash"])[:12],
            ", ".join(marks),
        )
    out = console()
    _print(out, f"[bold]{_plain(family)}[/]  [dim]{_plain(str(store.root))}[/]")
    out.print(table)
    if patches:
        count = counted(len(patches), "patch", "patches")
        out.print(f"{count} of documents in force: abstrag policy diff")


@policy_command.command("log")
@policy_option
@click.option("--family", default=None, help="Only this family.  [default: all]")
@click.option("--program", default=None, help="Only this program.")
@click.option("--rejected", is_flag=True, help="Only what was refused.")
@click.option("-n", "--last", type=click.IntRange(min=1), help="Only the last so many.")
@json_option
def policy_log(
    policy: Path | None,
    family: str | None,
    program: str | None,
    rejected: bool,
    last: int | None,
    as_json: bool,
) -> None:
    """Show everything that was tried, accepted or not."""
    tried = PolicyStore.open(policy, family or DEFAULT_FAMILY).entries()
    entries = [
        entry
        for entry in tried
        if (family is None or entry.family == family)
        and (program is None or entry.payload.get("program") == known(program))
        and not (rejected and entry.accepted)
    ][-(last or 0) :]
    if as_json:
        print_json(entries)
        return
    out = console()
    for entry in entries:
        _print_entry(out, entry)
    if not entries:
        some = "nothing of that kind is in the log" if tried else "nothing has been tried yet"
        out.print(some)


@policy_command.command("diff")
@click.argument("program", required=False)
@policy_option
@_family_option
@json_option
def policy_diff(program: str | None, policy: Path | None, family: str, as_json: bool) -> None:
    """Show where a family differs from the baseline: PROGRAM, or all of them and the patches."""
    store = PolicyStore.open(policy, family)
    programs = {
        stage: lines
        for stage in ([known(program)] if program else PROGRAMS)
        if (lines := diff(load_program(stage, root=store.root), store.program(stage)))
    }
    patches = () if program else PatchLog(store).kept()
    lessons = [] if program else [one for one in PatchLog(store).lessons() if one.when]
    if as_json:
        print_json(
            {
                "programs": programs,
                "patches": patches,
                "lessons": lessons,
            }
        )
        return
    out = console()
    names = {e.payload.get("document"): e.payload.get("name", "?") for e in store.entries()}
    for stage, lines in programs.items():
        _print(out, f"[bold]{stage}[/]  baseline → {_plain(family)}")
        for number, one in enumerate(lines):
            if number == 0 or lines[number - 1].slot != one.slot:
                out.print(f"  [cyan]{one.slot}[/]")
            _print(out, f"  [{_STYLE[one.sign]}]{one.sign} {_plain(one.text)}[/]")
    for lesson in lessons:
        what = _plain(f"{lesson.genre}: {_patch_words(to_data(lesson.patch))}")
        _print(out, f"[green]+ {what}[/]  [dim]lesson {lesson.id}[/]")
    for kept in patches:
        what = _plain(_patch_words(to_data(kept.patch)))
        about = f"{kept.id} of {names[kept.document]} for {kept.query!r}"
        _print(out, f"[green]+ {what}[/]  [dim]{_plain(about)}[/]")
    if not programs and not patches and not lessons:
        _print(out, f"family {_plain(family)} says nothing that the baseline does not say")


@policy_command.command("blame")
@click.argument("program")
@policy_option
@_family_option
@json_option
def policy_blame(program: str, policy: Path | None, family: str, as_json: bool) -> None:
    """Say of every rule and example of PROGRAM which cases voted for it; `lessons` for lessons."""
    if program == LESSONS:
        blame_lessons(PolicyStore.open(policy, family), as_json=as_json)
        return
    lines = PolicyStore.open(policy, family).blame(known(program))
    if as_json:
        print_json(lines)
        return
    out = console()
    for line in lines:
        _print(out, _plain(line.text))
        if line.promotion:
            cases = ", ".join(line.cases)
            who = f"promoted {line.when} as {line.promotion}, for {cases}"
            _print(out, f"    [green]{_plain(who)}[/]")
        else:
            out.print(f"    [dim]{line.origin}[/]")


@policy_command.command("revert")
@click.argument("name", metavar="ID")
@policy_option
@_family_option
@json_option
def policy_revert(name: str, policy: Path | None, family: str, as_json: bool) -> None:
    """Take back what ID of the log brought: a promoted edit, byte by byte, or a patch."""
    if not name.strip():
        raise InputError("revert needs an ID", hint="abstrag policy log shows them")
    store = PolicyStore.open(policy, family)
    if any(entry.payload["id"] == name for entry in store.changes()):
        entry = store.revert(name)
        told = f"{entry.payload['program']} is again what it was before {name}"
    else:
        entry = PatchLog(store).revert(name)
        told = f"taken back: {_patch_words(entry.payload['patch'])}"
    if as_json:
        print_json(entry)
    else:
        _print(console(), _plain(told))


@policy_command.command("check")
@policy_option
@_family_option
@store_option
@click.option(
    "--replay",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Search the episodes of this file again; exits with 25 when one is worse than without"
    " patches.",
)
@json_option
def policy_check(
    policy: Path | None, family: str, store_path: Target | None, replay: Path | None, as_json: bool
) -> None:
    """Check files, log, backups and conflicts; exits with 24 when something is wrong."""
    folder = policy_root(policy)
    faults = check(folder)
    report = _replayed(replay, folder, family, store_path) if replay and not faults else None
    if as_json:
        told = {} if report is None else {"replay": report}
        print_json({"sound": not faults, "faults": faults, **told})
    else:
        _print_check(folder, faults, report)
    if faults:
        raise PolicyError(
            f"{str(folder)!r} has {len(faults)} faults, first {faults[0].where!r}"
            if len(faults) > 1
            else f"{str(folder)!r} has a fault in {faults[0].where!r}",
            hint="a conflict is settled by writing the line in by hand or by deleting conflict.json"
            if any(fault.what.startswith("conflict") for fault in faults)
            else None,
        )
    if report is not None and report.regressions:
        first = report.regressions[0]
        raise Regression(
            f"{len(report.regressions)} of {len(report.cases)} episodes are worse with the patches"
            f" in force, first {first.query!r}",
            hint="abstrag policy diff shows the patches, abstrag policy revert takes one back",
        )


@policy_command.command("promote")
@policy_option
@_family_option
@store_option
@llm_options
@json_option
def policy_promote(
    policy: Path | None,
    family: str,
    store_path: Target | None,
    models_options: LlmOptions,
    as_json: bool,
) -> None:
    """Promote lessons and prompt edits that have their votes, if no solved query loses by it.

    Lessons are replayed as documents are searched. An edit of a program has to be replayed by a
    model, so that needs --llm.
    """
    from abstrag.workspace.lessons import Promoter

    store = PolicyStore.open(policy, family)
    waiting = store.eligible()
    if not models_options.dry_run:
        for entry in promote_lessons(store, store_path):
            if not as_json:
                _print_entry(console(), entry)
    if models_options.dry_run or not waiting:
        told = f"{len(waiting)} edits have their votes" if waiting else "no edit has its votes yet"
        if as_json:
            print_json({"eligible": waiting, "done": []})
        else:
            console().print(f"{told}; {store.k} distinct cases have to ask for one")
        return
    models = models_options.connect()
    if models is None:
        raise NeedsModel(
            "solved queries are replayed under the changed program, which takes a language model",
            hint="--llm MODEL, with --base-url URL for a local one",
        )
    with models, _workspace(store_path, store.root, family, models) as workspace:
        done = Promoter.of(workspace).promote()
        ledger = models.ledger()
    if as_json:
        print_json({"eligible": waiting, "done": done})
    else:
        for entry in done:
            _print_entry(console(), entry)
    print_ledger(ledger)


def _replayed(path: Path, folder: Path, family: str, store_path: Target | None) -> ReplayReport:
    from abstrag.workspace.lessons import replay_file

    with _workspace(store_path, folder, family) as workspace:
        return replay_file(path, workspace)


def _print_check(
    folder: Path, faults: tuple[PolicyFault, ...], report: ReplayReport | None
) -> None:
    out = console()
    for fault in faults:
        _print(out, f"[red]{_plain(fault.where)}[/]  {_plain(fault.what)}")
    if not faults:
        told = counted(len(families(folder)), "family", "families")
        out.print(f"{len(PROGRAMS)} programs, {told}: files, log and backups are sound")
    if report is not None:
        for case in report.regressions:
            _print(out, f"[red]worse[/]  {_plain(case.target)}: {_plain(case.query)}")
        worse = len(report.regressions)
        out.print(f"{len(report.cases)} episodes replayed, {worse} worse than without patches")


def _print_entry(out: Console, entry: AuditEntry) -> None:
    sign = "[green]✓[/]" if entry.accepted else "[red]✗[/]"
    payload = entry.payload
    named = f" [bold]{payload['id']}[/]" if payload.get("id") and entry.accepted else ""
    about = " ".join(str(payload[key]) for key in ("action", "program", "op") if key in payload)
    head = f"[cyan]{entry.kind}[/]{named} {_plain(entry.family)} {_plain(about)}"
    _print(out, f"{sign} {entry.when} {head}")
    if entry.kind is not EntryKind.PATCH:
        said = str(payload.get("text", ""))
    elif payload.get("patch"):
        said = _patch_words(payload["patch"])
    else:
        said = str(payload.get("said") or payload.get("query", ""))
    if said and "name" in payload:
        said = f"{payload['name']}: {said}"
    if said:
        _print(out, f"    {_plain(said)}")
    case = f"case {entry.case}: " if entry.case else ""
    _print(out, f"    [dim]{_plain(case + entry.reason)}[/]")


def _print(out: Console, text: str) -> None:
    out.print(text, soft_wrap=True)  # a rule stays one line, for those who search for it


def _plain(text: str) -> str:
    """Return text from an untrusted source with everything removed that a terminal acts on."""
    return escape(
        "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    )


def _patch_words(patch: Mapping[str, Any]) -> str:
    """Say what a patch changes, without the document that it is about."""
    delta = {key: value for key, value in (patch["delta"] or {}).items() if value is not None}
    if not delta:
        return f"{patch['stage']}: a prompt edit"
    kind = delta.pop("kind").replace("_", " ")
    ends = [str(delta.pop(key)) for key in ("source", "target") if key in delta]
    rest = [f"{key} {_value(value)}" for key, value in delta.items()]
    return f"{patch['stage']}: {kind} " + ", ".join([" → ".join(ends), *rest] if ends else rest)


def _value(value: Any) -> str:
    return f"{value['start']} to {value['end']}" if isinstance(value, Mapping) else str(value)
