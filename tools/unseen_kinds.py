"""Build the data sets of kinds of documents that no shipped weight has seen.

    apt-get download $(python -m tools.unseen_kinds --packages)
    for file in *.deb; do dpkg -x "$file" root; done
    python -m tools.unseen_kinds root --output DATA
    abstrag bench run --dataset plain --data DATA --split unseen-report --systems bm25 --out RUN
    python -m tools.unseen_kinds --table RUN …

Each document is read as anyone's file is, and cut into its paragraphs, list items and rows; every
system is given the same. `tests/data/unseen_kinds` has the list of documents and the questions,
each with quotations of the passages that answer it. A quotation that no passage has, or more than
one, is an error, so a package of another version cannot be measured by mistake.

The table has nDCG@10 of every system for each kind, and how far each of ours is from the baseline
that is best at the kind.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from abstrag.errors import InputError
from abstrag.model.document import Block, BlockKind, Document
from abstrag_bench.metrics.catalogue import NDCG
from abstrag_bench.metrics.metric import values
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import OURS, RunFolder
from abstrag_bench.stats import difference_of_each, paired

HERE: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "unseen_kinds"
PARTS: Final = ("tune", "report")
_LEAST: Final = 3  # words: what has fewer is a label and answers nothing
_SPACES: Final = re.compile(r"\s+")
_KINDS: Final = {BlockKind.LIST_ITEM: "list_item", BlockKind.CAPTION: "caption"}


def listed() -> list[dict[str, Any]]:
    """Return the documents."""
    found: list[dict[str, Any]] = tomllib.loads((HERE / "documents.toml").read_text())["document"]
    return found


def questions() -> Iterator[Mapping[str, Any]]:
    """Go through the questions."""
    for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def read(path: Path) -> Document:
    """Read a file; one without a suffix that says more is plain text."""
    with TemporaryDirectory() as folder:
        if path.suffix == ".html":
            return Document.load(path)
        data = path.read_bytes()
        name = path.name.removesuffix(".gz")
        text = Path(folder) / (name if name.endswith(".txt") else f"{name}.txt")
        text.write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
        return Document.load(text)


def rows(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Go through the rows of a table that are not its head, each with the heads of its columns."""
    assert block.table is not None
    heads = [cell.text for cell in block.table.cells if cell.header]
    for row in range(1 + max((cell.row for cell in block.table.cells), default=-1)):
        texts = [c.text for c in block.table.cells if c.row == row and not c.header]
        if any(texts):
            yield " | ".join(texts), heads


def elements(root: Path, one: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the passages of a document, in their order."""
    found: list[dict[str, Any]] = []
    for name in one["files"]:
        document = read(root / name)
        wanted = one.get("sections")
        for block in document.blocks:
            if block.kind is BlockKind.HEADING:
                continue
            section = [text for text in block.section if text != document.title]
            if wanted and not set(wanted) & set(section):
                continue
            said = rows(block) if block.table is not None else [(block.text, [])]
            for text, heads in said:
                text = _SPACES.sub(" ", text).strip()
                if len(re.findall(r"\w\w+", text)) < _LEAST:
                    continue
                kind = "table_row" if block.table else _KINDS.get(block.kind, "paragraph")
                passage = {"id": str(len(found)), "text": text, "kind": kind, "section": section}
                found.append({**passage, "headers": heads} if heads else passage)
    return found[: one.get("most")]


def gold(passages: list[dict[str, Any]], quotations: list[str], where: str) -> list[str]:
    """Return the ids of the passages that quotations are from.

    Raises:
        InputError: One is from no passage, or from more than one.
    """
    found = []
    for quotation in quotations:
        own = [one["id"] for one in passages if quotation in one["text"]]
        if len(own) != 1:
            raise InputError(
                f"{len(own)} passages of {where} have {quotation!r}",
                hint="take the package in the version that documents.toml names",
            )
        found += own
    return found


def build(
    root: Path, documents: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]]
) -> dict[str, list[Mapping[str, Any]]]:
    """Return the lines of the data set of each part: documents, each before its questions."""
    lines: dict[str, list[Mapping[str, Any]]] = {part: [] for part in PARTS}
    for one in documents:
        passages, name, into = elements(root, one), one["id"], lines[one["part"]]
        into.append({"document": name, "title": one["title"], "elements": passages})
        for question in asked:
            if question["document"] == name:
                ids = gold(passages, question["gold"], name)
                case = {"case": question["id"], "document": name, "query": question["query"]}
                into.append({**case, "gold": ids, "group": one["kind"]})
    return lines


def table(records: Sequence[CaseRecord]) -> str:
    """Return the mean of every system for each kind, and how ours differ from the best baseline."""
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for one in records:
        own = scores.setdefault(one.group or "", {}).setdefault(one.system, {})
        own.update(values(NDCG, [one]).by_case)
    systems = list(dict.fromkeys(one.system for one in records))
    ours = [name for name in systems if name.startswith(OURS)]
    lines = [["kind", *systems, "best baseline", *(f"{name} less it" for name in ours)]]
    gains: dict[str, list[float]] = {name: [] for name in ours}
    means: dict[str, list[float]] = {name: [] for name in systems}
    for kind, found in scores.items():
        for name in systems:
            means[name].append(100 * statistics.fmean(found[name].values()))
        best = max((n for n in systems if n not in ours), key=lambda name: means[name][-1])
        apart = difference_of_each({name: paired(found[name], found[best]) for name in ours})
        told = [
            f"{100 * d.mean:+.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}]" for d in apart.values()
        ]
        for name in ours:
            gains[name].append(100 * apart[name].mean)
        lines.append([kind, *(f"{means[name][-1]:.1f}" for name in systems), best, *told])
    mean = [f"{statistics.fmean(means[name]):.1f}" for name in systems]
    told = [
        f"median {statistics.median(own):+.1f}, mean {statistics.fmean(own):+.1f}"
        for own in gains.values()
    ]
    lines.append(["mean of kinds", *mean, "", *told])
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Read the arguments and write one file for each part, or print the table of runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("root", type=Path, nargs="?", help="the folder of the unpacked packages")
    parser.add_argument("--output", type=Path, default=Path(), help="the folder to write to")
    parser.add_argument("--packages", action="store_true", help="print which packages are wanted")
    parser.add_argument(
        "--table", type=Path, nargs="+", metavar="RUN", help="print the table of one run or more"
    )
    given = parser.parse_args()
    if given.table is not None:
        print(table([one for run in given.table for one in RunFolder(run).records()]))
        return
    if given.packages or given.root is None:
        print("\n".join(one["package"] for one in listed()))
        return
    given.output.mkdir(parents=True, exist_ok=True)
    for part, lines in build(given.root, listed(), list(questions())).items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (given.output / f"unseen-{part}.jsonl").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
