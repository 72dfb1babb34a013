r"""Fit how probably an answer without a language model is right.

    python -m tools.answers.fit dump --data DATA --output FILE [--sets tatqa,fetaqa] [--limit 300]
    python -m tools.answers.fit fit FILE… [--wrong 0.07] [--wrong-by-judge 0.06] \
        --output src/abstrag/answers/confidence.json

`dump` asks the questions of the tuning parts, and of our own the open half, and writes every answer
that was proposed with what speaks for it and whether it is right. `fit` makes one logistic model
for each way of answering and chooses its floor: the lowest probability from which on, among
answers of documents that the model was not fitted on, at most so many are wrong. Fewer may be where
the judge decides: it was trained on the tuning documents. Report parts are not read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from abstrag import AbstRAG
from abstrag.answers.answer import proposed_answers
from abstrag.answers.proposals import AnswerConfidence, AnswerWay, FittedWay
from abstrag.model.record import to_json
from abstrag.neural.judge import default_judge
from abstrag.refine.sufficiency import Logistic
from tools.answers.cases import Question, analyst_questions, data_questions
from tools.answers.rules import Said, outcome
from tools.fit_critic import fitted

FOLDS: Final = 5
WEIGHTS: Final = {"analyst": 4}  # there are few of them, and filings are what people ask about
Found = tuple[dict[str, Any], float, dict[str, Any]]  # question, probability, proposal
NAMED: Final = 0.75  # the floor of rows that no judge reads: a choice, their model is coarse
BY_JUDGE: Final = ("judged", "outside")


def dump(given: Any) -> None:
    """Write one line for each question: the answers proposed, with features and outcomes."""
    questions: list[Question] = []
    for name in given.sets.split(","):
        if name == "analyst":
            questions += analyst_questions(given.data, held=False)
        else:
            pages = given.work / "pages"
            questions += data_questions(
                given.data, name, "tune", given.limit, pages, skip=given.skip
            )
    questions = sorted((q for q in questions if not q.claim), key=lambda one: one.file)
    rag = AbstRAG(given.work / "fit.db")
    document, file = None, ""
    with given.output.open("w", encoding="utf-8") as out:
        for n, one in enumerate(questions, 1):
            if one.file != file:
                document, file = rag.workspace.document(Path(one.file)), one.file
            assert document is not None
            proposed = []
            for way in proposed_answers(document, one.query):
                short = "" if way.way is AnswerWay.SENTENCE else way.text
                said = Said(way.text, short, "", found=True, prose=not short)
                right = outcome(one.query, one.expected, said) == "right"
                proposed.append(
                    {
                        "way": way.way,
                        "features": dict(way.features),
                        "right": right,
                        "text": way.text,
                    }
                )
            line = {
                "set": one.set,
                "id": one.id,
                "file": one.file,
                "query": one.query,
                "answerable": one.expected.kind != "none",
                "proposed": proposed,
            }
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(f"\r{n} of {len(questions)}", end="", file=sys.stderr)
    print(file=sys.stderr)


def models(lines: Sequence[dict[str, Any]]) -> dict[str, tuple[tuple[str, ...], Logistic, int]]:
    """Fit one model for each way."""
    made = {}
    for way in AnswerWay:
        read = AnswerWay.ROWS if way is AnswerWay.NAMED_ROWS else way
        own = [p for line in lines for p in line["proposed"] if p["way"] == read]
        names = tuple(own[0]["features"])
        if way is AnswerWay.NAMED_ROWS:  # as they are where no judge reads them
            own = [p for p in own if p["features"]["named"]]
            names = tuple(name for name in names if name not in BY_JUDGE)
        rows = [
            {"features": [p["features"][name] for name in names], "right": p["right"]}
            for p in own
            for _ in range(p.get("weight", 1))
        ]
        made[way.value] = names, fitted(rows, "right"), len(rows)
    return made


def best(
    line: dict[str, Any], known: dict[str, tuple[tuple[str, ...], Logistic, int]]
) -> tuple[float, dict[str, Any]] | None:
    """Return the proposal of a question that is most probably right."""
    made = []
    for proposed in line["proposed"]:
        names, model, _ = known[proposed["way"]]
        made.append((model([proposed["features"][name] for name in names]), proposed))
    return max(made, key=lambda one: one[0], default=None)


def fit(given: Any) -> None:
    """Fit, print what each floor gives out of fold, and write the model."""
    lines = [json.loads(x) for f in given.files for x in f.read_text("utf-8").splitlines()]
    for line in lines:
        for proposed in line["proposed"]:
            proposed["weight"] = WEIGHTS.get(line["set"], 1)
    found = out_of_fold(lines)
    for floor in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9):
        print(f"{floor:.2f}", _told(found, dict.fromkeys(AnswerWay, floor)))
    floors: dict[str, float] = {AnswerWay.NAMED_ROWS: NAMED}
    for way in (AnswerWay.FIGURES, AnswerWay.ROWS, AnswerWay.SENTENCE):
        most = given.wrong if way is AnswerWay.FIGURES else given.wrong_by_judge
        floors[way] = round(_floor([one for one in found if one[2]["way"] == way], most), 3)
    print("chosen", {str(way): floor for way, floor in floors.items()}, _told(found, floors))
    if given.show:
        _show(found, floors)
    ways = {
        name: FittedWay(names, model, floors[name], n)
        for name, (names, model, n) in models(lines).items()
    }
    for name, one in ways.items():
        print(name, {n: round(w, 2) for n, w in zip(one.features, one.model.weights, strict=True)})
    if given.output:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        text = to_json(AnswerConfidence(ways, default_judge().fingerprint))
        given.output.write_text(json.dumps(json.loads(text), indent=1) + "\n", "utf-8")


def out_of_fold(lines: Sequence[dict[str, Any]]) -> list[Found]:
    """Return the best proposal of every question by a model that has not seen its document."""
    found: list[Found] = []
    folds = [int(sha256(line["file"].encode()).hexdigest(), 16) % FOLDS for line in lines]
    for fold in range(FOLDS):
        known = models([line for line, own in zip(lines, folds, strict=True) if own != fold])
        for line, own in zip(lines, folds, strict=True):
            if own == fold and (chosen := best(line, known)) is not None:
                found.append((line, *chosen))
    return found


def _told(found: Sequence[Found], floors: Mapping[Any, float]) -> str:
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for line, probability, proposed in found:
        if probability >= floors[proposed["way"]]:
            kind = 0 if proposed["right"] else 1 if line["answerable"] else 2
            for group in (line["set"], proposed["way"], "all"):
                counts[group][kind] += 1
    return "; ".join(f"{g} {r} right {w} wrong {n} none" for g, (r, w, n) in sorted(counts.items()))


def _floor(found: Sequence[Found], most: float) -> float:
    """Return the lowest floor with at most a share of wrong answers, unanswerable counted."""
    right = wrong = 0
    lowest = 1.0
    for _, probability, proposed in sorted(found, key=lambda one: -one[1]):
        right, wrong = right + proposed["right"], wrong + (not proposed["right"])
        if wrong <= most * (right + wrong):
            lowest = probability
    return lowest


def _show(found: Sequence[Found], floors: Mapping[Any, float]) -> None:
    for line, probability, proposed in sorted(found, key=lambda one: -one[1]):
        if not proposed["right"] and probability >= floors[proposed["way"]]:
            told = f"{probability:.2f} {line['set']} {proposed['way']} {line['query']}"
            print(f"{told} -> {proposed['text'][:300]}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the confidence of answers without a model.")
    commands = parser.add_subparsers(dest="command", required=True)
    dumping = commands.add_parser("dump")
    dumping.add_argument("--data", type=Path, required=True)
    dumping.add_argument("--output", type=Path, required=True)
    dumping.add_argument("--sets", default="qasper,tatqa,fetaqa,analyst")
    dumping.add_argument("--limit", type=int, default=300)
    dumping.add_argument("--skip", type=int, default=0)
    dumping.add_argument("--work", type=Path, default=Path("/tmp/abstrag-answers"))
    fitting = commands.add_parser("fit")
    fitting.add_argument("files", type=Path, nargs="+")
    fitting.add_argument("--wrong", type=float, default=0.07)
    fitting.add_argument("--wrong-by-judge", type=float, default=0.06)
    fitting.add_argument("--output", type=Path)
    fitting.add_argument("--show", action="store_true", help="print wrong answers that are told")
    given = parser.parse_args()
    {"dump": dump, "fit": fit}[given.command](given)


if __name__ == "__main__":
    main()
