"""Twice the input costs about twice the work, in every loader and in indexing.

Work is counted, not timed: calls of functions, Python's and those in C that Python makes. So the
figure is the same on every machine, and a rule that looks at every pair of words, or again at what
it has read before, shows at a few hundred pieces.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest

from abstrag.documents.load import load, load_bytes
from abstrag.errors import AbstragError
from abstrag.indexing.pipeline import index
from tests.fuzz.crafted.every import FAMILIES, crafted
from tests.fuzz.crafted.family import Family
from tests.fuzz.targets import Files

PIECES = 400
MOST = 2.4  # times the work for twice the pieces
START = 2_000  # calls that any file takes, and noise
# A table costs what its cells cover, which is more than their number and has a limit of its own.
COVERS = "cells over one another"
PICTURES = {"bmp", "gif", "png", "tiff"}  # they have no pieces
KINDS = sorted({family.kind for family in FAMILIES} - PICTURES)
RULES = (
    "a list of names",
    "pronouns",
    "a sentence without end",
    "definitions",
    "acronyms",
    "references",
    "dates",
    "amounts",
    "appositions",
    "such as",
    "speakers",
    "very short sentences",
)


def work(do: Callable[[], object]) -> int | None:
    """Count the calls that something makes; None where the input is refused."""
    calls = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        do()
    except AbstragError:
        return None
    finally:
        sys.setprofile(before)
    return calls


def of_size(family: Family, pieces: int) -> Files:
    (made,) = crafted([replace(family, sizes=(pieces,))])
    return made.files


def read(files: Files, folder: Path) -> int | None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return work(lambda: load(folder / next(iter(files))))


@pytest.mark.parametrize("kind", KINDS)
def test_reading_twice_as_much_takes_about_twice_the_work(kind: str, tmp_path: Path) -> None:
    grown = {}
    for number, family in enumerate(each for each in FAMILIES if each.kind == kind):
        if family.name == COVERS:
            continue
        pieces = min(PIECES, family.sizes[-1])  # some double with each piece
        once, twice = (
            read(of_size(family, size), tmp_path / f"{number}-{size}")
            for size in (pieces, 2 * pieces)
        )
        if once is not None and twice is not None and twice > MOST * once + START:
            grown[family.name] = (once, twice)
    assert not grown


@pytest.mark.parametrize("name", RULES)
def test_indexing_twice_as_much_takes_about_twice_the_work(name: str) -> None:
    (family,) = [each for each in FAMILIES if each.name == name and each.kind == "txt"]
    made = [load_bytes(of_size(family, size)["crafted.txt"], name="a.txt") for size in (60, 120)]
    for document in made:  # models are loaded and words looked up before the count starts
        index(document)
    once, twice = (work(lambda one=one: index(one)) for one in made)  # type: ignore[misc]
    assert once is not None
    assert twice is not None
    assert twice <= MOST * once + 5 * START  # a longer text has its genre told too
