"""What is to be done about a file, and what became of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import ParamSpec, TypeVar

from abstrag.errors import AbstragError
from abstrag.model.record import record

Given = ParamSpec("Given")
Result = TypeVar("Result")


class IndexReason(StrEnum):
    """Why a file is indexed."""

    NEW = "new"  # the store has nothing of it
    CHANGED = "changed"  # it holds other bytes than the store has read
    AGAIN = "again"  # the same bytes, understood by another release, Background, setting or model


@record
class IndexOutcome:
    """What became of one path: indexed, unchanged, same, skipped or failed, and why.

    `same` is a file whose bytes the store has from another path: the document is that one.
    """

    path: str
    status: str
    document: str | None = None  # what the store has of it; of a file that failed, from before
    segments: int = 0
    terms: int = 0
    edges: int = 0
    error: str | None = None
    hint: str | None = None
    exit_code: int = 0
    without: dict[str, int] = field(default_factory=dict)  # segments that lack a model's answer
    replaces: str | None = None  # the document that the store had of the file until now
    why: IndexReason | None = None  # of a file that was indexed
    same_as: str | None = None  # the path that the same bytes were read from
    language: str = "en"  # of a file that was indexed; another one than English is not read


@record
class DueFile:
    """A file that is due: what its document will be called, and a hash of what it holds."""

    path: str  # as it was given
    place: str  # the same from any folder
    name: str
    content: str
    replaces: str | None = None  # what the store has of it so far
    why: IndexReason = IndexReason.NEW

    @property
    def source(self) -> str:
        """What the store knows the file by."""
        return str(Path(self.place).resolve())


@record
class Twin:
    """A file with the bytes of one that is due in the same run."""

    path: str  # as it was given
    place: str  # the same from any folder
    first: DueFile


def attempt(
    path: str, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result | IndexOutcome:
    """Return what work on a file gives, or its failure as an outcome.

    A file that nobody foresaw must not end a night's run either; its exit code is 1.
    """
    try:
        return work(*args, **kwargs)
    except AbstragError as error:
        return failed(path, error)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        why = f"an error nobody foresaw: {type(error).__name__}: {error} ({where})"
        return IndexOutcome(
            path, "failed", None, 0, 0, 0, why, "please report it, with the file", 1
        )


def failed(path: str, error: AbstragError) -> IndexOutcome:
    """Return the outcome of a file that an error of ours is about."""
    return IndexOutcome(path, "failed", None, 0, 0, 0, str(error), error.hint, error.exit_code)
