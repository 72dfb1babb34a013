"""A source: one file, how it is read, and how far what it says is to be believed."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from xml.parsers import expat

from abstrag.backgrounds.fact import BackgroundName, ClassMembership, Fact, named
from abstrag.backgrounds.file import read_file, rest_of
from abstrag.backgrounds.lines import fault, lines, opened
from abstrag.backgrounds.umls import read_names, read_relations
from abstrag.backgrounds.wikidata import read_wikidata
from abstrag.config import OMEGA, TAU_MAX
from abstrag.errors import BackgroundError, ResourceMissing
from abstrag.model.background import EMPTY, Background

if TYPE_CHECKING:
    from pyoxigraph import Quad, RdfFormat


# CSV and TSV with a header: alias,name or thing,class or role,type; then cost and confidence.

_SHAPES: Final = (("alias", "name"), ("thing", "class"), ("role", "type"))
_OPTIONAL: Final = ("cost", "confidence")
_COLUMNS: Final = "alias,name or thing,class or role,type; then cost and confidence if you like"
_TABBED: Final = (".tsv", ".tab")


def read_delimited(path: Path, suffix: str) -> Iterator[Fact]:
    """Go through what a table says; the header tells what it is a table of."""
    rows = _rows(path, suffix)
    first = next(rows, None)
    if first is None:
        return
    table = _Table(path, *_header(path, *first))
    for line, row in rows:
        yield from table.facts(line, row)


@dataclass(frozen=True, slots=True)
class _Table:
    path: Path
    shape: tuple[str, str]
    columns: tuple[str, ...]

    def facts(self, line: int, row: Sequence[str]) -> Iterator[Fact]:
        if len(row) != len(self.columns):
            at = min(len(row), len(self.columns)) + 1
            raise fault(
                self.path,
                line,
                at,
                f"{len(row)} fields where the header has {len(self.columns)}",
                hint="put a field that holds the separator into quotation marks",
            )
        cells = dict(zip(self.columns, (cell.strip() for cell in row), strict=True))
        for column in self.shape:
            if not cells[column]:
                raise self._fault(line, column, "is empty", "delete the line or fill it in")
        left, right = (cells[column] for column in self.shape)
        weight = OMEGA["expression" if self.shape[0] == "alias" else "concept"]
        cost, sure = self._cost(line, cells, weight), self._confidence(line, cells)
        if self.shape[0] == "alias":
            yield BackgroundName(named(right), right, preferred=True, line=line)
            yield BackgroundName(named(right), left, cost=cost, confidence=sure, line=line)
            return
        for name in (left, right):
            yield BackgroundName(named(name), name, preferred=True, line=line)
        role = self.shape[0] == "role"
        yield ClassMembership(named(left), named(right), role, cost, sure, line)

    def _cost(self, line: int, cells: dict[str, str], weight: float) -> float | None:
        value = self._number(line, cells, "cost")
        if value is None or value == 0 or weight <= value <= TAU_MAX:
            return value
        raise self._fault(
            line,
            "cost",
            f"is {cells['cost']}",
            f"0 states it; what is only suggested costs from {weight:g} to {TAU_MAX:g}",
        )

    def _confidence(self, line: int, cells: dict[str, str]) -> float:
        value = self._number(line, cells, "confidence")
        if value is None:
            return 1.0
        if not 0 < value <= 1:
            raise self._fault(
                line, "confidence", f"is {cells['confidence']}", "above 0 and at most 1"
            )
        return value

    def _number(self, line: int, cells: dict[str, str], column: str) -> float | None:
        if not cells.get(column):
            return None
        try:
            return float(cells[column])
        except ValueError:
            raise self._fault(
                line, column, f"is {cells[column]!r}", "write a number such as 0.5"
            ) from None

    def _fault(self, line: int, column: str, what: str, hint: str) -> Exception:
        at = self.columns.index(column) + 1
        return fault(self.path, line, at, f"{column} {what}", hint=hint)


def _header(path: Path, line: int, row: Sequence[str]) -> tuple[tuple[str, str], tuple[str, ...]]:
    columns = tuple(cell.strip().casefold() for cell in row)
    shape = next((s for s in _SHAPES if set(s) <= set(columns)), None)
    if shape is None:
        raise fault(path, line, 1, f"no header but {row!r}", hint=f"name the columns: {_COLUMNS}")
    for at, column in enumerate(columns, 1):
        if column not in (*shape, *_OPTIONAL) or column in columns[: at - 1]:
            what = f"{column!r} is no column here, or there twice"
            raise fault(path, line, at, what, hint=f"columns are {_COLUMNS}")
    return shape, columns


def _rows(path: Path, suffix: str) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows that hold something, each with the line it begins on."""
    texts = (text for _, text in lines(path))
    first = next(texts, None)
    if first is None:
        return
    tabs = suffix in _TABBED
    mark = "\t" if tabs else max(",;\t", key=first.count)

    def again() -> Iterator[str]:
        yield first
        yield from texts

    # tabs need no quotation marks, and names in such files hold stray ones
    reader = (
        csv.reader(again(), delimiter=mark, quoting=csv.QUOTE_NONE, strict=True)
        if tabs
        else csv.reader(again(), delimiter=mark, strict=True)
    )
    start = 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise fault(
                path,
                start,
                1,
                f"the fields cannot be told apart: {error}",
                hint="close every quotation mark, and double one inside a field",
            ) from error
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield start, row
        start = reader.line_num + 1


# SKOS and RDF, in Turtle, N-Triples, RDF/XML and what else pyoxigraph streams.

_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NAMES: Final = {
    f"{_SKOS}prefLabel": True,
    f"{_RDFS}label": True,
    f"{_SKOS}altLabel": False,
    f"{_SKOS}hiddenLabel": False,
}
_UP: Final = frozenset({f"{_SKOS}broader", f"{_SKOS}broadMatch", f"{_RDFS}subClassOf", _TYPE})
_DOWN: Final = frozenset({f"{_SKOS}narrower", f"{_SKOS}narrowMatch"})
_GRAMMAR: Final = (  # to be a skos:Concept or an owl:Class is no news about a thing
    _SKOS,
    _RDFS,
    "http://www.w3.org/2002/07/owl#",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
)
_BLOCK: Final = 64 * 1024
_SYNTAX_HINT: Final = "mend the line, or ask whoever made the file for a valid one"


def read_rdf(path: Path, suffix: str, language: str) -> Iterator[Fact]:
    """Go through labels in a language (or in none), and through what is broader than what."""
    with opened(path) as file:
        counted = _Counted(file)
        try:
            for quad in _quads(counted, suffix):
                yield from _facts(quad, language)
        except SyntaxError as error:
            line, column = error.lineno, error.offset
            if line is None:  # RDF/XML: the parser does not say where
                line, column = _broken_xml(path) or (counted.lines, 1)
            raise fault(path, line, column or 1, error.msg, hint=_SYNTAX_HINT) from error


class _Counted:
    """Hands a file on in blocks, and counts the lines that went by."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.lines = 1

    def read(self, size: int = _BLOCK) -> bytes:
        block = self._file.read(min(size, _BLOCK) if size > 0 else _BLOCK)
        self.lines += block.count(b"\n")
        return block


def _quads(file: Any, suffix: str) -> Iterator[Quad]:
    try:
        from pyoxigraph import parse
    except ImportError as error:
        raise ResourceMissing(
            "SKOS and RDF are read with pyoxigraph, which is not installed",
            hint="pip install 'abstrag[rdf]'",
        ) from error
    # relative addresses need some base; nobody sees it but licences
    return parse(file, format=_format(suffix), base_iri="file:///")


def _format(suffix: str) -> RdfFormat:
    from pyoxigraph import RdfFormat

    found = RdfFormat.from_extension({"owl": "rdf"}.get(suffix.lstrip("."), suffix.lstrip(".")))
    if found is None:
        raise BackgroundError(f"no RDF format is called {suffix!r}", hint="use .ttl, .nt or .rdf")
    return found


def _facts(quad: Quad, language: str) -> Iterator[Fact]:
    subject, predicate, value = _id(quad.subject), quad.predicate.value, quad.object
    if predicate in _NAMES:
        tag = getattr(value, "language", None)
        text = " ".join(getattr(value, "value", "").split())
        if text and (tag is None or tag == language or tag.startswith(f"{language}-")):
            yield BackgroundName(subject, text, preferred=_NAMES[predicate])
    elif predicate in _UP or predicate in _DOWN:
        other = _id(value)
        if other != subject and not other.startswith(_GRAMMAR):
            yield (
                ClassMembership(subject, other)
                if predicate in _UP
                else ClassMembership(other, subject)
            )


def _id(node: Any) -> str:
    text: str = node.value
    return text if type(node).__name__ == "NamedNode" else f"_:{text}"


def _broken_xml(path: Path) -> tuple[int, int] | None:
    """Return where a file stops being XML; None when it is XML, and wrong only as RDF."""
    parser = expat.ParserCreate()
    with opened(path) as file:
        try:
            while block := file.read(_BLOCK):
                parser.Parse(block)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            return error.lineno, error.offset + 1
    return None


DISTANCE: Final = 0.10  # δ of one step by an imported source; ours
_TABLES: Final = frozenset({".csv", ".tsv", ".tab"})
_RDF: Final = frozenset({".ttl", ".nt", ".rdf", ".owl", ".xml", ".trig", ".nq"})
_DUMPS: Final = frozenset({".json", ".jsonl", ".ndjson"})
_PACKED: Final = frozenset({".gz", ".bz2"})
_KINDS: Final = ".csv, .tsv, .toml, .ttl, .nt, .rdf, .json, MRCONSO.RRF, MRREL.RRF; .gz and .bz2"
_FILE: Final = ".toml"


@dataclass(frozen=True, slots=True)
class BackgroundSource:
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
    ) -> BackgroundSource:
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
