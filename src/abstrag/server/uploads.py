"""Files that clients sent, kept by what is in them.

The name a client gives decides what the file is called in its folder, after everything that could
mean something to a file system is gone from it, and it decides nothing else: the folder is the
hash of the content.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from abstrag.errors import EmptyDocument
from abstrag.whole_file import sync_folder

_LONGEST: Final = 80  # characters of a name that are kept
_HARMLESS: Final = re.compile(r"[^\w.+() -]+")
_PARTIAL: Final = ".part"
_TRIES: Final = ".tries"


class Uploads:
    """A folder of uploaded files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def keep(self, name: str, pieces: AsyncIterator[bytes]) -> tuple[Path, bool]:
        """Write a file as its pieces come; return where it is kept, and whether it is new there.

        Whatever ends the pieces early leaves nothing behind. A content that is there already
        keeps the name it came with first.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = sha256()
        file = NamedTemporaryFile(dir=self.folder, suffix=_PARTIAL, delete=False)  # noqa: SIM115
        partial = Path(file.name)
        try:
            with file:
                async for piece in pieces:
                    digest.update(piece)
                    file.write(piece)
                if not file.tell():
                    raise EmptyDocument(f"{name!r} is empty", hint="check that the file was saved")
                file.flush()
                os.fsync(file.fileno())
            return self._placed(partial, digest.hexdigest(), safe_name(name))
        finally:
            partial.unlink(missing_ok=True)  # closed by now: Windows removes no open file

    def _placed(self, partial: Path, digest: str, name: str) -> tuple[Path, bool]:
        home = self.folder / digest
        home.mkdir(exist_ok=True)
        for known in sorted(home.iterdir()):
            return known, False
        kept = partial.rename(home / name)
        for folder in (home, self.folder):  # whoever is told that a file is taken can rely on it
            sync_folder(folder)
        return kept, True

    def holds(self, path: Path) -> bool:
        """True when a path is one of the files kept here."""
        return path.parent.parent == self.folder.resolve()

    def discard(self, path: Path) -> None:
        """Delete a file that is kept here; any other is left alone."""
        if self.holds(path.resolve()):
            shutil.rmtree(path.resolve().parent, ignore_errors=True)
            self.ended(path)

    def begun(self, path: Path) -> None:
        """Note that work on a file begins; should the server die of it, the note stays."""
        if self.holds(path.resolve()):
            self._note(path).write_text(str(self.tries(path) + 1))

    def ended(self, path: Path) -> None:
        """Note that work on a file is over, well or badly."""
        if self.holds(path.resolve()):
            self._note(path).unlink(missing_ok=True)

    def tries(self, path: Path) -> int:
        """Return how often work on a file began and nobody heard of its end."""
        try:
            return int(self._note(path).read_text())
        except (OSError, ValueError):
            return 0

    def _note(self, path: Path) -> Path:
        return self.folder / f"{path.resolve().parent.name}{_TRIES}"

    def left_over(self) -> Iterator[Path]:
        """Go through the files kept here, after deleting what an interrupted upload left.

        Those whose work never ended come last, so that they hold up nobody else.
        """
        if not self.folder.is_dir():
            return
        for partial in self.folder.glob(f"*{_PARTIAL}"):
            partial.unlink(missing_ok=True)
        found = sorted(p.resolve() for p in self.folder.glob("*/*") if p.is_file())
        yield from sorted(found, key=self.tries)


def safe_name(name: str) -> str:
    """Return a name for a file that means nothing to any file system, with its ending."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    plain = _HARMLESS.sub("_", last).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if not dot:
        stem, ending = plain, ""
    ending = ending[:10]
    stem = stem[: _LONGEST - len(ending)].strip(" .") or "document"
    return f"{stem}.{ending}" if ending else stem
