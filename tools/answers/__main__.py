"""Measure `ask` without a model: right, wrong and abstained, with abstentions counted.

python -m tools.answers --data DATA [--before OLD/src] [--part report] [--limit 60] [--held]

Every question is put to a file that is read as any user's. With --before another release answers
the same questions in the same run. By default our own questions of the open half and the tuning
parts are asked; `--part report --held` is for figures that are published. With --together each
question that some file answers is put to its own file, and again to a store of all these files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Final

from tools.answers.cases import SPLITS, Question, analyst_questions, data_questions
from tools.answers.rules import Said, lenient, outcome

SETS: Final = (*SPLITS, "analyst")
HERE: Final = Path(__file__).resolve().parents[2]


def questions_of(given: argparse.Namespace) -> list[Question]:
    """Return the questions that are asked, grouped by file."""
    made: list[Question] = []
    for name in given.sets.split(","):
        if name == "analyst":
            made += analyst_questions(given.data, held=given.held)
        else:
            pages = given.work / "pages"
            made += data_questions(
                given.data, name, given.part, given.limit, pages, skip=given.skip
            )
    if given.together:  # a question that was put to another file is answered by its own
        made = [one for one in made if not one.misplaced]
    return sorted(made, key=lambda one: (SETS.index(one.set), one.file))


def ask_together(questions: Sequence[Question], store: Path, out: Path) -> None:
    """Put every question to a store of all their files, and write down what it says."""
    from abstrag import AbstRAG
    from abstrag.model.answer import Answer, Asked
    from abstrag.model.segment import SegmentKind

    tabular = (SegmentKind.TABLE_ROW, SegmentKind.TABLE_CELL)
    files = list(dict.fromkeys(one.file for one in questions))
    with AbstRAG(store) as rag, out.open("w", encoding="utf-8") as file:
        rag.index_many(files)
        names = {info.source_path: info.id for info in rag.documents()}

        def said(made: Answer) -> dict[str, object]:
            cited = [(c.document, c.segment) for c in made.citations]
            kinds = {
                (name, s.id): s.kind
                for name in {name for name, _ in cited}
                for s in rag.workspace.index(name).segments
            }
            return {
                "text": made.text,
                "short": made.short.text if made.short else "",
                "label": made.verdict.label.value if made.verdict else "",
                "found": made.found,
                "prose": all(kinds[one] not in tabular for one in cited),
            }

        for n, one in enumerate(questions, 1):
            asked = Asked.CLAIM if one.claim else Asked.QUESTION
            made = rag.collection().ask(one.query, asked=asked)
            own = names[str(Path(one.file).resolve())]
            more = {"own": own == made.document, "others": [said(each) for each in made.others]}
            line = {"set": one.set, "id": one.id, **said(made), **more}
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(f"\r{n} of {len(questions)}", end="", file=sys.stderr)
    print(file=sys.stderr)


def told_together(questions: Sequence[Question], out: Path) -> None:
    """Print from which document answers are, and how often documents answer differently."""
    lines = {(o["set"], o["id"]): o for o in map(json.loads, out.read_text("utf-8").splitlines())}
    counts: Counter[str] = Counter()
    for one in questions:
        line = lines[one.set, one.id]
        if not line["found"]:
            continue
        counts["answered"] += 1
        counts["own"] += line["own"]
        every = [Said(**{f: o[f] for f in Said.__slots__}) for o in (line, *line["others"])]
        right = [outcome(one.query, one.expected, said) == "right" for said in every]
        if len(every) > 1:
            counts["several"] += 1
            counts["first"] += right[0]
            counts["any"] += any(right)
    print(
        f"of {counts['answered']} answered {counts['own']} are from the question's own document; "
        f"to {counts['several']} documents answer differently: "
        f"the first is right in {counts['first']}, one of them in {counts['any']}"
    )


def ask_all(questions: Sequence[Question], store: Path, out: Path) -> None:
    """Ask every question of the release that is on the path, and write down what it says."""
    from abstrag import AbstRAG
    from abstrag.model.answer import Asked
    from abstrag.model.segment import SegmentKind

    tabular = (SegmentKind.TABLE_ROW, SegmentKind.TABLE_CELL)
    kept = AbstRAG(store)
    opened: dict[str, object] = {}
    with out.open("w", encoding="utf-8") as file:
        for n, one in enumerate(questions, 1):
            if one.file not in opened:
                opened.clear()
                opened[one.file] = _open(kept, one.file)
            document = opened[one.file]
            asked = Asked.CLAIM if one.claim else Asked.QUESTION
            made = document.ask(one.query, asked=asked)  # type: ignore[attr-defined]
            segments = {s.id: s.kind for s in document.index.segments}  # type: ignore[attr-defined]
            short = getattr(made, "short", None)
            said = Said(
                text=made.text,
                short=short.text if short else "",
                label=made.verdict.label.value if made.verdict else "",
                found=made.found,
                prose=all(segments.get(c.segment) not in tabular for c in made.citations),
            )
            extra = {"note": made.note, "confidence": getattr(short, "confidence", None)}
            line = {f: getattr(said, f) for f in Said.__slots__} | extra
            file.write(json.dumps({"set": one.set, "id": one.id, **line}) + "\n")
            file.flush()
            print(f"\r{n} of {len(questions)}", end="", file=sys.stderr)
    print(file=sys.stderr)


def _open(rag: object, file: str) -> object:
    return rag.workspace.document(Path(file))  # type: ignore[attr-defined]


def read(path: Path) -> dict[tuple[str, str], Said]:
    """Read what a release said."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return {(o["set"], o["id"]): Said(**{f: o[f] for f in Said.__slots__}) for o in lines}


def interval(k: int, n: int) -> str:
    """Return Wilson's 95 % interval of a share, in percent."""
    if not n:
        return "–"
    p, z = k / n, 1.96
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (
        f"{100 * p:.1f} [{100 * max(0.0, middle - half):.1f}, {100 * min(1.0, middle + half):.1f}]"
    )


def table(name: str, questions: Sequence[Question], said: dict[tuple[str, str], Said]) -> None:
    """Print one line for each set and one for all of them."""
    print(f"\n{name}")
    print(
        "| set | n | right | wrong | abstained | wrong of answered, % | states it somewhere |"
        " unanswerable | of these abstained, % |\n|---|---|---|---|---|---|---|---|---|"
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in questions:
        answer = said[one.set, one.id]
        result = outcome(one.query, one.expected, answer)
        for group in (one.set, "all"):
            if one.expected.kind == "none":
                counts[group][f"none {result}"] += 1
                continue
            counts[group][result] += 1
            if one.expected.kind != "label" and answer.found:
                counts[group]["lenient"] += lenient(one.query, one.expected, answer)
    for group in (*[s for s in SETS if s in counts], "all"):
        c = counts[group]
        n, open_ = c["right"] + c["wrong"] + c["abstained"], c["none wrong"] + c["none abstained"]
        answered = c["right"] + c["wrong"]
        wrong = c["wrong"] + c["none wrong"]
        print(
            f"| {group} | {n} | {c['right']} | {c['wrong']} | {c['abstained']} | "
            f"{interval(c['wrong'], answered)} (with unanswerable "
            f"{100 * wrong / max(1, answered + c['none wrong']):.1f}) | {c['lenient']} | {open_} | "
            f"{interval(c['none abstained'], open_)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure answers without a model.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--part", default="tune", choices=("tune", "report"))
    parser.add_argument("--held", action="store_true", help="our own questions that were put aside")
    parser.add_argument("--limit", type=int, default=60, help="questions of each data set")
    parser.add_argument("--skip", type=int, default=0, help="questions of each to leave out before")
    parser.add_argument("--before", type=Path, help="src of another release, to compare with")
    parser.add_argument("--together", action="store_true", help="ask a store of all files too")
    parser.add_argument("--work", type=Path, default=Path("/tmp/abstrag-answers"))
    parser.add_argument("--answers", type=Path, help="only ask, and write what is said here")
    parser.add_argument("--show", action="store_true", help="print every question with its outcome")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    questions = questions_of(given)
    if given.answers:
        ask_all(questions, given.work / f"{given.answers.stem}.db", given.answers)
        return
    if given.together:
        _measure_together(questions, given)
        return
    places = {"this release": HERE / "src"}
    if given.before:
        places = {"before": given.before, **places}
    for name, src in places.items():
        out = given.work / f"{name.replace(' ', '-')}.jsonl"
        path = os.pathsep.join((str(src), str(HERE)))
        subprocess.run(
            [sys.executable, "-m", "tools.answers", *sys.argv[1:], "--answers", str(out)],
            env={**os.environ, "PYTHONPATH": path},
            check=True,
        )
        said = read(out)
        table(name, questions, said)
        if given.show:
            _show(questions, said)


def _measure_together(questions: Sequence[Question], given: argparse.Namespace) -> None:
    store = given.work / "together.db"
    for name, ask in (("each file alone", ask_all), ("all files together", ask_together)):
        out = given.work / f"{name.replace(' ', '-')}.jsonl"
        ask(questions, store, out)
        said = read(out)
        table(name, questions, said)
        if given.show:
            _show(questions, said)
    told_together(questions, out)


def _show(questions: Sequence[Question], said: dict[tuple[str, str], Said]) -> None:
    for one in questions:
        answer = said[one.set, one.id]
        result = outcome(one.query, one.expected, answer)
        wanted = one.expected.number if one.expected.kind == "number" else one.expected.texts
        print(f"{result:9} {one.set} {one.expected.kind} | {one.query} | {wanted}")
        if answer.found:
            print(f"          {answer.short!r} {answer.text[:200]!r} {answer.label}")


if __name__ == "__main__":
    main()
