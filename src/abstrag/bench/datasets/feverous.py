"""FEVEROUS: claims against the elements of the Wikipedia pages their evidence stands on.

Span ids are the official element ids, case ids the claim ids. A claim whose evidence lies on more
than one page has the elements of all of them as its pool. A claim that cannot be verified has no
gold: what its annotators looked at supports nothing (appendix J.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from abstrag.baselines.pool import Pool
from abstrag.bench.case import Case, Dataset, union
from abstrag.bench.datasets.files import Place, matching, read_lines
from abstrag.bench.datasets.wiki_elements import page_elements
from abstrag.bench.datasets.wiki_pages import Page, find_pages, title_key
from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity

NAME: Final = "feverous"
_ELEMENT: Final = re.compile(r"^(.*?)_((?:header_cell|cell|sentence|item|table_caption)_.*)$")
_NO_VERDICT: Final = "NOT ENOUGH INFO"


def load(data: Path, split: str) -> Dataset:
    """Read every `feverous_SPLIT*.jsonl`, with the pages beside it."""
    folder = data / NAME
    claims = [
        (Place(path, number), claim)
        for path in matching(folder, f"feverous_{split}*.jsonl")
        for number, claim in read_lines(path)
        if claim.get("claim")  # the official files begin with an empty example
    ]
    names = {title for place, claim in claims for title in _titles(place, claim)}
    pages = find_pages(folder, names)
    pools: dict[tuple[str, ...], Pool] = {}
    cases: dict[str, Case] = {}
    lost = missed = 0
    for place, claim in claims:
        titles = tuple(_titles(place, claim))
        if not titles or any(title_key(title) not in pages for title in titles):
            lost += 1
            continue
        if titles not in pools:
            pools[titles] = _pool(folder, titles, pages)
        case, unknown = _case(place, claim, pools[titles], split)
        cases.setdefault(case.case_id, case)
        missed += unknown
    if claims and not cases:
        raise InputError(
            f"none of the pages of {len(claims)} claims are under {str(folder)!r}",
            hint="put the official *.db file or a folder of page files beside the claims",
        )
    notes = []
    if lost:
        notes.append(f"{lost} claims left out: a page of their evidence is not there")
    if missed:
        notes.append(f"{missed} evidence ids name no element of their page")
    return Dataset(NAME, split, tuple(cases.values()), tuple(notes))


def _sets(place: Place, claim: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    groups = place.field(claim, "evidence", list)
    sets = (tuple(dict.fromkeys(place.strings(group, "content"))) for group in groups)
    return tuple(one for one in sets if one)


def _titles(place: Place, claim: Mapping[str, Any]) -> list[str]:
    """Return the pages of a claim's evidence, in order of appearance."""
    titles: dict[str, None] = {}
    for name in union(_sets(place, claim)):
        found = _ELEMENT.match(name)
        if not found:
            raise place.error(f"{name!r} is no FEVEROUS element id")
        titles[found.group(1)] = None
    return list(titles)


def _pool(folder: Path, titles: tuple[str, ...], pages: Mapping[str, Page]) -> Pool:
    elements = tuple(
        element
        for title in titles
        for element in page_elements(
            Place(folder, inside=f"page {title!r}"),
            pages[title_key(title)],
            title,
            outer=(title,) if len(titles) > 1 else (),
        )
    )
    name = " + ".join(titles)
    return Pool(name, titles[0], elements, Genre.PAGE_LOCAL, Granularity.ELEMENT)


def _case(place: Place, claim: Mapping[str, Any], pool: Pool, split: str) -> tuple[Case, int]:
    """Return the case, and how many of its evidence ids its pages do not have."""
    known = set(pool.ids)
    marked = _sets(place, claim)
    label = str(place.field(claim, "label", str))
    verifiable = label != _NO_VERDICT
    sets = tuple(one for one in marked if known.issuperset(one)) if verifiable else ()
    challenge = str(claim.get("challenge") or claim.get("expected_challenge") or "none")
    label = label if verifiable else "NEI"
    case = Case(
        dataset=NAME,
        split=split,
        case_id=str(place.field(claim, "id", int, str)),
        document=pool,
        query=str(claim["claim"]),
        gold=union(sets),
        gold_sets=sets,
        group=label,
        groups={"label": label, "challenge": challenge, "evidence_type": _evidence_type(sets)},
        label=label,
    )
    return case, len(set(union(marked)) - known)


def _evidence_type(sets: tuple[tuple[str, ...], ...]) -> str:
    ids = union(sets)
    sentences = sum("_sentence_" in name for name in ids)
    if not ids:
        return "none"
    return "sentence" if sentences == len(ids) else "both" if sentences else "table"
