"""Turn trained weights into a model that ships with the package.

    python -m tools.export FOLDER --output DIR [--precision int8|float32] [--expect SHA256]

FOLDER has the weights (model.safetensors or model.npz), config.json, tokenizer.json and, unless it
is all-MiniLM-L6-v2 as published, a recipe.json:

    {"name": "our-judge", "task": "judge", "max_tokens": 320, "head": "linear",
     "judging": {"slope": 1.3, "offset": -0.2, "query_tokens": 96, "title": false}}

The task is embed, judge or verdict (with "deciding" and "labels"). The same folder always gives the
same bytes. Nothing here needs PyTorch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tools.export.folder import export
from tools.export.graph import Precision


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write a model as abstrag loads it.")
    parser.add_argument("source", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--precision", type=Precision, choices=Precision, default=Precision.INT8)
    parser.add_argument("--expect", metavar="SHA256")
    given = parser.parse_args(arguments)
    manifest = export(given.source, given.output, precision=given.precision, expected=given.expect)
    for name, digest in manifest.files.items():
        path = given.output / name
        size = f"{path.stat().st_size / 1e6:6.2f} MB" if path.exists() else "   shared"
        print(f"{name:<16} {size}  {digest}")


if __name__ == "__main__":
    main()
