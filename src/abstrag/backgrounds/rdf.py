"""SKOS and RDF, in Turtle, N-Triples, RDF/XML and what else pyoxigraph streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from xml.parsers import expat

from abstrag.backgrounds.fact import Fact, Link, Name
from abstrag.backgrounds.lines import fault, opened
from abstrag.errors import BackgroundError, ResourceMissing

if TYPE_CHECKING:
    from pyoxigraph import Quad, RdfFormat

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
            yield Name(subject, text, preferred=_NAMES[predicate])
    elif predicate in _UP or predicate in _DOWN:
        other = _id(value)
        if other != subject and not other.startswith(_GRAMMAR):
            yield Link(subject, other) if predicate in _UP else Link(other, subject)


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
