"""FeTaQA: free-form questions about a Wikipedia table, against its cells.

Span ids are `tROW.COL` as the file counts them, the row of column heads being row 0; blank cells
are counted but no candidates. A cell carries its column's head and its row's first cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset
from abstrag_bench.datasets.files import FilePlace, existing, read_lines

NAME: Final = "fetaqa"


def load(data: Path, split: str) -> Dataset:
    """Read `fetaQA-v1_SPLIT.jsonl`."""
    path = existing(data / NAME / f"fetaQA-v1_{split}.jsonl")
    cases: list[Case] = []
    pools: dict[str, Pool] = {}
    missed = 0
    for number, line in read_lines(path):
        place = FilePlace(path, number)
        rows = place.field(line, "table_array", list)
        page, section = str(line.get("table_page_title")), str(line.get("table_section_title"))
        digest = sha256(repr((page, section, rows)).encode()).hexdigest()[:12]
        name = f"{page}#{digest}"
        if name not in pools:
            elements = tuple(_cells(rows, section))
            pools[name] = Pool(name, page, elements, Genre.PAGE_LOCAL, Granularity.ELEMENT)
        known = set(pools[name].ids)
        marked = [f"t{row}.{column}" for row, column in line.get("highlighted_cell_ids", ())]
        gold = tuple(dict.fromkeys(span for span in marked if span in known))
        missed += len(marked) - len(gold)
        cases.append(
            Case(
                dataset=NAME,
                split=split,
                case_id=str(place.field(line, "feta_id", int, str)),
                document=pools[name],
                query=str(place.field(line, "question", str)),
                gold=gold,
                gold_sets=(gold,) if gold else (),
                group=_size(len(gold)),
                groups={"gold_cells": _size(len(gold))},
                answers=(str(line["answer"]),) if line.get("answer") else (),
            )
        )
    notes = (f"{missed} highlighted cells are blank or marked twice",) if missed else ()
    return Dataset(NAME, split, tuple(cases), notes)


def _cells(rows: Sequence[Sequence[str]], section: str) -> Iterator[Element]:
    heads = rows[0] if rows else ()
    path = (section,) if section else ()
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            if not text.strip():
                continue
            column = heads[c] if r and c < len(heads) else ""
            line = row[0] if r and c else ""
            headers = tuple(dict.fromkeys(head.strip() for head in (column, line) if head.strip()))
            yield Element(
                f"t{r}.{c}", text.strip(), ElementKind.TABLE_CELL, path, headers, section or None
            )


def _size(cells: int) -> str:
    for most in (2, 5, 10):
        if cells <= most:
            return f"up to {most} cells"
    return "more than 10 cells"
