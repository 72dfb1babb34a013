"""Every data set by its name, and the part of it that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from abstrag.errors import InputError
from abstrag_bench.case import Dataset, SplitPart, parse_split, part_of
from abstrag_bench.datasets import (
    contractnli,
    fetaqa,
    feverous,
    packs,
    plain,
    qasper,
    scifact,
    tatqa,
)

LOADERS: Final[Mapping[str, Callable[[Path, str], Dataset]]] = {
    "scifact": scifact.load,
    "qasper": qasper.load,
    "feverous": feverous.load,
    "tatqa": tatqa.load,
    "contractnli": contractnli.load,
    "fetaqa": fetaqa.load,
    "packs": packs.load,
    "plain": plain.load,
}


def load_dataset(name: str, data: Path, split: str) -> Dataset:
    """Load a data set's split; `NAME:report` or `NAME:tune` is that part of it."""
    if name not in LOADERS:
        raise InputError(f"no data set is called {name!r}", hint=f"one of: {', '.join(LOADERS)}")
    if not data.exists():
        raise InputError(f"there is no data folder {str(data)!r}", hint="check --data")
    bare, part = parse_split(split)
    whole = LOADERS[name](data, bare)
    if part is SplitPart.ALL:
        return whole
    kept = tuple(
        replace(case, split=split) for case in whole.cases if part_of(case.document.id) is part
    )
    return replace(whole, split=split, cases=kept)
