"""Split the lock of training into what every machine needs and what only a graphics card does.

    python tools/split_training_lock.py FULL COMMON GPU

The published torch for Linux wants CUDA's libraries, some gigabytes; its build for processors does
not, and has the same version. So the first file takes the hash of that build too, and whoever has
it never needs the second file.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

GPU: Final = re.compile(r"(nvidia|cuda|triton)\b")
# torch-2.13.0+cpu for Python 3.11 on Linux, as PyTorch publishes it
CPU_BUILD: Final = "sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
_PIN: Final = re.compile(r"(?m)^(?=[a-z0-9][\w.-]*==)")


def split(full: str) -> tuple[str, str]:
    """Return both parts, each with the head of the whole."""
    head, *pins = _PIN.split(full)
    common = [pin for pin in pins if not GPU.match(pin)]
    return head + "".join(map(_with_cpu_build, common)), head + "".join(filter(GPU.match, pins))


def _with_cpu_build(pin: str) -> str:
    if not pin.startswith("torch=="):
        return pin
    first, rest = pin.split("\n", 1)
    return f"{first}\n    --hash={CPU_BUILD} \\\n{rest}"


def main() -> None:
    full, common, gpu = map(Path, sys.argv[1:])
    for path, text in zip((common, gpu), split(full.read_text("utf-8")), strict=True):
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
