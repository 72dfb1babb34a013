"""QASPER: questions about a paper, against its paragraphs, its abstract and its captions.

Span ids are `abstract`, `SECTION.PARAGRAPH` counted from 0 in the file's order, and `float.N`.
Empty paragraphs are no candidates but are counted; of equal paragraphs the first is meant.
Evidence that matches nothing is counted and reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from abstrag.model.document import Genre
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset, union
from abstrag_bench.datasets.files import FilePlace, matching, read_json

NAME: Final = "qasper"
_FLOAT: Final = "FLOAT SELECTED:"
_SECTIONS: Final = ":::"
_ABSTRACT: Final = "abstract"


def load(data: Path, split: str) -> Dataset:
    """Read every `qasper-SPLIT*.json`; a paper in two files is taken from the first."""
    cases: dict[str, Case] = {}
    missed: list[str] = []
    for path in matching(data / NAME, f"qasper-{split}*.json"):
        papers = read_json(path)
        if not isinstance(papers, dict):
            raise FilePlace(path).error("expected an object that holds papers by their id")
        for name, paper in papers.items():
            place = FilePlace(path, inside=f"paper {name!r}")
            pool = _pool(place, name, paper)
            for case in _cases(place, pool, paper, split, missed):
                cases.setdefault(case.case_id, case)
    notes = (f"{len(missed)} evidence texts match no paragraph of their paper",) if missed else ()
    return Dataset(NAME, split, tuple(cases.values()), notes)


def _pool(place: FilePlace, name: str, paper: Mapping[str, Any]) -> Pool:
    elements = [*_abstract(paper), *_paragraphs(place, paper), *_floats(place, paper)]
    title = str(paper.get("title") or name)
    return Pool(name, title, tuple(elements), Genre.SCIENTIFIC)


def _abstract(paper: Mapping[str, Any]) -> Iterator[Element]:
    text = str(paper.get("abstract") or "").strip()
    if text:
        yield Element(_ABSTRACT, text, section=("Abstract",))


def _paragraphs(place: FilePlace, paper: Mapping[str, Any]) -> Iterator[Element]:
    for s, section in enumerate(place.field(paper, "full_text", list)):
        heading = str(section.get("section_name") or "")
        path = tuple(part.strip() for part in heading.split(_SECTIONS) if part.strip())
        for p, text in enumerate(place.strings(section, "paragraphs")):
            if text.strip():
                yield Element(f"{s}.{p}", text.strip(), section=path)


def _floats(place: FilePlace, paper: Mapping[str, Any]) -> Iterator[Element]:
    floats = paper.get("figures_and_tables") or []
    if isinstance(floats, Mapping):  # the same release as columns instead of rows
        captions = [str(text) for text in floats.get("caption", ())]
    else:
        captions = [str(place.field(one, "caption", str)) for one in floats]
    for n, caption in enumerate(captions):
        if caption.strip():
            yield Element(f"float.{n}", caption.strip(), ElementKind.CAPTION)


def _cases(
    place: FilePlace, pool: Pool, paper: Mapping[str, Any], split: str, missed: list[str]
) -> Iterator[Case]:
    texts: dict[str, str] = {}
    captions: dict[str, str] = {}
    for element in pool.elements:
        known = captions if element.kind is ElementKind.CAPTION else texts
        known.setdefault(_squeezed(element.text), element.id)
    for asked in place.field(paper, "qas", list):
        answers = [place.field(one, "answer", dict) for one in place.field(asked, "answers", list)]
        sets = []
        for answer in answers:
            found = dict[str, None]()
            for text in answer.get("evidence", ()):
                name = _match(text, texts, captions)
                if name is None:
                    missed.append(text)
                else:
                    found[name] = None
            if found:
                sets.append(tuple(found))
        kind = _majority([answer_type(answer) for answer in answers])
        gold = union(tuple(sets))
        yield Case(
            dataset=NAME,
            split=split,
            case_id=str(place.field(asked, "question_id", str)),
            document=pool,
            query=str(place.field(asked, "question", str)),
            gold=gold,
            gold_sets=tuple(sets),
            group=kind,
            groups={"answer_type": kind, "evidence_type": _evidence_type(gold)},
            answers=tuple(dict.fromkeys(text for text in map(answer_text, answers) if text)),
        )


def _match(text: str, texts: Mapping[str, str], captions: Mapping[str, str]) -> str | None:
    if text.startswith(_FLOAT):
        return captions.get(_squeezed(text.removeprefix(_FLOAT)))
    return texts.get(_squeezed(text))


def answer_type(answer: Mapping[str, Any]) -> str:
    """Tell what sort of answer an annotator gave."""
    if answer.get("unanswerable"):
        return "unanswerable"
    if answer.get("yes_no") is not None:
        return "yes_no"
    return "extractive" if answer.get("extractive_spans") else "abstractive"


def answer_text(answer: Mapping[str, Any]) -> str:
    """Return the reference string the official evaluation compares with; empty if left out."""
    kind = answer_type(answer)
    if kind == "unanswerable":
        return "Unanswerable"
    if kind == "yes_no":
        return "Yes" if answer["yes_no"] else "No"
    spans = answer.get("extractive_spans") or ()
    return ", ".join(spans) if spans else str(answer.get("free_form_answer") or "").strip()


def _majority(kinds: list[str]) -> str:
    """Return what most annotators say; the first of them settles a draw."""
    return Counter(kinds).most_common(1)[0][0] if kinds else "unanswerable"


def _evidence_type(gold: tuple[str, ...]) -> str:
    floats = sum(name.startswith("float.") for name in gold)
    if not gold:
        return "none"
    return "text" if not floats else "float" if floats == len(gold) else "both"


def _squeezed(text: str) -> str:
    return " ".join(text.split())
