"""The library that the last release of schema version 2 left behind; tests/data says how."""

import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).parents[2] / "data" / "library_of_schema_2.tar.gz"


@dataclass(frozen=True, slots=True)
class OldLibrary:
    """Its folder, unpacked, and what the release itself read out of it."""

    folder: Path
    expected: dict[str, Any]

    @property
    def store(self) -> Path:
        """The store, as it was; opening it makes a current one of it."""
        return self.folder / "store.db"

    @property
    def policy(self) -> Path:
        """The policy folder."""
        return self.folder / "policy"


def unpack_library(folder: Path) -> OldLibrary:
    """Unpack it into a folder."""
    with tarfile.open(ARCHIVE) as archive:
        if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)
    return OldLibrary(folder, json.loads((folder / "expected.json").read_text("utf-8")))
