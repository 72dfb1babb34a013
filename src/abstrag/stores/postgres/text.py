"""Text as PostgreSQL can hold it: everything but the character NUL, which is written another way.

A document may hold any character, and what a store gives back is what it was given. NUL becomes
SUB and a digit, and so does SUB itself, so that no two texts become the same one.
"""

from __future__ import annotations

from typing import Any, Final

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.types.string import StrDumper, TextBinaryLoader, TextLoader

_NUL, _SUB = "\0", "\x1a"
_WRITTEN: Final = str.maketrans({_NUL: f"{_SUB}0", _SUB: f"{_SUB}1"})


def escaped(text: str) -> str:
    """Write a text without NUL."""
    return text.translate(_WRITTEN) if _NUL in text or _SUB in text else text


def unescaped(text: str) -> str:
    """Give back what was escaped."""
    if _SUB not in text:
        return text
    return text.replace(f"{_SUB}0", _NUL).replace(f"{_SUB}1", _SUB)


class _Dumper(StrDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(escaped(obj))


class _Loader(TextLoader):
    def load(self, data: Buffer) -> str | bytes:
        read = super().load(data)
        return unescaped(read) if isinstance(read, str) else read


class _BinaryLoader(TextBinaryLoader):
    def load(self, data: Buffer) -> str | bytes:
        read = super().load(data)
        return unescaped(read) if isinstance(read, str) else read


def adapt_text(connection: Connection[Any]) -> None:
    """Have a connection write and read text this way."""
    connection.adapters.register_dumper(str, _Dumper)
    connection.adapters.register_loader("text", _Loader)
    connection.adapters.register_loader("text", _BinaryLoader)
