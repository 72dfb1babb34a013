"""θ_explain: what a rejected retrieval lacks, with its trace κ; θ_localize: which stage failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from abstrag.language.words import key
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program, ask
from abstrag.model.patch import Diagnosis, Failure, GapTerm, OverExpansion, Stage
from abstrag.model.query import Bridge, Literal, LiteralKind
from abstrag.model.ranking import GapTrace, Hit, Ranking
from abstrag.model.record import record, to_data
from abstrag.model.term import Family
from abstrag.refine.critic import shown
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.feedback import Episode
from abstrag.search.document_words import forms
from abstrag.search.scoring import Scoring

_POOL: Final = 40  # segments below the first K in which missed evidence is looked for
_MOST: Final = 5  # bridges named as over-expanding
_BEFORE: Final = 2  # sentences before a segment that may name what it is about
_OF_KIND: Final = {LiteralKind.TIME: Stage.CONTEXT, LiteralKind.EVENT: Stage.EVENT}


# says what went wrong with a retrieval that the critic rejects
Explainer = Callable[[Episode, Scoring, Ranking], Failure]


@dataclass(frozen=True, slots=True)
class LocalExplainer:
    """Finds the failure in the gap trace of the segment that should have been found.

    That is a gold segment where gold is known, else the best evidence the evaluator sees below the
    first K, else the first hit: the nearest there is.
    """

    evaluator: Evaluator

    def __call__(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> Failure:
        """Find the segment and analyse its trace."""
        position = self.missed(episode, scoring, ranking)
        hit = scoring.hit(position) if position is not None else next(iter(ranking.hits), None)
        if hit is None:
            reading = "nothing in the document meets any part of the query"
            unmet = tuple(literal.label for literal in scoring.query.literals)
            diagnosis = Diagnosis(unmet=unmet, reading=reading)
            return Failure(episode.query, None, scoring.query, (), scoring.gaps.rest_gap, diagnosis)
        return Failure(
            query=episode.query,
            segment=hit.segment,
            canonical=scoring.query,
            bridges=hit.trace.bridges,
            gap=hit.gap,
            diagnosis=self._diagnosis(episode, scoring, ranking, hit, missed=position is not None),
        )

    def missed(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> int | None:
        """Return the position of what should be among the first K and is not, if there is any.

        Where no segment passes for evidence, that is the one the judge thinks most of.
        """
        k, segments = self.evaluator.k, scoring.document.segments
        first = {hit.position for hit in ranking.hits[:k]}
        gold = set(episode.gold)
        if gold:
            named = [p for p, s in enumerate(segments) if {s.id, s.text} & gold]
            return next((p for p in named if p not in first), None)
        below = [p for p in scoring.order if p not in first]
        ranked = first.union(below)
        pool = [*below, *(p for p in range(len(segments)) if p not in ranked)][:_POOL]
        votes = self.evaluator.votes(scoring.query, [segments[p] for p in pool])
        taken = self.evaluator.evidence(scoring.query, [segments[p] for p in pool])
        barred = set(episode.bad)
        found = [
            (not own, -sum(v), p)
            for p, v, own in zip(pool, votes, taken, strict=True)
            if sum(v) > 0 and not {segments[p].id, segments[p].text} & barred
        ]
        return min(found)[2] if found else None

    def _diagnosis(
        self, episode: Episode, scoring: Scoring, ranking: Ranking, hit: Hit, *, missed: bool
    ) -> Diagnosis:
        trace, text = hit.trace, hit.text
        made = Diagnosis(
            unmet=tuple(each.literal.label for each in trace.literals if not each.met),
            dominant=dominant(trace),
            ambiguities=tuple(
                f"{text[a.start : a.end]!r}: {a.reason}"
                for a in scoring.document.ambiguities
                if a.segment == hit.position
            ),
            over_expansion=self._over_expansion(episode, scoring, ranking),
            over_budget_by=trace.over_budget_by,
        )
        stepped = [each.literal.label for each in trace.literals if not each.met or each.distance]
        made = replace(made, nearby=_nearby(stepped, scoring, hit))
        rank = scoring.rank(hit.position)
        who = f"the nearest is {hit.segment}"
        if missed:
            segment = scoring.document.segments[hit.position]
            sure = bool(episode.gold) or self.evaluator.evidence(scoring.query, [segment])[0]
            where = "scores nothing" if rank is None else f"is at rank {rank}"
            name = "the evidence" if sure else "what comes nearest to evidence,"
            who = f"{name} {hit.segment}{'' if sure else ','} {where}"
        return replace(made, reading=_reading(made, who, missed=missed))

    def _over_expansion(
        self, episode: Episode, scoring: Scoring, ranking: Ranking
    ) -> tuple[OverExpansion, ...]:
        hits, segments = ranking.hits[: self.evaluator.k], scoring.document.segments
        good = self.evaluator.signals(episode, ranking, segments).evidence
        useful = {bridge for hit in hits if hit.segment in good for bridge in assumed(hit)}
        counts = Counter(
            bridge
            for hit in hits
            if hit.segment not in good
            for bridge in dict.fromkeys(assumed(hit))
            if bridge not in useful
        )
        ordered = sorted(counts.items(), key=lambda c: (-c[1], c[0].source, c[0].target))[:_MOST]
        return tuple(OverExpansion(b.source, b.target, b.family, n) for b, n in ordered)


def _nearby(labels: Sequence[str], scoring: Scoring, hit: Hit) -> tuple[str, ...]:
    """Return the conditions that only the text around a segment names in full."""
    segments = scoring.document.segments
    before = segments[max(0, hit.position - _BEFORE) : hit.position]
    own = segments[hit.position]
    same_part = [s.text for s in before if s.section == own.section]
    around = [scoring.document.document.title, *own.section, *same_part]
    said = {form for text in around for word in key(text).split() for form in forms(word)}
    here = {form for word in key(own.text).split() for form in forms(word)}
    found = []
    for label in labels:
        asked = [set(forms(word)) for word in key(label).split()]
        around_it = all(one & (said | here) for one in asked)
        if around_it and not all(one & here for one in asked):
            found.append(label)
    return tuple(found)


def assumed(hit: Hit) -> Iterator[Bridge]:
    """Go through the costed edges a hit is served by."""
    for each in hit.trace.literals:
        for bridge in each.bridges:
            if each.met and bridge.literal is None and not bridge.truth_preserving:
                yield bridge


def dominant(trace: GapTrace) -> tuple[GapTerm, ...]:
    """Return what each family of bridges adds to a gap, the dearest first."""
    used = trace.bridges or tuple(dict.fromkeys(b for t in trace.literals for b in t.bridges))
    costs: Counter[Family] = Counter()
    for bridge in used:
        costs[bridge.family] += bridge.units
    whole = sum(costs.values())
    terms = [GapTerm(f, n / 10_000, n / whole) for f, n in costs.items() if n]
    return tuple(sorted(terms, key=lambda term: (-term.cost, term.family)))


def _reading(diagnosis: Diagnosis, who: str, *, missed: bool) -> str:
    parts = []
    if diagnosis.unmet:
        parts.append("nothing licenses " + ", ".join(f"“{u}”" for u in diagnosis.unmet))
    if diagnosis.over_budget_by is not None:
        parts.append(f"its bridges are over the budget together by {diagnosis.over_budget_by:.2f}")
    if not parts:
        parts.append("others rank higher" if missed else "no segment reads as evidence")
    return f"{who}: {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class PromptedExplainer:
    """Lets a model put the trace into words and choose what matters; facts stay the trace's."""

    model: LanguageModel
    program: Program
    local: LocalExplainer

    def __call__(self, episode: Episode, scoring: Scoring, ranking: Ranking) -> Failure:
        """Explain; a label that the query does not have is left out."""
        failure = self.local(episode, scoring, ranking)
        inputs = {
            "query": episode.query,
            "segments": shown(ranking, self.local.evaluator.k),
            "trace": to_data(failure.diagnosis),
            "nearest": failure.segment,
        }
        said = ask(self.model, self.program, dict[str, Any], inputs, role=CallRole.CRITIC).value
        found = failure.diagnosis
        named = {label.casefold() for label in said["unmet"]}
        labels = (literal.label for literal in failure.canonical.literals)
        unmet = [label for label in labels if label.casefold() in named]
        diagnosis = replace(
            found,
            unmet=tuple(dict.fromkeys((*found.unmet, *unmet))),
            ambiguities=tuple(dict.fromkeys((*found.ambiguities, *said["ambiguities"]))),
            reading=said["reading"] or found.reading,
        )
        return replace(failure, diagnosis=diagnosis)


@record
class Localization:
    """The stage a failure is attributed to, why, and where else it may come from, in order."""

    stage: Stage
    reason: str
    others: tuple[Stage, ...] = ()


Localizer = Callable[[Failure], Localization]  # chooses the stage to repair


def localize(failure: Failure) -> Localization:
    """Go by the failure's κ: the joint budget, then the heaviest unmet literal, then breadth.

    Each rule that applies is an alternative to the ones before.
    """
    found: dict[Stage, str] = {}
    seen = failure.diagnosis
    if seen.over_budget_by is not None:
        found[Stage.QUERY] = "each condition is affordable, and all together are not"
    for literal in _heaviest(failure):
        if literal.label in seen.nearby:
            said = f"“{literal.label}” stands before the segment or above it, not in it"
            found.setdefault(Stage.CONTEXT, said)
            continue
        stage = _OF_KIND.get(literal.kind, Stage.MAP)
        found.setdefault(stage, f"{literal.kind.value} “{literal.label}” is not met")
    if seen.nearby and not seen.unmet:
        said = f"“{seen.nearby[0]}” stands before the segment or above it, not in it"
        found.setdefault(Stage.CONTEXT, said)
    if seen.unmet:  # the text may say it in words the map has no term for
        found.setdefault(Stage.MAP, "a condition is not met")
    if seen.over_expansion:
        first = seen.over_expansion[0]
        reason = f"{first.source} → {first.target} lets {first.segments} unfit segments in"
        found.setdefault(Stage.QUERY, reason)
    found.setdefault(Stage.QUERY, "no condition is unmet, so the query is weighed wrongly")
    found.setdefault(Stage.MAP, "a word may be met by another at too high a price")
    stage, *others = found
    return Localization(stage, found[stage], tuple(others))


@dataclass(frozen=True, slots=True)
class PromptedLocalizer:
    """Lets a model choose; the rules say what to try after it."""

    model: LanguageModel
    program: Program

    def __call__(self, failure: Failure) -> Localization:
        """Ask once: the gate, not the localizer, is what guards."""
        inputs = {
            "query": failure.query,
            "segment": failure.segment,
            "gap": failure.gap,
            "literals": [
                {"kind": each.kind.value, "label": each.label}
                for each in failure.canonical.literals
            ],
            "diagnosis": to_data(failure.diagnosis),
        }
        said = ask(self.model, self.program, dict[str, Any], inputs, role=CallRole.REFINE).value
        rules = localize(failure)
        stage = Stage(said["stage"])
        others = tuple(s for s in (rules.stage, *rules.others) if s is not stage)
        return replace(rules, stage=stage, reason=said["reason"], others=others)


def _heaviest(failure: Failure) -> list[Literal]:
    unmet = set(failure.diagnosis.unmet)
    literals = [each for each in failure.canonical.literals if each.label in unmet]
    return sorted(literals, key=lambda each: -each.weight)
