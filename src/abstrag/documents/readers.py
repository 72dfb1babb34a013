"""Readers that other packages bring: one for each suffix, found by their entry points.

A package that reads `.rst` files says in its `pyproject.toml`:

    [project.entry-points."abstrag.documents"]
    ".rst" = "my_package.reader:read"

where `read` is a `DocumentReader`. It goes before a reader of ours.
`AbstRAG(readers={".rst": read})` takes one without a package.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath
from typing import Any, Final, Protocol

from abstrag.errors import AbstragError, DocumentError
from abstrag.model.document import Document

GROUP: Final = "abstrag.documents"


class DocumentReader(Protocol):
    """Turns the bytes of a file into a document.

    The blocks' spans must be right: `document.quote(block.span)` is what stands there. What goes
    wrong may be raised as any exception; it is told as an error about the file.
    """

    def __call__(self, data: bytes, name: str, /) -> Document:
        """Read a file that is called `name`."""
        ...


@cache
def own_readers() -> dict[str, EntryPoint]:
    """Return the installed readers by suffix, looked up once; nothing is imported for it."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.value):
        suffix = f".{entry.name.strip().lstrip('.').casefold()}"
        other = found.setdefault(suffix, entry)
        if other.value != entry.value:
            raise DocumentError(
                f"two packages read {suffix!r} files: {other.value!r} and {entry.value!r}",
                hint="uninstall one of them",
            )
    return found


def read_with_own(data: bytes, name: str) -> Document | None:
    """Read a file with the reader that is installed for its suffix; None when there is none."""
    entry = own_readers().get(PurePath(name).suffix.casefold())
    return None if entry is None else checked_read(entry.load, entry.value, data, name)


def checked_read(load: Callable[[], DocumentReader], who: str, data: bytes, name: str) -> Document:
    """Read a file with what is loaded, and see that it made a sound document."""
    return _checked(_call(load, who, data, name), who, name)


def _call(load: Callable[[], DocumentReader], who: str, data: bytes, name: str) -> Any:
    """Call a reader; whatever goes wrong in it is told as an error about the file."""
    try:
        return load()(data, name)
    except AbstragError:
        raise
    except MemoryError:  # whoever limits our memory wants to know
        raise
    except Exception as error:
        raise _failed(who, name, f"{type(error).__name__}: {error}") from error


def _checked(made: Any, who: str, name: str) -> Document:
    """Return what a reader made, if it is a document whose spans are right."""
    from abstrag.documents.json_form import problem_of  # loaded when there is something to check

    if not isinstance(made, Document):
        raise _failed(who, name, f"it returned {type(made).__name__}, not a Document")
    if not any(block.text for block in made.blocks):
        raise _failed(who, name, "it found no text")
    for number, block in enumerate(made.blocks):
        problem = problem_of(made, block, strict=False)
        if problem is not None:
            raise _failed(who, name, f"block {number} {problem}")
    return made


def _failed(who: str, name: str, why: str) -> DocumentError:
    return DocumentError(
        f"{name!r} cannot be read by {who!r}: {why}",
        hint="tell those who made that reader, or uninstall it",
    )
