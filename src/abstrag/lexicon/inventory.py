"""Reading the inventories that ship with the package as TOML files."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any, Final

from abstrag.data_file import read_data_file
from abstrag.errors import ResourceMissing
from abstrag.lexicon.wordnet import wordnet

EVENTS: Final = "events.toml"
ROLES: Final = "roles.toml"
IDIOMS: Final = "idioms.toml"
TELLINGS: Final = "tellings.toml"
WORDS: Final = "words.toml"


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
        raise ResourceMissing(
            f"the inventory {name!r} cannot be read: {error}", hint="install the package again"
        ) from error


@cache
def lexicon_version() -> str:
    """Name the lexicon, for fingerprints: WordNet and the inventories."""
    inventories = sha256(
        "".join(map(_text, (EVENTS, ROLES, IDIOMS, TELLINGS))).encode()
    ).hexdigest()
    return f"{wordnet()!r} inventories {inventories[:12]}"


def _text(name: str) -> str:
    return resources.files("abstrag.lexicon").joinpath(name).read_text("utf-8")
