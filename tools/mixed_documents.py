"""Write many small documents of real text, mixed and varied, no two alike, and questions to them.

    python tools/mixed_documents.py DATA FOLDER --count 100000
    python tools/mixed_documents.py DATA --pack texts.jsonl.xz
    python tools/mixed_documents.py texts.jsonl.xz FOLDER --count 100000 --questions asked.txt

DATA is the folder of the public data sets that the benchmarks read: abstracts, contracts, papers,
Wikipedia, dialogue, filings and tables. A document takes a run of sentences of one text, in half of
the cases another run of a text of the same kind below it, and every second figure in it is another
one. It is a Markdown, HTML, plain or CSV file, by its kind. The same count and seed give the same
files; document N is the same whatever the count.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import html
import io
import json
import lzma
import multiprocessing
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

KINDS: Final = {  # of the packs, by name
    "2wiki": "wikipedia",
    "check_covid": "abstract",
    "clapnq": "wikipedia",
    "covidqa": "paper",
    "cuad": "contract",
    "expmrc_squad": "wikipedia",
    "feverous_sentences": "wikipedia",
    "fm2": "wikipedia",
    "friendsqa": "dialogue",
    "hotpotqa": "wikipedia",
    "hybridqa": "wikipedia",
    "musique": "wikipedia",
    "qed": "wikipedia",
    "quotesum": "wikipedia",
    "xquad": "wikipedia",
}
POOLED: Final = ("2wiki", "hotpotqa", "musique", "quotesum")  # passages, each sentence with a title
FORMATS: Final = {  # of a kind; each is as likely as it is often named
    "abstract": ("md", "md", "txt"),
    "contract": ("txt", "md"),
    "dialogue": ("txt",),
    "paper": ("md", "html", "txt"),
    "filing": ("html", "txt"),
    "table": ("csv",),
    "wikipedia": ("md", "html", "html", "txt"),
}
A_FOLDER: Final = 1000  # documents of one folder
LEAST_WORDS: Final = 40
MOST_WORDS: Final = 600
_FIGURE: Final = re.compile(r"(?<![\w.,])\d{2,6}(?![\w])")
_TITLED: Final = re.compile(r"([^:|]{3,60}): (?=\S)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;]) +(?=[A-Z(“\"])")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that documents are made of."""

    kind: str
    title: str
    parts: tuple[str, ...]


def collected(data: Path) -> Iterator[SourceText]:
    """Go through the texts of the data sets."""
    for name, kind in KINDS.items():
        for line in _lines(data / "training" / f"{name}.jsonl.gz"):
            said = [each for each in line.get("segments", ()) if " | " not in each]  # no table rows
            if name in POOLED:
                yield from _by_title(kind, said)
            elif said:
                yield SourceText(kind, line.get("title", ""), tuple(said))
    yield from _papers_and_contracts(data)
    for context in json.loads((data / "tatqa" / "tatqa-tune.json").read_text("utf-8")):
        yield SourceText(
            "filing", "", _sentences(*(each["text"] for each in context["paragraphs"]))
        )
    for line in _lines(data / "fetaqa" / "fetaQA-v1_dev.jsonl"):
        title = f"{line['table_page_title']}, {line['table_section_title']}"
        yield SourceText("table", title, tuple("\t".join(row) for row in line["table_array"]))


def _papers_and_contracts(data: Path) -> Iterator[SourceText]:
    for line in _lines(data / "scifact" / "corpus.jsonl"):
        yield SourceText("abstract", line["title"], tuple(line["abstract"]))
    for contract in json.loads((data / "contractnli" / "dev.json").read_text("utf-8"))["documents"]:
        yield SourceText("contract", "", _sentences(contract["text"]))
    for path in sorted((data / "qasper").glob("*.json")):
        for paper in json.loads(path.read_text("utf-8")).values():
            for section in paper["full_text"]:
                title = section["section_name"] or paper["title"] or ""
                yield SourceText("paper", title, _sentences(*section["paragraphs"]))


def asked(data: Path) -> Iterator[str]:
    """Go through the questions and claims of the data sets."""
    for name in KINDS:
        yield from (
            line["query"]
            for line in _lines(data / "training" / f"{name}.jsonl.gz")
            if "query" in line
        )
    yield from (line["claim"] for line in _lines(data / "scifact" / "claims_train.jsonl"))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    opens = gzip.open if path.suffix == ".gz" else open
    with opens(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _sentences(*texts: str) -> tuple[str, ...]:
    lines = (line for text in texts for line in text.splitlines())
    return tuple(each for line in lines for each in _SENTENCE_END.split(line) if each.strip())


def _by_title(kind: str, segments: Sequence[str]) -> Iterator[SourceText]:
    """Cut a pool of passages where another one begins, as the title before each sentence says."""
    title = ""
    run: list[str] = []
    for segment in segments:
        found = _TITLED.match(segment)
        said = found[1] if found else title
        if said != title and run:
            yield SourceText(kind, title, tuple(run))
            run = []
        title = said
        run.append(segment[found.end() :] if found else segment)
    if run:
        yield SourceText(kind, title, tuple(run))


def pack(data: Path, to: Path) -> None:
    """Write every text of the data sets once, and the questions, into one compressed file."""
    seen: set[bytes] = set()
    with lzma.open(to, "wt", preset=6, encoding="utf-8") as lines:
        for text in collected(data):
            fresh = []
            for part in text.parts:
                key = blake2b(part.encode(), digest_size=8).digest()
                if key not in seen or text.kind == "table":
                    seen.add(key)
                    fresh.append(part)
            if fresh:
                line = [text.kind, text.title, *fresh]
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
        for question in dict.fromkeys(asked(data)):
            lines.write(json.dumps(question, ensure_ascii=False) + "\n")


def opened(source: Path) -> tuple[list[SourceText], list[str]]:
    """Return the texts and the questions of a folder or of a packed file."""
    if source.is_dir():
        texts = [text for text in collected(source) if text.parts]  # sections may be empty
        return texts, list(dict.fromkeys(asked(source)))
    texts, questions = [], []
    with lzma.open(source, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if isinstance(line, str):
                questions.append(line)
            else:
                texts.append(SourceText(line[0], line[1], tuple(line[2:])))
    return texts, questions


class DocumentMaker:
    """Makes documents of texts: the same number gives the same document."""

    def __init__(self, texts: Sequence[SourceText], seed: int) -> None:
        self._texts = texts
        self._seed = seed
        self._ends = list(accumulate(_words(text) for text in texts))
        self._kinds: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            self._kinds.setdefault(text.kind, []).append(number)

    def make(self, number: int) -> tuple[str, str]:
        """Return the suffix and the text of a document."""
        random = Random(f"{self._seed} {number}")
        (text,) = random.choices(self._texts, cum_weights=self._ends)
        suffix = random.choice(FORMATS[text.kind])
        wanted = min(MOST_WORDS, max(LEAST_WORDS, random.lognormvariate(4.2, 0.45)))
        if text.kind == "table":
            return suffix, _table(text, wanted, random)
        paragraphs = [_run(text, wanted, random)]
        if random.random() < 0.5 or _count(paragraphs) < LEAST_WORDS:
            paragraphs += self._more(text.kind, max(30.0, wanted - _count(paragraphs)), random)
        title = text.title or " ".join(paragraphs[0].split()[:8])
        return suffix, _written(suffix, title, [_varied(each, random) for each in paragraphs])

    def _more(self, kind: str, wanted: float, random: Random) -> Iterator[str]:
        """Yield runs of other texts of a kind until they have so many words."""
        had = 0
        while had < wanted:
            other = self._texts[random.choice(self._kinds[kind])]
            run = _run(other, wanted - had, random)
            had += len(run.split())
            yield f"{other.title}: {run}" if other.title and kind == "wikipedia" else run


def _words(text: SourceText) -> int:
    return sum(len(part.split()) for part in text.parts)


def _count(paragraphs: Sequence[str]) -> int:
    return sum(len(each.split()) for each in paragraphs)


def _run(text: SourceText, wanted: float, random: Random) -> str:
    """Take sentences one after the other, from anywhere in a text."""
    at, had, taken = random.randrange(len(text.parts)), 0, []
    while at < len(text.parts) and had < wanted:
        words = text.parts[at].split()
        if len(words) > MOST_WORDS:
            words = words[:MOST_WORDS]
        had += len(words)
        taken.append(" ".join(words))
        at += 1
    return ("\n" if text.kind == "dialogue" else " ").join(taken)


def _table(text: SourceText, wanted: float, random: Random) -> str:
    """Take the head of a table and some of its rows."""
    head, *rows = (part.split("\t") for part in text.parts)
    random.shuffle(rows)
    had, kept = 0, []
    for row in rows:
        if had >= wanted:
            break
        kept.append([_varied(cell, random) for cell in row])
        had += sum(len(cell.split()) for cell in row)
    out = io.StringIO()
    csv.writer(out).writerows([head, *kept])
    return out.getvalue()


def _varied(text: str, random: Random) -> str:
    """Replace every second figure by another one of as many digits; years stay near."""

    def other(found: re.Match[str]) -> str:
        said = found[0]
        if random.random() < 0.5 or said[0] == "0":
            return said
        if len(said) == 4 and said[:2] in ("18", "19", "20"):
            return str(min(2024, max(1800, int(said) + random.randint(-9, 9))))
        return str(random.randint(10 ** (len(said) - 1), 10 ** len(said) - 1))

    return _FIGURE.sub(other, text)


def _written(suffix: str, title: str, paragraphs: Sequence[str]) -> str:
    if suffix == "html":
        body = "\n".join(f"<p>{html.escape(each)}</p>" for each in paragraphs)
        said = html.escape(title)
        head = f"<html><head><title>{said}</title></head>"
        return f"{head}<body>\n<h1>{said}</h1>\n{body}\n</body></html>\n"
    heading = f"# {title}\n\n" if suffix == "md" else ""
    return heading + "\n\n".join(paragraphs) + "\n"


def write(source: Path, folder: Path, count: int, seed: int) -> Mapping[str, Any]:
    """Write documents, and say of what kinds they are."""
    seen: set[bytes] = set()
    suffixes: Counter[str] = Counter()
    sizes: list[int] = []
    with multiprocessing.Pool(initializer=_load, initargs=(source, seed)) as pool:
        for suffix, text in pool.imap(_make, range(2 * count), chunksize=100):
            key = blake2b(text.encode(), digest_size=12).digest()
            if key in seen or len(text.split()) < 10:
                continue
            seen.add(key)
            place = folder / f"{len(sizes) // A_FOLDER:03}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{len(sizes):06}.{suffix}").write_text(text, "utf-8")
            suffixes[suffix] += 1
            sizes.append(len(text.split()))
            if len(sizes) == count:
                break
    told = {"documents": len(sizes), "median words": median(sizes), "words": sum(sizes)}
    return {**told, "by suffix": suffixes}


_MAKER: list[DocumentMaker] = []  # of a process that makes documents


def _load(source: Path, seed: int) -> None:
    _MAKER.append(DocumentMaker(opened(source)[0], seed))


def _make(number: int) -> tuple[str, str]:
    return _MAKER[0].make(number)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("source", type=Path, help="the folder of data sets, or a packed file")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pack", type=Path, help="only write the texts into this file")
    parser.add_argument("--questions", type=Path, help="write 200 questions, one on each line")
    given = parser.parse_args()
    if given.pack is not None:
        pack(given.source, given.pack)
        return
    if given.questions is not None:
        _, questions = opened(given.source)
        some = Random(given.seed).sample([q for q in questions if "\n" not in q], 200)
        given.questions.write_text("\n".join(some) + "\n", "utf-8")
    if given.folder is not None:
        print(json.dumps(write(given.source, given.folder, given.count, given.seed)))


if __name__ == "__main__":
    main()
