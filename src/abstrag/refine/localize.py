"""θ_localize: attributes a failure to one of the four stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program, ask
from abstrag.model.patch import Failure, Stage
from abstrag.model.query import Literal, LiteralKind
from abstrag.model.record import record, to_data

_OF_KIND: Final = {LiteralKind.TIME: Stage.CONTEXT, LiteralKind.EVENT: Stage.EVENT}


@record
class Localization:
    """The stage a failure is attributed to, why, and where else it may come from, in order."""

    stage: Stage
    reason: str
    others: tuple[Stage, ...] = ()


class Localizer(Protocol):
    """Chooses the stage to repair."""

    def __call__(self, failure: Failure) -> Localization:
        """Return the stage."""
        ...


@dataclass(frozen=True, slots=True)
class LocalLocalizer:
    """Goes by the failure's κ: the joint budget, then the heaviest unmet literal, then breadth."""

    def __call__(self, failure: Failure) -> Localization:
        """Apply the rules in order; each that applies is an alternative to the ones before."""
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
        rules = LocalLocalizer()(failure)
        stage = Stage(said["stage"])
        others = tuple(s for s in (rules.stage, *rules.others) if s is not stage)
        return replace(rules, stage=stage, reason=said["reason"], others=others)


def _heaviest(failure: Failure) -> list[Literal]:
    unmet = set(failure.diagnosis.unmet)
    literals = [each for each in failure.canonical.literals if each.label in unmet]
    return sorted(literals, key=lambda each: -each.weight)
