"""Hold the section trees that are read off documents against trees that a person wrote down.

    python tools/section_table.py [--data ../shared/data] [--wrong]

`docs/sections.toml` has the trees. A heading of it is found where one of the document begins with
its words, in order; it is in its place where the nearest heading above, of those in the tree, is
the one that the tree has above it. Of a tree that is `whole`, headings that are not in it are
counted too.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from abstrag.errors import AbstragError
from abstrag.model.document import BlockKind, Document

TRUTH: Final = Path(__file__).parent.parent / "docs" / "sections.toml"
_INDENT: Final = 2


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and how deep it stands."""

    level: int
    text: str

    @property
    def key(self) -> str:
        """Its letters and digits."""
        return re.sub(r"[\W_]+", "", self.text.casefold())


def written(tree: str) -> list[Heading]:
    """Read a tree: two spaces for each level."""
    lines = [line for line in tree.splitlines() if line.strip()]
    return [Heading((len(n) - len(n.lstrip())) // _INDENT + 1, n.strip()) for n in lines]


def read(document: Document) -> list[Heading]:
    """Return the headings of a document, without its title."""
    headings = [b for b in document.blocks if b.kind is BlockKind.HEADING and b.level]
    return [Heading(b.level or 0, b.text) for b in headings]


def parents(headings: list[Heading]) -> list[int | None]:
    """Return for each heading which one it stands under."""
    open_: list[int] = []
    found: list[int | None] = []
    for i, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            open_.pop()
        found.append(open_[-1] if open_ else None)
        open_.append(i)
    return found


@dataclass(frozen=True, slots=True)
class Compared:
    """How a tree that was read agrees with the one that was written down."""

    asked: int
    found: int
    placed: int
    extra: int
    wrong: tuple[str, ...]


def compared(own: list[Heading], truth: list[Heading]) -> Compared:
    """Find each heading of a tree in another one, in order."""
    at: dict[int, int] = {}  # in the tree → in the document
    start = 0
    for i, wanted in enumerate(truth):
        place = next((j for j in range(start, len(own)) if own[j].key.startswith(wanted.key)), None)
        if place is not None:
            at[i], start = place, place + 1
    under, above = parents(own), parents(truth)
    known = {place: i for i, place in at.items()}
    placed, wrong = 0, []
    for i, wanted in enumerate(truth):
        if i not in at:
            wrong.append(f"missing: {wanted.text}")
            continue
        over = under[at[i]]
        while over is not None and over not in known:
            over = under[over]
        if (known[over] if over is not None else None) == above[i]:
            placed += 1
        else:
            wrong.append(f"misplaced: {wanted.text}")
    extra = [heading.text for j, heading in enumerate(own) if j not in known]
    wrong += [f"more: {text}" for text in extra]
    return Compared(len(truth), len(at), placed, len(extra), tuple(wrong))


def rows(data: Path, *, wrong: bool) -> Iterator[str]:
    """Write a line for each document, and what is wrong where that is wanted."""
    total = [0, 0, 0, 0]
    for name, entry in tomllib.loads(TRUTH.read_text("utf-8")).items():
        try:
            own = read(Document.load(data / name))
        except (AbstragError, OSError) as error:
            yield f"| {Path(name).name} | *{error}* | | | | |"
            continue
        got = compared(own, written(entry["tree"]))
        whole = entry["kind"] == "whole"
        more = got.extra if whole else 0
        figures = (got.asked, got.found, got.placed, more)
        total = [a + b for a, b in zip(total, figures, strict=True)]
        shown = str(more) if whole else f"({got.extra} below)"
        yield (
            f"| {Path(name).name} | {entry['kind']} | {got.asked} | {got.found} | {got.placed} "
            f"| {shown} |"
        )
        if wrong:
            yield from (f"    {each}" for each in got.wrong if whole or "more:" not in each)
    yield f"| all | | {total[0]} | {total[1]} | {total[2]} | {total[3]} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--wrong", action="store_true", help="show what is missing or misplaced")
    given = parser.parse_args()
    print("| document | tree | headings | found | in their place | headings that are none |")
    print("|---|---|---|---|---|---|")
    for line in rows(given.data, wrong=given.wrong):
        print(line, flush=True)


if __name__ == "__main__":
    main()
