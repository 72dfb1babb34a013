"""θ_refine: proposes minimal patches of one stage, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from abstrag.config import OMEGA, TAU_MAX
from abstrag.errors import InputError
from abstrag.language.words import key, term_id
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Answered, Program, ask
from abstrag.model.distances import abstraction_distance, expression_distance, intent_distance
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    DeltaKind,
    EditOp,
    EventMapping,
    Failure,
    HypernymRestriction,
    Patch,
    PromptEdit,
    RoleRule,
    Stage,
    StepPrice,
    TimeWindow,
)
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.ranking import Hit, WordTrace
from abstrag.model.record import record, to_data
from abstrag.model.term import Family, Interval, Licence, LicenceKind, TermKind
from abstrag.refine.feedback import CONFIRMED, REFUSED
from abstrag.refine.lessons import base
from abstrag.refine.licensing import Licensed, Licensing
from abstrag.refine.overlay import away, mentions_of, reach
from abstrag.refine.state import family_of
from abstrag.search.document_words import forms
from abstrag.search.lexical import words
from abstrag.search.query.operators import interval_of
from abstrag.search.scoring import Scoring
from abstrag.search.trace import word_traces
from abstrag.search.why_not import KINDS

# Aliases that the document itself suggests: initials, kinds, headings, and words that go
# together.
#
# They are guesses, dearer than what a lexicon knows, and the gate decides about each.

_MOST_MINED: Final = 3  # of each kind, for one condition
_TOGETHER: Final = 2  # segments in which two words must meet
_LIFT: Final = 3.0  # how much oftener than by chance
_THINGS: Final = ("concept:", "entity:", "role:")
_SMALL: Final = frozenset("a an and for in of on or the to with".split())


def mined(literal: Literal, scoring: Scoring, hit: Hit) -> Iterator[Licensed]:
    """Yield terms of a segment that may stand for a condition, judging by the document."""
    if literal.kind in (LiteralKind.TIME, LiteralKind.QUANTITY):
        return
    labels = scoring.index.labels
    here = {
        term: key(labels.get(term, term.partition(":")[2]))
        for term in sorted(scoring.index.terms_of(hit.position))
        if "." not in term and term not in literal.terms
    }
    yield from _initials(literal, here)
    yield from _kinds(literal, here)
    if literal.kind is not LiteralKind.EVENT:
        things = {term: label for term, label in here.items() if term.startswith(_THINGS)}
        yield from _headed(literal, things, scoring, hit)
        yield from _together(literal, things, scoring)


def initials(name: str) -> str:
    """Return the first letters of a name's words, small words left out."""
    return "".join(word[0] for word in key(name).split() if word not in _SMALL)


def _initials(literal: Literal, here: dict[str, str]) -> Iterator[Licensed]:
    """Propose that a name and its initials are the same: MPC, Monetary Policy Committee."""
    asked = key(literal.label)
    for term, label in here.items():
        short, long = sorted((asked, label), key=len)
        plain = short.replace(".", "").replace(" ", "")
        if 2 <= len(plain) <= 6 and len(long.split()) > 1 and plain == initials(long):
            distance = expression_distance(asked, label, guessed=True)
            said = f"“{short}” are the initials of “{long}”"
            yield Licensed(term, round(distance, 4), Licence(LicenceKind.TEXT, said))


def _kinds(literal: Literal, here: dict[str, str]) -> Iterator[Licensed]:
    """Propose that the same word counts although it was read as something else."""
    asked = set(forms(key(literal.label)))
    for term, label in here.items():
        if not asked.isdisjoint(forms(label)):
            kind = term.partition(":")[0]
            said = f"“{label}” was read as {kind}, and {literal.kind.value} is asked for"
            distance = expression_distance("", "", guessed=True)
            yield Licensed(term, round(distance, 4), Licence(LicenceKind.TEXT, said))


def _headed(
    literal: Literal, here: dict[str, str], scoring: Scoring, hit: Hit
) -> Iterator[Licensed]:
    """Propose that what stands under a heading that names the condition is about it."""
    asked = set(forms(key(literal.label)))
    for heading in reversed(hit.section):
        named = {form for word in key(heading).split() for form in forms(word)}
        if asked.isdisjoint(named):
            continue
        rarest = sorted(here, key=lambda term: (len(scoring.index.places(term)), term))[
            :_MOST_MINED
        ]
        for term in rarest:
            said = f"“{here[term]}” stands under the heading “{heading}”"
            distance = abstraction_distance(one_way=False)
            yield Licensed(term, distance, Licence(LicenceKind.TEXT, said))
        return


def _together(literal: Literal, here: dict[str, str], scoring: Scoring) -> Iterator[Licensed]:
    """Propose words that stand beside the condition elsewhere oftener than by chance."""
    size = max(1, len(scoring.document.records))
    places = {int(p) for term in literal.terms for p in scoring.index.places(term)}
    if len(places) < _TOGETHER:
        return
    found = []
    for term in here:
        own = {int(p) for p in scoring.index.places(term)}
        both = len(own & places)
        lift = both * size / max(1, len(own) * len(places))
        if both >= _TOGETHER and lift >= _LIFT:
            found.append((-lift, term, both))
    for lift, term, both in sorted(found)[:_MOST_MINED]:
        said = f"“{here[term]}” and “{literal.label}” meet in {both} segments, {-lift:.1f} × chance"
        cosine = float(np.clip(1.0 + 1.0 / lift, 0.0, 1.0))
        distance = round(abstraction_distance(cosine=cosine, one_way=False), 4)
        yield Licensed(term, distance, Licence(LicenceKind.TEXT, said))


# Steps between words: what the aligner finds likely but dear, and what leads others astray.

MIDDLING: Final = 2.5  # the dearest pair of words that is worth a try
_RIVALS: Final = 3  # segments ranked higher whose steps are looked at


def expensive_steps(hit: Hit) -> Iterator[Patch]:
    """Propose steps from words that nearly meet a word of the query, the likeliest first.

    A pair has a middling price: the aligner neither takes the one for the other nor rules it out,
    and no lexicon has it.
    """
    for word in hit.words:
        if word.family is None or word.other_sense or not CONFIRMED < word.price <= MIDDLING:
            continue
        if not _tells(word):
            continue
        delta = StepPrice(base(word.asked), base(word.said), at_most=CONFIRMED)
        licence = Licence(LicenceKind.MODEL, f"the aligner prices it {word.price:.2f}")
        yield Patch(Stage.MAP, delta, licence, round(word.price, 4))


def misleading_steps(hit: Hit, scoring: Scoring) -> Iterator[Patch]:
    """Propose to bar steps by which segments rank above the right one."""
    if scoring.alignment is None:
        return
    own = {(base(word.asked), base(word.said)) for word in hit.words}
    order = scoring.order
    place = order.index(hit.position) if hit.position in order else len(order)
    for position in order[: min(place, _RIVALS)]:
        for word in word_traces(scoring.alignment, position):
            step = base(word.asked), base(word.said)
            if not word.met or word.family is None or step in own or not _tells(word):
                continue
            delta = StepPrice(*step, at_least=REFUSED)
            segment = scoring.document.segments[position].id
            licence = Licence(LicenceKind.TEXT, f"it puts {segment} above {hit.segment}")
            yield Patch(Stage.MAP, delta, licence, round(OMEGA["related"] + word.price, 4))


def _tells(word: WordTrace) -> bool:
    """Tell whether both words say something, and neither is a number."""
    both = word.asked, word.said
    return all(words(one) for one in both) and not any(c.isdigit() for one in both for c in one)


_MOST: Final = 3  # restrictions proposed for one failure
Delta = Alias | HypernymRestriction | RoleRule | EventMapping | TimeWindow | ClauseCost | StepPrice


@record
class Unusable:
    """A reply that is not a valid patch, and why."""

    said: str
    reason: str


# offers patches for a failure at one stage, the most promising first; what was refused before
# stands in the failure
Proposer = Callable[[Failure, Stage, Scoring], Iterable[Patch | Unusable]]


@dataclass(frozen=True, slots=True)
class ChainedProposer:
    """Yields the proposals of several proposers, one after the other."""

    proposers: tuple[Proposer, ...]

    def __call__(
        self, failure: Failure, stage: Stage, scoring: Scoring
    ) -> Iterator[Patch | Unusable]:
        """Ask each when the one before has nothing more."""
        for proposer in self.proposers:
            yield from proposer(failure, stage, scoring)


@dataclass(frozen=True, slots=True)
class LocalProposer:
    """Proposes only what text, lexicon, Background or an embedding similarity licenses.

    A patch that restricts or reprices claims nothing new: its licence is the text it is about.
    """

    licensing: Licensing = field(default_factory=Licensing)

    def __call__(
        self, failure: Failure, stage: Stage, scoring: Scoring
    ) -> Iterable[Patch | Unusable]:
        """Collect the proposals of a stage, the cheapest first."""
        hit = nearest(failure, scoring)
        makers = {
            Stage.MAP: self._map,
            Stage.EVENT: self._event,
            Stage.CONTEXT: self._context,
            Stage.QUERY: self._query,
        }
        patches = {patch.id: patch for patch in makers[stage](failure, scoring, hit)}
        return sorted(patches.values(), key=lambda p: (p.cost, p.id))

    def _map(self, failure: Failure, scoring: Scoring, hit: Hit | None) -> Iterator[Patch]:
        if hit is not None:
            yield from expensive_steps(hit)
            yield from misleading_steps(hit, scoring)
        for literal in unmet_literals(failure) if hit else ():
            assert hit is not None
            yield from self._verbatim(literal, scoring, hit)
            if literal.kind is LiteralKind.EVENT:
                continue
            for step in (*self._steps(literal, scoring, hit), *mined(literal, scoring, hit)):
                yield _bridging(step, literal, Stage.MAP)

    def _event(self, failure: Failure, scoring: Scoring, hit: Hit | None) -> Iterator[Patch]:
        for literal in unmet_literals(failure) if hit else ():
            assert hit is not None
            if literal.kind is LiteralKind.EVENT:
                for step in (*self._steps(literal, scoring, hit), *mined(literal, scoring, hit)):
                    yield _bridging(step, literal, Stage.EVENT)

    def _steps(self, literal: Literal, scoring: Scoring, hit: Hit) -> Iterator[Licensed]:
        """Steps from terms of the segment that could stand for the literal by their kind."""
        here, labels = scoring.index.terms_of(hit.position), dict(scoring.index.labels)
        fitting: dict[str, str] = {}  # one term for each label, of the kind that fits best
        for kind in KINDS[literal.kind]:
            for term in sorted(t for t in here if t.startswith(f"{kind.value}:") and "." not in t):
                fitting.setdefault(key(labels.get(term, term.partition(":")[2])), term)
        return self.licensing.steps(literal, list(fitting.values()), labels)

    def _verbatim(self, literal: Literal, scoring: Scoring, hit: Hit) -> Iterator[Patch]:
        """The very words stand in the text, and the map has no mention of them there."""
        if literal.kind in (LiteralKind.TIME, LiteralKind.QUANTITY) or not words(literal.label):
            return  # nothing but stop words stands in every text
        source = term_id(TermKind.ENTITY, key(literal.label))
        segment = scoring.document.records[hit.position].segment
        if mentions_of([(literal.label, source)], [segment]):
            distance = expression_distance("", "", guessed=True)
            delta = Alias(source, literal.terms[0], distance, surface=literal.label)
            yield _patch(Stage.MAP, delta, Licence(LicenceKind.TEXT, hit.text, hit.span))

    def _context(self, failure: Failure, scoring: Scoring, hit: Hit | None) -> Iterator[Patch]:
        """A time of the segment that lies near the one asked for."""
        for literal in unmet_literals(failure) if hit else ():
            assert hit is not None
            if literal.interval is None:
                continue
            asked, target = literal.interval, literal.terms[0]
            for term in sorted(scoring.index.terms_of(hit.position)):
                own = interval_of(term)
                if own is not None and not own.overlaps(asked) and away(own, asked) < reach(asked):
                    ends = min(own.start, asked.start), max(own.end, asked.end)
                    licence = Licence(LicenceKind.TEXT, hit.text, hit.span)
                    yield _patch(Stage.CONTEXT, TimeWindow(target, Interval(*ends)), licence)

    def _query(self, failure: Failure, scoring: Scoring, hit: Hit | None) -> Iterator[Patch]:
        if hit is not None and (needed := _joint_budget(hit)) is not None:
            licence = Licence(LicenceKind.TEXT, hit.text, hit.span)
            delta = ClauseCost(query=failure.query, tau=needed)
            yield _patch(Stage.QUERY, delta, licence, cost=needed - scoring.tau)
        wide = failure.diagnosis.over_expansion
        labels = scoring.index.labels
        for each in [w for w in wide if w.family is Family.CONCEPT][:_MOST]:
            said = (
                f"{labels.get(each.source, each.source)} → {labels.get(each.target, each.target)}"
            )
            licence = Licence(LicenceKind.TEXT, f"{said} led to {each.segments} unfit segments")
            yield _patch(Stage.QUERY, HypernymRestriction(each.source, each.target), licence)
        if wide and (dearer := _dearer(wide[0].family)) is not None:
            licence = Licence(LicenceKind.TEXT, f"{wide[0].segments} unfit segments")
            delta = ClauseCost(family=wide[0].family, weight=dearer)
            yield _patch(Stage.QUERY, delta, licence)


def _joint_budget(hit: Hit) -> float | None:
    """b* where each literal is affordable and all together are not (adaptive τ)."""
    needed = hit.trace.bridge_cost
    if hit.trace.over_budget_by is None or needed is None or needed > TAU_MAX:
        return None
    return needed


def _dearer(family: Family) -> float | None:
    """Half the way up to the next dearer family, so that the order of ω stays."""
    above = [weight for weight in OMEGA.values() if weight > OMEGA[family]]
    return round((OMEGA[family] + min(above)) / 2, 4) if above else None


def _bridging(step: Licensed, literal: Literal, stage: Stage) -> Patch:
    """The patch that adds a licensed step, typed by what it leads from and to."""
    target = literal.terms[0]
    delta: Delta
    if literal.kind is LiteralKind.EVENT:
        delta = EventMapping(step.source, target, step.distance)
    elif step.source.startswith("role:") or literal.kind is LiteralKind.ROLE:
        delta = RoleRule(step.source, target, intent_distance(context_sensitive=False))
    else:
        delta = Alias(step.source, target, round(step.distance, 4))
    return _patch(stage, delta, step.licence)


def _patch(stage: Stage, delta: Delta, licence: Licence, *, cost: float | None = None) -> Patch:
    return Patch(stage, delta, licence, round(patch_cost(delta) if cost is None else cost, 4))


def patch_cost(delta: Delta) -> float:
    """Return what a change costs by the gap typology: riskier families are dearer."""
    match delta:
        case Alias() | RoleRule() | EventMapping():
            return OMEGA[family_of(delta)] + delta.distance
        case HypernymRestriction():
            return OMEGA[Family.CONCEPT]
        case StepPrice():
            return OMEGA[Family.RELATED]
        case TimeWindow():
            return OMEGA[Family.CONTEXT]
        case ClauseCost(family=Family() as family, weight=float() as weight):
            return OMEGA[Family.CONTEXT] + abs(weight - OMEGA[family])
        case _:
            return OMEGA[Family.EVENT]


def nearest(failure: Failure, scoring: Scoring) -> Hit | None:
    """Return the segment a failure is about, as a hit."""
    for position, entry in enumerate(scoring.document.records):
        if entry.segment.id == failure.segment:
            return scoring.hit(position)
    return None


def unmet_literals(failure: Failure) -> list[Literal]:
    """Return the literals a failure names as unmet and that some term could meet."""
    unmet = set(failure.diagnosis.unmet)
    return [each for each in failure.canonical.literals if each.label in unmet and each.terms]


@dataclass(frozen=True, slots=True)
class PromptedProposer:
    """Asks a model; whatever it says becomes a typed patch or is turned down with a reason.

    Terms it invents are kept as it wrote them, so that the refusal shows them.
    """

    model: LanguageModel
    program: Program

    def __call__(
        self, failure: Failure, stage: Stage, scoring: Scoring
    ) -> Iterable[Patch | Unusable]:
        """Ask once; the answer holds a few patches."""
        hit = nearest(failure, scoring)
        here = sorted(scoring.index.terms_of(hit.position)) if hit else []
        labels = scoring.index.labels
        inputs = {
            "stage": stage.value,
            "query": failure.query,
            "failure": to_data(failure.diagnosis),
            "segment": hit.text if hit else "",
            "literals": [
                {"term": each.terms[0], "label": each.label, "kind": each.kind.value}
                for each in failure.canonical.literals
                if each.terms
            ],
            "terms": [{"term": t, "label": labels.get(t, t)} for t in here if "." not in t],
            "refused": list(failure.refused),
        }
        said = ask(self.model, self.program, dict[str, Any], inputs, role=CallRole.REFINE)
        names = {labels.get(t, t): t for t in here}
        names |= {each.label: each.terms[0] for each in failure.canonical.literals if each.terms}
        for one in said.value["patches"]:
            yield _read(one, failure, names, said)


def _read(
    one: dict[str, Any], failure: Failure, names: dict[str, str], said: Answered[dict[str, Any]]
) -> Patch | Unusable:
    try:
        delta = _delta(one, failure, names)
        edit = one["edit"]
        made = edit and PromptEdit(edit["program"], EditOp(edit["op"]), edit["text"])
        size = 1 if made is None else 2
        licence = Licence(LicenceKind.MODEL, said.call)
        return Patch(Stage(one["stage"]), delta, licence, round(patch_cost(delta), 4), size, made)
    except (InputError, ValueError) as error:
        return Unusable(f"{one['kind']} {one['source']} → {one['target']}", str(error))


def _delta(one: dict[str, Any], failure: Failure, names: dict[str, str]) -> Delta:
    source, target = (names.get(one[end], one[end]) for end in ("source", "target"))
    match DeltaKind(one["kind"]):
        case DeltaKind.ALIAS:
            words = source.partition(":")[2], target.partition(":")[2]
            return Alias(source, target, round(expression_distance(*words, guessed=True), 4))
        case DeltaKind.HYPERNYM_RESTRICTION:
            return HypernymRestriction(source, target)
        case DeltaKind.ROLE_RULE:
            return RoleRule(source, target, intent_distance(context_sensitive=True))
        case DeltaKind.EVENT_MAPPING:
            return EventMapping(source, target, abstraction_distance(one_way=True))
        case DeltaKind.TIME_WINDOW:
            return TimeWindow(target, Interval(one["start"], one["end"]))
        case DeltaKind.STEP_PRICE:
            said, asked = source.partition(":")[2], target.partition(":")[2]
            return StepPrice(asked, said, at_most=CONFIRMED)
        case DeltaKind.PRECEDENT:
            raise InputError("a precedent comes of what documents have shown")
        case DeltaKind.CLAUSE_COST if target == "tau":
            return ClauseCost(query=failure.query, tau=float(one["amount"]))
        case DeltaKind.CLAUSE_COST:
            return ClauseCost(family=Family(target), weight=float(one["amount"]))
