"""Reading data files: whatever is wrong with one is an error that names the file and the line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from abstrag.errors import InputError


def existing(*candidates: Path) -> Path:
    """Return the first of several paths that is a file."""
    for path in candidates:
        if path.is_file():
            return path
    names = " or ".join(repr(str(path)) for path in candidates)
    raise InputError(f"there is no data file {names}", hint="check --data and --split")


def matching(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files of a folder that fit a pattern, by name; none is an error."""
    found = tuple(sorted(path for path in folder.glob(pattern) if path.is_file()))
    if not found:
        raise InputError(
            f"there is no data file {str(folder / pattern)!r}", hint="check --data and --split"
        )
    return found


def read_json(path: Path) -> Any:
    """Read a file that is one JSON value."""
    try:
        return json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(
            f"{str(path)!r}, line {error.lineno}: not JSON: {error.msg}",
            hint="the file may be cut off; fetch it again",
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not UTF-8: {error.reason}") from None


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Go through the objects of a JSON-lines file, gzipped or not, with their line numbers."""
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rt", encoding="utf-8") as handle:
            for number, line in enumerate(handle, 1):
                if line.strip():
                    yield number, _object(path, number, line)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(path)!r} is not UTF-8 after line {number}: {error.reason}"
        ) from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise InputError(
            f"{str(path)!r} is cut off or no gzip file after line {number}: {error}"
        ) from None


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{str(path)!r}, line {number}: not JSON: {error.msg}",
            hint="the line may be cut off; fetch the file again",
        ) from None
    if not isinstance(value, dict):
        raise InputError(f"{str(path)!r}, line {number}: expected an object, found {value!r:.60}")
    return value


class FilePlace:
    """Where a value was read, for errors: a file and, where it has lines, a line."""

    def __init__(self, path: Path, line: int | None = None, inside: str = "") -> None:
        self.path, self.line, self.inside = path, line, inside

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line is not None else ""
        inside = f", {self.inside}" if self.inside else ""
        return f"{str(self.path)!r}{line}{inside}"

    def error(self, problem: str, *, hint: str | None = None) -> InputError:
        """Make the error that something here is wrong."""
        return InputError(f"{self}: {problem}", hint=hint)

    def field(self, data: Any, name: str, *kinds: type) -> Any:
        """Return a field that must be there and of one of these types."""
        if not isinstance(data, Mapping):
            raise self.error(f"expected an object with {name!r}, found {data!r:.60}")
        if name not in data:
            raise self.error(f"the field {name!r} is missing")
        value = data[name]
        wrong = isinstance(value, bool) and bool not in kinds
        if wrong or not isinstance(value, kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise self.error(f"{name!r} must be {wanted}, found {value!r:.60}")
        return value

    def strings(self, data: Mapping[str, Any], name: str) -> list[str]:
        """Return a field that must be a list of strings."""
        values = self.field(data, name, list)
        for value in values:
            if not isinstance(value, str):
                raise self.error(f"{name!r} must hold strings, found {value!r:.60}")
        return list(values)
