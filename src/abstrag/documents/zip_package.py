"""Zip files of XML parts, as Office programs and book readers write them: opened with care."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

from lxml import etree

from abstrag.config import MAX_ELEMENTS, MAX_UNPACKED_BYTES
from abstrag.documents.assemble import OverLimit
from abstrag.documents.header import parse_date
from abstrag.errors import Damaged, Encrypted, FileTooLarge

# Word writes its elements in one of two namespaces (transitional and strict), so names are
# compared without them.


def local(element: etree._Element) -> str:
    """Return an element's name without its namespace; entities and such have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def child(element: etree._Element | None, *path: str) -> etree._Element | None:
    """Follow child names down from an element."""
    for name in path:
        if element is None:
            return None
        element = next((e for e in element if local(e) == name), None)
    return element


def children(element: etree._Element | None, name: str) -> Iterator[etree._Element]:
    """Go through the children of one name; what is not there has none."""
    return (e for e in (() if element is None else element) if local(e) == name)


def value(element: etree._Element | None, attribute: str = "val") -> str | None:
    """Return an attribute whatever its namespace."""
    if element is None:
        return None
    return next(
        (str(v) for k, v in element.items() if str(k).rpartition("}")[2] == attribute), None
    )


def number(element: etree._Element | None, attribute: str = "val") -> int | None:
    """Return an attribute that is a whole number."""
    text = value(element, attribute) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def is_on(properties: etree._Element | None, name: str) -> bool:
    """True when a switch such as bold or hidden is set."""
    switch = child(properties, name)
    return switch is not None and value(switch) not in ("0", "false", "off", "none")


MAX_MEMBERS: Final = 20_000  # files in the zip file; a deck of a thousand slides has some 5,000
MAX_READ_BYTES: Final = 100 * 2**20  # what the parts we read may unpack to, all together


class PackageRelation(NamedTuple):
    """Where a part points: the kind of the target, and its path in the package."""

    kind: str
    target: str


class ZipPackage:
    """The parts of a zip file; `what` names its format in errors, such as "Excel workbook".

    Only parts that are asked for are unpacked, and nothing outside the file is ever followed.
    """

    def __init__(self, data: bytes, name: str, what: str) -> None:
        self._name, self._what = name, what
        self._left = MAX_READ_BYTES
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            self._sizes = {entry.filename: entry.file_size for entry in self._archive.infolist()}
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise self.damaged("its list of parts is missing") from error
        if len(self._archive.filelist) > MAX_MEMBERS:
            raise FileTooLarge(
                f"{name!r} packs more than {MAX_MEMBERS:,} files", hint="split the document"
            )
        if any(entry.flag_bits & 1 for entry in self._archive.filelist):
            raise Encrypted(
                f"{name!r} is locked with a password", hint="save it again without a password"
            )

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a part, or None when the file has no such part."""
        if path not in self._sizes:
            return None
        self._left -= self._sizes[path]  # zipfile never unpacks more than an entry announces
        if self._left < 0:
            raise FileTooLarge(
                f"{self._name!r} unpacks to more than {MAX_READ_BYTES // 2**20} MB",
                hint="split the document",
            )
        try:
            return self._archive.read(path)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise self.damaged(f"the part {path} is cut off") from error
        except (NotImplementedError, RuntimeError) as error:
            raise self.damaged(f"the part {path} cannot be unpacked") from error

    def xml(self, path: str) -> etree._Element | None:
        """Return a part's root element, or None when the file has no such part."""
        data = self.read(path)
        if data is None:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        try:
            return etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            deep = "Excessive depth" in str(error)
            problem = "nests its elements too deeply" if deep else "is not well-formed"
            raise self.damaged(f"the part {path} {problem}") from error

    def main(self, path: str) -> etree._Element:
        """Return the root element of a part that has to be there."""
        root = self.xml(path)
        if root is None:
            raise self.damaged(f"the part {path} is missing")
        return root

    def relations(self, path: str) -> dict[str, PackageRelation]:
        """Return by id what an Office part points at inside the file; links outside are left."""
        folder, _, file = path.rpartition("/")
        root = self.xml(f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels")
        found: dict[str, PackageRelation] = {}
        for one in children(root, "Relationship"):
            name, kind, target = value(one, "Id"), value(one, "Type"), value(one, "Target")
            if name and kind and target and value(one, "TargetMode") != "External":
                found[name] = PackageRelation(kind.rpartition("/")[2], resolved(path, target))
        return found

    def properties(self) -> tuple[str | None, str | None]:
        """Return the title and the date that an Office program notes in the file."""
        return core_properties(self.xml("docProps/core.xml"))

    def damaged(self, problem: str) -> Damaged:
        """Say what is broken; the caller raises it."""
        return Damaged(
            f"{self._name!r} is a damaged {self._what}: {problem}",
            hint="download it again, or open and save it in the program that made it",
        )


class WordPackage(ZipPackage):
    """The parts of a DOCX file, which is bounded as a whole, and each part by its elements."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data, name, "Word file")
        if sum(entry.file_size for entry in self._archive.infolist()) > MAX_UNPACKED_BYTES:
            raise OverLimit(
                f"it unpacks to more than {MAX_UNPACKED_BYTES // 2**20} MB",
                "MAX_UNPACKED_BYTES",
                hint="remove large pictures, or save the text alone",
            )
        self._left = MAX_UNPACKED_BYTES

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a part, or None when the file has no such part."""
        data = super().read(path)
        if data is not None and data.count(b"<") - data.count(b"</") > MAX_ELEMENTS:
            raise OverLimit(
                f"the part {path} has more than {MAX_ELEMENTS:,} elements",
                "MAX_ELEMENTS",
                hint="split the file, or save the text alone",
            )
        return data


def core_properties(core: etree._Element | None, *dates: str) -> tuple[str | None, str | None]:
    """Return the title, and the first of some dates that is one; the day of making by default."""
    title = child(core, "title")
    found = (child(core, name) for name in dates or ("created",))
    days = (parse_date(e.text) for e in found if e is not None and e.text)
    return (title.text if title is not None else None), next(filter(None, days), None)


def resolved(path: str, target: str) -> str:
    """Return the path of a part that another part, at `path`, names."""
    target = unquote(target.partition("#")[0])
    joined = posixpath.join("/", posixpath.dirname(path), target)
    return posixpath.normpath(joined).lstrip("/")
