"""What a wording of a prompt is worth: a program asked about a small labelled set, and scored.

Every set is a few hand-made items; a change of wording gets a number, not a proof. A reply that
does not obey the schema counts as nothing right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, Final

from abstrag.errors import InputError, ModelError, OverBudget
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program
from abstrag.llm.shape import misfit
from abstrag.model.record import record
from abstrag.policy.slots import base_hash

_HALF: Final = 50  # percent from which on a condition counts as met


@record
class PromptScore:
    """How a model does with one program on its labelled set."""

    program: str
    hash: str
    model: str
    items: int
    obeyed: int  # replies that fit the schema
    score: float  # mean over the items, in [0, 1]
    measure: str


Labels = Mapping[str, Any]


def _judged(reply: Any, expected: Labels) -> float:
    said = {
        (one["segment"], literal["literal"]): literal["p"]
        for one in reply["judgements"]
        for literal in one["literals"]
    }
    wanted = {(s, q): v for s, own in expected.items() for q, v in own.items()}
    right = [bool(said.get(pair, 0) >= _HALF) == bool(value) for pair, value in wanted.items()]
    return sum(right) / len(right)


def _split(reply: Any, expected: Labels) -> float:
    said = {one["quote"].casefold() for one in reply["literals"]}
    return _f1(said, {one.casefold() for one in expected["quotes"]})


def _proposed(reply: Any, expected: Labels) -> float:
    said = {(e["literal"], e["source"]) for clause in reply["clauses"] for e in clause["edges"]}
    return _f1(said, {(a, b) for a, b in expected["edges"]})


def _labelled(reply: Any, expected: Labels) -> float:
    return float(reply["label"] == expected["label"])


def _answered(reply: Any, expected: Labels) -> float:
    text = " ".join(one["text"] for one in reply["sentences"])
    held = str(expected["says"]).casefold() in text.casefold()
    return float(reply["status"] == expected["status"] and held)


def _reviewed(reply: Any, expected: Labels) -> float:
    return float(reply["sufficient"] == expected["sufficient"])


def _f1(said: set[Any], wanted: set[Any]) -> float:
    if not said and not wanted:
        return 1.0
    return 2 * len(said & wanted) / (len(said) + len(wanted))


# program → who is asked, how a reply is scored, and what the score is called
SCORED: Final[Mapping[str, tuple[CallRole, Callable[[Any, Labels], float], str]]] = {
    "normalize_query": (CallRole.INDEX, _split, "F1 of the conditions"),
    "expand_query": (CallRole.INDEX, _proposed, "F1 of the alternatives"),
    "entailment": (CallRole.JUDGE, _judged, "accuracy of the conditions"),
    "verdict": (CallRole.ANSWER, _labelled, "accuracy of the labels"),
    "answer": (CallRole.ANSWER, _answered, "right answers and abstentions"),
    "critic": (CallRole.CRITIC, _reviewed, "accuracy of sufficiency"),
}


def items_of(program: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the labelled set of a program: inputs and what is expected."""
    if program not in SCORED:
        raise InputError(f"no labelled set for {program!r}", hint=f"there are: {', '.join(SCORED)}")
    text = (files("abstrag.data") / "prompts" / f"{program}.jsonl").read_text("utf-8")
    made = [json.loads(line) for line in text.splitlines()]
    return [(one["inputs"], one["expected"]) for one in made]


def score_prompt(program: Program, model: LanguageModel) -> PromptScore:
    """Ask a model about every item of a program's set, and score what it says.

    Raises:
        OverBudget: The budget of calls is spent.
    """
    items = items_of(program.stage)
    role, score, measure = SCORED[program.stage]
    requests = [program.request(role, inputs, max_tokens=1024) for inputs, _ in items]
    points, obeyed = 0.0, 0
    for reply, (_, expected) in zip(model.complete_many(requests), items, strict=True):
        if isinstance(reply, OverBudget):
            raise reply
        if isinstance(reply, ModelError) or misfit(reply.value, program.output_schema):
            continue
        obeyed += 1
        points += score(reply.value, expected)
    return PromptScore(
        program.stage,
        base_hash(program)[:12],
        model.fingerprint,
        len(items),
        obeyed,
        round(points / len(items), 6),
        measure,
    )
