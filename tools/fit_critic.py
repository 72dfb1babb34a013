r"""Fit the critic: is the evidence in the document, and is it among the first K?

    python -m tools.fit_critic dump --data DATA --source contractnli:dev --source scifact:train \
        --preset aligned --output FILE [--most 400]
    python -m tools.fit_critic fit FILE… --output src/abstrag/refine/critic.json
    python -m tools.fit_critic report FILE…

`dump` searches every query of the tune and report parts and writes what the critic looks at, with
what gold says. Queries without gold are unanswerable; of the others, one in three is also put to
another document of the data set, which does not answer it. `fit` uses the tune parts alone, a
model for each genre and one for all, and leaves other presets in the file as they are if they were
fitted to the same models; `report` measures on the report parts, and on each genre with
a model of the others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from abstrag.config import Settings
from abstrag.model.record import from_json, to_json
from abstrag.neural.aligner import default_aligner
from abstrag.neural.judge import default_judge
from abstrag.refine.evaluator import reach_of
from abstrag.refine.sufficiency import (
    ANY_GENRE,
    FEATURES,
    WARN,
    Calibrations,
    CriticCalibration,
    Logistic,
    features,
)
from abstrag.search.relevance import PRESETS
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.case import Case, SplitPart, part_of
from abstrag_bench.datasets.load import load_dataset

LEAST: Final = 100  # queries of a genre from which it gets a model of its own
_RIDGE: Final = 1.0


def dump(given: Any) -> None:
    """Write one line for each query: features, and what gold says."""
    with given.output.open("w", encoding="utf-8") as out:
        for source in given.source:
            name, _, split = source.partition(":")
            for line in _searched(name, split, given):
                out.write(json.dumps(line) + "\n")


def _searched(name: str, split: str, given: Any) -> Any:
    cases = load_dataset(name, given.data, split).cases
    documents: dict[str, list[Case]] = {}
    for case in cases:
        documents.setdefault(case.document.id, []).append(case)
    names = sorted(documents, key=lambda n: sha256(n.encode()).digest())
    store = given.stores / f"{name}.db" if given.stores else ":memory:"
    config = WorkspaceConfig(
        store=store,
        settings=Settings(granularity=cases[0].document.granularity.value),
        options=SearchOptions(preset=PRESETS[given.preset], patched=False),
        keep=2,
    )
    done = {SplitPart.TUNE: 0, SplitPart.REPORT: 0}
    with Workspace(config) as workspace:
        known = {info.id for info in workspace.documents()}
        for at, document_id in enumerate(names):
            part = part_of(document_id)
            if done[part] >= given.most:
                continue
            own = documents[document_id]
            pooled = to_document(own[0].document)
            stored = document_id in known
            document = (
                workspace.stored(document_id) if stored else workspace.document(pooled.document)
            )
            elements = pooled.element_ids(document.index)
            other = _other(names, at, part)
            strangers = [c for c in documents[other] if c.gold and c.document.id != document_id][
                ::3
            ]
            asked = {case.query for case in own}
            for case in (*own, *(c for c in strangers if c.query not in asked)):
                k = reach_of(len(document.index.segments))
                ranking = document.search(case.query, k=k)
                if not ranking.hits:
                    continue
                gold = set(case.gold) if case.document.id == document_id else set()
                found = {elements[hit.position] for hit in ranking.hits[:k]}
                done[part] += 1
                yield {
                    "source": name,
                    "genre": document.index.genre.value,
                    "part": part.value,
                    "absent": not gold,
                    "missed": not gold or not gold <= found,
                    "features": features(ranking),
                    "preset": given.preset,
                }


def _other(names: Sequence[str], at: int, part: SplitPart) -> str:
    """Return another document of the same part, whose queries this one does not answer."""
    after = [*names[at + 1 :], *names[:at]]
    return next((n for n in after if part_of(n) is part), names[at])


def fitted(rows: Sequence[dict[str, Any]], label: str) -> Logistic:
    """Fit a logistic model with a ridge, by Newton's method."""
    x = np.array([row["features"] for row in rows], float)
    y = np.array([row[label] for row in rows], float)
    means, scales = x.mean(axis=0), x.std(axis=0)
    scales[scales < 1e-9] = 1.0
    z = np.hstack(((x - means) / scales, np.ones((len(x), 1))))
    w = np.zeros(z.shape[1])
    ridge = _RIDGE * np.eye(len(w))
    ridge[-1, -1] = 1e-6
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        gradient = z.T @ (p - y) + ridge @ w
        step = np.linalg.solve((z.T * (p * (1 - p))) @ z + ridge, gradient)
        w -= step
        if np.abs(step).max() < 1e-8:
            break
    numbers = [tuple(round(float(v), 6) for v in part) for part in (means, scales, w[:-1])]
    return Logistic(numbers[0], numbers[1], numbers[2], round(float(w[-1]), 6))


def calibrations(rows: Sequence[dict[str, Any]]) -> Calibrations:
    """Fit each preset, for every genre with enough queries and for all together."""
    made = []
    for preset in sorted({row["preset"] for row in rows}):
        own = [row for row in rows if row["preset"] == preset and row["part"] == "tune"]
        by_genre = {g: [r for r in own if r["genre"] == g] for g in {r["genre"] for r in own}}
        chosen = {g: rs for g, rs in sorted(by_genre.items()) if _enough(rs)}
        for genre, some in {ANY_GENRE: own, **chosen}.items():
            absent, missed = fitted(some, "absent"), fitted(some, "missed")
            made.append(CriticCalibration(preset, genre, absent, missed, len(some)))
    models = {"aligner": default_aligner().fingerprint, "judge": default_judge().fingerprint}
    return Calibrations(tuple(made), models)


def with_others(made: Calibrations, path: Path) -> Calibrations:
    """Add what a file has of other presets, if it was fitted to the same models."""
    if not path.exists():
        return made
    known = from_json(Calibrations, path.read_bytes())
    if dict(known.models) != dict(made.models):
        return made
    new = {one.preset for one in made.fitted}
    others = [one for one in known.fitted if one.preset not in new]
    return Calibrations((*others, *made.fitted), made.models)


def _enough(rows: Sequence[dict[str, Any]]) -> bool:
    told = sum(row["absent"] for row in rows)
    return len(rows) >= LEAST and min(told, len(rows) - told) >= LEAST // 5


def auc(said: Sequence[float], truth: Sequence[bool]) -> float:
    """Return the chance that a true one is given more than a false one; nan without both."""
    yes = np.array([s for s, t in zip(said, truth, strict=True) if t])
    no = np.array([s for s, t in zip(said, truth, strict=True) if not t])
    if not (len(yes) and len(no)):
        return float("nan")
    above = (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()
    return float(above)


def auc_interval(said: Sequence[float], truth: Sequence[bool]) -> tuple[float, float, float]:
    """Return the AUC with its bootstrap interval."""
    draw = np.random.default_rng(0)
    s, t = np.array(said), np.array(truth, bool)
    found = []
    for _ in range(1000):
        at = draw.integers(0, len(s), len(s))
        found.append(auc(s[at].tolist(), t[at].tolist()))
    low, high = np.nanquantile(found, (0.025, 0.975))
    return auc(said, truth), float(low), float(high)


def report(rows: Sequence[dict[str, Any]]) -> None:
    """Print AUC on report parts, with a model of its own genre and one of the others; and bins."""
    for preset in sorted({row["preset"] for row in rows}):
        own = [row for row in rows if row["preset"] == preset]
        known = {c.genre: c for c in calibrations(own).fitted}
        print(f"preset {preset}\n")
        print(
            "| source | queries, absent, missed | absent: AUC | other kinds | missed: AUC | other |"
        )
        print("|---|---|---|---|---|---|")
        for source in sorted({row["source"] for row in own}):
            held = [r for r in own if r["source"] == source and r["part"] == "report"]
            rest = [r for r in own if r["source"] != source and r["part"] == "tune"]
            cells = []
            for label in ("absent", "missed"):
                truth = [r[label] for r in held]
                models = [getattr(known.get(r["genre"], known[ANY_GENRE]), label) for r in held]
                said = [m(r["features"]) for m, r in zip(models, held, strict=True)]
                cells.append("{:.3f} [{:.3f}, {:.3f}]".format(*auc_interval(said, truth)))
                other = fitted(rest, label) if rest else None
                said = [other(r["features"]) for r in held] if other else []
                shown = "{:.3f} [{:.3f}, {:.3f}]".format(*auc_interval(said, truth))
                cells.append(shown if other else "–")
            counts = (
                f"{len(held)}, {sum(r['absent'] for r in held)}, {sum(r['missed'] for r in held)}"
            )
            print(f"| {source} | {counts} | {' | '.join(cells)} |")
        _bins(own, known)


def _bins(rows: Sequence[dict[str, Any]], known: dict[str, CriticCalibration]) -> None:
    """Print the reliability diagram: what was said, and how often it was so."""
    held = [r for r in rows if r["part"] == "report"]
    for label in ("absent", "missed"):
        said = np.array(
            [getattr(known.get(r["genre"], known[ANY_GENRE]), label)(r["features"]) for r in held]
        )
        truth = np.array([r[label] for r in held], float)
        print(f"\n{label}: said, was so, queries")
        error = 0.0
        for low in np.arange(0, 1, 0.1):
            inside = (said >= low) & (said < low + 0.1 + (low > 0.85))
            if inside.any():
                mean, true = said[inside].mean(), truth[inside].mean()
                error += abs(mean - true) * inside.sum() / len(said)
                bar = "#" * round(20 * true)
                print(
                    f"{low:.1f} to {low + 0.1:.1f}  {mean:.2f}  {true:.2f}"
                    f"  {inside.sum():4d}  {bar}"
                )
        print(f"expected calibration error {error:.3f}, Brier {((said - truth) ** 2).mean():.3f}")
        if label == "absent":
            warned = said >= WARN
            right = truth[warned].mean() if warned.any() else float("nan")
            caught = truth[warned].sum() / truth.sum()
            print(
                f"“probably not in this document”: said {warned.sum()} times of {len(said)},"
                f" right {right:.2f}, catches {caught:.2f} of what is not there"
            )


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("dump")
    one.add_argument("--data", type=Path, required=True)
    one.add_argument("--source", action="append", required=True)
    one.add_argument("--preset", default="aligned", choices=sorted(PRESETS))
    one.add_argument("--output", type=Path, required=True)
    one.add_argument("--stores", type=Path, help="a folder of stores to keep documents in")
    one.add_argument("--most", type=int, default=400, help="queries of each part of a source")
    two = parts.add_parser("fit")
    two.add_argument("files", nargs="+", type=Path)
    two.add_argument("--output", type=Path, required=True)
    three = parts.add_parser("report")
    three.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args()
    if given.part == "dump":
        dump(given)
        return
    lines = [line for file in given.files for line in file.read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    assert all(len(row["features"]) == len(FEATURES) for row in rows)
    if given.part == "fit":
        made = with_others(calibrations(rows), given.output)
        given.output.write_text(to_json(made, indent=1) + "\n", encoding="utf-8")
    else:
        report(rows)


if __name__ == "__main__":
    main()
