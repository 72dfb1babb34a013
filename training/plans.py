"""Write plans for `sweep.py`: everything a GPU is wanted for in half an hour, known beforehand.

    python training/plans.py verdict --seeds 0 1 2 3 4 > build/verdict.jsonl
    python training/plans.py contexts-first > build/first.jsonl
    python training/plans.py contexts > build/contexts.jsonl

`verdict` are pupils of the opinions in `written/claims.npz`, each kept by itself. `contexts` are
aligners with two vectors a word and one to compare them with, without each group of kinds and at
home; `contexts-first` are their teachers, and the judges whose logits teach at home. All paths are
those of README.md, under `build/`, and nothing else has to be there than README.md says.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from kinds import GROUPS

TOKENIZER = "src/abstrag/neural/weights/tokenizer.json"
EXAMPLES = "build/training/examples.npz"
REPORT = "build/training/report.npz"
MADE = (
    "--made", "build/training/made.npz",
    "--opinions", "training/written/smol.npz", "training/written/one.npz",
)  # fmt: skip
RERANKER = "build/reranker.npz"
HOME = {"scifact": 4, "qasper": 5, "contractnli": 4, "tatqa": 2}
WRITTEN = {
    "made-scifact": 1500, "made-qasper": 700, "made-covidqa": 400, "made-xquad": 119,
    "made-contractnli": 300,
}  # fmt: skip
PUPIL = {
    "epochs": 3, "rate": 2e-4, "batch": 128, "flip": 0.2, "echoes": 0.1, "frozen": 6,
    "taught": 45000, "repeats": {"scifact": 4, "contractnli": 2, "feverous": 1}, "train_dev": True,
}  # fmt: skip
JUDGE = {"epochs": 1, "average": 0.4, "queries": 16, "candidates": 12, "hard": 8}
HALF = {"rate": 6e-5, "keep": 0.1, "most_each": 1200, "parts": 2}
HALF_HOME = {"scifact": 4, "qasper": 6, "contractnli": 4, "tatqa": 3}
TEACHER = {"rate": 5e-5, "keep": 0.3, "crossed": 0.5, "most_each": 700}
ALIGNER = {
    "epochs": 1, "average": 0.4, "rate": 6e-5, "queries": 16, "candidates": 10, "hard": 7,
    "gist": 384, "scalars": 200, "rare": 1.0, "sealed": True, "apart": 0.1, "mix": [6],
    "swapped": 0.3, "renamed": 0.3, "share": -0.6, "share_learns": False, "unmarked": 24,
    "unmarked_weight": 0.6,
}  # fmt: skip
TRIED = {
    "one": {},
    "two": {"dimensions": 64, "context": 64, "gate": 0.5, "fit": 0.5},
    "free": {"dimensions": 64, "context": 64, "gate": 0.15, "fit": 0.7},
}

Plan = Mapping[str, Any]


def line(script: str, recipe: Mapping[str, Any], *arguments: object) -> Plan:
    """Return one run of a plan."""
    return {"script": script, "arguments": [*map(str, arguments), "--recipe", json.dumps(recipe)]}


def verdict(seeds: list[int]) -> Iterator[Plan]:
    """Yield pupils of the teacher whose opinions are kept."""
    common = (
        "--examples", EXAMPLES, "--made", MADE[1], "--tokenizer", TOKENIZER, "--ranker", RERANKER,
        "--judge", "build/judge.npz", "--pairs", "build/training/pairs.json.gz",
        "--taught", "training/written/claims.npz", "--report", REPORT,
    )  # fmt: skip
    for seed in seeds:
        yield line("verdict.py", {**PUPIL, "seed": seed}, *common, "--output", f"build/V{seed}")


def teacher(kinds: tuple[str, ...]) -> str:
    """Return the folder of the judge that was trained without some kinds."""
    return f"build/T-{'-'.join(kinds)}"


def contexts_first() -> Iterator[Plan]:
    """Yield the teachers of aligners: judges of one half of the documents, and without kinds."""
    for fold in (0, 1):
        recipe = {**JUDGE, **HALF, "repeats": HALF_HOME, "fold": fold}
        where = ("--examples", EXAMPLES, "--start", RERANKER, "--logits", f"build/z{fold}.npz")
        yield line("judge.py", recipe, *where)
    for kinds in GROUPS:
        yield line(
            "left_out.py", {**JUDGE, **TEACHER}, "--examples", EXAMPLES, "--start", RERANKER,
            "--model", "judge", "--name", "teacher", "--leave", *kinds, "--most", 600,
            "--output", "build/kinds", "--weights", teacher(kinds),
        )  # fmt: skip


def contexts(seeds: list[int]) -> Iterator[Plan]:
    """Yield aligners: without each group of kinds, and at home of several seeds."""
    common = (
        "--examples", EXAMPLES, "--start", "build/bge.npz", "--words", "build/training/words.npz",
        *MADE,
    )  # fmt: skip
    for kinds in GROUPS:
        for name, changes in TRIED.items():
            yield line(
                "left_out.py", {**ALIGNER, **changes, "most_each": 600, "teach": 0.5}, *common,
                "--teacher", RERANKER, f"{teacher(kinds)}/weights.npz", "--model", "aligner",
                "--name", f"aligner-{name}", "--leave", *kinds, "--most", 600,
                "--output", "build/kinds",
            )  # fmt: skip
    at_home = {**ALIGNER, **TRIED["two"], "heard": 0.7, "most_each": 900, "repeats": HOME}
    at_home["only_most"] = WRITTEN
    logits = ("--taught", "build/z0.npz", "build/z1.npz", "--teacher", RERANKER, "build/judge.npz")
    for seed in seeds:
        recipe = {**at_home, "train_dev": True, "seed": seed}
        where = ("--report", REPORT, "--output", f"build/A-two{seed}", "--unmeasured")
        yield line("aligner.py", recipe, *common, *logits, *where)
    yield line("aligner.py", at_home, *common, *logits, "--output", "build/A-two-held")


def main() -> None:
    """Print a plan."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", choices=("verdict", "contexts-first", "contexts"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    given = parser.parse_args()
    if given.plan == "contexts-first":
        made = contexts_first()
    else:
        made = (verdict if given.plan == "verdict" else contexts)(given.seeds)
    for one in made:
        print(json.dumps(one))


if __name__ == "__main__":
    main()
