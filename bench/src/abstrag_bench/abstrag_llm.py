"""AbstRAG with a language model, as a system of the benchmark.

The model may extend the index operators, prune contexts, read the query, propose alternatives and
judge the best segments; each part can be left out. Reading and proposing are one call. The judge
reads the first ten of the ranking in another, and its word is weighed against their relevance as
a calibration found best; where that found that its word adds nothing, it is not asked. In the cheap
mode the document is indexed locally, and a query is put to the model only where the local ranking
is unsure. With refinement, the model criticizes the first hits of each query, explains and
localizes what is missing and proposes patches; the local evaluator decides on them, and nothing is
kept for the next query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import exp
from time import perf_counter
from typing import Any, Final

from abstrag.config import Settings
from abstrag.engine.prompting import PromptedReader
from abstrag.engine.refinement import Refiner, local_judges, packaged_evaluator
from abstrag.engine.searcher import Searcher
from abstrag.errors import BadReply, InputError
from abstrag.indexing.pipeline import index
from abstrag.indexing.prompted.prompts import IndexPrompts
from abstrag.llm.model import CallRole, LanguageModel, ModelRequest
from abstrag.llm.prompt import Prompt
from abstrag.llm.usage import CountedModel, StageCounts
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Stage
from abstrag.model.ranking import Hit, Ranking
from abstrag.neural.whole_text import default_encoder
from abstrag.refine.critic import PromptedCritic
from abstrag.refine.explain import LocalExplainer, PromptedExplainer, PromptedLocalizer
from abstrag.refine.limits import RefineBudget
from abstrag.refine.propose import ChainedProposer, PromptedProposer
from abstrag.search.calibration import ModelCalibration, calibration_of, fitted, program_hash
from abstrag.search.prompted_judge import PromptedJudge
from abstrag.search.query.prompted.expand import ExpandQuery
from abstrag.search.query.prompted.normalize import NormalizeQuery
from abstrag.search.query.prompted.read import ReadQuery
from abstrag_bench.abstrag_system import AbstragSystem, PooledDocument, SharedIndexer, to_document
from abstrag_bench.baselines.backing import Backing, longest
from abstrag_bench.baselines.dense import element_text
from abstrag_bench.baselines.system import Pool, Ranked
from abstrag_bench.case import Case, by_document

PARTS: Final = ("index", "context", "query", "expand", "judge")
READING: Final = frozenset({"query", "expand"})  # one call where both are wanted
REFINE: Final = "refine"  # on top of all parts: it takes many calls
REFINING: Final = RefineBudget(cycles=1, attempts=4)
JUDGED: Final = 10  # of the ranking's first hits that the model judges, in one call
SURE: Final = 0.8  # a first hit that the local judge is so sure of leaves no question open
CLOSE: Final = 0.35  # nor does a second hit with less than this share of the first one's relevance
_FLOOR: Final = 0.02  # a segment is never wholly out because a model says so
_MARK: Final = "abstrag-llm"
_REFINING_STAGES: Final = (
    ("critic", CallRole.CRITIC),
    ("explain", CallRole.CRITIC),
    ("localize", CallRole.REFINE),
    ("refine", CallRole.REFINE),
)


def llm_names() -> tuple[str, ...]:
    """Return the names: whole, cheap, with refinement, and less one part at a time."""
    return (_MARK, f"{_MARK}-cheap", f"{_MARK}-{REFINE}", *(f"{_MARK}-no-{part}" for part in PARTS))


def build_llm(name: str, base: str, backing: Backing, indexer: SharedIndexer) -> AbstragLlmSystem:
    """Make one of these systems."""
    if base not in llm_names():
        raise InputError(f"no system is called {base!r}", hint=f"one of: {', '.join(llm_names())}")
    if base.endswith("-cheap"):
        asked = READING | {"judge"}
        return AbstragLlmSystem(name, backing, asked, cheap=True, indexer=indexer)
    if base.endswith(f"-{REFINE}"):
        return AbstragLlmSystem(name, backing, frozenset({*PARTS, REFINE}), indexer=indexer)
    out = base.removeprefix(f"{_MARK}-no-") if base != _MARK else ""
    return AbstragLlmSystem(name, backing, frozenset(PARTS) - {out}, indexer=indexer)


@dataclass
class AbstragLlmSystem:
    """The searcher of one document with a model behind it; implements `System`."""

    name: str
    backing: Backing
    parts: frozenset[str] = frozenset(PARTS)
    cheap: bool = False
    indexer: SharedIndexer = field(default_factory=SharedIndexer)
    tally: StageCounts = field(default_factory=StageCounts)
    _pooled: PooledDocument | None = None
    _index: DocumentIndex | None = None
    _spent: Mapping[str, Any] = field(default_factory=dict)  # on the index of the document

    @property
    def fidelity(self) -> str:
        """What this variant is."""
        parts = (p for p in (*PARTS, REFINE) if p in self.parts)
        told = "ours with a language model: " + ", ".join(parts)
        return f"{told}; asked only where the local ranking is unsure" if self.cheap else told

    @property
    def state(self) -> str:
        """A hash of everything the results depend on."""
        local = AbstragSystem(indexer=self.indexer).state
        stages = ("normalize_query", "expand_query", "read_query", "entailment")
        roles = (CallRole.INDEX, CallRole.INDEX, CallRole.INDEX, CallRole.JUDGE)
        asked = [self.backing.state(r, s) for r, s in zip(roles, stages, strict=True)]
        if REFINE in self.parts:
            asked += [self.backing.state(role, stage) for stage, role in _REFINING_STAGES]
            asked.append(repr(REFINING))
        rest = (sorted(self.parts), self.cheap, JUDGED, SURE, CLOSE, repr(self.calibration))
        return sha256(repr((local, asked, rest)).encode()).hexdigest()[:16]

    @cached_property
    def calibration(self) -> ModelCalibration | None:
        """How the judge's shares become probabilities; None where that was never fitted."""
        prompt = self._prompt("entailment", CallRole.JUDGE)
        return calibration_of(prompt)

    @property
    def judge_tells(self) -> bool:
        """Whether the model's word adds to the local ranking; what is not known counts as yes."""
        return self.calibration is None or self.calibration.adds

    def _model(self, role: CallRole) -> LanguageModel:
        return CountedModel(self.backing.models[role], self.tally)

    def _prompt(self, stage: str, role: CallRole) -> Prompt:
        return Prompt(self.backing.programs[stage], self._model(role), role)

    def index(self, document: Pool) -> None:
        """Run the index chain, with the model where that is wanted."""
        self.tally.take()
        if "index" not in self.parts:
            self._pooled, self._index = self.indexer(document)
        else:
            prompts = IndexPrompts.of(self.backing.programs, self._model, default_encoder())
            if "context" not in self.parts:
                prompts = replace(prompts, local=frozenset({"lift_context"}))
            self._pooled = to_document(document)
            settings = Settings(granularity=document.granularity.value)
            self._index = index(self._pooled.document, settings=settings, prompts=prompts)
        self._spent = _told(self.tally)

    @property
    def searcher(self) -> Searcher:
        """Search the document that was indexed last, reading queries with the model if wanted."""
        return self._searcher(self._reader())

    @property
    def local_searcher(self) -> Searcher:
        """Search it without asking anybody."""
        return self._searcher(None)

    def _searcher(self, reader: PromptedReader | None) -> Searcher:
        assert self._index is not None
        preset = AbstragSystem().preset
        memory = self.indexer.workspace.store
        return Searcher(self._index, preset=preset, reader=reader, memory=memory)

    def _reader(self) -> PromptedReader | None:
        reader = None
        if self.parts & {"query", "expand"}:
            own = self._prompt("normalize_query", CallRole.INDEX)
            more = self._prompt("expand_query", CallRole.INDEX)
            both = self._prompt("read_query", CallRole.INDEX)
            together = self.parts >= READING
            reader = PromptedReader(
                NormalizeQuery(own) if "query" in self.parts else None,
                ExpandQuery(more, default_encoder()) if "expand" in self.parts else None,
                together=ReadQuery(both, default_encoder()) if together else None,
            )
        return reader

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return self.search_explained(query, k)[0]

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what was asked, by stage."""
        assert self._pooled is not None
        assert self._index is not None
        started = perf_counter()
        elements = self._pooled.element_ids(self._index)
        split = len(elements) - len(set(elements))
        many = k + min(split, k)
        why = "always"
        refined: Mapping[str, Mapping[str, Any]] = {}
        if self.cheap:
            ranking = self.local_searcher.search(query, k=many, fill=True)
            why = unsure(ranking)
        if why and REFINE in self.parts:
            ranking, refined = self._refined(self.searcher, query, many)
        elif why:
            ranking = self.searcher.search(query, k=many, fill=True)
        asked = bool(why) and "judge" in self.parts and self.judge_tells
        hits = self._judged(ranking) if asked else [(h, h.relevance) for h in ranking.hits]
        best: dict[str, float] = {}
        for hit, score in hits:
            best.setdefault(elements[hit.position], score)
        ranked = list(best.items())[:k]
        spent = _told(self.tally)
        return ranked, {
            "tau": ranking.tau,
            "judgements": ranking.judgements,
            "llm_calls": spent["calls"],
            "seconds": round(perf_counter() - started, 6),
            "details": {
                "asked_because": why,
                "judged": asked,
                "stages": spent["stages"],
                "tokens_in": spent["tokens_in"],
                "tokens_out": spent["tokens_out"],
                "index": dict(self._spent),
                **refined,
            },
        }

    def _refined(
        self, searcher: Searcher, query: str, k: int
    ) -> tuple[Ranking, Mapping[str, Mapping[str, Any]]]:
        """Search under the patches that refinement on this query alone has kept."""
        evaluator = packaged_evaluator(title=searcher.index.document.title)
        local = local_judges(searcher, evaluator)
        programs = self.backing.programs
        critic, refiner = self._model(CallRole.CRITIC), self._model(CallRole.REFINE)
        proposer = PromptedProposer(refiner, programs["refine"])
        judges = replace(
            local,
            critic=PromptedCritic(critic, programs["critic"], samples=1, k=evaluator.k),
            explainer=PromptedExplainer(critic, programs["explain"], LocalExplainer(evaluator)),
            localizer=PromptedLocalizer(refiner, programs["localize"]),
            proposer=ChainedProposer((proposer, local.proposer)),
            budget=REFINING,
        )
        own = Refiner(searcher, judges)
        made = own.refine(query)
        ranking = own.system.scoring(query, own.state).ranking(k, fill=True)
        return ranking, {"refined": {"end": made.end.value, "patches": len(made.patches)}}

    def shares(self, ranking: Ranking) -> list[float]:
        """Ask the model which share of the query's conditions each of the first hits meets."""
        assert self._index is not None
        judge = PromptedJudge.of(self._index, self._prompt("entailment", CallRole.JUDGE))
        first = ranking.hits[:JUDGED]
        return judge(ranking.query, [self._index.segments[hit.position] for hit in first])

    def judged_hits(self, query: str, gold: Sequence[str]) -> list[tuple[float, bool, float]]:
        """Return of each first hit what the model says, if it was marked, and its relevance.

        The relevance is a share of the best hit's.
        """
        assert self._pooled is not None
        assert self._index is not None
        ranking = self.searcher.search(query, k=JUDGED, fill=True)
        elements = self._pooled.element_ids(self._index)
        first = ranking.hits[:JUDGED]
        marked = [elements[hit.position] in gold for hit in first]
        return list(zip(self.shares(ranking), marked, _relative(first), strict=True))

    def _judged(self, ranking: Ranking) -> list[tuple[Hit, float]]:
        """Let the model judge the first hits; the others follow as they were."""
        first, rest = ranking.hits[:JUDGED], ranking.hits[JUDGED:]
        said = self.shares(ranking)
        if curve := self.calibration:
            odds = map(curve.odds, said, _relative(first))
            scored = [(hit, exp(z)) for hit, z in zip(first, odds, strict=True)]
        else:
            told = [max(share, _FLOOR) for share in said]
            scored = [(hit, hit.relevance * p) for hit, p in zip(first, told, strict=True)]
        scored.sort(key=lambda one: -one[1])
        least = min((score for _, score in scored), default=0.0)
        top = max((hit.relevance for hit in rest), default=0.0) or 1.0
        return [*scored, *((hit, least * hit.relevance / top) for hit in rest)]

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        made = []
        if self.parts >= READING:
            made.append(self._request("read_query", CallRole.INDEX, {"query": query}))
        elif "query" in self.parts:
            made.append(self._request("normalize_query", CallRole.INDEX, {"query": query}))
        elif "expand" in self.parts:
            made.append(self._request("expand_query", CallRole.INDEX, {"query": query}))
        if "judge" in self.parts and self.judge_tells:
            shown = [element_text(one) for one in longest(document, JUDGED)]
            made += [
                self._request("entailment", CallRole.JUDGE, {"query": query, "segments": shown})
            ] * 2
        if REFINE in self.parts:
            shown = [element_text(one) for one in longest(document, JUDGED)]
            asked = {"query": query, "segments": shown, "trace": shown, "terms": shown}
            calls = {"critic": REFINING.attempts + 3, "explain": 1, "localize": 1}
            for stage, role in _REFINING_STAGES:
                request = self._request(stage, role, asked)
                made += [request] * (calls.get(stage, len(Stage)) * REFINING.cycles)
        return made

    def _request(self, stage: str, role: CallRole, inputs: Mapping[str, Any]) -> ModelRequest:
        return self.backing.programs[stage].request(role, inputs, max_tokens=2048)


def unsure(ranking: Ranking) -> str:
    """Say why a local ranking leaves a question open; nothing where it does not.

    A first hit that the judge is sure of, or that is far ahead of the second, stays first whatever
    a model adds.
    """
    first, second = (*ranking.hits[:2], None, None)[:2]
    if first is None or (first.judgement is not None and first.judgement >= SURE):
        return ""
    if second is None or second.relevance < CLOSE * first.relevance:
        return ""
    return "the judge is not sure of the best hit, and the second is close to it"


def calibrated(cases: Sequence[Case], backing: Backing, *, at_once: int = 1) -> ModelCalibration:
    """Fit the curve of the judge's model on cases with gold evidence, which it is asked about.

    Args:
        cases: Of the tuning part.
        backing: The judge's model and program.
        at_once: How many documents are asked about side by side.

    Raises:
        OverBudget: The budget of calls is spent.
        InputError: The cases hold too little to fit anything on.
    """
    ordered = sorted(cases, key=lambda one: one.document.id)
    documents = by_document(case for case in ordered if case.gold).values()

    def judged(own: Sequence[Case]) -> list[tuple[float, bool, float]]:
        system = AbstragLlmSystem("calibration", backing, frozenset({"judge"}))
        system.index(own[0].document)
        hits: list[tuple[float, bool, float]] = []
        for case in own:
            with suppress(BadReply):  # a case without a usable reply teaches nothing
                hits += system.judged_hits(case.query, case.gold)
        return hits

    with ThreadPoolExecutor(max(1, at_once)) as pool:
        hits = [hit for made in pool.map(judged, documents) for hit in made]
    prompt = Prompt(backing.programs["entailment"], backing.models[CallRole.JUDGE], CallRole.JUDGE)
    name = prompt.model.fingerprint
    shares, marked, relevances = zip(*hits, strict=True) if hits else ((), (), ())
    return fitted(name, program_hash(prompt), shares, marked, relevances)


def _relative(hits: Sequence[Hit]) -> list[float]:
    """Return relevances as shares of the best one."""
    best = max((hit.relevance for hit in hits), default=0.0) or 1.0
    return [hit.relevance / best for hit in hits]


def _told(tally: StageCounts) -> dict[str, Any]:
    counts = tally.take()
    return {
        "calls": sum(one.calls for one in counts.values()),
        "tokens_in": sum(one.tokens_in for one in counts.values()),
        "tokens_out": sum(one.tokens_out for one in counts.values()),
        "stages": {stage: asdict(one) for stage, one in counts.items()},
    }
