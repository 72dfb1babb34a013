"""Reading what ships with the lexicon: inventories, which are TOML, and an archive of arrays."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from struct import Struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from abstrag.errors import ResourceMissing
from abstrag.files import read_data_file

EVENTS: Final = "events.toml"
ROLES: Final = "roles.toml"
IDIOMS: Final = "idioms.toml"
TELLINGS: Final = "tellings.toml"
ACTS: Final = "acts.toml"
WORDS: Final = "words.toml"
_LIST: Final = re.compile(r'^"([^"]+)" = \[([^]]*)\]', re.MULTILINE)
_ENTRY: Final = re.compile(r'"([^"]+)"')


def listed_words(name: str) -> frozenset[str]:
    """Return one of the lists of words in `words.toml`."""
    return frozenset(_words()[name].split())


def table(name: str) -> dict[str, Any]:
    """Return one of the tables in `words.toml`."""
    found: dict[str, Any] = _words()[name]
    return found


@cache
def _words() -> dict[str, Any]:
    return read_inventory(WORDS)


def read_inventory(name: str) -> dict[str, Any]:
    """Read one TOML inventory of this package: a table of tables or lists, in the file's order."""
    try:
        return read_data_file("abstrag.lexicon", name)
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error


def read_lists(name: str) -> list[tuple[str, str]]:
    """Read a TOML inventory of nothing but lists of strings: their keys, and what stands in them.

    A long one is read this way in a tenth of the time; `entries` takes the few lists apart that are
    needed.
    """
    try:
        return _LIST.findall(_text(name))
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error


def entries(inside: str) -> list[str]:
    """Return the strings of a list that was read with `read_lists`."""
    return _ENTRY.findall(inside)


def _unreadable(name: str, error: Exception) -> ResourceMissing:
    return ResourceMissing(
        f"the inventory {name!r} cannot be read: {error}", hint="install the package again"
    )


def inventories_checksum() -> str:
    """Name the inventories by what they hold."""
    texts = (_text(name) for name in (EVENTS, ROLES, IDIOMS, TELLINGS))
    return sha256("".join(texts).encode()).hexdigest()


def _text(name: str) -> str:
    return resources.files("abstrag.lexicon").joinpath(name).read_text("utf-8")


# A file of named arrays that can tell whether it is whole: magic, format, checksum, contents.
#
# After a fixed head (magic, format number, SHA-256 of the contents) comes one zlib stream. It
# holds the length of a table of contents, that table as JSON, and the arrays, each on an 8-byte
# boundary. The checksum covers the *uncompressed* contents, so it names the data whatever zlib
# packed them.

MAGIC: Final = b"ABSTRAG\x1a"
FORMAT: Final = 1
_HEAD: Final = Struct("<8sI32s")
_LENGTH: Final = Struct("<I")
_ALIGN: Final = 8
_HINT: Final = "reinstall abstrag, or write the file again with tools/compile_wordnet.py"


@dataclass(frozen=True, slots=True, eq=False)
class Archive:
    """What one file holds: notes about where it came from, and read-only arrays by name."""

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    checksum: str  # hexadecimal


def pack(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Turn arrays into the bytes of an archive; the same arrays always give the same contents."""
    data = bytearray()
    entries = []
    for name, array in arrays.items():
        data.extend(bytes(-len(data) % _ALIGN))
        entries.append([name, array.dtype.str, len(array), len(data)])
        data.extend(np.ascontiguousarray(array).tobytes())
    table = json.dumps({"about": about, "arrays": entries}, sort_keys=True).encode()
    table += b" " * (-(_LENGTH.size + len(table)) % _ALIGN)
    contents = _LENGTH.pack(len(table)) + table + bytes(data)
    return _HEAD.pack(MAGIC, FORMAT, sha256(contents).digest()) + zlib.compress(contents, 9)


def unpack(path: Path) -> Archive:
    """Read an archive.

    Raises:
        ResourceMissing: The file is not there, is no archive, is of another format or is damaged.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ResourceMissing(f"cannot read {str(path)!r}: {error.strerror}", hint=_HINT) from error
    if len(raw) < _HEAD.size or not raw.startswith(MAGIC):
        raise ResourceMissing(f"{str(path)!r} is no lexicon of ours", hint=_HINT)
    _, number, digest = _HEAD.unpack_from(raw)
    if number != FORMAT:
        raise ResourceMissing(
            f"{str(path)!r} has format {number}, and this program reads {FORMAT}", hint=_HINT
        )
    try:
        contents = zlib.decompress(memoryview(raw)[_HEAD.size :])
    except zlib.error as error:
        raise ResourceMissing(f"{str(path)!r} is damaged: {error}", hint=_HINT) from error
    if sha256(contents).digest() != digest:
        raise ResourceMissing(f"{str(path)!r} is damaged: its checksum differs", hint=_HINT)
    return _open(contents, digest.hex())


def _open(contents: bytes, checksum: str) -> Archive:
    (length,) = _LENGTH.unpack_from(contents)
    base = _LENGTH.size + length
    table = json.loads(contents[_LENGTH.size : base])
    arrays = {
        name: np.frombuffer(contents, dtype=dtype, count=count, offset=base + start)
        for name, dtype, count, start in table["arrays"]
    }
    return Archive(about=table["about"], arrays=arrays, checksum=checksum)
