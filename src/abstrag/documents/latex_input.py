r"""One text out of many files: `\input`, `\include` and `\subfile` put in place.

A document that lacks most of its parts is refused. One that lacks a few is read, and the commands
that name the missing files stay in its text, where the reader of the document sees them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from abstrag.config import MAX_FILE_BYTES
from abstrag.documents.decode import decode
from abstrag.documents.latex_source import VERBATIM
from abstrag.errors import Damaged, FileTooLarge

_TOKEN: Final = re.compile(
    rf"\\begin\{{(?P<verbatim>{VERBATIM})\}}.*?(?:\\end\{{(?P=verbatim)\}}|\Z)"
    r"|\\verb\*?(?P<bar>[^\sA-Za-z*])[^\n]*?(?P=bar)"
    r"|%[^\n]*"
    r"|(?P<input>\\(?P<how>input|include|subfile|subfileinclude)"
    r"(?:\s*\{(?P<braced>[^{}]*)\}|[ \t]+(?P<bare>[^\s{}\\%]+)))"
    r"|(?P<bib>\\bibliography\s*\{[^{}]*\}|\\printbibliography(?:\[[^\]]*\])?)"
    r"|(?P<body>\\begin\{document\})"
    r"|(?P<end>\\end\{document\}|\\endinput\b)"
    r"|\\.",
    re.DOTALL,
)
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
    bibliography.
    """
    folder = path.parent.resolve()
    found = sorted(p for p in path.parent.rglob("*") if p.suffix.lower() in LATEX and p.is_file())
    others: set[Path] = set()
    if path.with_suffix(".bbl").is_file():
        others.add(path.with_suffix(".bbl"))
    waiting = list(found)
    while waiting:
        text = waiting.pop().read_bytes().decode("latin-1")  # the names of files are what counts
        for match in _TOKEN.finditer(text):
            inside = _inside(folder, _wanted(match)) if match["input"] else None
            if inside is None or inside.suffix.lower() in LATEX:
                continue
            if (other := path.parent / inside) not in others:
                others.add(other)
                waiting.append(other)
    return found + sorted(others)


def _wanted(match: re.Match[str]) -> str:
    return (match["braced"] or match["bare"] or "").strip().strip('"')


def _inside(folder: Path, wanted: str) -> Path | None:
    """Return where in a folder a file lies, None where there is none."""
    try:
        found = (folder / wanted).resolve()
        return found.relative_to(folder) if found.is_file() else None
    except (OSError, ValueError):
        return None  # outside of the folder, or a name that no file can have


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
            raise FileTooLarge(
                f"{self._name!r} grows over {MAX_FILE_BYTES // 2**20} MB with its inputs",
                hint="index its parts one by one",
            )
        return whole

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
            except (OSError, ValueError):
                continue  # a name that no file can have
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
            data = path.read_bytes()
        except OSError as error:
            raise Damaged(
                f"{self._name!r} inputs {wanted!r}, which cannot be read: {error}",
                hint=f"make {str(path)!r} readable",
            ) from error
        self._length += len(data)
        if self._length > MAX_FILE_BYTES:
            raise FileTooLarge(
                f"{self._name!r} inputs more than {MAX_FILE_BYTES // 2**20} MB",
                hint="index its parts one by one",
            )
        return decode(data, path.name)
