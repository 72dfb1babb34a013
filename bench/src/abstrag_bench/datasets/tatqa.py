"""TAT-QA: questions about a table and the paragraphs around it.

Span ids are `pORDER` for a paragraph and `tROW` for a table row, as the file counts them; blank
rows are counted but no candidates. Gold is what the annotated mapping points at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from abstrag.model.document import Genre, lines_over
from abstrag.model.segment import CELL_SEPARATOR
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset
from abstrag_bench.datasets.files import FilePlace, existing, read_json

NAME: Final = "tatqa"
_PARAGRAPH: Final = re.compile(r"paragraph_(\d+)$")


def load(data: Path, split: str) -> Dataset:
    """Read `tatqa-SPLIT.json` or `tatqa_dataset_SPLIT.json`."""
    folder = data / NAME
    path = existing(folder / f"tatqa-{split}.json", folder / f"tatqa_dataset_{split}.json")
    missed: list[str] = []
    cases = [
        case
        for n, context in enumerate(read_json(path))
        for case in _cases(FilePlace(path, inside=f"context {n}"), context, split, missed)
    ]
    notes = (f"{len(missed)} mappings point at a blank row",) if missed else ()
    return Dataset(NAME, split, tuple(cases), notes)


def _cases(
    place: FilePlace, context: Mapping[str, Any], split: str, missed: list[str]
) -> Iterator[Case]:
    table = place.field(context, "table", dict)
    rows = place.field(table, "table", list)
    name = str(place.field(table, "uid", str))
    paragraphs = sorted(place.field(context, "paragraphs", list), key=lambda p: int(p["order"]))
    elements = [
        *(Element(f"p{p['order']}", str(p["text"])) for p in paragraphs if p["text"].strip()),
        *_rows(rows),
    ]
    pool = Pool(name, f"table {name}", tuple(elements), Genre.REPORT)
    for question in place.field(context, "questions", list):
        found = tuple(dict.fromkeys(_mapped(place, question)))
        gold = tuple(span for span in found if span in pool.ids)
        missed.extend(span for span in found if span not in pool.ids)
        kind, source = str(question.get("answer_type")), str(question.get("answer_from"))
        yield Case(
            dataset=NAME,
            split=split,
            case_id=str(place.field(question, "uid", str)),
            document=pool,
            query=str(place.field(question, "question", str)),
            gold=gold,
            gold_sets=(gold,) if gold else (),
            group=kind,
            groups={"answer_type": kind, "evidence_type": source},
            answers=_answers(question.get("answer"), str(question.get("scale") or "")),
        )


def _rows(rows: Sequence[Sequence[str]]) -> Iterator[Element]:
    """Make a candidate of every row; rows of column heads and title lines go along with others."""
    depth = header_rows(rows)
    heads = [text for row in rows[:depth] for text in row if text.strip()]
    over = (((),) * depth) + lines_over(rows[depth:])
    for i, row in enumerate(rows):
        text = CELL_SEPARATOR.join(cell.strip() for cell in row if cell.strip())
        if text:
            titles = [rows[depth + line][0].strip() for line in over[i]]
            headers = tuple(dict.fromkeys((*heads, *titles))) if i >= depth else ()
            yield Element(f"t{i}", text, ElementKind.TABLE_ROW, headers=headers)


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Tell how many rows at the top are column heads: the first, and more with nothing on the left.

    A row whose first cell is blank names no line of the table, so it speaks about columns.
    """
    depth = 1
    while depth < len(rows) - 1 and rows[depth] and not rows[depth][0].strip():
        depth += 1
    return depth if len(rows) > 1 else 0


def _mapped(place: FilePlace, question: Mapping[str, Any]) -> Iterator[str]:
    """Go through the spans a question is mapped to, in either of the two official forms."""
    for one in question.get("mappings") or [question.get("mapping") or {}]:
        for key, value in one.items():
            numbered = _PARAGRAPH.match(key)
            if key == "table":
                cells = value if value and isinstance(value[0], list) else [value]
                yield from (f"t{cell[0]}" for cell in cells)
            elif key == "paragraph":
                yield from (f"p{order}" for order in value)
            elif numbered:
                yield f"p{numbered.group(1)}"
            else:
                raise place.error(f"a mapping points at {key!r}, neither table nor paragraph")


def _answers(answer: Any, scale: str) -> tuple[str, ...]:
    """Return the reference, and the same with its scale (thousand, percent) where it has one."""
    if answer is None:
        return ()
    text = ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
    return (text, f"{text} {scale}") if scale else (text,)
