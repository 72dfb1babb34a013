"""Experiments on a few tiny documents."""

from collections.abc import Sequence
from pathlib import Path

from abstrag_bench.experiments.page import render
from abstrag_bench.experiments.runner import ExperimentResult, run_experiments
from abstrag_bench.experiments.setting import Setting, load_folder
from tests.unit.bench.makers import write_plain

DATASETS = """
[plain]
split = "mine"
paper_split = "mine"
paper_cases = 4

[scifact]
split = "train"
"""
FIGURES = """
[main.plain]
metrics = ["Suff@5", "nDCG@10"]
head = ["group", "n"]
rows = [["SUPPORTS", "138"]]
[main.plain.systems]
bm25 = [12.5, 34.5]
hyde = [1.0, 2.0]
"""
MAIN = """
title = "Main"
asks = "What is there?"
paper = ["tab:main"]
kind = "systems"
datasets = ["plain", "scifact"]
systems = ["bm25", "bm25-stem"]
model_systems = ["hyde"]
reference = "bm25"
views = ["scores", "contrasts", "groups", "effort"]
figures = "main"
"""


def make_setting(tmp_path: Path, *configs: tuple[str, str], limit: int | None = None) -> Setting:
    home = tmp_path / "configs"
    home.mkdir(exist_ok=True)
    (home / "datasets.toml").write_text(DATASETS)
    (home / "paper-figures.toml").write_text(FIGURES)
    for name, text in configs:
        (home / f"{name}.toml").write_text(text)
    write_plain(tmp_path / "data" / "mine.jsonl", 2)
    return Setting(load_folder(home), tmp_path / "data", tmp_path / "run", limit=limit)


def page_of(setting: Setting, names: Sequence[str] = ()) -> tuple[list[ExperimentResult], str]:
    results = run_experiments(setting, names)
    return results, "\n".join(render(results, setting).values())
