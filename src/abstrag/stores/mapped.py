"""Files beside a store that are mapped into memory: the vectors of one document each.

    library.db
    library.db.mapped/
        3f/3fa9…/NAME      3fa9… is the content of the document

What is in them can be made again from the document, so a file that cannot be written is not missed
and one that is not there is written anew. They go when the content goes. A server keeps the same as
layers of the content.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import NamedTemporaryFile
from typing import Final, Protocol

from abstrag.errors import StoreReadOnly

SUFFIX: Final = ".mapped"
VERSIONS: Final = 4  # files kept per content
FILES: Final = "files"  # the layer that they are on a server


class KeptFiles(Protocol):
    """What is kept of a document in the form in which it is searched, by content and name."""

    @property
    def folder(self) -> Path | None:
        """The folder they lie in; None where they are no files."""
        ...

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file, or None."""
        ...

    def put(
        self,
        content_hash: str,
        name: str,
        parts: Iterable[bytes | memoryview],
        *,
        versions: int = VERSIONS,
    ) -> None:
        """Keep a file, where there is room, and no more than some versions of a content."""
        ...

    def names(self, content_hash: str) -> list[str]:
        """Return the names of the files of a content, the oldest first."""
        ...

    def forget(self, content_hash: str) -> None:
        """Drop the files of a content."""
        ...


class LayerStore(Protocol):
    """As much of a store as keeps layers."""

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what is kept under the same three keys, or None."""
        ...

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep something of a content."""
        ...

    def layers(self, content_hash: str) -> tuple[tuple[str, str, bytes], ...]:
        """Return the layers of a content as (layer, fingerprint, data), the oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class FilesOfLayers:
    """Files that a server keeps as layers: they come and go with a content as any other does."""

    store: LayerStore

    @property
    def folder(self) -> None:
        """None: they lie in the database."""

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file, or None."""
        data = self.store.get_layer(content_hash, FILES, name)
        return None if data is None else memoryview(data)

    def put(
        self,
        content_hash: str,
        name: str,
        parts: Iterable[bytes | memoryview],
        *,
        versions: int = VERSIONS,
    ) -> None:
        """Keep a file; as many of a content stay as of any layer."""
        del versions
        with suppress(StoreReadOnly):
            self.store.put_layer(content_hash, FILES, name, b"".join(parts))

    def names(self, content_hash: str) -> list[str]:
        """Return the names of the files of a content, the oldest first."""
        return [name for layer, name, _ in self.store.layers(content_hash) if layer == FILES]

    def forget(self, content_hash: str) -> None:
        """Leave that to the store, which drops all layers of a content together."""


@dataclass(frozen=True, slots=True)
class MappedFiles:
    """The mapped files of one store, by content of a document and name."""

    folder: Path

    @classmethod
    def beside(cls, path: Path) -> MappedFiles | None:
        """Return those of an embedded store; None for one in memory."""
        if str(path) == ":memory:":
            return None
        return cls(path.with_name(f"{path.name}{SUFFIX}"))

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file without reading them, or None."""
        try:
            with self._path(content_hash, name).open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # not there, not ours to read, or empty
            return None

    def put(
        self,
        content_hash: str,
        name: str,
        parts: Iterable[bytes | memoryview],
        *,
        versions: int = VERSIONS,
    ) -> None:
        """Keep a file, where the disk takes it; nobody ever sees half of it.

        The oldest files of the same content go, so that no more than `versions` are left.
        """
        path = self._path(content_hash, name)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, prefix=".draft-", delete=False) as file:
                draft = Path(file.name)
                try:
                    for part in parts:
                        file.write(part)
                except BaseException:
                    draft.unlink(missing_ok=True)
                    raise
            draft.replace(path)
            self._make_way(path.parent, versions)

    def names(self, content_hash: str) -> list[str]:
        """Return the names of the files of a content, the oldest first."""
        return [path.name for path in _by_age(self._path(content_hash, "x").parent)]

    def forget(self, content_hash: str) -> None:
        """Drop the files of a content."""
        rmtree(self._path(content_hash, "x").parent, ignore_errors=True)

    def _make_way(self, folder: Path, versions: int) -> None:
        for path in _by_age(folder)[:-versions]:
            path.unlink(missing_ok=True)

    def _path(self, content_hash: str, name: str) -> Path:
        return self.folder / content_hash[:2] / content_hash / name


def _by_age(folder: Path) -> list[Path]:
    try:
        files = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
        return [Path(e.path) for e in sorted(files, key=lambda e: (e.stat().st_mtime_ns, e.name))]
    except OSError:
        return []
