"""A source: one file, how it is read, and how far what it says is to be believed."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from xml.parsers import expat

from abstrag.backgrounds.fact import (
    BackgroundName,
    ClassMembership,
    Fact,
    named,
    read_file,
    rest_of,
)
from abstrag.backgrounds.lines import fault, lines, opened
from abstrag.config import OMEGA, TAU_MAX
from abstrag.errors import BackgroundError, ResourceMissing
from abstrag.model.background import EMPTY, Background

if TYPE_CHECKING:
    from pyoxigraph import Quad, RdfFormat

_LANGUAGES: Final = {  # the codes of UMLS, by ISO 639-1
    "cs": "CZE", "da": "DAN", "de": "GER", "el": "GRE", "en": "ENG", "es": "SPA", "et": "EST",
    "fi": "FIN", "fr": "FRE", "hu": "HUN", "it": "ITA", "ja": "JPN", "ko": "KOR", "lv": "LAV",
    "nl": "DUT", "no": "NOR", "pl": "POL", "pt": "POR", "ru": "RUS", "sv": "SWE", "tr": "TUR",
    "uk": "UKR", "zh": "CHI",
}  # fmt: skip
_CONSO: Final = (
    "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF".split()
)
_REL: Final = (
    "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF".split()
)
_UMLS_UP: Final = frozenset({"PAR", "RB"})  # the second concept is the broader one
_UMLS_DOWN: Final = frozenset({"CHD", "RN"})
_HIDDEN: Final = frozenset("OEY")


def read_names(path: Path, language: str) -> Iterator[Fact]:
    """Go through MRCONSO: what concepts are called in a language; suppressed names are left out."""
    wanted = _LANGUAGES.get(language, language.upper())
    for line, row in _umls_rows(path, _CONSO):
        if row["LAT"] == wanted and row["SUPPRESS"] not in _HIDDEN:
            preferred = (row["TS"], row["STT"], row["ISPREF"]) == ("P", "PF", "Y")
            yield BackgroundName(_concept(row["CUI"]), row["STR"], preferred=preferred, line=line)


def read_relations(path: Path) -> Iterator[Fact]:
    """Go through MRREL: parents and broader concepts, but no parts of wholes.

    REL says what the second concept is to the first; RELA, where there is one, says it better.
    """
    for line, row in _umls_rows(path, _REL):
        if row["SUPPRESS"] in _HIDDEN or row["CUI1"] == row["CUI2"]:
            continue
        first, second = _concept(row["CUI1"]), _concept(row["CUI2"])
        if row["RELA"] == "inverse_isa" or (row["REL"] in _UMLS_UP and not row["RELA"]):
            yield ClassMembership(first, second, line=line)
        elif row["RELA"] == "isa" or (row["REL"] in _UMLS_DOWN and not row["RELA"]):
            yield ClassMembership(second, first, line=line)


def _concept(cui: str) -> str:
    return f"umls:{cui}"


def _umls_rows(path: Path, columns: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    needed = ("CUI", "STR") if columns is _CONSO else ("CUI1", "CUI2", "REL")
    for line, text in lines(path):
        bare = text.rstrip("\r\n")
        if not bare:
            continue
        fields = bare.split("|")
        if len(fields) != len(columns) + 1 or fields[-1]:
            at = min(len(fields), len(columns) + 1)
            what = f"{len(fields) - 1} fields where {len(columns)} belong, each closed by |"
            raise fault(path, line, at, what, hint="is the file whole, and of the RRF release?")
        row = dict(zip(columns, fields, strict=False))
        for column in needed:
            if not row[column].strip():
                at = columns.index(column) + 1
                raise fault(path, line, at, f"{column} is empty", hint="is the file whole?")
        yield line, row


_CLASSES: Final = ("P31", "P279")  # instance of, subclass of
_ANY_LANGUAGE: Final = "mul"
_HINT: Final = "one entity a line, as in the JSON dumps of Wikidata"


def read_wikidata(path: Path, language: str) -> Iterator[Fact]:
    """Go through the names of entities in a language, and through their classes."""
    for number, text in lines(path):
        body = text.strip().removesuffix(",")
        if body in ("", "[", "]"):
            continue
        try:
            entity = json.loads(body)
        except json.JSONDecodeError as error:
            column = text.index(body[:1]) + error.colno
            raise fault(path, number, column, f"not JSON: {error.msg}", hint=_HINT) from error
        if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
            raise fault(path, number, 1, "an entity without an id", hint=_HINT)
        try:
            yield from _wikidata_facts(entity, language, number)
        except (AttributeError, KeyError, TypeError) as error:
            what = f"entity {entity['id']!r} is not laid out as Wikidata's are: {error!r}"
            raise fault(path, number, 1, what, hint=_HINT) from error


def _wikidata_facts(entity: Mapping[str, Any], language: str, line: int) -> Iterator[Fact]:
    thing = f"wikidata:{entity['id']}"
    labels, aliases = entity.get("labels") or {}, entity.get("aliases") or {}
    for code in (language, _ANY_LANGUAGE):
        if code in labels:
            yield BackgroundName(thing, labels[code]["value"], preferred=True, line=line)
        for alias in aliases.get(code, ()):
            yield BackgroundName(thing, alias["value"], line=line)
    claims = entity.get("claims") or {}
    for prop in _CLASSES:
        for claim in claims.get(prop, ()):
            value = claim["mainsnak"].get("datavalue")  # none for "unknown" and "no value"
            if value is not None and claim.get("rank") != "deprecated":
                yield ClassMembership(thing, f"wikidata:{value['value']['id']}", line=line)


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
