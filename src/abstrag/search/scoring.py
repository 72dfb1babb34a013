"""Scoring: one query against one document; what ranks also explains, so the two cannot differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from abstrag.config import COST_UNIT, MAX_GAP, TAU
from abstrag.documents.sheet import SHEETS, address_in_sheet
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Hit, Ranking, ScoreLine, WordTrace
from abstrag.model.segment import Segment
from abstrag.search.alignment import Alignment
from abstrag.search.bridges.paths import Aggregator, EdgeSource, additive
from abstrag.search.costed_index import BoolArray, CostedIndex, FloatArray, IntArray
from abstrag.search.judging import BATCH, JointRanking, Judge, NeighbourJudge, Share
from abstrag.search.lookup import Gaps, Lookup, gaps
from abstrag.search.precedents import led, pulled
from abstrag.search.query.scope import in_scope
from abstrag.search.reading import DOUBTFUL, read_aloud
from abstrag.search.relevance import (
    SMOOTH,
    Candidates,
    Pooling,
    Preset,
    Signal,
    Similarity,
    coverage,
    effort,
    log_units,
)
from abstrag.search.trace import stated, trace, word_traces
from abstrag.telemetry import span

NOTHING: Final = 1 << 40  # units: the score of what has no utility at all is 0
_LEAST_UTILITY: Final = 0.01  # that is told apart from none, where what segments pay is compared
STATED: Final = 0.9  # what a judge is taken to say at least where a Background settles the query


@dataclass(frozen=True)
class Scoring:
    """A query laid over a document under one budget and one preset.

    Nothing is computed before it is asked for, and nothing twice.
    """

    document: DocumentIndex
    index: CostedIndex
    query: Query
    tau: float = TAU
    preset: Preset = SMOOTH
    sources: tuple[EdgeSource, ...] = ()
    similarities: Mapping[Signal, Similarity] = field(default_factory=dict)
    judge: Judge | None = None
    aggregator: Aggregator = additive
    alignment: Alignment | None = None
    printed: tuple[int, ...] = ()  # rows of statements that print the figures asked for
    defining: tuple[int, ...] = ()  # segments that only say what words of the question mean
    applying: tuple[int, ...] = ()  # and those that speak of what they define
    listings: tuple[int, ...] = ()  # entries of bibliographies and contents that are not asked for

    def __post_init__(self) -> None:
        if self.judge is None and self.preset.judge_weight:
            raise InputError(
                f"preset {self.preset.name!r} wants a judge and there is none",
                hint="pass a judge, or choose a preset with judge_weight 0",
            )

    @property
    def judges(self) -> bool:
        """Whether a judge has a say."""
        return self.judge is not None and self.preset.judge_weight > 0

    def again(self, *, tau: float | None = None, sources: Sequence[EdgeSource] = ()) -> Scoring:
        """Return the same scoring under another budget or with more edges on offer."""
        wider = (*self.sources, *sources)
        return replace(self, tau=self.tau if tau is None else tau, sources=wider)

    @cached_property
    def lookup(self) -> Lookup:
        """The distances of the query's literals to the segments."""
        return Lookup(
            self.index,
            self.query,
            tau=self.tau,
            sources=self.sources,
            aggregator=self.aggregator,
            learned=None if self.alignment is None else self.alignment.ways,
            doubted=None if self.alignment is None else self.alignment.doubted,
            of_another=None if self.alignment is None else self.alignment.told_of_another,
        )

    @cached_property
    def gaps(self) -> Gaps:
        """Gap of every segment the query touches."""
        return gaps(self.lookup, hard=self.preset.hard_gap)

    @cached_property
    def candidates(self) -> Candidates:
        """The segments that may be hits.

        Those are the touched ones, unless something besides coverage has a say in Match or the
        query has no literals: then any segment may be.
        """
        weights = self.preset.weights
        beyond = any(w for signal, w in weights.items() if signal is not Signal.COVERAGE)
        if beyond or not self.query.literals:
            return self.everything
        found = self.gaps
        return self._gather(found.segments, coverage(found, self.preset.coverage), found.gap)

    @cached_property
    def everything(self) -> Candidates:
        """All segments inside the query's scope, as if each might be a hit.

        Of a long document those that promise most by its words.
        """
        found = self.gaps
        size = len(self.document.records)
        spread, gap = np.full(size, found.rest_share), np.full(size, found.rest_gap)
        spread[found.segments] = coverage(found, self.preset.coverage)
        gap[found.segments] = found.gap
        if self.alignment is None or not self.alignment.words.long:
            return self._gather(np.arange(size), spread, gap)
        positions = self.alignment.considered.segments
        return self._gather(positions, spread[positions], gap[positions])

    def ranking(self, k: int, *, fill: bool = False, batch: int = BATCH) -> Ranking:
        """Return the best k segments.

        A segment that scores nothing is no hit, nor is one that holds nothing of the query and
        that the judge thinks little of; unless `fill` asks for k whatever they score.
        """
        if k < 1:
            raise InputError(f"k is {k}", hint="ask for at least one hit")
        joint = JointRanking((Share(self),), self.preset, fill=fill)
        judged = joint.judge(k, batch=batch)
        return Ranking(
            query=self.query,
            document=self.document.document.id,
            tau=self.tau,
            preset=self.preset.name,
            hits=tuple(
                joint.hit(row)
                for row, score in zip(judged.order, judged.scores, strict=True)
                if fill or score > 0
            ),
            segments=len(self.document.records),
            touched=len(self.lookup.segments),
            judgements=judged.made,
            judgements_avoided=judged.avoided,
        )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All segments that score anything, best first, by position."""
        joint = JointRanking((Share(self),), self.preset)
        joint.judge(max(1, len(joint.rows)))
        return tuple(joint.position(row)[1] for row, _ in joint.order())

    def count(self, positions: IntArray, said: FloatArray) -> BoolArray:
        """Tell which segments hold something of the query, or have the judge's word for it."""
        if not self.judges or not self.query.literals:
            return np.ones(len(positions), dtype=np.bool_)
        return self.holds[positions] | (said >= DOUBTFUL)

    @cached_property
    def holds(self) -> BoolArray:
        """For each segment whether it holds something of the query."""
        holds = np.zeros(len(self.document.records), dtype=np.bool_)
        holds[self.lookup.segments] = True
        return holds

    def ask(self, positions: IntArray) -> list[float]:
        """Return what the judge says of some segments."""
        assert self.judge is not None
        records = self.document.records
        with span("abstrag.judge", {"abstrag.segments": len(positions)}):
            return self.judge(self.query, [records[p].segment for p in positions.tolist()])

    def rank(self, position: int) -> int | None:
        """Return the rank of a segment, 1 for the best; None when it scores nothing."""
        return self.looking_at(position)._ranks.get(position)

    def looking_at(self, position: int) -> Scoring:
        """Return the same scoring, which looks at a segment whatever it promises."""
        alignment = self.alignment
        if alignment is None or position in alignment.considered:
            return self
        return replace(self, alignment=replace(alignment, also=(*alignment.also, position)))

    @cached_property
    def _ranks(self) -> Mapping[int, int]:
        return {position: rank for rank, position in enumerate(self.order, 1)}

    def hit(self, position: int) -> Hit:
        """Return any one segment as if it were a hit, found or not."""
        if (wider := self.looking_at(position)) is not self:
            return wider.hit(position)
        joint = self._whole
        row = joint.row(0, position)
        if row is None:  # outside the query's scope
            return replace(self, query=replace(self.query, scope=())).hit(position)
        if self.judges and row in self._read and row not in joint.said:
            joint.ask(np.array([row]))
        return joint.hit(row)

    @cached_property
    def _whole(self) -> JointRanking:
        return JointRanking((Share(self),), self.preset, fill=True)

    @cached_property
    def _read(self) -> frozenset[int]:
        """The rows of all segments that the judge may be asked about."""
        return frozenset(self._whole.shortlist.tolist())

    def _gather(self, positions: IntArray, covered: FloatArray, gap: FloatArray) -> Candidates:
        """Collect the factors of segments that may be hits, as far as they lie in the scope."""
        weights = self.preset.weights
        inside = self._inside(positions)
        positions = positions[inside]
        signals = {Signal.COVERAGE: covered[inside]}
        if self.alignment is not None:
            total = self.aligned_units.sum(axis=0)[positions]
            weight = self.preset.alignment_weight
            signals[Signal.ALIGNMENT] = np.exp(-total / COST_UNIT / weight)
        for signal in self.similarities:
            if weights[signal]:
                signals[signal] = self._similarity(signal, positions)
        return Candidates(
            positions=positions,
            signals=signals,
            utility=self.index.utilities[positions],
            gap=gap[inside],
            stated=self._stated[positions],
        )

    @cached_property
    def aligned_units(self) -> IntArray:
        """What the words of the query, its whole and meeting nothing add to −log of Match.

        Rows are words, then the whole, then what a segment pays for being worded unlike the
        evidence of other documents, less what it gains by standing beside a better one where that
        evidence did so, then for meeting nothing; columns are the segments. A word costs its own
        price, or that of the literal it belongs to where the bridges to it are cheaper.
        """
        alignment, preset = self.alignment, self.preset
        assert alignment is not None
        prices = alignment.prices.copy()
        costs = np.full((len(self.query.literals), prices.shape[1]), MAX_GAP)
        costs[:, self.lookup.segments] = np.minimum(self.lookup.distances / COST_UNIT, MAX_GAP)
        met = alignment.met.copy()
        for i, j in enumerate(alignment.literal_of):
            if j >= 0:
                met[i] |= costs[j] < prices[i]
                np.minimum(prices[i], costs[j], out=prices[i])
        rarity = alignment.rarity**preset.rarity_power
        weights = alignment.asked.weights * rarity
        weights = weights / (weights.sum() or 1.0)
        share, unmet = preset.gist_share, preset.unmet_share
        over = unmet * MAX_GAP + (1 - unmet) * prices
        charged = np.vstack((np.where(met, prices, over), alignment.gist[None]))
        shares = np.append((1 - share) * weights, share)
        units = np.rint(preset.alignment_weight * COST_UNIT * shares[:, None] * charged)
        shown = np.rint(COST_UNIT * alignment.unlike)
        if alignment.pull or alignment.lead:
            shown -= self._drawn(units.sum(axis=0) + shown)
        units = np.vstack((units, shown[None]))
        nothing = ~(met.any(axis=0) | self.holds)
        words = units.sum(axis=0)
        fee = np.maximum(self._fee(words, nothing), self._fee_of_defining(words))
        fee = np.maximum(fee, self._fee_of_listings(words))
        whole: IntArray = np.vstack((units, fee[None])).astype(int)
        return whole

    def _drawn(self, units: FloatArray) -> FloatArray:
        """Return what segments gain by those beside them, and the openings of lists by their items.

        What counts is all that they pay, the judge's word left out; nobody gains more than what
        words, whole and wording cost him.
        """
        alignment, preset = self.alignment, self.preset
        assert alignment is not None
        gap = np.full(len(units), self.gaps.rest_gap)
        gap[self.gaps.segments] = self.gaps.gap
        paid = units + preset.gap_rate * gap * COST_UNIT
        paid += log_units(np.maximum(self.index.utilities, _LEAST_UTILITY), preset.utility_power)
        gained = np.rint(pulled(paid, alignment.pull))
        if alignment.lead:
            gained += np.rint(led(paid - gained, alignment.words.openings, alignment.lead))
        return np.minimum(gained, units)

    def _fee(self, units: FloatArray, nothing: BoolArray) -> FloatArray:
        """Return what segments that meet nothing pay, given what words and whole add to each.

        At equal utility none of them is to be above one that meets every literal for free, not
        even if the judge is sure of it and sees nothing in the other. Where no segment meets
        everything there is no fee.
        """
        free = self._free
        if not free.any():
            return np.zeros_like(units)
        gap = np.full(len(units), self.gaps.rest_gap)
        gap[self.gaps.segments] = self.gaps.gap
        paid = units + np.rint(self.preset.gap_rate * gap * COST_UNIT)
        worst = 1 + paid[free].max() + log_units(0.0, self.preset.judge_weight, judged=True)
        return np.where(nothing, np.maximum(worst - paid, 0.0), 0.0)

    def _fee_of_defining(self, units: FloatArray) -> FloatArray:
        """Return what segments pay that only say what words of the question mean.

        None of them is to be above the best that uses the defined word or meets everything,
        whatever a judge says.
        """
        if not self.defining:
            return np.zeros_like(units)
        meets = np.zeros(len(units), dtype=np.bool_)
        meets[self.gaps.segments] = self.gaps.reachable
        meets[list(self.applying)] = True
        meets[list(self.defining)] = False
        return self._fee_behind(meets, self.defining, units)

    def _fee_of_listings(self, units: FloatArray) -> FloatArray:
        """Return what entries of a bibliography or of a list of contents pay.

        None of them is to be above the best passage that meets half as much of the query or more,
        whatever a judge says.
        """
        fee = np.zeros_like(units)
        if not self.listings:
            return fee
        share = np.full(len(units), self.gaps.rest_share)
        share[self.gaps.segments] = self.gaps.share
        listed = np.zeros(len(units), dtype=np.bool_)
        listed[list(self.listings)] = True
        for met in np.unique(share[listed & self.holds]).tolist():
            own = np.flatnonzero(listed & self.holds & (share == met)).tolist()
            fee = np.maximum(fee, self._fee_behind(~listed & (share >= met / 2), own, units))
        return fee

    def _fee_behind(self, better: BoolArray, own: Sequence[int], units: FloatArray) -> FloatArray:
        """Return what puts some segments behind the best of others, whatever a judge says."""
        fee = np.zeros_like(units)
        if better.any():
            gap = np.full(len(units), self.gaps.rest_gap)
            gap[self.gaps.segments] = self.gaps.gap
            paid = units + np.rint(self.preset.gap_rate * gap * COST_UNIT)
            paid += log_units(
                np.maximum(self.index.utilities, _LEAST_UTILITY), self.preset.utility_power
            )
            best = 1 + paid[better].min() + log_units(0.0, self.preset.judge_weight, judged=True)
            fee[list(own)] = np.maximum(best - paid[list(own)], 0.0)
        return fee

    @cached_property
    def _free(self) -> BoolArray:
        """For each segment whether it meets every literal for free."""
        found = np.zeros(len(self.document.records), dtype=np.bool_)
        if self.query.literals:
            found[self.lookup.segments] = (self.lookup.distances == 0).all(axis=0)
        return found

    @cached_property
    def _stated(self) -> FloatArray:
        """For each segment the least a judge may say, given what a Background states.

        That a row prints a figure under another name is known from the names of line items.
        """
        least = np.zeros(len(self.document.records))
        if self.preset.pooling is not Pooling.MEAN:
            least[list(self.printed)] = STATED
        if self.preset.pooling is not Pooling.MEAN and self.query.literals and self._has_background:
            for position in self.gaps.segments[self.gaps.reachable].tolist():
                if stated(trace(self.lookup, self.gaps, position, self.alignment)):
                    least[position] = STATED
        return least

    @property
    def _has_background(self) -> bool:
        known = self.document.background
        return bool(known.aliases or known.classes or known.roles or known.events or known.compiled)

    def _similarity(self, signal: Signal, positions: IntArray) -> FloatArray:
        return np.clip(self.similarities[signal](self.query, positions), 0.0, 1.0)

    def _inside(self, positions: IntArray) -> IntArray:
        """The rows of the candidates that lie in the query's scope."""
        if not self.query.scope:
            return np.arange(len(positions))
        records, scope = self.document.records, self.query.scope
        rows = [r for r, p in enumerate(positions.tolist()) if in_scope(records[p].segment, scope)]
        return np.array(rows, dtype=np.int64)

    def efforts(self, positions: IntArray) -> FloatArray:
        """Return what each segment costs a judge who reads them in this order, in paragraphs."""
        if isinstance(self.judge, NeighbourJudge):
            return self.judge.efforts(positions, self._efforts)
        return self._efforts[positions]

    @cached_property
    def _efforts(self) -> FloatArray:
        """What each segment of the document costs by itself."""
        return effort([len(segment.text) for segment in self.document.segments])

    def as_hit(
        self, candidates: Candidates, row: int, score: float, judgement: float | None
    ) -> Hit:
        """Return a row of the candidates with its quote and trace, given score and judgement."""
        position = int(candidates.positions[row])
        segment = self.document.records[position].segment
        said = np.array([judgement or 0.0])
        why = trace(self.lookup, self.gaps, position, self.alignment)
        judge = self.judge
        words = self._words(position)
        return Hit(
            document=self.document.document.id,
            position=position,
            segment=segment.id,
            quote=self.document.document.quote(segment.span),
            span=segment.span,
            role=segment.role,
            section=segment.section,
            page=segment.page,
            match=float(candidates.match(self.preset, said, np.array([row]))[0]),
            utility=float(candidates.utility[row]),
            gap=float(candidates.gap[row]),
            relevance=score,
            judgement=judgement,
            trace=why,
            reading=read_aloud(
                why,
                segment,
                self.index.labels,
                tau=self.tau,
                judgement=judgement,
                words=words,
                names=self._names,
                neighbours=judge.neighbours(segment) if isinstance(judge, NeighbourJudge) else None,
            ),
            text=segment.text,
            doubt=self.document.document.doubt(segment.span, segment.page),
            headers=tuple(header.text for header in segment.headers),
            cell=self._cell(segment),
            words=words,
            lines=self._lines(candidates, row, judgement),
        )

    def _cell(self, segment: Segment) -> str | None:
        """Return the address of a segment in its sheet; None in a document that has no sheets."""
        if self.document.document.metadata.format not in SHEETS:
            return None
        return address_in_sheet(segment.section, segment.row, segment.column)

    @cached_property
    def _names(self) -> tuple[frozenset[str], ...]:
        """For each literal what else it is called for sure."""
        graph, labels = self.lookup.graph, self.index.labels
        return tuple(
            frozenset(
                labels[name]
                for term in literal.terms
                for name in graph.names_of(term)
                if name in labels and name not in literal.terms
            )
            for literal in self.query.literals
        )

    def _words(self, position: int) -> tuple[WordTrace, ...]:
        if self.alignment is None:
            return ()
        units = self.aligned_units[:, position].tolist()
        found = word_traces(self.alignment, position)
        return tuple(replace(word, units=u) for word, u in zip(found, units, strict=False))

    def _lines(
        self, candidates: Candidates, row: int, judgement: float | None
    ) -> tuple[ScoreLine, ...]:
        """Return what the score is made of; the units of all lines add up to −log of it."""
        if self.alignment is None:
            return ()
        preset, position = self.preset, int(candidates.positions[row])
        units = self.aligned_units[:, position].tolist()
        said = max(judgement or 0.0, float(candidates.stated[row]))
        lines = [("words", sum(units[:-3])), ("about the same thing", units[-3])]
        if units[-2]:
            lines.append(("evidence elsewhere", units[-2]))
        if units[-1]:
            name = "only says what it means" if position in self.defining else "nothing met"
            lines.append(("a list entry" if position in self.listings else name, units[-1]))
        if preset.judge_weight:
            lines.append(("judge", int(log_units(said, preset.judge_weight, judged=True))))
        utility, gap = float(candidates.utility[row]), float(candidates.gap[row])
        if preset.utility_power:
            worth = float(log_units(utility, preset.utility_power))
            lines.append(("utility", int(min(worth, NOTHING))))
        lines.append(("gap", round(preset.gap_rate * gap * COST_UNIT)))
        return tuple(ScoreLine(name, units) for name, units in lines)
