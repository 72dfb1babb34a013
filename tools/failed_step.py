r"""Measure whether a failure is put down to the step that failed: break one step, and ask.

    python -m tools.failed_step --data DATA --dataset scifact --split train:report [--most 200]

Queries whose evidence is found are searched again with one step broken for them:

    map      no word of the text may stand for another word of the query, and no edge leads there
    event    the same for the conditions that are events
    context  a condition is cut out of the evidence and put into the sentence before it
    query    the budget is just below what the evidence needs

Only evidence that met every condition before is used. Where it costs more than before, the rules
are asked which step failed. A break that the evidence does not need is not counted.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.config import Settings
from abstrag.model.patch import Stage
from abstrag.model.query import LiteralKind
from abstrag.model.ranking import Hit
from abstrag.refine.evaluator import reach_of
from abstrag.refine.explain import LocalExplainer, localize
from abstrag.refine.feedback import Episode
from abstrag.search.relevance import PRESETS
from abstrag.search.scoring import Scoring
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.lessons import gold_evaluator
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.baselines.system import Element, Pool
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset

STAGES: Final = tuple(stage.value for stage in Stage)


def broken(scoring: Scoring, hit: Hit, stage: Stage) -> Scoring | None:
    """Break a step of a search that its evidence needs; None where it does not need it."""
    if stage is Stage.QUERY:
        needed = hit.trace.bridge_cost
        if not needed or not hit.trace.reachable:
            return None
        dearest = max((each.distance or 0.0) for each in hit.trace.literals)
        if needed - dearest < 0.05:  # one condition alone needs the budget: that is no joint cost
            return None
        return replace(scoring, tau=(needed + dearest) / 2)
    stepped = [each.literal.kind for each in hit.trace.literals if each.met and each.distance]
    events = [kind is LiteralKind.EVENT for kind in stepped]
    if not stepped or set(events) != {stage is Stage.EVENT} or scoring.alignment is None:
        return None  # nothing of the kind is needed, or something else too
    bare = replace(scoring.alignment, links=False)
    index = scoring.index.with_edges(e for e in scoring.index.edges if e.truth_preserving)
    return replace(scoring, alignment=bare, index=index, sources=())


def without_context(document: SearchableDocument, query: str, position: int) -> str | None:
    """Return the evidence less the first word that a condition is met by; None if it has none."""
    hit = document.explain(query, document.index.segments[position].id)
    for each in hit.trace.literals:
        mention = each.mention
        plain = each.literal.kind in (LiteralKind.ENTITY, LiteralKind.CONCEPT, LiteralKind.TIME)
        if each.met and plain and mention is not None and mention.header is None:
            word = hit.text[mention.start : mention.end]
            if word and len(hit.text) > 3 * len(word):
                return word
    return None


def episodes(
    given: argparse.Namespace,
) -> Iterator[tuple[Workspace, SearchableDocument, Case, int]]:
    """Go through cases whose evidence is one segment that is found, with its position."""
    cases = [c for c in load_dataset(given.dataset, given.data, given.split).cases if c.gold]
    cases.sort(key=lambda c: sha256(c.document.id.encode()).digest())
    config = WorkspaceConfig(
        store=given.store or ":memory:",
        settings=Settings(granularity=cases[0].document.granularity.value),
        options=SearchOptions(preset=PRESETS[given.preset], patched=False),
    )
    with Workspace(config) as workspace:
        known = {info.id for info in workspace.documents()}
        for case in cases[: given.most]:
            pooled = to_document(case.document)
            name = pooled.document.id
            stored = workspace.stored(name) if name in known else None
            document = stored or workspace.document(pooled.document)
            known.add(name)
            elements = pooled.element_ids(document.index)
            at = [p for p, element in enumerate(elements) if element == case.gold[0]]
            k = reach_of(len(elements))
            order = document.searcher.scoring(case.query).order
            if at and at[0] in order[:k]:
                yield workspace, document, case, at[0]


def told(scoring: Scoring, query: str, segment: str) -> str:
    """Ask the rules which step failed for a segment that should have been found."""
    k = reach_of(len(scoring.document.records))
    episode = Episode(scoring.document.document.id, query, (segment,))
    ranking = scoring.ranking(k)
    hits = tuple(hit for hit in ranking.hits if hit.segment != segment)
    explain = LocalExplainer(gold_evaluator(k=k))
    return localize(explain(episode, scoring, replace(ranking, hits=hits))).stage.value


def trials(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Break every step that some evidence needs; yields what was broken and what was named."""
    for workspace, document, case, position in episodes(given):
        scoring = document.searcher.scoring(case.query)
        hit = scoring.hit(position)
        if not all(each.met for each in hit.trace.literals):
            continue  # something fails already
        for stage in (Stage.MAP, Stage.EVENT, Stage.QUERY):
            worse = broken(scoring, hit, stage)
            if worse is not None and worse.hit(position).gap > hit.gap + 0.05:
                yield stage.value, told(worse, case.query, hit.segment)
        word = without_context(document, case.query, position)
        if word is not None:
            pooled = to_document(_moved(case, word))
            other = workspace.document(pooled.document)
            elements = pooled.element_ids(other.index)
            again = other.searcher.scoring(case.query)
            after = again.hit(elements.index(case.gold[0]))
            if after.gap > hit.gap + 0.05:
                yield Stage.CONTEXT.value, told(again, case.query, after.segment)


def _moved(case: Case, word: str) -> Pool:
    """Return the document with a word of its evidence said in a sentence before it instead."""
    made: list[Element] = []
    for element in case.document.elements:
        if element.id == case.gold[0]:
            said = f"This part is about {word}."
            made.append(replace(element, id="before", text=said))
            cut = re.sub(rf"\b{re.escape(word)}\b", "it", element.text)
            element = replace(element, text=cut)
        made.append(element)
    return replace(case.document, id=f"{case.document.id} without {word}", elements=tuple(made))


def report(pairs: Sequence[tuple[str, str]]) -> str:
    """Write the table of what was broken and what was named, with the accuracy."""
    counts = Counter(pairs)
    lines = ["| broken | " + " | ".join(STAGES) + " | right |", "|---" * (len(STAGES) + 2) + "|"]
    for stage in STAGES:
        row = [counts[stage, named] for named in STAGES]
        if sum(row):
            right = f"{counts[stage, stage] / sum(row):.0%}"
            lines.append(f"| {stage} | " + " | ".join(map(str, row)) + f" | {right} |")
    hits = np.array([broke == named for broke, named in pairs], float)
    if len(hits):
        draw = np.random.default_rng(0)
        means = [hits[draw.integers(0, len(hits), len(hits))].mean() for _ in range(1000)]
        low, high = np.quantile(means, (0.025, 0.975))
        by_stage = [
            counts[s, s] / total for s in STAGES if (total := sum(counts[s, n] for n in STAGES))
        ]
        lines.append(
            f"\naccuracy {hits.mean():.2f} [{low:.2f}, {high:.2f}] of {len(hits)} broken"
            f" searches, mean over steps {np.mean(by_stage):.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True)
    parser.add_argument("--preset", default="aligned", choices=sorted(PRESETS))
    parser.add_argument("--store", type=Path)
    parser.add_argument("--most", type=int, default=100)
    print(report(list(trials(parser.parse_args()))))


if __name__ == "__main__":
    main()
