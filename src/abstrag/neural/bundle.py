"""A model as it ships: a folder whose manifest vouches for every file in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.record import from_json, record, to_json

MANIFEST: Final = "manifest.json"
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
_HINT: Final = "reinstall abstrag, or write the folder again with tools/export_minilm.py"


@record
class Manifest:
    """What a model is, where it came from, and the SHA-256 of its files."""

    name: str
    licence: str
    source_sha256: str  # of the published weights it was made from
    precision: str
    dimensions: int
    max_tokens: int
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder with a model, read file by file and never unchecked."""

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: Path) -> Bundle:
        """Read the manifest of a folder.

        Raises:
            ResourceMissing: The manifest is not there, or says something else than a manifest.
        """
        path = folder / MANIFEST
        try:
            return cls(folder, from_json(Manifest, _bytes(path)))
        except InputError as error:
            raise ResourceMissing(f"{str(path)!r} is damaged: {error}", hint=_HINT) from error

    @property
    def fingerprint(self) -> str:
        """A name that changes with any file, and with how the files are used."""
        digest = sha256(to_json(self.manifest).encode()).hexdigest()
        return f"{self.manifest.name}:{digest[:16]}"

    def read(self, name: str) -> bytes:
        """Return the bytes of a file, which are those the manifest means.

        Raises:
            ResourceMissing: The file is missing, damaged or not in the manifest.
        """
        path = self.folder / name
        if name not in self.manifest.files:
            raise ResourceMissing(f"the manifest does not know {str(path)!r}", hint=_HINT)
        data = _bytes(path)
        if sha256(data).hexdigest() != self.manifest.files[name]:
            raise ResourceMissing(f"{str(path)!r} is damaged: its checksum differs", hint=_HINT)
        return data


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResourceMissing(f"cannot read {str(path)!r}: {error.strerror}", hint=_HINT) from error
