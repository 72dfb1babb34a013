"""What documents have taught their genre, as `abstrag policy blame lessons` shows it."""

from __future__ import annotations

from rich.markup import escape

from abstrag.cli.output import console, print_json
from abstrag.cli.steps import step_words
from abstrag.model.record import to_data
from abstrag.policy.store import PolicyStore
from abstrag.refine.ledger import Ledger


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
