"""Where a document is named, a shell completes files and the ids of the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from abstrag.errors import AbstragError
from abstrag.stores.postgres.address import is_address


class StoreTarget(click.Path):
    """A path, or an address left as the text it is: a `Path` would drop one of its slashes."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a `Path`, or the address that it is not."""
        return value if is_address(value) else super().convert(value, param, ctx)


_MOST: Final = 200  # completions that are offered


class DocumentTarget(click.types.StringParamType):
    """A text, left as it is; only completion knows that it names a document."""

    name = "text"

    def __init__(self, *, files: bool = True) -> None:
        """Say whether files are completed too."""
        self.files = files

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer the ids that begin so, and files; the shell's own completion where no id fits."""
        found = [
            CompletionItem(name, help=title)
            for name, title in _documents(ctx)
            if name.startswith(incomplete)
        ][:_MOST]
        if not self.files:
            return found
        # a shell offers its own files only where it is offered nothing else
        if not found:
            return [CompletionItem(incomplete, type="file")]
        return [*found, *map(CompletionItem, _files(incomplete))]


def _documents(ctx: click.Context) -> list[tuple[str, str]]:
    """Return ids and titles of the store that the command line names so far; never make one."""
    from abstrag.stores.open import default_store, open_store

    target = ctx.params.get("store_path") or default_store()
    try:
        with open_store(target, create=False) as store:
            return [(info.id, info.title) for info in store.documents()]
    except AbstragError:  # completion has no place to say what is wrong
        return []


def _files(incomplete: str) -> list[str]:
    """Return the files and folders whose path begins so, spelled as the user began."""
    folder, _, start = incomplete.rpartition("/")
    begin = f"{folder}/" if "/" in incomplete else ""
    try:
        inside = sorted(Path(begin or ".").expanduser().iterdir())
    except OSError:
        return []
    names = [f"{each.name}/" if each.is_dir() else each.name for each in inside]
    hidden = start.startswith(".")
    fit = [n for n in names if n.startswith(start) and (hidden or not n.startswith("."))]
    return [f"{begin}{name}" for name in fit[:_MOST]]
