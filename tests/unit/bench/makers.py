"""Tiny data sets in the official formats, and records and runs made of nothing."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder, RunManifest, SystemInfo


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path


def make_record(case_id: str = "c1", **changes: Any) -> CaseRecord:
    fields: dict[str, Any] = {
        "dataset": "plain",
        "split": "dev",
        "case_id": case_id,
        "system": "one",
        "query": "what?",
        "ranked": ("a", "b", "c"),
        "scores": (3.0, 2.0, 1.0),
        "gold": ("a",),
        "gold_sets": (("a",),),
        "pool": 3,
        "retrieved": 3,
    }
    return CaseRecord(**{**fields, **changes})


def make_pool(name: str = "d1") -> Pool:
    texts = (
        "Lions sleep for most of the day in the shade of trees.",
        "A shark hunts seals near the coast at dawn.",
        "The museum opened its doors in the spring.",
    )
    elements = tuple(Element(str(i), t, ElementKind.SENTENCE) for i, t in enumerate(texts))
    return Pool(name, "Animals", elements)


def make_cases(documents: int = 3) -> tuple[Case, ...]:
    asked = (("When do lions sleep?", "0"), ("What does a shark hunt?", "1"), ("Why is it?", ""))
    return tuple(
        Case(
            dataset="plain",
            split="dev",
            case_id=f"d{d}-q{q}",
            document=pool,
            query=query,
            gold=(gold,) if gold else (),
            gold_sets=((gold,),) if gold else (),
            group="answerable" if gold else "none",
            groups={"kind": "answerable" if gold else "none"},
        )
        for d in range(documents)
        for pool in [make_pool(f"d{d}")]
        for q, (query, gold) in enumerate(asked)
    )


def make_dataset(documents: int = 3) -> Dataset:
    return Dataset("plain", "dev", make_cases(documents))


def write_plain(path: Path, documents: int) -> Path:
    """Write documents of a few elements with two cases each in the plain form."""
    lines: list[dict[str, Any]] = []
    for d in range(documents):
        elements = [element.text for element in make_pool().elements]
        lines.append({"document": f"d{d}", "title": "Animals", "elements": elements})
        lines.append(
            {"case": f"d{d}-a", "document": f"d{d}", "query": "When do lions sleep?", "gold": ["0"]}
        )
        lines.append(
            {"case": f"d{d}-b", "document": f"d{d}", "query": "spring museum", "gold": ["1"]}
        )
    return write_lines(path, lines)


def write_run(
    path: Path,
    records: Sequence[CaseRecord],
    cases: int | None = None,
    *,
    marks_shown: bool = True,
) -> Path:
    names = dict.fromkeys(one.system for one in records)
    ids = {one.case_id: bool(one.gold) for one in records}
    folder = RunFolder(path)
    folder.begin(
        RunManifest(
            dataset="plain",
            split="dev",
            cases=len(ids) if cases is None else cases,
            with_gold=sum(ids.values()),
            digest="0",
            depth=10,
            systems={
                name: SystemInfo(name, f"{name}, exact", marks_shown=marks_shown) for name in names
            },
        )
    )
    with folder.appending() as appender:
        appender.write(records)
    return path
