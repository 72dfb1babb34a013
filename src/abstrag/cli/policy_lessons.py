"""What documents have taught their genre, as `abstrag policy blame lessons` shows it."""

from __future__ import annotations

from rich.markup import escape

from abstrag.cli.output import console, print_json
from abstrag.cli.steps import step_words
from abstrag.model.record import to_data
from abstrag.policy.audit import AuditEntry
from abstrag.policy.store import PolicyStore
from abstrag.refine.ledger import Ledger
from abstrag.stores.open import Target


def blame_lessons(store: PolicyStore, *, as_json: bool) -> None:
    """Say of every lesson, and of every candidate, which documents voted for it."""
    lessons = Ledger(store).lessons()
    if as_json:
        print_json([{"id": one.id, **to_data(one)} for one in lessons])
        return
    out = console()
    for one in lessons:
        state = f"[green]promoted {one.when}[/]" if one.when else "[dim]candidate[/]"
        said = escape(f"{one.genre}: {step_words(one.step)}")
        out.print(f"[bold]{one.id}[/] {said}  {state}", soft_wrap=True)
        for vote in one.votes:
            about = escape(f"{vote.name}: {vote.query} ({vote.patch})")
            out.print(f"    [dim]{about}[/]", soft_wrap=True)
    if not lessons:
        out.print("no document has asked for a lesson yet")


def promote_lessons(store: PolicyStore, library: Target | None) -> tuple[AuditEntry, ...]:
    """Replay the lessons that have their votes, over the documents of a store."""
    if not any(one.due for one in Ledger(store).lessons()):
        return ()
    # a replay needs the whole engine; the other commands do without
    from abstrag.workspace.lessons import learn
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    config = WorkspaceConfig(library, policy=store.root, family=store.family)
    with Workspace(config) as workspace:
        return learn(workspace)
