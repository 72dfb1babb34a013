"""FEVEROUS: claims against the elements of the Wikipedia pages their evidence stands on.

Span ids are the official element ids, case ids the claim ids. A claim whose evidence lies on more
than one page has the elements of all of them as its pool. A claim that cannot be verified has no
gold: what its annotators looked at supports nothing (appendix J.2).
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.segment import Granularity
from abstrag_bench.baselines.system import Element, ElementKind, Pool
from abstrag_bench.case import Case, Dataset, union
from abstrag_bench.datasets.files import FilePlace, matching, read_json, read_lines

# The elements of one FEVEROUS page: sentences, list items, cells with their heads, captions.

_LINK: Final = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")
_Cell = Mapping[str, Any]
_Grid = list[list[_Cell | None]]


def page_elements(
    place: FilePlace, page: Mapping[str, Any], title: str, *, outer: tuple[str, ...] = ()
) -> Iterator[Element]:
    """Go through a page in its own order; ids are `TITLE_ELEMENT`, as claims spell them."""
    path: list[tuple[int, str]] = []  # level and heading of the sections we are in
    for name in place.strings(page, "order"):
        if name not in page:
            continue  # the official reader passes over what a page announces and does not have
        item = page[name]
        section = (*outer, *(heading for _, heading in path))
        if name.startswith("section_"):
            level = int(place.field(item, "level", int, str))
            path = [(depth, heading) for depth, heading in path if depth < level]
            path.append((level, _plain(place.field(item, "value", str))))
        elif name.startswith("sentence_"):
            if isinstance(item, str) and item.strip():
                yield Element(f"{title}_{name}", _plain(item), ElementKind.SENTENCE, section)
        elif name.startswith("list_"):
            for entry in place.field(item, "list", list):
                if entry["value"].strip():
                    name_, text = f"{title}_{entry['id']}", _plain(entry["value"])
                    yield Element(name_, text, ElementKind.LIST_ITEM, section)
        elif name.startswith("table_"):
            yield from _table(place, name, place.field(page, name, dict), title, section)


def _table(
    place: FilePlace, name: str, table: Mapping[str, Any], title: str, section: tuple[str, ...]
) -> Iterator[Element]:
    caption = _plain(str(table.get("caption") or ""))
    if caption:
        number = name.rsplit("_", 1)[-1]
        yield Element(f"{title}_table_caption_{number}", caption, ElementKind.CAPTION, section)
    grid = _laid_out(place.field(table, "table", list))
    seen: set[str] = set()
    for r, row in enumerate(grid):
        for c, cell in enumerate(row):
            if cell is None or cell["id"] in seen or not cell["value"].strip():
                continue
            seen.add(cell["id"])
            yield Element(
                f"{title}_{cell['id']}",
                _plain(cell["value"]),
                ElementKind.TABLE_CELL,
                section,
                () if cell.get("is_header") else _heads(grid, r, c),
                caption or None,
            )


def _laid_out(rows: Sequence[Sequence[_Cell]]) -> _Grid:
    """Put every cell on each field of the grid that it covers."""
    width = max((sum(_reach(c, "column_span") for c in row) for row in rows), default=0)
    grid: _Grid = [[None] * width for _ in rows]
    for r, row in enumerate(rows):
        for cell in row:
            free = next((i for i, field in enumerate(grid[r]) if field is None), None)
            if free is None:
                break
            for i in range(r, min(r + _reach(cell, "row_span"), len(grid))):
                for j in range(free, min(free + _reach(cell, "column_span"), width)):
                    if grid[i][j] is None:
                        grid[i][j] = cell
    return grid


def _reach(cell: _Cell, name: str) -> int:
    """Return how many fields a cell covers; what is no number above 0 is 1, as HTML has it."""
    text = str(cell.get(name, 1)).strip()
    return max(1, int(text)) if text.isdecimal() else 1


def _heads(grid: _Grid, row: int, column: int) -> tuple[str, ...]:
    """Return a cell's heads: the nearest run of head cells above it, and to its left."""
    above = _nearest_run([grid[i][column] for i in range(row - 1, -1, -1)])
    left = _nearest_run([grid[row][j] for j in range(column - 1, -1, -1)])
    return tuple(dict.fromkeys((*above, *left)))


def _nearest_run(cells: Sequence[_Cell | None]) -> list[str]:
    found: list[str] = []
    for cell in cells:
        if cell is not None and cell.get("is_header"):
            if text := _plain(cell["value"]):
                found.append(text)
        elif found:
            break
    return found[::-1]


def _plain(text: str) -> str:
    """Return a text without link marks and with single spaces."""
    return " ".join(_LINK.sub(r"\1", text).split())


# Where FEVEROUS pages come from: the official SQLite file, or a folder of page files.

Page = Mapping[str, Any]


def title_key(title: str) -> str:
    """Return the form in which two spellings of a title are compared."""
    return unicodedata.normalize("NFD", title).strip()


def find_pages(folder: Path, titles: Iterable[str]) -> dict[str, Page]:
    """Return the pages of these titles by their keys; what is not there is left out."""
    wanted = {title_key(title) for title in titles}
    databases = sorted(folder.glob("*.db"))
    if databases:
        return _from_database(databases[0], wanted)
    files = sorted(
        path
        for child in sorted(folder.iterdir() if folder.is_dir() else ())
        if child.is_dir()
        for path in child.rglob("*")
        if path.suffix in (".json", ".jsonl")
    )
    if not files:
        raise InputError(
            f"there are no FEVEROUS pages under {str(folder)!r}",
            hint="put the official *.db file or a folder of page files beside the claims",
        )
    return {key: page for path in files for key, page in _from_file(path) if key in wanted}


def _from_database(path: Path, wanted: set[str]) -> dict[str, Page]:
    pages: dict[str, Page] = {}
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            for key in sorted(wanted):
                row = connection.execute("SELECT data FROM wiki WHERE id = ?", (key,)).fetchone()
                if row is not None:
                    pages[key] = json.loads(row[0])
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InputError(
            f"{str(path)!r} cannot be read as a FEVEROUS database: {error}",
            hint="it needs the table wiki(id, data)",
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{str(path)!r}, page {key!r}: not JSON: {error.msg}") from None
    return pages


def _from_file(path: Path) -> Iterator[tuple[str, Page]]:
    if path.suffix == ".jsonl":
        for number, page in read_lines(path):
            yield title_key(FilePlace(path, number).field(page, "title", str)), page
    else:
        page = read_json(path)
        yield title_key(FilePlace(path).field(page, "title", str)), page


NAME: Final = "feverous"
_ELEMENT: Final = re.compile(r"^(.*?)_((?:header_cell|cell|sentence|item|table_caption)_.*)$")
_NO_VERDICT: Final = "NOT ENOUGH INFO"


def load(data: Path, split: str) -> Dataset:
    """Read every `feverous_SPLIT*.jsonl`, with the pages beside it."""
    folder = data / NAME
    claims = [
        (FilePlace(path, number), claim)
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


def _sets(place: FilePlace, claim: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    groups = place.field(claim, "evidence", list)
    sets = (tuple(dict.fromkeys(place.strings(group, "content"))) for group in groups)
    return tuple(one for one in sets if one)


def _titles(place: FilePlace, claim: Mapping[str, Any]) -> list[str]:
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
            FilePlace(folder, inside=f"page {title!r}"),
            pages[title_key(title)],
            title,
            outer=(title,) if len(titles) > 1 else (),
        )
    )
    name = " + ".join(titles)
    return Pool(name, titles[0], elements, Genre.PAGE_LOCAL, Granularity.ELEMENT)


def _case(place: FilePlace, claim: Mapping[str, Any], pool: Pool, split: str) -> tuple[Case, int]:
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
