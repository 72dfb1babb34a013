"""The part of `smoke.py` about the plans for a GPU: lines of each, as they are, on toy files."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from bert import MINILM, Scorer, exported
from claims import Claim, write_claims
from plans import MADE, RERANKER, TOKENIZER, Plan, contexts, contexts_first, verdict

from examples import Examples, write_logits

Check = Callable[[str, float, float], None]
SOURCES = (
    "contractnli", "friendsqa", "hotpotqa", "qasper", "fm2", "tatqa", "scifact", "xquad",
)  # fmt: skip
SMALLER = {"epochs": 1, "most_each": 2, "queries": 8, "batch": 16, "taught": 4, "unmarked": 2}
CLAIM = [2023, 2003, 2000]


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder: plans name their files from where they are run."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def renamed(path: Path, output: Path, sources: tuple[str, ...]) -> None:
    """Write examples again as those of several data sets."""
    file = dict(np.load(path))
    file["names"] = np.array(sources)
    file["documents"][:, 0] = np.arange(len(file["documents"])) % len(sources)
    output.parent.mkdir(parents=True, exist_ok=True)
    np.savez(output, **file)


def laid_out(path: Path) -> None:
    """Write toys of all files that the plans begin with, where README.md puts them."""
    home = Path(__file__).parents[1]
    renamed(path, Path("build/training/examples.npz"), SOURCES)
    renamed(path, Path("build/training/report.npz"), SOURCES)
    renamed(path, Path(MADE[1]), ("made-scifact",))
    made = Examples(Path(MADE[1]), None)
    chance = np.random.default_rng(0)
    logits = {q: chance.normal(size=len(made.pool(q))) for q in range(len(made)) if made.gold(q)}
    for one in MADE[3:]:
        write_logits(Path(one), logits)
    Path(TOKENIZER).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(home / TOKENIZER, TOKENIZER)
    start = exported(Scorer(replace(MINILM, layers=1), dropout=0.0))
    for name in (RERANKER, "build/judge.npz", "build/bge.npz"):
        np.savez(name, **{k: v.numpy() for k, v in start.items()})
    claims = [Claim(tuple(CLAIM), (8, 9), 0, (0.8, 0.1, 0.1)) for _ in range(6)]
    write_claims(Path("training/written/claims.npz"), claims)
    with gzip.open("build/training/pairs.json.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(["check_covid", CLAIM, CLAIM, n % 3]) + "\n" for n in range(6))
    words: dict[str, Any] = {"words": ["a", "b"], "base": [0, 1], "sort": [0, 0]}
    words["rarity"] = np.zeros(MINILM.vocabulary, np.float32)
    for name, rows in (("pieces", [[120], [121]]), ("friends", [[1], [0]]), ("foes", [[], []])):
        words[f"{name}_flat"] = np.array([x for row in rows for x in row], np.int64)
        words[f"{name}_at"] = np.cumsum([0, *map(len, rows)])
    np.savez("build/training/words.npz", **words)


def smaller(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe that is over at once: what there is of it is made less."""
    most = {key: value for key, value in SMALLER.items() if key in recipe or key == "most_each"}
    if "taught" in recipe:  # verdict models have no such limit
        most.pop("most_each")
    other = {"repeats": {}, "only_most": {"made-scifact": 3}, "frozen": 0, "mix": [1]}
    return {**recipe, **most, **{key: one for key, one in other.items() if key in recipe}}


def went(plan: Plan) -> bool:
    """Run a line with a small recipe, in this process; tell whether it came to its end."""
    arguments = list(plan["arguments"])
    at = arguments.index("--recipe") + 1
    arguments[at] = json.dumps(smaller(json.loads(arguments[at])))
    before, sys.argv = sys.argv, [plan["script"], *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(Path(plan["script"]).stem).main()
    finally:
        sys.argv = before
    return True


def check_plans(path: Path, check: Check) -> None:
    """Run lines of every kind that the plans have, in their order."""
    path = path.resolve()
    with inside(path.parent):
        laid_out(path)
        first, later = list(contexts_first()), list(contexts([0]))
        lines = [*verdict([0]), *first[:3], later[1], later[-2]]
        check("plans, lines that ran", float(sum(map(went, lines))), len(lines))
        written = ["build/V0/weights.npz", "build/A-two0/weights.npz", "build/kinds/aligner-two"]
        check("  what they wrote", float(sum(Path(one).exists() for one in written)), 3)
