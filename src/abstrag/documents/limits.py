"""What is said when a document is over one of the limits that `config` names."""

from __future__ import annotations

from abstrag.errors import FileTooLarge


class OverLimit(FileTooLarge):
    """A document is larger in some respect than we read; it names the limit.

    It is raised where the count is kept and the file's name is not known; `within` adds the name.
    """

    def __init__(self, what: str, limit: str, *, hint: str) -> None:
        super().__init__(f"{what} (limit {limit})", hint=hint)
        self._what = what
        self._limit = limit

    def within(self, name: str) -> FileTooLarge:
        """Return the error that users know, with the name of the file in front."""
        said = f"{name!r} cannot be read: {self._what} (limit {self._limit})"
        return FileTooLarge(said, hint=self.hint)
