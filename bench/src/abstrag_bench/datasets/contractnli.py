"""ContractNLI: hypotheses about a contract, against the spans it was cut into.

Case ids are `DOC:HYPOTHESIS`, span ids the span's index; blank spans are counted but no candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from abstrag.model.document import Genre
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset
from abstrag_bench.datasets.files import FilePlace, existing, read_json

NAME: Final = "contractnli"


def load(data: Path, split: str) -> Dataset:
    """Read `SPLIT.json`."""
    path = existing(data / NAME / f"{split}.json")
    place = FilePlace(path)
    content = read_json(path)
    hypotheses = {
        name: str(place.field(label, "hypothesis", str))
        for name, label in place.field(content, "labels", dict).items()
    }
    missed: list[str] = []
    cases = [
        case
        for contract in place.field(content, "documents", list)
        for case in _cases(path, contract, hypotheses, split, missed)
    ]
    notes = (f"{len(missed)} gold spans are blank",) if missed else ()
    return Dataset(NAME, split, tuple(cases), notes)


def _cases(
    path: Path,
    contract: Mapping[str, Any],
    hypotheses: Mapping[str, str],
    split: str,
    missed: list[str],
) -> Iterator[Case]:
    name = str(FilePlace(path).field(contract, "id", int, str))
    place = FilePlace(path, inside=f"document {name!r}")
    pool = _pool(place, name, contract)
    known = set(pool.ids)
    annotations = place.field(contract, "annotation_sets", list)[0]["annotations"]
    for hypothesis, annotation in annotations.items():
        if hypothesis not in hypotheses:
            raise place.error(f"the labels do not explain hypothesis {hypothesis!r}")
        marked = [str(index) for index in place.field(annotation, "spans", list)]
        if beyond := [index for index in marked if not 0 <= int(index) < len(contract["spans"])]:
            raise place.error(
                f"hypothesis {hypothesis!r} names span {beyond[0]}, which is not there"
            )
        missed.extend(index for index in marked if index not in known)
        gold = tuple(index for index in marked if index in known)
        choice = place.field(annotation, "choice", str)
        yield Case(
            dataset=NAME,
            split=split,
            case_id=f"{name}:{hypothesis}",
            document=pool,
            query=hypotheses[hypothesis],
            gold=gold,
            gold_sets=(gold,) if gold else (),
            group=choice,
            groups={"label": choice, "hypothesis": hypothesis},
            label=choice,
        )


def _pool(place: FilePlace, name: str, contract: Mapping[str, Any]) -> Pool:
    text = place.field(contract, "text", str)
    elements = [
        Element(str(i), text[start:end].strip(), ElementKind.SENTENCE)
        for i, (start, end) in enumerate(place.field(contract, "spans", list))
        if text[start:end].strip()
    ]
    title = str(contract.get("file_name") or name)
    return Pool(name, title, tuple(elements), Genre.LEGAL)
