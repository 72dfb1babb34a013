"""Refinement on labelled data: every arm of the gate, how often it is called for, how it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from abstrag.engine.refinement import packaged_evaluator
from abstrag.errors import InputError
from abstrag.indexing.pipeline import fingerprint
from abstrag.model.record import to_json
from abstrag.neural.judge import default_judge
from abstrag.refine.evaluator import Evaluator, K
from abstrag.search.relevance import PRESETS
from abstrag.workspace.document import SearchableDocument
from abstrag_bench.experiments.setting import Experiment, ExperimentSection, Setting, same_settings
from abstrag_bench.experiments.tables import printed_in_paper
from abstrag_bench.record import CaseRecord
from abstrag_bench.render.table import markdown_table
from abstrag_bench.stress import ARMS, Stress, run_stress, summarize, to_markdown

_FULL: Final = next(iter(ARMS))


def run_refinement(experiment: Experiment, setting: Setting) -> Iterator[ExperimentSection]:
    """Refine every document under every arm, unless that is done, and make the tables."""
    for name in experiment.datasets:
        if reason := setting.missing(name):
            yield ExperimentSection(name, not_run=reason)
            continue
        for preset in experiment.presets:
            for guessing in (False, True) if "guessing" in experiment.views else (False,):
                yield _section(experiment, setting, name, preset, guessing=guessing)


def _section(
    experiment: Experiment, setting: Setting, name: str, preset: str, *, guessing: bool
) -> ExperimentSection:
    proposer = _proposer(guessing=guessing)
    place = place_of(setting, name, preset, guessing=guessing)
    same_settings(
        place,
        {
            "preset": to_json(PRESETS[preset]),
            "proposer": proposer,
            "chain": fingerprint(),
            "judge": default_judge().fingerprint,
        },
    )
    records = run_stress(
        setting.dataset(name),
        Stress(_evaluator, preset=PRESETS[preset], guessing=guessing),
        place,
        limit=setting.limit,
        on_document=lambda _id, done, total: setting.tell(f"{name}: {done} of {total}"),
    )
    made: list[str] = []
    for view in experiment.views:
        if view == "arms":
            made.append(to_markdown(summarize(records, k=K)).rstrip())
        elif view == "triggers":
            made.append(triggers(records))
        elif view == "endings":
            made.append(endings(records))
        elif view != "guessing":
            raise InputError(f"experiment {experiment.name!r} has no view {view!r}")
    made += printed_in_paper(setting.figures(experiment, name), setting.same_data(name))
    title = f"{name}, preset {preset}" + (", patches guessed" if guessing else "")
    return ExperimentSection(title, tuple(made), setting.shown(place))


def place_of(setting: Setting, name: str, preset: str, *, guessing: bool) -> Path:
    """Return the folder of records of one data set under one preset."""
    proposer = _proposer(guessing=guessing)
    return setting.place("refinement", proposer, preset, name, setting.split(name))


def _proposer(*, guessing: bool) -> str:
    return "guessing" if guessing else "local"


def _evaluator(document: SearchableDocument) -> Evaluator:
    return packaged_evaluator(title=document.index.document.title)


def triggers(records: Sequence[CaseRecord]) -> str:
    """Say how often the critic rejected the unrefined ranking."""
    own = [one for one in records if one.system == _FULL]
    rejected = sum(bool(one.details["triggered"]) for one in own)
    share = f"{100 * rejected / len(own):.1f} %" if own else "–"
    return markdown_table(
        ("cases", "rejected by the critic", "rate"), [(str(len(own)), str(rejected), share)]
    )


def endings(records: Sequence[CaseRecord]) -> str:
    """Say how the loop ended on each document, and after how much."""
    rows = []
    for arm in ARMS:
        by_document = {one.document: one.details for one in records if one.system == arm}
        ends = Counter(str(details["end"]) for details in by_document.values())
        attempts = sum(int(details["attempts"]) for details in by_document.values())
        patches = sum(int(details["patches"]) for details in by_document.values())
        told = ", ".join(f"{end.replace('_', ' ')} {n}" for end, n in sorted(ends.items()))
        rows.append((arm, str(len(by_document)), told, str(attempts), str(patches)))
    return markdown_table(("arm", "documents", "ended at", "attempts", "patches kept"), rows)
