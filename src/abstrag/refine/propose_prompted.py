"""θ_refine with a model: its proposals become typed patches, or are turned down with a reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from abstrag.errors import InputError
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
from abstrag.model.record import to_data
from abstrag.model.term import Family, Interval, Licence, LicenceKind
from abstrag.refine.feedback import CONFIRMED
from abstrag.refine.propose import Delta, Unusable, nearest, patch_cost
from abstrag.search.scoring import Scoring


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
