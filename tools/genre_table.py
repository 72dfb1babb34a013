"""Print how often the genre of real documents is told right, as a table of confusion.

    python tools/genre_table.py [--data ../shared/data] [--wrong]

The documents are those of public data sets, whose genre is known from what the set is made of, and
the files in `documents` and `filings`, whose genre is in `docs/documents.toml`. They are given as
text or Markdown with their headings, which is less than their own layout would tell.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from abstrag.documents.load import load, load_bytes
from abstrag.errors import AbstragError
from abstrag.indexing.genre import detect_genre
from abstrag.model.document import Document, Genre

TRUTH: Final = Path(__file__).parent.parent / "docs" / "documents.toml"
MOST: Final = 60  # documents of a set
PACKS: Final = (  # documents of sentences or paragraphs
    ("cuad", Genre.LEGAL),
    ("covidqa", Genre.SCIENTIFIC),
    ("friendsqa", Genre.TRANSCRIPT),
    ("xquad", Genre.PLAIN),
)


def documents(data: Path) -> Iterator[tuple[str, Genre, Document]]:
    """Go through documents of a known genre, each with the set it is from."""
    yield from _papers(data / "qasper")
    corpus = (data / "scifact" / "corpus.jsonl").read_text("utf-8").splitlines()
    for line in corpus[:: max(1, len(corpus) // MOST)][:MOST]:
        item = json.loads(line)
        yield "SciFact", Genre.ABSTRACT_ONLY, _text(" ".join(item["abstract"]))
    for item in json.loads((data / "contractnli" / "dev.json").read_text("utf-8"))["documents"]:
        yield "ContractNLI", Genre.LEGAL, _text(item["text"])
    for name, genre in PACKS:
        for text in _packed(data / "training" / f"{name}.jsonl.gz"):
            yield name, genre, _text(text)
    for item in json.loads((data / "tatqa" / "tatqa-tune.json").read_text("utf-8"))[:MOST]:
        yield "TAT-QA", Genre.REPORT, _excerpt(item)
    for name, truth in tomllib.loads(TRUTH.read_text("utf-8")).items():
        path = data / name
        if "genre" in truth and path.is_file():
            yield "files", Genre(truth["genre"]), load(path)


def _text(text: str, name: str = "document.txt") -> Document:
    return load_bytes(text.encode(), name=name)


def _papers(folder: Path) -> Iterator[tuple[str, Genre, Document]]:
    for path in sorted(folder.glob("*.json")):
        for paper in list(json.loads(path.read_text("utf-8")).values())[:MOST]:
            parts = [f"# {paper['title']}", "## Abstract", paper.get("abstract") or ""]
            for section in paper["full_text"]:
                parts += [f"## {section['section_name'] or 'Section'}", *section["paragraphs"]]
            yield "QASPER", Genre.SCIENTIFIC, _text("\n\n".join(parts), "paper.md")


def _packed(path: Path) -> Iterator[str]:
    found = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            if "segments" in item and len(item["segments"]) >= 3:
                yield "\n\n".join(item["segments"])
                found += 1
                if found == MOST:
                    return


def _excerpt(item: dict[str, Any]) -> Document:
    """Return a table and paragraphs of an annual report as Markdown."""
    rows = item["table"]["table"]
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    paragraphs = [each["text"] for each in item["paragraphs"]]
    return _text("\n\n".join(["\n".join(lines), *paragraphs]), "excerpt.md")


def main() -> None:
    """Read the documents and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--wrong", action="store_true", help="show how what is told wrong begins")
    given = parser.parse_args()
    counts: Counter[tuple[str, Genre, Genre]] = Counter()
    for source, genre, document in documents(given.data):
        try:
            found = detect_genre(document)
        except AbstragError as error:
            print(f"{source}: {error}")
            continue
        counts[source, genre, found] += 1
        if given.wrong and found is not genre:
            print(f"{source} {genre.value} as {found.value}: {document.text[:90]!r}")
    found_as = [genre for genre in Genre if any(key[2] is genre for key in counts)]
    print("| set | is | " + " | ".join(genre.value for genre in found_as) + " | right |")
    print("|---|---|" + "---|" * (len(found_as) + 1))
    for source, genre in dict.fromkeys(key[:2] for key in counts):
        row = [counts[source, genre, each] for each in found_as]
        right = counts[source, genre, genre] / sum(row)
        shown = " | ".join(str(count or "") for count in row)
        print(f"| {source} | {genre.value} | {shown} | {100 * right:.0f} % |")
    right = sum(count for (_, genre, found), count in counts.items() if genre is found)
    print(f"\n{right} of {counts.total()} right ({100 * right / counts.total():.1f} %)")


if __name__ == "__main__":
    main()
