"""A run in a process of its own under other constants than the paper's.

    python -m abstrag_bench.experiments.with_constants REQUEST.json

The constants are module globals that other modules copy when they are imported, derive further
numbers from and keep in caches. So they are changed before anything else is imported, in a process
that ends with the run: nothing can leak, and nothing can be missed. Importing this module imports
nothing of the package but `config`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep

import abstrag.config as config
from abstrag.errors import InputError


@dataclass(frozen=True, slots=True)
class ChildRun:
    """What a child process is to run; written as JSON."""

    constants: Mapping[str, float]
    dataset: str
    data: str
    split: str
    systems: tuple[str, ...]
    out: str
    limit: int | None = None


def change(constants: Mapping[str, float]) -> None:
    """Set constants of the config for the rest of this process."""
    for name, value in constants.items():
        if not isinstance(getattr(config, name, None), int | float) or not name.isupper():
            raise InputError(f"the config has no number called {name!r}")
        if len(copies := _copies(name)) > 1:
            raise InputError(f"{name!r} has been read already, by {copies[-1]!r}")
        setattr(config, name, float(value))


def _copies(name: str) -> list[str]:
    """Return the modules of ours that have the constant by now."""
    ours = [module for module in sys.modules if module.startswith("abstrag")]
    return sorted(module for module in ours if hasattr(sys.modules[module], name))


def _follow(parent: int) -> None:
    """End with the process that asked: left behind, it would keep the next run out."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(1)


def main(path: Path) -> None:
    """Run what a request asks for."""
    Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    request = ChildRun(**json.loads(path.read_text("utf-8")))
    change(request.constants)
    from abstrag.indexing.operator import Layer
    from abstrag.indexing.pipeline import PARSES
    from abstrag_bench.datasets.load import load_dataset
    from abstrag_bench.runner import Options, run
    from abstrag_bench.shared import share_only
    from abstrag_bench.systems import SystemSpec

    # a layer's fingerprint does not name the constants: only what comes before any price is shared
    share_only({Layer.SEGMENTS, PARSES, Layer.COREFERENCE})
    dataset = load_dataset(request.dataset, Path(request.data), request.split)
    specs = [SystemSpec.of(name) for name in request.systems]
    run(dataset, specs, Path(request.out), Options(limit=request.limit))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
