"""What a wording of a prompt is worth: a program asked about a small labelled set, and scored.

Every set is a few hand-made items; a change of wording gets a number, not a proof. A reply that
does not obey the schema counts as nothing right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any, Final

from abstrag.errors import InputError, ModelError, OverBudget
from abstrag.files import read_data_file
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program
from abstrag.llm.shape import misfit
from abstrag.model.record import record
from abstrag.policy.load import base_hash

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


Scorer = Callable[[Any, Labels], float]
_ARTICLES: Final = ("the ", "a ", "an ")


def _found(listed: str, *fields: str) -> Scorer:
    """Score what a reply lists, compared by some fields, against what is to be found."""

    def score(reply: Any, expected: Labels) -> float:
        said = {tuple(_plain(one[field]) for field in fields) for one in reply[listed]}
        return _f1(said, {tuple(_plain(value) for value in row) for row in expected["found"]})

    return score


def _by_id(listed: str, name: str, field: str) -> Scorer:
    """Score one field of everything that was asked about, each known by its id."""

    def score(reply: Any, expected: Labels) -> float:
        said = {one[name]: one[field] for one in reply[listed]}
        return _share(said.get(one) == value for one, value in expected.items())

    return score


def _same(field: str) -> Scorer:
    """Score the one field of a reply that decides."""
    return lambda reply, expected: float(reply[field] == expected[field])


def _judged(reply: Any, expected: Labels) -> float:
    said = {
        (one["segment"], literal["literal"]): literal["met"] == "yes"
        for one in reply["judgements"]
        for literal in one["literals"]
    }
    wanted = {(s, q): v for s, own in expected.items() for q, v in own.items()}
    return _share(said.get(pair, False) == bool(v) for pair, v in wanted.items())


def _probable(reply: Any, expected: Labels) -> float:
    said = {one["pair"]: one["probability"] >= _HALF for one in reply["probabilities"]}
    return _share(said.get(pair) == value for pair, value in expected.items())


def _split(reply: Any, expected: Labels) -> float:
    said = {one["quote"].casefold() for one in reply["literals"]}
    return _f1(said, {one.casefold() for one in expected["quotes"]})


def _proposed(reply: Any, expected: Labels) -> float:
    said = {(e["literal"], e["source"]) for clause in reply["clauses"] for e in clause["edges"]}
    return _f1(said, {(a, b) for a, b in expected["edges"]})


def _read(reply: Any, expected: Labels) -> float:
    return (_split(reply, expected) + _proposed(reply, expected)) / 2


def _answered(reply: Any, expected: Labels) -> float:
    text = " ".join(one["text"] for one in reply["sentences"])
    held = str(expected["says"]).casefold() in text.casefold()
    return float(reply["status"] == expected["status"] and held)


def _reflected(reply: Any, expected: Labels) -> float:
    said = {one["passage"]: one["is_supported"] != "no" for one in reply["passages"]}
    right = [said.get(one) == value for one, value in expected["supported"].items()]
    return _share([*right, reply["should_retrieve"] != expected["enough"]])


def _explained(reply: Any, expected: Labels) -> float:
    over = {(one["source"], one["target"]) for one in reply["over_expansion"]}
    wanted = {(a, b) for a, b in expected["over_expansion"]}
    return _f1({*reply["unmet"], *over}, {*expected["unmet"], *wanted})


def _plain(value: object) -> str:
    """Bring a field to one spelling: case and a leading article make no difference."""
    text = str(value).strip().casefold()
    return next((text.removeprefix(one) for one in _ARTICLES if text.startswith(one)), text)


def _share(right: Iterable[bool]) -> float:
    held = list(right)
    return sum(held) / len(held)


def _f1(said: set[Any], wanted: set[Any]) -> float:
    if not said and not wanted:
        return 1.0
    return 2 * len(said & wanted) / (len(said) + len(wanted))


_OWN: Final[Mapping[str, Scorer]] = {  # for replies of a shape of their own
    "split": _split,
    "proposed": _proposed,
    "read": _read,
    "probable": _probable,
    "judged": _judged,
    "answered": _answered,
    "explained": _explained,
    "reflected": _reflected,
}


def _scorer(row: Mapping[str, Any]) -> Scorer:
    if "found" in row:
        return _found(*row["found"])
    if "by_id" in row:
        return _by_id(*row["by_id"])
    return _same(row["same"]) if "same" in row else _OWN[row["by"]]


# program → who is asked, how a reply is scored, and what the score is called
SCORED: Final[Mapping[str, tuple[CallRole, Scorer, str]]] = {
    name: (CallRole(row["role"]), _scorer(row), row["measure"])
    for name, row in read_data_file("abstrag_bench", "data/prompts/scores.toml").items()
}


def items_of(program: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the labelled set of a program: inputs and what is expected."""
    if program not in SCORED:
        raise InputError(f"no labelled set for {program!r}", hint=f"there are: {', '.join(SCORED)}")
    text = (files("abstrag_bench") / "data" / "prompts" / f"{program}.jsonl").read_text("utf-8")
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
