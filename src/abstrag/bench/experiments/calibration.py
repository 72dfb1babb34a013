"""A layout-role schedule from ratings, where somebody has rated papers (appendix K)."""

from __future__ import annotations

from collections.abc import Iterator

from abstrag.bench.experiments.config import Experiment
from abstrag.bench.experiments.setting import Section, Setting
from abstrag.bench.experiments.tables import table
from abstrag.config import W_L
from abstrag.indexing.utility import calibrate


def run_calibration(experiment: Experiment, setting: Setting) -> Iterator[Section]:
    """Aggregate the ratings file of the data folder, and set the paper's weights beside it."""
    path = setting.data / str(experiment.ratings)
    rubric = table(
        ("rating", "a section that"),
        [(f"{value:.1f}", what) for what, value in experiment.rubric.items()],
    )
    if not path.is_file():
        yield Section(
            "ratings",
            (rubric,),
            not_run=f"there is no ratings file DATA/{experiment.ratings}; "
            "the paper's six rated papers are not published",
        )
        return
    printed = W_L["scientific"]
    rows = [
        (role, f"{weight:.2f}", f"{printed[role]:.2f}" if role in printed else "–")
        for role, weight in calibrate(path).items()
    ]
    yield Section("ratings", (rubric, table(("role", "calibrated", "scientific schedule"), rows)))
