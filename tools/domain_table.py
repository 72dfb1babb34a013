"""Analogues of the worked example in six domains: what is found first, and which step carries it.

    python tools/domain_table.py tests/data/domains/first [--preset aligned] [--failures]

A folder holds one file for each domain: a document, a Background, and queries. A query names what
it is about (an alias, a definition, an office …), the words by which the segment is known that has
to be found first, the words of the query that the text says otherwise, and the families of step
that may carry them. `name` is for what the index calls the same, so that no step is needed.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.background import EMPTY, Background
from abstrag.model.ranking import Hit
from abstrag.search.document_words import forms
from abstrag.search.relevance import PRESETS

TARGETS = {"without Background": 0.85, "with Background": 0.95}


@dataclass(frozen=True)
class Outcome:
    """What became of one query."""

    domain: str
    phenomenon: str
    query: str
    first: bool  # the segment is the first hit
    carried: tuple[str, ...]  # by which families the asked words are met
    wanted: tuple[str, ...]
    shown: str

    @property
    def right(self) -> bool:
        """Whether it was found first, and by the right step."""
        return self.first and bool(set(self.carried) & set(self.wanted))


def outcomes(path: Path, preset: str, *, background: bool) -> Iterator[Outcome]:
    """Ask everything that a file asks."""
    data = tomllib.loads(path.read_text("utf-8"))
    known = _background(data.get("background", {})) if background else EMPTY
    document = load_bytes(data["text"].strip().encode(), name=f"{data['domain']}.md")
    searcher = Searcher(index(document, background=known), preset=PRESETS[preset])
    for asked in data["queries"]:
        hits = searcher.search(asked["query"], k=3).hits
        places = [asked["find"], *([asked["also"]] if "also" in asked else [])]
        first = bool(hits) and any(_flat(place) in _flat(hits[0].text) for place in places)
        carried = carriers(hits[0], asked["asked"]) if first else ()
        yield Outcome(
            data["domain"],
            asked["phenomenon"],
            asked["query"],
            first,
            tuple(sorted(carried)),
            tuple(asked["family"]),
            hits[0].text[:70] if hits else "",
        )


def carriers(hit: Hit, asked: str) -> set[str]:
    """Return the families of step by which a hit meets some words of the query."""
    wanted = _forms(asked)
    found: set[str] = set()
    for number, trace in enumerate(hit.trace.literals):
        own = _forms(trace.literal.label)
        if not (own & wanted) or not trace.met:
            continue
        found |= {bridge.family.value for bridge in trace.bridges}
        if _stands_under(hit, number):
            found.add("context")
        if trace.context is not None:
            found.add("context")
        elif not trace.bridges:
            at = trace.mention
            said = "" if at is None or at.header is not None else hit.text[at.start : at.end]
            found.add("the very word" if own <= _forms(said) else "name")
    for word in hit.words:
        if word.met and word.family is not None and set(forms(word.asked)) & wanted:
            found.add(word.family.value)
    return found


def _stands_under(hit: Hit, literal: int) -> bool:
    """Tell whether words of a header or of the section's name meet a literal, and no others."""
    words = [word for word in hit.words if word.literal == literal and word.met]
    return bool(words) and all(word.in_section or word.header is not None for word in words)


def _forms(text: str) -> set[str]:
    return {form for word in text.split() for form in forms(word)}


def _background(data: dict[str, Any]) -> Background:
    return Background(
        aliases={name: tuple(other) for name, other in data.get("aliases", {}).items()},
        classes={name: tuple(other) for name, other in data.get("classes", {}).items()},
        roles={name: tuple(other) for name, other in data.get("roles", {}).items()},
    )


def wilson(right: int, size: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    z, share = 1.96, right / size
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z * sqrt(share * (1 - share) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    return middle - half, middle + half


def _flat(text: str) -> str:
    return " ".join(text.split())


def table(rows: Sequence[Outcome], by: str) -> str:
    """Return the shares by domain or phenomenon, one line each."""
    lines = []
    for name in dict.fromkeys(getattr(row, by) for row in rows):
        some = [row for row in rows if getattr(row, by) == name]
        first, right = sum(row.first for row in some), sum(row.right for row in some)
        lines.append(f"  {name:<15} first {first}/{len(some)}   right {right}/{len(some)}")
    return "\n".join(lines)


def main() -> None:
    """Print both tables, with and without a Background."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of one set: a TOML file for each domain")
    parser.add_argument("--preset", default="general")
    parser.add_argument("--failures", action="store_true", help="say what went wrong")
    given = parser.parse_args()
    files = sorted(given.folder.glob("*.toml"))
    if not files:
        parser.error(f"{given.folder} has no TOML files: name the folder of one set")
    for name, target in TARGETS.items():
        rows = [
            outcome
            for path in files
            for outcome in outcomes(path, given.preset, background=name.startswith("with "))
        ]
        right = sum(row.right for row in rows)
        low, high = wilson(right, len(rows))
        share = right / len(rows)
        told = "met" if share >= target else "missed"
        print(f"{name}: {right} of {len(rows)} found with the right family, {share:.1%}")
        print(f"  [{low:.1%}, {high:.1%}], target {target:.0%} {told}")
        print(table(rows, "phenomenon"))
        print(table(rows, "domain"))
        for row in rows if given.failures else ():
            if not row.right:
                found = "first" if row.first else f"instead: {row.shown!r}"
                print(f"    {row.domain}, {row.phenomenon}: {row.query} ({found}; {row.carried})")


if __name__ == "__main__":
    main()
