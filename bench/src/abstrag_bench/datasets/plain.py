"""Your own documents and gold, as JSON lines.

A document comes before its cases:

    {"document": "d1", "title": "…", "elements": ["First passage.", {"id": "t1", "text": "…"}]}
    {"case": "q1", "document": "d1", "query": "…", "gold": ["0"]}

An element that is a bare string has its index as id. Elements may have `kind`, `section`, `headers`
and `caption`; documents `genre` and `date`; cases `gold_sets`, `group`, `label` and `answers`. What
a file invents (an id no element has, a case twice) is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset, union
from abstrag_bench.datasets.files import FilePlace, existing, read_lines

NAME: Final = "plain"
_DOCUMENT: Final = frozenset({"document", "title", "elements", "genre", "date", "granularity"})
_CASE: Final = frozenset(
    {"case", "document", "query", "gold", "gold_sets", "group", "label", "answers"}
)
_ELEMENT: Final = frozenset({"id", "text", "kind", "section", "headers", "caption"})


def load(data: Path, split: str) -> Dataset:
    """Read the file `--data` names, or `SPLIT.jsonl` in that folder."""
    path = (
        data
        if data.is_file()
        else existing(data / f"{split}.jsonl", data / NAME / f"{split}.jsonl")
    )
    pools: dict[str, Pool] = {}
    cases: dict[str, Case] = {}
    for number, line in read_lines(path):
        place = FilePlace(path, number)
        if "case" in line:
            case = _case(place, line, pools, split)
            if case.case_id in cases:
                raise place.error(f"case {case.case_id!r} is there twice")
            cases[case.case_id] = case
        elif "document" in line:
            pool = _pool(place, line)
            if pool.id in pools:
                raise place.error(f"document {pool.id!r} is there twice")
            pools[pool.id] = pool
        else:
            raise place.error("neither a document nor a case")
    if not cases:
        raise InputError(f"{str(path)!r} holds no case")
    return Dataset(NAME, split, tuple(cases.values()))


def _pool(place: FilePlace, line: Mapping[str, Any]) -> Pool:
    _no_others(place, line, _DOCUMENT)
    name = str(place.field(line, "document", str))
    elements = tuple(
        _element(place, i, one) for i, one in enumerate(place.field(line, "elements", list))
    )
    genre = _member(place, Genre, line["genre"]) if line.get("genre") else None
    cut = _member(place, Granularity, line.get("granularity", Granularity.PARAGRAPH.value))
    try:
        return Pool(name, str(line.get("title") or name), elements, genre, cut, line.get("date"))
    except InputError as error:
        raise place.error(str(error), hint=error.hint) from None


def _element(place: FilePlace, index: int, one: Any) -> Element:
    if isinstance(one, str):
        return Element(str(index), one)
    if not isinstance(one, dict):
        raise place.error(f"an element is a string or an object, not {one!r:.60}")
    _no_others(place, one, _ELEMENT)
    return Element(
        id=str(one.get("id", index)),
        text=str(place.field(one, "text", str)),
        kind=_member(place, ElementKind, one.get("kind", ElementKind.PARAGRAPH.value)),
        section=tuple(place.strings(one, "section")) if "section" in one else (),
        headers=tuple(place.strings(one, "headers")) if "headers" in one else (),
        caption=place.field(one, "caption", str) if "caption" in one else None,
    )


def _case(place: FilePlace, line: Mapping[str, Any], pools: Mapping[str, Pool], split: str) -> Case:
    _no_others(place, line, _CASE)
    name = str(place.field(line, "document", str))
    if name not in pools:
        raise place.error(
            f"document {name!r} has not come before its case", hint="put documents first"
        )
    gold = tuple(dict.fromkeys(place.strings(line, "gold"))) if "gold" in line else ()
    sets = tuple(
        tuple(place.strings({"gold_sets": one}, "gold_sets")) for one in line.get("gold_sets", ())
    ) or ((gold,) if gold else ())
    gold = gold or union(sets)
    known = set(pools[name].ids)
    if unknown := [span for span in (*gold, *union(sets)) if span not in known]:
        raise place.error(
            f"document {name!r} has no element {unknown[0]!r}",
            hint="gold holds ids of the document's elements",
        )
    group = str(line["group"]) if line.get("group") is not None else None
    return Case(
        dataset=NAME,
        split=split,
        case_id=str(place.field(line, "case", str, int)),
        document=pools[name],
        query=str(place.field(line, "query", str)),
        gold=gold,
        gold_sets=sets,
        group=group,
        groups={"group": group} if group else {},
        label=str(line["label"]) if line.get("label") is not None else None,
        answers=tuple(place.strings(line, "answers")) if "answers" in line else (),
    )


def _no_others(place: FilePlace, line: Mapping[str, Any], known: frozenset[str]) -> None:
    if other := sorted(set(line) - known):
        raise place.error(f"unknown field {other[0]!r}", hint=f"one of: {', '.join(sorted(known))}")


_Member = TypeVar("_Member", bound=StrEnum)


def _member(place: FilePlace, kind: type[_Member], value: Any) -> _Member:
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        raise place.error(f"{value!r} is no {kind.__name__}", hint=f"one of: {choices}") from None
