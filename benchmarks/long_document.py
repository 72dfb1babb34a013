"""How a search without the judge grows with the document, and what pruning loses.

    python benchmarks/long_document.py [--sizes 1000,20000,100000] [--before OLD/src] [FILE …]

The document is mixed from the sentences of real ones: the pages under docs/, or FILES. A segment is
two sentences drawn at random, with the terms and events of both; its words have the vectors that
they have in their own sentences. Queries are sentences of the same texts with some words left out,
and questions about them. `kept` is the share of the first ten hits of a search that looks at every
segment which the pruned search has too; one that scores as much as the tenth counts as the tenth.

With --before the same document is searched by older code as well, in a process of its own.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from abstrag.config import Settings
from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index as build_index
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Frame
from abstrag.neural.aligner import default_aligner
from abstrag.neural.vectors import AlignedText
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace

ROOT = Path(__file__).parents[1]
QUESTIONS = (
    "Which store keeps the vectors of a document?",
    "How long does it take to index a filing?",
    "What happens when a language model gives an answer outside its schema?",
    "Who may change a rule of the policy?",
    "How is a scanned page read?",
    "What does a bridge cost?",
    "Which formats can be opened?",
    "When is a patch accepted by the gate?",
)
SENTENCES = 40  # queries made of sentences


@dataclass(frozen=True)
class Mixed:
    """Reads a mixed segment as its two sentences; anything else as the shipped aligner does."""

    parts: dict[str, tuple[AlignedText, AlignedText, int]]

    @property
    def fingerprint(self) -> str:
        """Names the model."""
        return default_aligner().fingerprint

    @property
    def constants(self) -> Any:
        """What turns cosines into prices."""
        return default_aligner().constants

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        """Return each text as vectors of its words."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> AlignedText:
        if text not in self.parts:
            return default_aligner().read([text])[0]
        a, b, shift = self.parts[text]
        gist = a.gist + b.gist
        weights = np.concatenate((a.weights, b.weights)) / 2
        return AlignedText(
            np.concatenate((a.spans, b.spans + shift)).astype(np.int32),
            np.concatenate((a.vectors, b.vectors)),
            weights.astype(np.float32),
            (gist / max(float(np.linalg.norm(gist)), 1e-9)).astype(np.float32),
        )


def mixed(base: DocumentIndex, size: int) -> tuple[DocumentIndex, Mixed]:
    """Return a document of so many segments, and what reads it."""
    chance = random.Random(0)
    told = [r for r in base.records if len(r.segment.text.split()) > 5]
    read = dict(zip((r.segment.id for r in told), _vectors(told), strict=True))
    mentions, frames = _by_segment(base.mentions), _by_segment(base.frames)
    place = {r.segment.id: i for i, r in enumerate(base.records)}
    records, all_mentions, all_frames = [], [], []
    parts = {}
    for i in range(size):
        a, b = chance.sample(told, 2)
        shift = len(a.segment.text) + 1
        text = f"{a.segment.text} {b.segment.text}"
        segment = replace(a.segment, id=f"s{i}", text=text, section=(), headers=())
        records.append(replace(a, segment=segment))
        parts[text] = (read[a.segment.id], read[b.segment.id], shift)
        for record, by in ((a, 0), (b, shift)):
            own = place[record.segment.id]
            all_mentions += [
                replace(m, segment=i, start=m.start + by, end=m.end + by)
                for m in mentions.get(own, ())
                if m.header is None
            ]
            all_frames += [_moved(f, i, by) for f in frames.get(own, ())]
    made = replace(
        base, records=tuple(records), mentions=tuple(all_mentions), frames=tuple(all_frames)
    )
    return made, Mixed(parts)


def _moved(frame: Frame, segment: int, by: int) -> Frame:
    """Return an event as it stands so much further on in another segment."""
    slots = tuple(replace(s, start=s.start + by, end=s.end + by) for s in frame.slots)
    start, end = frame.start + by, frame.end + by
    return replace(frame, segment=segment, start=start, end=end, slots=slots)


def _vectors(records: Sequence[Any]) -> list[AlignedText]:
    return default_aligner().read([record.segment.text for record in records])


def _by_segment(items: Sequence[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for item in items:
        found.setdefault(item.segment, []).append(item)
    return found


def queries(base: DocumentIndex) -> list[str]:
    """Return questions, and sentences of the document less a third of their words."""
    chance = random.Random(1)
    told = [s.text for s in base.segments if 8 <= len(s.text.split()) <= 25]
    made = []
    for text in chance.sample(told, min(SENTENCES, len(told))):
        words = text.rstrip(".").split()
        kept = sorted(chance.sample(range(len(words)), max(4, 2 * len(words) // 3)))
        made.append(" ".join(words[i] for i in kept))
    return [*QUESTIONS, *made]


def base_index(files: Sequence[Path]) -> DocumentIndex:
    """Index the texts that are mixed, as one document."""
    pages = files or sorted((ROOT / "docs").glob("*.md"))
    text = "\n\n".join(page.read_text("utf-8") for page in pages)
    document = load_bytes(text.encode(), name="pages.md")
    return build_index(document, settings=Settings(granularity="sentence"))


def aligned() -> Any:
    """Return the preset without the judge; older code has it elsewhere."""
    for name in ("abstrag.search.relevance", "abstrag.rank.relevance"):
        try:
            return importlib.import_module(name).ALIGNED
        except ModuleNotFoundError:
            continue
    raise SystemExit("this code has no preset called aligned")


def milliseconds(document: SearchableDocument, query: str) -> tuple[float, float, list[float]]:
    """Return how long a search takes, by the clock and of the processor, and its scores."""
    started, spent = time.perf_counter(), time.process_time()
    hits = document.search(query, k=10).hits
    took = 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - spent)
    return *took, [hit.relevance for hit in hits]


def asked(
    document: SearchableDocument, texts: Sequence[str]
) -> tuple[list[float], list[float], list[list[float]]]:
    """Ask everything twice, and return the second times and the scores."""
    for text in texts:
        document.search(text, k=10)
    told = [milliseconds(document, text + " ") for text in texts]
    return [t[0] for t in told], [t[1] for t in told], [t[2] for t in told]


def measured(size: int, base: DocumentIndex, texts: Sequence[str], *, exact: bool) -> str:
    """Search a document of a size and return a line of the table."""
    made, aligner = mixed(base, size)
    searcher: Any = importlib.import_module("abstrag.engine.searcher")
    searcher.default_aligner = lambda: aligner
    options = SearchOptions(preset=aligned(), patched=False)
    with TemporaryDirectory() as folder, Workspace(WorkspaceConfig(store=f"{folder}/s")) as space:
        started = time.perf_counter()
        space.document(made, options).search(texts[0])
        first = time.perf_counter() - started
        with Workspace(WorkspaceConfig(store=f"{folder}/s")) as again:
            started = time.perf_counter()
            document = again.document(made, options)
            document.search(texts[1])
            opened = time.perf_counter() - started
            took, spent, scores = asked(document, texts)
            kept = _kept(document, texts, scores) if exact else "-"
    line = f"{size:>9,} {first:>9.1f} {opened:>9.2f} {statistics.median(took):>10.1f}"
    processor = statistics.median(spent)
    return f"{line} {np.percentile(took, 95):>8.1f} {processor:>13.1f} {kept:>8}"


def _kept(document: SearchableDocument, texts: Sequence[str], scores: list[list[float]]) -> str:
    """Search again, looking at every segment, and say how many of the first ten were found."""
    words: Any = importlib.import_module("abstrag.search.document_words")
    before, words.CONSIDERED = words.CONSIDERED, 1 << 40
    try:
        whole = [milliseconds(document, text + "  ")[2] for text in texts]
    finally:
        words.CONSIDERED = before
    there = found = 0
    for best, own in zip(whole, scores, strict=True):
        there += len(best)
        found += sum(1 for score in own[: len(best)] if score >= best[-1] - 1e-9)
    return f"{found / max(there, 1):.2%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--sizes", default="1000,20000,100000")
    parser.add_argument("--queries", type=int, default=48, help="how many are asked")
    parser.add_argument("--before", type=Path, help="src of older code, to compare with")
    parser.add_argument("--timed-only", action="store_true", help="leave out what pruning loses")
    given = parser.parse_args()
    base = base_index(given.files)
    texts = queries(base)[: given.queries]
    print(f"{len(texts)} queries, mixed from {len(base.records):,} sentences; seconds and ms")
    heads = f"{'segments':>9} {'first s':>9} {'opened s':>9} {'median ms':>10} {'95 %':>8}"
    print(f"{heads} {'processor ms':>13} {'kept':>8}")
    for size in map(int, given.sizes.split(",")):
        print(measured(size, base, texts, exact=not given.timed_only), flush=True)
    if given.before:
        print(f"by {given.before}", flush=True)
        command = [sys.executable, __file__, "--sizes", given.sizes, "--timed-only"]
        command += ["--queries", str(given.queries)]
        command += [str(file.resolve()) for file in given.files]
        subprocess.run(command, env={**os.environ, "PYTHONPATH": str(given.before)}, check=True)


if __name__ == "__main__":
    main()
