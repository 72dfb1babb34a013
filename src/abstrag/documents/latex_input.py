r"""One text out of many files: `\input`, `\include` and `\subfile` put in place.

A document that lacks most of its parts is refused. One that lacks a few is read, and the commands
that name the missing files stay in its text, where the reader of the document sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from abstrag.config import MAX_FILE_BYTES, MAX_INPUT_DEPTH, MAX_INPUTS
from abstrag.documents.decode import decode
from abstrag.documents.latex_source import RAW, VERBATIM
from abstrag.documents.limits import OverLimit
from abstrag.errors import Damaged

_TOKEN: Final = re.compile(
    rf"\\begin\{{(?P<verbatim>{VERBATIM})\}}.*?(?:\\end\{{(?P=verbatim)\}}|\Z)"
    rf"|\\verb\*?(?P<bar>[^\sA-Za-z*]){RAW}(?P=bar)"
    r"|%[^\n]*"
    r"|(?P<input>\\(?P<how>input|include|subfile|subfileinclude)"
    r"(?:\s*\{(?P<braced>[^{}]*)\}|[ \t]+(?P<bare>[^\s{}\\%]+)))"
    r"|(?P<bib>\\bibliography\s*\{[^{}]*\}|\\printbibliography(?:\[[^\]]*\])?)"
    r"|(?P<body>\\begin\{document\})"
    r"|(?P<end>\\end\{document\}|\\endinput\b)"
    r"|\\.",
    re.DOTALL,
)
_BY_PARTS: Final = "index its parts one by one"
LATEX: Final = frozenset({".tex", ".ltx"})
_BODY: Final = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)


def flatten(text: str, name: str, folder: Path | None) -> str:
    """Return the main file's text with every file it inputs in place."""
    flattening = _Flattening(name, folder)
    whole = flattening.flatten(text, (), in_body="\\begin{document}" not in text)
    flattening.check()
    return whole


def sources(path: Path) -> list[Path]:
    """Return the files a LaTeX document is read from besides its own; some may not be part of it.

    They are all LaTeX in its folder, and whatever else any of it inputs: a table in a text file, a
    bibliography. What lies there and cannot be read, an editor's lock or a pipe, is no part of a
    document: a document that does input it is refused when it is read.
    """
    folder = path.parent.resolve()
    latex = sorted(p for p in path.parent.rglob("*") if p.suffix.lower() in LATEX)
    found = [p for p in latex if _text_of(p) is not None]
    others: set[Path] = set()
    if _text_of(path.with_suffix(".bbl")) is not None:
        others.add(path.with_suffix(".bbl"))
    waiting = list(found)
    while waiting:
        for wanted in _inputs(_text_of(waiting.pop()) or ""):
            inside = _inside(folder, wanted)
            if inside is None or inside.suffix.lower() in LATEX:
                continue
            other = path.parent / inside
            if other not in others and _text_of(other) is not None:
                others.add(other)
                waiting.append(other)
    return found + sorted(others)


def _inputs(text: str) -> Iterator[str]:
    return (_wanted(match) for match in _TOKEN.finditer(text) if match["input"])


def _text_of(path: Path) -> str | None:
    """Return the characters of a file as far as the names in it go, None when it has no text."""
    try:
        str(path).encode()  # a name that is no text names nothing that a text could input
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return None
        return path.read_bytes().decode("latin-1")
    except (OSError, ValueError):
        return None


def _wanted(match: re.Match[str]) -> str:
    return (match["braced"] or match["bare"] or "").strip().strip('"')


def _inside(folder: Path, wanted: str) -> Path | None:
    """Return where in a folder a file lies, None where there is none."""
    try:
        found = (folder / wanted).resolve()
        return found.relative_to(folder) if found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None  # outside of the folder, a name that no file can have, or links in a circle


class _Flattening:
    def __init__(self, name: str, folder: Path | None) -> None:
        self._name = name
        self._folder = folder.resolve() if folder is not None else None
        self._length = 0
        self._found: list[str] = []
        self._missing: list[str] = []

    def check(self) -> None:
        """Refuse a document of which more is missing than there is."""
        if not self._missing or len(self._missing) < len(self._found):
            return
        where = (
            f"put it into {str(self._folder)!r}" if self._folder else "give the main file's path"
        )
        raise Damaged(
            f"{self._name!r} inputs {self._missing[0]!r}, which is not there",
            hint=f"{where}, or give one flat file",
        )

    def flatten(self, text: str, above: tuple[Path, ...], *, in_body: bool) -> str:
        pieces: list[str] = []
        at = 0
        for match in _TOKEN.finditer(text):
            if match["end"]:
                break
            in_body = in_body or match["body"] is not None
            inner = self._inner(match, above, in_body=in_body)
            if inner is not None:
                pieces += (text[at : match.start()], inner)
                at = match.end()
        pieces.append(text[at:])
        whole = "".join(pieces)
        if len(whole) > MAX_FILE_BYTES:
            raise self._too_large()
        return whole

    def _too_large(self) -> OverLimit:
        return OverLimit(
            f"it grows over {MAX_FILE_BYTES // 2**20} MB with its inputs",
            "MAX_FILE_BYTES",
            hint=_BY_PARTS,
        )

    def _inner(self, match: re.Match[str], above: tuple[Path, ...], *, in_body: bool) -> str | None:
        """Return what stands for a command, or None when the command stays as it is."""
        if match["bib"]:
            return self._bibliography(above)
        if not match["input"]:
            return None
        wanted = _wanted(match)
        found = self._find(wanted)
        if found is None:
            # in the preamble it may be a part of TeX itself, which holds no text
            self._missing += [wanted] if in_body else []
            return None
        self._found.append(wanted)
        if len(self._found) > MAX_INPUTS:
            raise OverLimit(
                f"it inputs more than {MAX_INPUTS:,} files", "MAX_INPUTS", hint=_BY_PARTS
            )
        if len(above) >= MAX_INPUT_DEPTH:
            raise OverLimit(
                f"its inputs input one another more than {MAX_INPUT_DEPTH} deep",
                "MAX_INPUT_DEPTH",
                hint=_BY_PARTS,
            )
        text = self._read(found, wanted, above)
        if match["how"].startswith("subfile") and (body := _BODY.search(text)):
            text = body[1]
        return self.flatten(text, (*above, found), in_body=in_body)

    def _bibliography(self, above: tuple[Path, ...]) -> str | None:
        """Put the typeset bibliography in place, as LaTeX does, where there is one."""
        found = self._find(f"{Path(self._name).stem}.bbl")
        return self._read(found, found.name, above) if found else None

    def _find(self, wanted: str) -> Path | None:
        if self._folder is None or not wanted:
            return None
        for candidate in (wanted, f"{wanted}.tex"):
            try:
                path = (self._folder / candidate).resolve()
                there = path.is_file()
            except (OSError, ValueError, RuntimeError):
                continue  # a name that no file can have, or links in a circle
            if there and not path.is_relative_to(self._folder):
                raise Damaged(
                    f"{self._name!r} inputs {wanted!r}, which lies outside its folder",
                    hint=f"copy that file into {str(self._folder)!r}",
                )
            if there:
                return path
        return None

    def _read(self, path: Path, wanted: str, above: tuple[Path, ...]) -> str:
        if path in above:
            raise Damaged(
                f"{self._name!r} inputs {wanted!r} in a circle", hint="remove one of the inputs"
            )
        try:
            with path.open("rb") as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise Damaged(
                f"{self._name!r} inputs {wanted!r}, which cannot be read: {error}",
                hint=f"make {str(path)!r} readable",
            ) from error
        self._length += len(data)
        if self._length > MAX_FILE_BYTES:
            raise self._too_large()
        return decode(data, path.name)
