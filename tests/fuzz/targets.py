"""What is done to one input: read, indexed and packed, or asked; everything else is a find.

An input may be refused with one of our errors, and that error must be one sentence with a hint.
Whatever it becomes must be sound: quotes are what stands in the source, and what a store would
keep reads back as the same index.
"""

import os
import resource
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from abstrag.config import DocumentBudget
from abstrag.documents.load import load
from abstrag.engine.searcher import Searcher
from abstrag.errors import AbstragError
from abstrag.indexing.pipeline import index
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.search.relevance import FAST
from abstrag.stores.rows import pack, unpack
from abstrag.workers.protocol import within
from abstrag.workspace.tour import demo_background, demo_document
from tests.unit.documents.soundness import check_document

Files = Mapping[str, bytes]  # by path; the first is the document, others lie beside it


class Unsound(AssertionError):
    """A target took an input and made something wrong of it."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of an input, and what it cost."""

    outcome: str  # "read", "refused" or "find"
    detail: str = ""
    cpu_s: float = 0.0
    grown_mb: float = 0.0  # of the largest size of the process


def read_and_index(files: Files) -> None:
    """Read a file and index it, as `abstrag index` would."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in files]
        for path, content in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        document = load(paths[0])
    if document.metadata.format != "json":  # its spans are the writer's, and checked by the loader
        check_document(document)
    check_index(document, index(document))


def only_read(files: Files) -> None:
    """Read a file without indexing it, for inputs that only concern a parser."""
    with TemporaryDirectory() as folder:
        path = Path(folder, next(iter(files)))
        path.write_bytes(next(iter(files.values())))
        check_document(load(path))


def check_index(document: Document, made: DocumentIndex) -> None:
    """See that every quote is what the source has, and that rows become the index again."""
    for record in made.records:
        segment = record.segment
        if not 0 <= segment.span.start <= segment.span.end <= len(document.text):
            raise Unsound(f"segment {segment.id} spans {segment.span}")
        for at, char in enumerate(segment.text):
            if not segment.span.start <= segment.alignment.at(at) <= segment.span.end:
                raise Unsound(f"{char!r} of segment {segment.id} stands outside of it")
    for mention in made.mentions:
        if not 0 <= mention.segment < len(made.records):
            raise Unsound(f"a mention of {mention.term!r} is in no segment")
    if unpack(pack(made)) != made:
        raise Unsound("the index reads back from its rows as another one")


@cache
def _asked() -> Searcher:
    return Searcher(index(demo_document(), background=demo_background()), preset=FAST)


def ask(files: Files) -> None:
    """Ask the bundled article a query, by the preset that needs no model but the parser."""
    ranking = _asked().search(next(iter(files.values())).decode(errors="replace"), k=3)
    for hit in ranking.hits:
        if hit.quote not in _asked().index.document.text:
            raise Unsound(f"{hit.quote!r} does not stand in the document")
        if not 0 <= hit.relevance < float("inf"):
            raise Unsound(f"the relevance of {hit.segment!r} is {hit.relevance}")


TARGETS: Mapping[str, Callable[[Files], None]] = {
    "index": read_and_index,
    "read": only_read,
    "query": ask,
}


@dataclass(frozen=True, slots=True)
class Item:
    """An input on its way to a worker."""

    name: str  # what it is called in the table and on disk
    kind: str  # its format
    target: str
    files: Files


@dataclass(frozen=True, slots=True)
class Trial:
    """The `Task` of a worker: try inputs, each within a budget."""

    budget: DocumentBudget | None

    def start(self) -> Callable[[Item], Tried]:
        """Load every model once."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "first.txt")
            path.write_text("The first file loads the models.")
            index(load(path))
        _asked()
        return self.try_out

    def try_out(self, item: Item) -> Tried:
        """Try one input and tell what became of it."""
        before, cpu = _peak_mb(), time.process_time()
        outcome, detail = "read", ""
        try:
            with within(self.budget) if self.budget is not None else nullcontext():
                TARGETS[item.target](item.files)
        except AbstragError as error:
            outcome, detail = "refused", type(error).__name__
            if (problem := ill_told(error)) is not None:
                outcome, detail = "find", problem
        except MemoryError:
            raise
        except Exception as error:
            outcome, detail = "find", _told(error)
        return Tried(outcome, detail, time.process_time() - cpu, _peak_mb() - before)


def ill_told(error: AbstragError) -> str | None:
    """Say what is wrong with an error as a person sees it; None where it is one sentence."""
    said = str(error)
    if not said.strip() or len(said) > 2000:
        return f"{type(error).__name__} says {len(said)} characters"
    if "Traceback" in said or "\n\n" in said:
        return f"{type(error).__name__} is no sentence: {said[:200]!r}"
    return None


def _told(error: Exception) -> str:
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}")  # noqa: PTH119
        trace = trace.tb_next
    return f"{type(error).__name__}: {str(error)[:300]} at {' < '.join(reversed(frames[-6:]))}"


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
