"""Filters: which documents of a collection a question is put to, by what is known of them."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Final

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.record import record
from abstrag.stores.protocol import DocumentInfo

_DATE: Final = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_GLOB: Final = frozenset("*?[")


@record
class Filters:
    """What a document must be to be searched; what is None does not matter.

    A date is a year, a month or a day, and both ends are included. A document whose date, or whose
    source, is not known fails a filter that asks for it.
    """

    since: str | None = None
    until: str | None = None
    source: str | None = None  # a folder, a file, or a pattern such as *.pdf
    genre: Genre | None = None
    folder: str | None = None  # where all of the collection comes from, by its path or its name
    title: str | None = None  # words of the title, in any order and case

    def __post_init__(self) -> None:
        for name, value in (("since", self.since), ("until", self.until)):
            if value is not None and not _DATE.fullmatch(value):
                raise InputError(
                    f"--{name} is {value!r}, which is no date", hint="2024, 2024-05 or 2024-05-31"
                )
        if self.since and self.until and not _reaches(self.until, self.since):
            raise InputError(
                f"no day is both since {self.since} and until {self.until}",
                hint="swap --since and --until",
            )
        if self.source is not None and not self.source.strip():
            raise InputError("--source is empty", hint="name a folder, a file or a pattern: *.pdf")
        if self.title is not None and not self.title.strip():
            raise InputError("--title is empty", hint="give words that the title holds")

    @property
    def any(self) -> bool:
        """Whether there is any filter at all."""
        return self != Filters()

    def refuses(self, document: DocumentInfo) -> str | None:
        """Say why a document is left out; None when it is not."""
        if self.since or self.until:
            asked = " ".join(
                f"{word} {day}"
                for word, day in (("since", self.since), ("until", self.until))
                if day
            )
            if document.date is None:
                return f"it has no date, and only documents {asked} are asked for"
            early = self.since and not _reaches(document.date, self.since)
            late = self.until and not _reaches(self.until, document.date)
            if early or late:
                return f"its date is {document.date}, and only documents {asked} are asked for"
        for wanted in (self.folder, self.source):
            if wanted is not None and not _comes_from(document.source_path, wanted):
                own = "no file" if document.source_path is None else repr(_called(document))
                return f"it comes from {own}, and only {wanted} is asked for"
        if self.title is not None:
            own = document.title.casefold()
            lacks = next((w for w in self.title.split() if w.casefold() not in own), None)
            if lacks is not None:
                return f"its title is {document.title!r}, which does not hold {lacks!r}"
        if self.genre is not None and document.genre is not self.genre:
            return f"its genre is {document.genre.value}, and only {self.genre.value} is asked for"
        return None


def _reaches(date: str, since: str) -> bool:
    """True when some day of a date, which may be a year or a month, is not before another."""
    size = min(len(date), len(since))
    return date[:size] >= since[:size]


def _called(document: DocumentInfo) -> str:
    """Name the file of a document and its folder, not where on a disk they lie."""
    return "/".join(PurePath(document.source_path or "").parts[-2:])


def _comes_from(path: str | None, source: str) -> bool:
    if path is None:
        return False
    if _GLOB & set(source):
        return fnmatchcase(path, source) or fnmatchcase(PurePath(path).name, source)
    if len(PurePath(source).parts) == 1 and source in PurePath(path).parts[1:]:
        return True  # the bare name of a folder or file, for whoever does not see the disk
    wanted = Path(source).expanduser().resolve()
    # a server's documents may come from another machine, where the path needs no resolving
    return any(PurePath(path).is_relative_to(each) for each in (wanted, PurePath(source)))
