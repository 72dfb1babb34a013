"""Measure whether the page that answers a question is among the first hits of a PDF.

    python tools/page_evidence.py QUESTIONS.jsonl --documents FOLDER [--store questions.db]

A line of the question file is an object:

    {"id": "q1", "document": "report.pdf", "question": "…", "pages": [12]}

`pages` count from 1, as a PDF viewer does; any one of them answers the question. A list `evidence`
of objects with a `page` each is read as well. Two figures are printed, for all questions, for each
of two halves and for each document:

    among five pages   a gold page is among the first five distinct pages of the hits
    among five hits    a gold page is the page of one of the first five hits

A question belongs to the half "tune" or "report" by a hash of its id, so that the halves stay what
they are when questions are added. Rules are made looking at "tune" alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.errors import InputError
from abstrag.workspace.options import SearchOptions, WorkspaceConfig, chosen_preset
from abstrag.workspace.workspace import Workspace

FIRST: Final = 5
DEPTH: Final = 50  # hits among which five distinct pages are looked for


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one document and the pages that answer it."""

    id: str
    document: str
    text: str
    pages: frozenset[int]

    @property
    def half(self) -> str:
        """Which half it belongs to, by the first bit of a hash of its id."""
        return "tune" if sha256(self.id.encode()).digest()[0] < 128 else "report"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with the pages of its hits in order; 0 is a hit without a page."""

    question: Question
    pages: tuple[int, ...]

    @property
    def among_pages(self) -> bool:
        """Whether a gold page is among the first five distinct pages."""
        distinct = list(dict.fromkeys(self.pages))[:FIRST]
        return not self.question.pages.isdisjoint(distinct)

    @property
    def among_hits(self) -> bool:
        """Whether a gold page is among the pages of the first five hits."""
        return not self.question.pages.isdisjoint(self.pages[:FIRST])


def questions_of(path: Path) -> Iterator[Question]:
    """Read a file of questions, one JSON object a line."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            pages = item.get("pages") or [evidence["page"] for evidence in item["evidence"]]
            yield Question(item["id"], item["document"], item["question"], frozenset(pages))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"line {number} of {str(path)!r} is no question: {error!r}",
                hint='{"id": …, "document": …, "question": …, "pages": [1]}',
            ) from None


def found_in(folders: Sequence[Path], name: str) -> Path:
    """Return the file of a document that questions name."""
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"no folder holds the document {name!r}", hint="name its folder: --documents")


def outcomes(
    asked: Sequence[Question], workspace: Workspace, folders: Sequence[Path], options: SearchOptions
) -> Iterator[Outcome]:
    """Put every question to its document."""
    for question in asked:
        document = workspace.document(found_in(folders, question.document), options)
        hits = document.search(question.text, k=DEPTH).hits
        yield Outcome(question, tuple(hit.page or 0 for hit in hits))


def share(met: Sequence[bool]) -> str:
    """Write how many of some questions are met."""
    return f"{sum(met):3d} of {len(met):3d} ({100 * sum(met) / max(1, len(met)):3.0f} %)"


def summary(made: Sequence[Outcome]) -> Iterator[str]:
    """Write both figures for all questions, each half and each document."""
    groups = {"all": list(made)}
    for half in ("tune", "report"):
        groups[half] = [one for one in made if one.question.half == half]
    for one in made:
        groups.setdefault(one.question.document, []).append(one)
    wide = max(map(len, groups))
    yield f"{'':{wide}}  among five pages     among five hits"
    for name, group in groups.items():
        pages, hits = ([o.among_pages for o in group], [o.among_hits for o in group])
        yield f"{name:{wide}}  {share(pages)}  {share(hits)}"


def main() -> None:
    """Read the arguments, ask, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("questions", type=Path, nargs="+", help="files of questions")
    parser.add_argument("--documents", type=Path, action="append", default=[], help="a folder")
    parser.add_argument("--store", default=":memory:", help="keeps indexes from run to run")
    parser.add_argument("--preset", help="the preset that ranks; the default one if not given")
    parser.add_argument("--half", choices=("tune", "report"), help="ask this half alone")
    parser.add_argument("--list", action="store_true", help="show each question with its pages")
    given = parser.parse_args()
    folders = given.documents or [path.parent for path in given.questions]
    asked = [question for path in given.questions for question in questions_of(path)]
    asked = [one for one in asked if given.half in (None, one.half)]
    options = SearchOptions(preset=chosen_preset(given.preset))
    made: list[Outcome] = []
    with Workspace(WorkspaceConfig(given.store)) as workspace:
        for one in outcomes(asked, workspace, folders, options):
            made.append(one)
            if given.list:
                shown = list(dict.fromkeys(one.pages))[:FIRST]
                mark = "found " if one.among_pages else "missed"
                gold = sorted(one.question.pages)
                print(f"{mark} {one.question.id}  gold {gold}  pages {shown}  {one.question.text}")
    print("\n".join(summary(made)))


if __name__ == "__main__":
    main()
