"""Files that cost more than a document may: set aside with the reason, and not tried again.

An entry belongs to the content of a file, so that it holds under any name and ends when the file
changes. Each is a small file of its own beside the store, written whole or not at all: limits are
those of a machine, and so is what they caught.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from abstrag.errors import InputError, TooCostly
from abstrag.model.record import from_json, record, to_json
from abstrag.whole_file import write_whole

_RETRY = "abstrag index --retry FILE tries it again; docs/limits.md tells how to raise the limits"


@record
class SetAside:
    """A file that is not tried again: what it holds, where it was, why and since when."""

    content: str  # the hash of what the document is read from
    path: str
    reason: str
    since: str  # UTC, ISO 8601, whole seconds

    def error(self) -> TooCostly:
        """Return what is said of the file from now on."""
        name = Path(self.path).name
        return TooCostly(f"{name!r} was set aside on {self.since[:10]}: {self.reason}", hint=_RETRY)


class Quarantine:
    """Keeps what was set aside in a folder; without one, in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._in_memory: dict[str, SetAside] = {}

    def find(self, content: str) -> SetAside | None:
        """Return why a content is not tried; None when it may be."""
        if self._folder is None:
            return self._in_memory.get(content)
        try:
            return from_json(SetAside, self._path(self._folder, content).read_bytes())
        except (OSError, InputError):  # one that cannot be read holds nobody back
            return None

    def add(self, content: str, path: str, reason: str) -> SetAside:
        """Set a file aside."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = SetAside(content, path, reason, since)
        if self._folder is None:
            self._in_memory[content] = entry
            return entry
        write_whole(self._path(self._folder, content), to_json(entry, indent=1))
        return entry

    def release(self, content: str) -> None:
        """Let a content be tried again."""
        if self._folder is None:
            self._in_memory.pop(content, None)
        else:
            self._path(self._folder, content).unlink(missing_ok=True)

    def entries(self) -> tuple[SetAside, ...]:
        """Return everything that is set aside, by path."""
        if self._folder is None:
            found = list(self._in_memory.values())
        else:
            names = [path.stem for path in self._folder.glob("*.json")]
            found = [entry for name in names if (entry := self.find(name)) is not None]
        return tuple(sorted(found, key=lambda entry: (entry.path, entry.content)))

    @staticmethod
    def _path(folder: Path, content: str) -> Path:
        return folder / f"{content}.json"
