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

    def within(self, name: str) -> OverLimit:
        """Return the same error with the name of the file in front."""
        return OverLimit(
            f"{name!r} cannot be read: {self._what}", self._limit, hint=self.hint or ""
        )
