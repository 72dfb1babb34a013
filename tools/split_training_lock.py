"""Split the lock of training: what every machine needs, torch for processors, torch for CUDA.

    python tools/split_training_lock.py FULL FOLDER

The published torch for Linux wants CUDA's libraries, some gigabytes; the build for processors does
not. So FOLDER gets training.lock without torch, torch-cpu.lock and torch-gpu.lock, of which a
machine takes one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

_GPU: Final = re.compile(r"(torch|nvidia|cuda|triton)\b")
# of the build for processors, Python 3.11 on Linux
_CPU_BUILD: Final = "sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
_PIN: Final = re.compile(r"(?m)^(?=[a-z0-9][\w.-]*==)")


def split(full: str) -> dict[str, str]:
    """Return the three locks by name, each with the head of the whole."""
    head, *pins = _PIN.split(full)
    common = "".join(pin for pin in pins if not _GPU.match(pin))
    version = re.search(r"(?m)^torch==([\w.]+)", full)
    assert version is not None
    return {
        "training": head + common,
        "torch-cpu": f"{head}torch=={version[1]}+cpu \\\n    --hash={_CPU_BUILD}\n",
        "torch-gpu": head + "".join(filter(_GPU.match, pins)),
    }


def main() -> None:
    full, folder = map(Path, sys.argv[1:])
    for name, text in split(full.read_text("utf-8")).items():
        (folder / f"{name}.lock").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
