"""Training packs: gzipped lines, a document `{doc, segments}` before its cases `{doc, id, …}`.

The split is the pack's name: `--dataset packs --split xquad` reads `training/xquad.jsonl.gz`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset
from abstrag_bench.datasets.files import FilePlace, existing, read_lines

NAME: Final = "packs"


def load(data: Path, split: str) -> Dataset:
    """Read one pack."""
    folder = data / "training"
    path = existing(folder / f"{split}.jsonl.gz", folder / f"{split}.jsonl")
    pools: dict[str, Pool] = {}
    cases: dict[str, Case] = {}
    for number, line in read_lines(path):
        place = FilePlace(path, number)
        name = f"{split}/{place.field(line, 'doc', str)}"
        if "segments" in line:
            texts = enumerate(place.strings(line, "segments"))
            elements = [
                Element(str(i), t.strip(), ElementKind.SENTENCE) for i, t in texts if t.strip()
            ]
            pools[name] = Pool(name, str(line.get("title") or name), tuple(elements))
            continue
        if name not in pools:
            raise place.error(f"document {line['doc']!r} has not come before its case")
        known = set(pools[name].ids)
        gold = tuple(dict.fromkeys(str(index) for index in place.field(line, "gold", list)))
        if unknown := [span for span in gold if span not in known]:
            raise place.error(f"document {line['doc']!r} has no segment {unknown[0]}")
        case_id = str(place.field(line, "id", int, str))
        if case_id in cases:
            raise place.error(f"case {case_id!r} is there twice")
        label = str(line["label"]) if line.get("label") else None
        cases[case_id] = Case(
            dataset=NAME,
            split=split,
            case_id=case_id,
            document=pools[name],
            query=str(place.field(line, "query", str)),
            gold=gold,
            gold_sets=(gold,) if gold else (),
            group=label,
            groups={"label": label} if label else {},
            label=label,
        )
    return Dataset(NAME, split, tuple(cases.values()))
