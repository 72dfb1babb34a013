"""What documents have taught their genre, as `abstrag policy blame lessons` shows it."""

from __future__ import annotations

from rich.markup import escape

from abstrag.cli.output import console, print_json
from abstrag.cli.steps import step_words
from abstrag.model.record import to_data
from abstrag.policy.audit import AuditEntry
from abstrag.policy.store import PolicyStore
from abstrag.refine.ledger import PatchLedger
from abstrag.refine.precedents import supporters
from abstrag.stores.open import Target


def blame_lessons(store: PolicyStore, *, as_json: bool) -> None:
    """Say of every lesson, and of every candidate, which documents voted for it."""
    lessons, shown = PatchLedger(store).lessons(), PatchLedger(store).precedents()
    if as_json:
        print_json([{"id": one.id, **to_data(one)} for one in lessons + shown])
        return
    out = console()
    for one in lessons:
        state = f"[green]promoted {one.when}[/]" if one.when else "[dim]candidate[/]"
        said = escape(f"{one.genre}: {step_words(one.step)}")
        out.print(f"[bold]{one.id}[/] {said}  {state}", soft_wrap=True)
        for vote in one.votes:
            about = escape(f"{vote.name}: {vote.query} ({vote.patch})")
            out.print(f"    [dim]{about}[/]", soft_wrap=True)
    for taught in shown:
        state = f"[green]promoted {taught.when}[/]" if taught.when else "[dim]candidate[/]"
        state = "[red]refused[/]" if taught.refused else state
        said = f"{taught.genre}: where the answer to “{taught.precedent.question}” stands"
        out.print(f"[bold]{taught.id}[/] {escape(said)}  {state}", soft_wrap=True)
        names = ", ".join(taught.precedent.segments)
        out.print(f"    [dim]{escape(f'{taught.name}: {names}')}[/]", soft_wrap=True)
        for vote in supporters(taught, shown) if taught.when else ():
            if vote.patch != taught.id:
                about = escape(f"{vote.name}: {vote.query} ({vote.patch})")
                out.print(f"    [dim]{about}[/]", soft_wrap=True)
    if not (lessons or shown):
        out.print("no document has asked for a lesson yet")


def promote_lessons(store: PolicyStore, library: Target | None) -> tuple[AuditEntry, ...]:
    """Replay the lessons that have their votes, over the documents of a store."""
    ledger = PatchLedger(store)
    open_ones = any(not (one.when or one.refused) for one in ledger.precedents())
    if not (open_ones or any(one.due for one in ledger.lessons())):
        return ()
    # a replay needs the whole engine; the other commands do without
    from abstrag.workspace.lessons import learn
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    config = WorkspaceConfig(library, policy=store.root, family=store.family)
    with Workspace(config) as workspace:
        return learn(workspace)
