"""The report part: a fifth of every tuning set that no weight, preset or patch may ever see.

Which part a document is in depends on its id alone, so it is the same for ever, for every query
about it, and for anyone who computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Final

from abstrag.errors import InputError

_FIFTHS: Final = 5
REPORT_PARTS: Final[Mapping[str, str]] = {  # what figures about explanations are measured on
    "scifact": "train:report",
    "qasper": "train:report",
    "tatqa": "tune:report",
    "contractnli": "dev:report",
    "fetaqa": "dev:report",
}


class SplitPart(StrEnum):
    """Which documents of a split are meant."""

    ALL = "all"
    TUNE = "tune"
    REPORT = "report"


def part_of(document_id: str) -> SplitPart:
    """Tell which part a document belongs to."""
    digest = int.from_bytes(sha256(document_id.encode()).digest()[:8], "big")
    return SplitPart.REPORT if digest % _FIFTHS == 0 else SplitPart.TUNE


def parse_split(split: str) -> tuple[str, SplitPart]:
    """Take `train`, `train:tune` or `train:report` apart."""
    name, colon, part = split.partition(":")
    if not name:
        raise InputError("--split is empty", hint="for instance: train, or train:report")
    if not colon:
        return name, SplitPart.ALL
    try:
        return name, SplitPart(part)
    except ValueError:
        choices = ", ".join(member.value for member in SplitPart)
        raise InputError(
            f"no part of a split is called {part!r}", hint=f"one of: {choices}"
        ) from None
