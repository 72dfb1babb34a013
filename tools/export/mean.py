"""The mean of the aligner's vectors of whole texts, which is taken off every one of them.

    python -m tools.export.mean EXAMPLES.npz --model src/abstrag/neural/weights/aligner

All texts point much the same way in its space: two that have nothing in common have a cosine of
0.7. Less their mean they have one of about 0, and what means the same keeps one near 1. The texts
are passages and queries of prepared examples, and single words, in equal parts.
"""

from __future__ import annotations

import argparse
import io
import random
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer

from abstrag.model.record import to_json
from abstrag.neural.aligner import MEAN, Aligner
from abstrag.neural.bundle import MANIFEST, TOKENIZER, WEIGHTS, Bundle, ModelTask

PASSAGES: Final = 500
QUERIES: Final = 300
LONGEST: Final = 400  # characters of a passage
WORDS: Final = (
    "car automobile treaty dog bank river company chip supplier collaboration visit payment refund "
    "contract court judge doctor physician patient drug vaccine school teacher student city mayor "
    "war battle army tree forest computer software network data model training language music "
    "song film actor team coach goal match weather storm rain tax budget revenue profit loss "
    "share market price food bread fruit house road bridge train airport ship sea island mountain "
    "animal bird fish virus protein gene cell brain heart blood"
).split()


def drawn(examples: Path, tokenizer: Path, kind: str, count: int) -> list[str]:
    """Return some texts of a prepared file, the same ones on every call."""
    read = Tokenizer.from_file(str(tokenizer))
    file = np.load(examples)
    flat, at = file[f"{kind}_flat"], file[f"{kind}_at"]
    chosen = random.Random(f"mean/{kind}").sample(range(len(at) - 1), count)
    return [read.decode(flat[at[i] : at[i + 1]].tolist())[:LONGEST] for i in chosen]


def mean_of(aligner: Aligner, *groups: Sequence[str]) -> np.ndarray:
    """Return the mean over groups of texts, each group counting the same."""
    means = [aligner.wholes(texts).mean(axis=0) for texts in groups]
    found: np.ndarray = np.mean(means, axis=0).astype(np.float32)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the mean of an aligner's vectors.")
    parser.add_argument("examples", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, default=WEIGHTS / TOKENIZER)
    given = parser.parse_args(arguments)
    passages = drawn(given.examples, given.tokenizer, "passages", PASSAGES)
    queries = drawn(given.examples, given.tokenizer, "queries", QUERIES)
    mean = mean_of(Aligner.load(given.model), passages, queries, WORDS)
    buffer = io.BytesIO()
    np.save(buffer, mean)
    manifest = Bundle.open(given.model, ModelTask.ALIGN).manifest
    files = {**manifest.files, MEAN: sha256(buffer.getvalue()).hexdigest()}
    (given.model / MEAN).write_bytes(buffer.getvalue())
    (given.model / MANIFEST).write_text(
        to_json(replace(manifest, files=files), indent=2) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
