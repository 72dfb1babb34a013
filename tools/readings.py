"""Draw steps of explanations for a person to judge, count what was judged, and check the readings.

    python -m tools.readings draw --data DATA --store real.db --out sheet.jsonl
    python -m tools.readings draw --data DATA --sets --no-real --packs xquad fm2 --limit 25 --out …
    python -m tools.readings score sheet.jsonl
    python -m tools.readings swapped --data DATA

`draw` asks the questions of the report parts, and those of `reading_questions.jsonl`, or of another
file, about real filings, papers, contracts and web pages, or of training packs. From the first hits
it draws steps that are not the very word, with a fixed seed and at most two of a hit, into a sheet
with a line for each and the reading it is of. In a sheet `judgement` is to be filled in with right,
related or wrong, and `why`. With `--part tune` it draws what rules may be made on. It also prints
how the steps of all first hits are divided over the families, and each reading that says of
something that stands in the passage that nothing meets it. `score` counts a sheet that was filled
in. `swapped` asks questions in which one name, number or verb was swapped for another that the
document does not have, and counts where the first hit shows it as met.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from abstrag.errors import NothingAsked
from abstrag.language.words import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Hit
from abstrag.model.record import record
from abstrag.model.term import Family, Relation
from abstrag.neural.vectors import has_content
from abstrag.search.relevance import PRESETS
from abstrag.search.trace import ALIGN_WORDS
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import AbstragSystem, SharedIndexer
from abstrag_bench.case import REPORT_PARTS, Case, SplitPart, parse_split, sampled
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.stats import intervals
from tools.swapped import Swapped, swapped_cases

QUESTIONS: Final = Path(__file__).with_name("reading_questions.jsonl")
CONTRACTS: Final = "contractnli:"  # before the number of a contract, in place of a file
SEED: Final = 20
STEPS: Final = 200
A_HIT: Final = 2  # steps of one hit, at most
SNIPPET: Final = 90  # letters of the passage on each side of what a step names
SHOWN: Final = 5  # hits of a question that are checked
JUDGEMENTS: Final = ("right", "related", "wrong")
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*(?![^\W\d_])|\w+")
_NEAREST: Final = re.compile(r" \(nearest(?: to “[^”]*”)?: “[^”]*”\)")
_UNMET: Final = re.compile(r"[nN]othing(?: in it)? meets ((?:“[^”]*”(?:, | or )?)+)")
_QUOTED: Final = re.compile(r"“([^”]*)”")
_ENDINGS: Final = ("", "s", "es", "d", "ed", "ing", "'s", "ly")


@dataclass(frozen=True)
class Sources:
    """Where questions come from, and the documents they are asked about."""

    data: Path
    store: str
    preset: str
    limit: int | None
    seed: int = SEED
    part: SplitPart = SplitPart.REPORT
    questions: Path = QUESTIONS

    @cached_property
    def options(self) -> SearchOptions:
        """How documents are opened."""
        return SearchOptions(preset=PRESETS[self.preset], patched=False)

    def asked(self, sets: Sequence[str]) -> Iterator[tuple[str, str, SearchableDocument]]:
        """Go through all questions, with where they come from and the document, opened."""
        for name in sets:
            system = AbstragSystem(preset=PRESETS[self.preset], indexer=SharedIndexer())
            for case in self.cases(name):
                system.index(case.document)
                yield name, case.query, system.document

    def packs(self, names: Sequence[str]) -> Iterator[tuple[str, str, SearchableDocument]]:
        """Go through a sample of the questions of some training packs."""
        for name in names:
            system = AbstragSystem(preset=PRESETS[self.preset], indexer=SharedIndexer())
            cases = [case for case in load_dataset("packs", self.data, name).cases if case.gold]
            chosen = sampled(cases, self.limit, seed=self.seed) if self.limit else cases
            for case in sorted(chosen, key=lambda case: case.document.id):
                system.index(case.document)
                yield name, case.query, system.document

    def cases(self, name: str) -> list[Case]:
        """Return a sample of a part of a data set, document by document."""
        split = f"{parse_split(REPORT_PARTS[name])[0]}:{self.part}"
        found = [case for case in load_dataset(name, self.data, split).cases if case.gold]
        chosen = sampled(found, self.limit, seed=self.seed) if self.limit else found
        return sorted(chosen, key=lambda case: case.document.id)

    def real(self) -> Iterator[tuple[str, str, SearchableDocument]]:
        """Go through the questions about real documents."""
        lines = [json.loads(line) for line in self.questions.read_text("utf-8").splitlines()]
        contracts = {c.document.id: c.document for c in self._contracts()}
        system = AbstragSystem(preset=PRESETS[self.preset], indexer=SharedIndexer())
        opened: dict[str, SearchableDocument] = {}
        with Workspace(WorkspaceConfig(self.store)) as workspace:
            for line in lines:
                name = line["document"]
                if name.startswith(CONTRACTS):
                    system.index(contracts[name.removeprefix(CONTRACTS)])
                    opened[name] = system.document
                elif name not in opened:
                    opened[name] = workspace.document(self.data / name, self.options)
                yield name, line["question"], opened[name]

    def _contracts(self) -> Sequence[Case]:
        return load_dataset("contractnli", self.data, REPORT_PARTS["contractnli"]).cases


def draw(given: argparse.Namespace) -> None:
    """Write a sheet, and print families and false readings."""
    part = SplitPart(given.part)
    sources = Sources(
        given.data, given.store, given.preset, given.limit, given.seed, part, given.questions
    )
    families: Counter[str] = Counter()
    drawn, lines, shown, offenders = random.Random(given.seed), [], 0, []
    asked = list(given.sets)
    for place, question, document in _chained(sources, asked, given.packs, real=not given.no_real):
        try:
            hits = document.search(question, k=SHOWN).hits
        except NothingAsked:  # "What is she doing?"
            continue
        for hit in hits:
            shown += 1
            found = false_unmet(hit, document.index)
            offenders += [(place, question, label, hit) for label in found]
        if not hits:
            continue
        steps = steps_of(hits[0])
        families.update(step.family for step in steps)
        few = drawn.sample(steps, min(A_HIT, len(steps)))
        lines += [_line(place, question, hits[0], step) for step in few]
        if given.aloud:
            print(f"[{place}] {question}\n   {hits[0].text[:300]}\n   {hits[0].reading}\n")
    drawn.shuffle(lines)
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines[: given.count])
    given.out.write_text(text, "utf-8")
    total = sum(families.values())
    for family, count in families.most_common():
        print(f"{family:12} {count:5}  {100 * count / total:.0f} % of the steps of first hits")
    print(f"{len(offenders)} false “nothing meets” in the readings of {shown} shown hits")
    for place, question, label, hit in offenders:
        print(f"  {label!r} [{place}] {question}\n     {hit.text[:200]}\n     {hit.reading}")


def _chained(
    sources: Sources, sets: Sequence[str], packs: Sequence[str], *, real: bool
) -> Iterator[tuple[str, str, SearchableDocument]]:
    yield from sources.asked(sets)
    yield from sources.packs(packs)
    if real:
        yield from sources.real()


def _line(place: str, question: str, hit: Hit, step: SampledStep) -> dict[str, Any]:
    return {
        "source": place,
        "query": question,
        "quote": _around(hit.text, step.said),
        "asked": step.asked,
        "said": step.said,
        "family": step.family,
        "price": step.price,
        "reading": hit.reading,
        "judgement": "",
        "why": "",
    }


def _around(text: str, said: str) -> str:
    """Return some words of a passage around those that a step names, or its first ones."""
    at = max(0, text.casefold().find(said.casefold()))
    start = text.rfind(" ", 0, max(0, at - SNIPPET)) + 1
    end = text.find(" ", at + len(said) + SNIPPET)
    return " ".join(text[start : len(text) if end < 0 else end].split())


def score(given: argparse.Namespace) -> None:
    """Count the judgements of a sheet."""
    lines = [json.loads(line) for line in given.sheet.read_text("utf-8").splitlines()]
    judged = [line for line in lines if line["judgement"]]
    for line in judged:
        if line["judgement"] not in JUDGEMENTS:
            raise SystemExit(f"{line['judgement']!r} is none of {', '.join(JUDGEMENTS)}")
    print(f"{len(judged)} of {len(lines)} steps are judged")
    groups = {"all": judged}
    for line in judged:
        groups.setdefault(line["family"], []).append(line)
    for name, some in groups.items():
        table = np.array([[100.0 * (x["judgement"] == j) for j in JUDGEMENTS] for x in some])
        cells = [
            f"{j} {one.mean:.1f} % [{one.low:.1f}, {one.high:.1f}]"
            for j, one in zip(JUDGEMENTS, intervals(table), strict=True)
        ]
        print(f"{name:12} n {len(some):4}  {'  '.join(cells)}")


def swapped(given: argparse.Namespace) -> None:
    """Ask swapped questions, and count where the word that is not there is shown as met."""
    sources = Sources(given.data, "", given.preset, None)
    cases = [case for name in given.sets for case in sources.cases(name)]
    asked = swapped_cases(cases, given.count, seed=SEED)
    system = AbstragSystem(preset=PRESETS[given.preset], indexer=SharedIndexer())
    met: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for one in sorted(asked, key=lambda one: one.case.document.id):
        system.index(one.case.document)
        hits = system.document.search(one.query, k=1, fill=True).hits
        total[one.kind] += 1
        if hits and (how := _shown_as_met(hits[0], one)):
            met[one.kind] += 1
            print(f"  {one.kind}: {one.was!r} → {one.now!r} met by {how}\n     {one.query}")
            print(f"     {hits[0].text[:200]}")
    parts = ", ".join(f"{kind} {met[kind]} of {count}" for kind, count in total.items())
    print(f"{sum(met.values())} of {sum(total.values())} swapped words are shown as met: {parts}")


def _shown_as_met(hit: Hit, swap: Swapped) -> str:
    """Say what meets the swapped word, "" where nothing does."""
    start = swap.query.index(swap.now)
    for word in hit.words:
        if word.start < start + len(swap.now) and start < word.end and word.met:
            return f"{word.said!r} at {word.price:.2f}"
    for literal in hit.trace.literals:
        if literal.met and literal.literal.label.casefold() == swap.now.casefold():
            return f"{literal.via!r} at {literal.distance}"
    return ""


# What a hit says of itself: the steps it takes, and "nothing meets this condition".


@record
class SampledStep:
    """One step of an explanation that is not the very word: what is asked, and what is said."""

    asked: str
    said: str
    family: str
    price: float
    operator: str


def steps_of(hit: Hit) -> list[SampledStep]:
    """Return the steps by which a hit meets words and conditions, but for the very words.

    A step that is taken as a word and as an event is one step.
    """
    found = [
        SampledStep(word.asked, word.said, word.family.value, round(word.price, 2), ALIGN_WORDS)
        for word in hit.words
        if word.met and word.family is not None
    ]
    words = {(word.literal, word.said) for word in hit.words if word.met and word.family}
    for number, literal in enumerate(hit.trace.literals):
        paid = [b for b in literal.bridges if b.operator != ALIGN_WORDS]
        if literal.met and paid and literal.distance is not None:
            said, mention = literal.via or "", literal.mention
            place = mention if mention is not None and mention.header is None else None
            if (told := literal.frame or place) is not None:
                said = hit.text[told.start : told.end]
            last, label = paid[-1], literal.literal.label
            if last.family is not Family.CONTEXT and _stands(label, _words(said)):
                continue  # the very word, told with a party left open or known by other names too
            if (number, said) in words:
                continue
            found.append(
                SampledStep(label, said, last.family.value, literal.distance, last.operator)
            )
    return found


def said_unmet(reading: str) -> list[str]:
    """Return what a reading says is not met."""
    listed = _UNMET.findall(_NEAREST.sub("", reading))
    return [name for one in listed for name in _QUOTED.findall(one)]


def false_unmet(hit: Hit, index: DocumentIndex) -> list[str]:
    """Return what a hit's reading says is not met although it stands there, or a name of it does.

    It stands there when all its content words do, or inflections of them, in the quote, its
    headers or the names of its sections; another name of it when its words do in a row.
    """
    text = " ".join((hit.text, *hit.headers, *hit.section))
    said, row = _words(text), [word.casefold() for word in _WORD.findall(text)]
    names = _Names(index)
    return [
        label
        for label in said_unmet(hit.reading)
        if _stands(label, said) or any(_in_a_row(name, row) for name in names.of(label))
    ]


class _Names:
    """The other names a document states for something."""

    def __init__(self, index: DocumentIndex) -> None:
        self._labels = {term.id: term.label for term in index.map.terms}
        self._same: dict[str, set[str]] = {}
        for edge in index.map.edges:
            if edge.relation is Relation.EQUIVALENT and edge.truth_preserving:
                for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                    label = self._labels.get(one, "")
                    self._same.setdefault(key(label), set()).add(self._labels.get(other, ""))

    def of(self, label: str) -> Iterator[str]:
        yield from sorted(self._same.get(key(label), set()) - {""})


def _stands(label: str, said: Sequence[str]) -> bool:
    wanted = [word for word in _words(label) if has_content(word)]
    return bool(wanted) and all(any(_inflected(word, one) for one in said) for word in wanted)


def _in_a_row(name: str, row: Sequence[str]) -> bool:
    words = [word.casefold() for word in _WORD.findall(name)]
    return bool(words) and any(
        all(map(_inflected, words, row[at : at + len(words)]))
        for at in range(len(row) - len(words) + 1)
    )


def _inflected(one: str, other: str) -> bool:
    """Tell whether two words are forms of one word."""
    if one == other:
        return True
    if one[0] != other[0] or any(c.isdigit() for c in one + other):
        return False
    short, long = sorted((one, other), key=len)
    net = wordnet()
    own = bool(net.synsets(long, Pos.ADJECTIVE))  # "talented" is no form of "talent"
    if not own and len(short) > 1 and long.startswith(short) and long[len(short) :] in _ENDINGS:
        return True
    return any(
        set(net.base_forms(one, pos)) & set(net.base_forms(other, pos))
        for pos in (Pos.NOUN, Pos.VERB)
    )


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.casefold() for word in _WORD.findall(text)))


def main() -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--store", default=":memory:", help="keeps indexes of the real documents")
    drawing.add_argument("--limit", type=int, help="questions of each data set, drawn at random")
    drawing.add_argument("--out", type=Path, required=True)
    drawing.add_argument("--no-real", action="store_true", help="report parts alone")
    drawing.add_argument("--aloud", action="store_true", help="print every first hit's reading")
    drawing.add_argument("--packs", nargs="*", default=[], help="training packs to draw from too")
    drawing.add_argument("--count", type=int, default=STEPS)
    drawing.add_argument("--questions", type=Path, default=QUESTIONS)
    drawing.add_argument("--seed", type=int, default=SEED)
    drawing.add_argument(
        "--part", default=SplitPart.REPORT.value, help="tune: what rules are made on"
    )
    drawing.set_defaults(do=draw)
    swapping = commands.add_parser("swapped")
    swapping.add_argument("--count", type=int, default=100)
    swapping.set_defaults(do=swapped)
    for command in (drawing, swapping):
        command.add_argument("--data", type=Path, required=True)
        command.add_argument("--preset", default="general")
        command.add_argument("--sets", nargs="*", default=list(REPORT_PARTS))
    scoring = commands.add_parser("score")
    scoring.add_argument("sheet", type=Path)
    scoring.set_defaults(do=score)
    given = parser.parse_args()
    given.do(given)


if __name__ == "__main__":
    main()
