"""Questions with expected answers, each about a file that is read as any user's file.

Of the data sets every document is written out as a small HTML page with its real tables. Where a
set has no unanswerable questions, some are put to another page of the set, which lacks their words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final

from abstrag.model.answer import Label
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.datasets.tatqa import header_rows
from tools.answers.rules import content_words

SPLITS: Final = {"scifact": "train", "qasper": "train", "tatqa": "tune", "fetaqa": "dev"}
FILINGS: Final = Path(__file__).with_name("analyst_questions.jsonl")
ABSENT_WORDS: Final = 2  # words of a question that a page must lack for it to be no answer to it


@dataclass(frozen=True, slots=True)
class Expected:
    """What is right: a label, a number, yes or no, any of some texts, or to say nothing.

    `parts` are names of a list that all have to be said.
    """

    kind: str  # label, number, yes_no, text, none
    texts: tuple[str, ...] = ()
    number: float | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one file."""

    set: str
    id: str
    file: str
    query: str
    claim: bool
    expected: Expected
    misplaced: bool = False  # put to another file than the one that answers it


def data_questions(
    data: Path, name: str, part: str, limit: int, folder: Path, *, skip: int = 0
) -> list[Question]:
    """Return questions of one data set's part; the pages they are about go to a folder."""
    cases = load_dataset(name, data, f"{SPLITS[name]}:{part}").cases
    asked = [case for case in cases if case.label or any(case.answers)]
    asked.sort(key=lambda case: sha256(f"{name}{case.case_id}".encode()).digest())
    chosen = asked[skip : skip + limit]
    write = _Pages(data, name, folder)
    made = [
        Question(name, c.case_id, write(c), c.query, bool(c.label), _expected(c)) for c in chosen
    ]
    if name in ("tatqa", "fetaqa"):
        made.extend(_misplaced(name, chosen, write))
    return made


def analyst_questions(data: Path, held: bool) -> list[Question]:
    """Return our own questions about filings and reports: one half, or the one put aside."""
    made = []
    for line in FILINGS.read_text("utf-8").splitlines():
        one = json.loads(line)
        if bool(one["held"]) == held:
            expected = Expected(
                one["kind"],
                tuple(one.get("texts", ())),
                one.get("number"),
                tuple(one.get("parts", ())),
            )
            file = str(data / one["file"])
            made.append(Question("analyst", one["id"], file, one["query"], False, expected))
    return made


def _expected(case: Case) -> Expected:
    if case.label:
        label = Label.read(case.label)
        return Expected("none" if label is Label.NOT_ENOUGH_INFO else "label", (label.value,))
    if case.dataset == "qasper":
        if case.group == "unanswerable":
            return Expected("none")
        texts = tuple(one for one in case.answers if one != "Unanswerable")
        kind = "yes_no" if case.group == "yes_no" else "text"
        return Expected(kind, texts)
    if case.dataset == "tatqa":
        return _tatqa(case)
    return Expected("text", case.answers)


def _tatqa(case: Case) -> Expected:
    from tools.answers.rules import numbers

    text = case.answers[0]
    if case.group == "multi-span":
        return Expected("text", case.answers, parts=tuple(text.split(", ")))
    found = numbers(text)
    bare = "".join(c for c in text if c.isalpha()).casefold()
    if len(found) == 1 and bare in ("", "million", "billion", "thousand", "percent"):
        return Expected("number", case.answers, found[0])
    return Expected("text", case.answers)


def _misplaced(name: str, cases: Sequence[Case], write: _Pages) -> Iterator[Question]:
    """Put every third question to the next page that lacks some of its words."""
    for i, case in enumerate(cases[::3]):
        words = content_words(case.query)
        others = [*cases[i * 3 + 1 :], *cases[: i * 3]]
        for other in others:
            text = f"{other.document.title} " + " ".join(e.text for e in other.document.elements)
            heads = " ".join(h for e in other.document.elements for h in e.headers)
            if other.document is not case.document and (
                len(words - content_words(f"{text} {heads}")) >= ABSENT_WORDS
            ):
                name_ = f"{case.case_id}@{other.document.id}"
                yield Question(
                    name, name_, write(other), case.query, False, Expected("none"), misplaced=True
                )
                break


class _Pages:
    """Writes the pages of a data set, each once."""

    def __init__(self, data: Path, name: str, folder: Path) -> None:
        self._folder = folder / name
        self._folder.mkdir(parents=True, exist_ok=True)
        self._tables = dict(_tables(data, name))

    def __call__(self, case: Case) -> str:
        pool = case.document
        path = self._folder / f"{sha256(pool.id.encode()).hexdigest()[:16]}.html"
        if not path.exists():
            parts = [f"<h1>{escape(pool.title)}</h1>"]
            here: tuple[str, ...] = ()
            table = self._tables.get(_key(case))
            for element in pool.elements:
                if element.section != here:
                    here = element.section
                    if here:
                        level = min(len(here) + 1, 6)
                        parts.append(f"<h{level}>{escape(here[-1])}</h{level}>")
                if table is not None and element.id.startswith("t"):
                    parts.append(table)
                    table = None
                elif not element.id.startswith("t") or _key(case) not in self._tables:
                    parts.append(f"<p>{escape(element.text)}</p>")
            body = "\n".join(parts)
            path.write_text(
                f"<html><head><title>{escape(pool.title)}</title></head><body>\n{body}\n</body></html>",
                "utf-8",
            )
        return str(path)


def _key(case: Case) -> str:
    return case.case_id if case.dataset == "fetaqa" else case.document.id


def _tables(data: Path, name: str) -> Iterator[tuple[str, str]]:
    if name == "tatqa":
        path = data / name / f"tatqa-{SPLITS[name]}.json"
        for context in json.loads(path.read_text("utf-8")):
            rows = context["table"]["table"]
            yield context["table"]["uid"], _html(rows, header_rows(rows))
    if name == "fetaqa":
        path = data / name / f"fetaQA-v1_{SPLITS[name]}.jsonl"
        for line in path.read_text("utf-8").splitlines():
            one: Mapping[str, Any] = json.loads(line)
            yield str(one["feta_id"]), _html(one["table_array"], 1)


def _html(rows: Sequence[Sequence[str]], heads: int) -> str:
    made = []
    for i, row in enumerate(rows):
        tag = "th" if i < heads else "td"
        made.append("<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in row) + "</tr>")
    return "<table>" + "\n".join(made) + "</table>"
