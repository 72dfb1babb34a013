"""Render docs/paper-map.toml as docs/paper-map.md, or check that all it names is there.

    python tools/paper_map.py                     # write docs/paper-map.md
    python tools/paper_map.py --check             # say what is wrong, write nothing
    python tools/paper_map.py --paper paper.tex   # also compare its labels with the map's

Names are looked up in the syntax tree, so that checking loads no model; values are imported.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "docs" / "paper-map.toml"
PAGE: Final = ROOT / "docs" / "paper-map.md"
BENCH: Final = "abstrag_bench"
HEADINGS: Final[Mapping[str, str]] = {
    "definition": "Definitions",
    "equation": "Equations",
    "theorem": "Results the paper proves",
    "algorithm": "Algorithms",
    "operator": "Operators",
    "prompt": "Prompts",
    "metric": "Metrics and statistics",
    "baseline": "Baselines and data sets",
    "experiment": "Experiments",
}
Row = Mapping[str, Any]


def load(path: Path = SOURCE) -> dict[str, Any]:
    """Read the map."""
    return tomllib.loads(path.read_text("utf-8"))


# --- Checking -------------------------------------------------------------------------------------


def faults(data: Mapping[str, Any], paper: str | None = None) -> list[str]:
    """Return everything that is wrong with a map, each as one sentence."""
    return [
        *_row_faults(data["row"]),
        *_constant_faults(data["constant"], data["ours"]),
        *_left_out_faults(data["left_out"]),
        *_label_faults(data, paper),
    ]


def _row_faults(rows: Sequence[Row]) -> Iterator[str]:
    seen: set[str] = set()
    for row in rows:
        name = row.get("id", "")
        if not name or name in seen:
            yield f"row {name!r} has no id, or one that another row has"
        seen.add(name)
        if row.get("kind") not in HEADINGS:
            yield f"row {name!r} is of kind {row.get('kind')!r}, which has no heading"
        yield from _place_faults(name, row)
        if row.get("kind") == "prompt" and (program := row.get("program")):
            path = ROOT / "src/abstrag/policy/programs/_base" / f"{program}.json"
            if not path.is_file():
                yield f"row {name!r}: there is no program {program!r}"


def _place_faults(name: str, row: Row) -> Iterator[str]:
    for field in ("what", "code", "tests"):
        if not row.get(field):
            yield f"row {name!r} has no {field}"
    for place in row.get("code", ()):
        if not defines(place):
            yield f"row {name!r}: there is no {place!r}"
    for place in row.get("tests", ()):
        path, _, test = place.partition("::")
        if f"test_{test}" not in _tests(ROOT / "tests" / path):
            yield f"row {name!r}: there is no test {place!r}"


def _constant_faults(constants: Sequence[Row], ours: Mapping[str, str]) -> Iterator[str]:
    named: set[str] = set()
    for row in constants:
        yield from _place_faults(row.get("what", ""), row)
        try:
            found = value_of(row["at"], row.get("key"))
        except (AttributeError, KeyError, ImportError) as error:
            yield f"constant {row['what']!r}: {row['at']!r} cannot be had: {error}"
            continue
        if found != row["value"]:
            yield f"constant {row['what']!r} is {row['value']} in the paper and {found} in the code"
        module, _, attribute = row["at"].partition(":")
        if module == "config":
            named.add(attribute)
    public = {
        name
        for name in vars(importlib.import_module("abstrag.config"))
        if name.isupper() and name[0] != "_"
    }
    for name in sorted(public - named - set(ours)):
        yield f"constant {name!r} of the config is neither the paper's nor said to be ours"
    for name in sorted(set(ours) - public):
        yield f"constant {name!r} is said to be ours and the config has none"


def _left_out_faults(left_out: Sequence[Row]) -> Iterator[str]:
    for row in left_out:
        if not row.get("what") or not row.get("reason"):
            yield f"what is left out needs a name and a reason: {dict(row)!r}"


def _label_faults(data: Mapping[str, Any], paper: str | None) -> Iterator[str]:
    labels = set(data["labels"])
    answered = [row["id"] for row in data["row"] if row["id"] in labels]
    answered += [one for row in (*data["row"], *data["left_out"]) for one in row.get("label", ())]
    for label in sorted(labels - set(answered)):
        yield f"nothing answers for the paper's label {label!r}"
    for label in sorted({one for one in answered if one not in labels or answered.count(one) > 1}):
        yield f"label {label!r} is not the paper's, or is answered for twice"
    if paper is not None:
        written = set(re.findall(r"\\label\{([^}]+)\}", paper))
        for label in sorted(written ^ labels):
            where = "the map" if label in labels else "the paper"
            yield f"label {label!r} is only in {where}"


def defines(place: str) -> bool:
    """Tell whether `module:name` or `module:Class.member` exists, by the syntax tree."""
    module, _, name = place.partition(":")
    members = _names(_source(module))
    outer, _, inner = name.partition(".")
    return outer in members and (not inner or inner in members[outer])


def _full(module: str) -> str:
    """Return the whole name of a module, of which the map leaves `abstrag.` out."""
    return module if module.startswith(f"{BENCH}.") else f"abstrag.{module}"


def _source(module: str) -> Path:
    tree = ROOT / "bench" / "src" if module.startswith(f"{BENCH}.") else ROOT / "src"
    return tree / f"{_full(module).replace('.', '/')}.py"


@cache
def _names(path: Path) -> dict[str, frozenset[str]]:
    """Return what a module defines at its top, each with the members of a class."""
    if not path.is_file():
        return {}
    found: dict[str, frozenset[str]] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        inside = _bound(node.body) if isinstance(node, ast.ClassDef) else frozenset()
        found.update(dict.fromkeys(_bound([node]), inside))
    return found


def _bound(body: Sequence[ast.stmt]) -> frozenset[str]:
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def _tests(path: Path) -> frozenset[str]:
    return frozenset(name for name in _names(path) if name.startswith("test_"))


def value_of(at: str, key: str | None = None) -> object:
    """Return the value at `module:NAME`, of a mapping that under `key` (`a.b` for two levels)."""
    module, _, name = at.partition(":")
    outer, _, inner = name.partition(".")
    found: Any = getattr(importlib.import_module(_full(module)), outer)
    if inner:
        found = next(field.default for field in dataclasses.fields(found) if field.name == inner)
    for part in key.split(".") if key else ():
        found = found[part]
    return found


# --- Rendering ------------------------------------------------------------------------------------


def render(data: Mapping[str, Any]) -> str:
    """Write the map as a page."""
    parts = [
        "# Paper map",
        f"Where each equation, operator, algorithm, constant and prompt of *{data['title']}* is, "
        "and the test that holds it there. Generated from `docs/paper-map.toml` by "
        "`python tools/paper_map.py`; a test checks every name, test and value on it.",
        "Modules are below `abstrag.` unless they begin with `abstrag_bench.`, tests below "
        "`tests/`.",
    ]
    for kind, heading in HEADINGS.items():
        rows = [row for row in data["row"] if row["kind"] == kind]
        if rows:
            head = ("paper", "what", "code", "tests")
            parts.append(f"## {heading}\n\n" + _table(head, [_cells(row) for row in rows]))
    columns = ("paper", "constant", "value", "where it stands", "used by", "tests")
    parts.append("## Constants\n\n" + _table(columns, [_constant(row) for row in data["constant"]]))
    rows = [(f"`{name}`", f"`{_shown(name)}`", why) for name, why in data["ours"].items()]
    parts.append("### Ours\n\n" + _table(("constant", "value", "why"), rows))
    rows = [(row["what"], row["reason"]) for row in data["left_out"]]
    parts.append("## Left out, or in another form\n\n" + _table(("what", "why"), rows))
    return "\n\n".join(parts) + "\n"


def _shown(name: str) -> str:
    value = value_of(f"config:{name}")
    return "by genre" if isinstance(value, Mapping) else f"{value:g}"


def _cells(row: Row) -> tuple[str, ...]:
    labels = [row["id"], *row.get("label", ())]
    what = row["what"]
    if program := row.get("program"):
        what += f" (program `{program}`)"
    if note := row.get("note"):
        what += f". {note}"
    return _listed(labels), what, _listed(row["code"]), _listed(row["tests"])


def _constant(row: Row) -> tuple[str, ...]:
    key = f"[{row['key']}]" if "key" in row else ""
    return (
        f"`{row['section']}`",
        row["what"],
        f"{row['value']:g}",
        f"`{row['at']}{key}`",
        _listed(row["code"]),
        _listed(row["tests"]),
    )


def _listed(names: Sequence[str]) -> str:
    return "<br>".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, and write the page unless only checking was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--paper", type=Path, help="the paper's LaTeX source")
    chosen = parser.parse_args(arguments)
    data = load()
    found = faults(data, chosen.paper.read_text("utf-8") if chosen.paper else None)
    if not found and chosen.check and PAGE.read_text("utf-8") != render(data):
        found = [f"{PAGE.name} is not what the map says: run tools/paper_map.py"]
    for fault in found:
        print(fault, file=sys.stderr)
    if not found and not chosen.check:
        PAGE.write_text(render(data), "utf-8")
        print(f"{PAGE}: {len(data['row'])} rows, {len(data['constant'])} constants")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
