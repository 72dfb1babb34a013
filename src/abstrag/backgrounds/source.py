"""A source: one file, how it is read, and how far what it says is to be believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abstrag.backgrounds.delimited import read_delimited
from abstrag.backgrounds.fact import Fact
from abstrag.backgrounds.file import read_file, rest_of
from abstrag.backgrounds.rdf import read_rdf
from abstrag.backgrounds.umls import read_names, read_relations
from abstrag.backgrounds.wikidata import read_wikidata
from abstrag.config import TAU_MAX
from abstrag.errors import BackgroundError
from abstrag.model.background import EMPTY, Background

DISTANCE: Final = 0.10  # δ of one step by an imported source; ours
_TABLES: Final = frozenset({".csv", ".tsv", ".tab"})
_RDF: Final = frozenset({".ttl", ".nt", ".rdf", ".owl", ".xml", ".trig", ".nq"})
_DUMPS: Final = frozenset({".json", ".jsonl", ".ndjson"})
_PACKED: Final = frozenset({".gz", ".bz2"})
_KINDS: Final = ".csv, .tsv, .toml, .ttl, .nt, .rdf, .json, MRCONSO.RRF, MRREL.RRF; .gz and .bz2"
_FILE: Final = ".toml"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that feeds the Background.

    `distance` is how far from certain one step by this source is, on top of the family's weight.
    None says that the user states what is in it: then it is a premise and costs nothing.
    """

    path: Path
    distance: float | None
    language: str = "en"

    @classmethod
    def of(
        cls, path: str | Path, distance: float | str | None = None, *, language: str = "en"
    ) -> Source:
        """Take a file; "stated" makes it a premise, as what users write themselves is anyway."""
        path = Path(path)
        suffix = _suffix(path)
        if suffix not in _TABLES | _RDF | _DUMPS | {_FILE, ".rrf"}:
            raise BackgroundError(
                f"{str(path)!r} is in no format that feeds a Background", hint=f"read are {_KINDS}"
            )
        if distance == "stated" or (distance is None and suffix in _TABLES | {_FILE}):
            return cls(path, None, language)
        return cls(path, DISTANCE if distance is None else _number(distance), language)

    def facts(self) -> Iterator[Fact]:
        """Go through what the file says, one line at a time."""
        suffix = _suffix(self.path)
        if suffix in _TABLES:
            return read_delimited(self.path, suffix)
        if suffix in _RDF:
            return read_rdf(self.path, suffix, self.language)
        if suffix in _DUMPS:
            return read_wikidata(self.path, self.language)
        if suffix == _FILE:
            return read_file(self.path)
        stem = self.path.name.partition(".")[0].upper()
        if stem.startswith("MRCONSO"):
            return read_names(self.path, self.language)
        if stem.startswith("MRREL"):
            return read_relations(self.path)
        raise BackgroundError(
            f"{str(self.path)!r} is neither MRCONSO nor MRREL", hint="only these two are read"
        )

    def rest(self) -> Background:
        """Return what the file says besides names and classes; only a Background file does."""
        return rest_of(self.path) if _suffix(self.path) == _FILE else EMPTY


def must_be_compiled(path: str | Path) -> bool:
    """True when a file's name says that it is a source, and no Background file by itself."""
    return _suffix(Path(path)) in _TABLES | _RDF | {".rrf"}


def _suffix(path: Path) -> str:
    """Return the ending that tells the format, below the one of a packed file."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _number(distance: float | str) -> float:
    try:
        value = float(distance)
    except ValueError:
        value = -1.0
    if not 0 <= value <= TAU_MAX:
        raise BackgroundError(
            f"a distance is {distance!r}", hint=f"write stated, or a number from 0 to {TAU_MAX:g}"
        )
    return value
