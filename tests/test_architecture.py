"""The shape of the code is a promise; these tests keep it."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import pytest

import abstrag
import abstrag_bench

ROOT = Path(abstrag.__file__).parent
BENCH = Path(abstrag_bench.__file__).parent  # its files and packages bear its name, ours do not
REPOSITORY = Path(__file__).parent.parent
FILES = [
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")),
    *sorted(path.relative_to(BENCH.parent).as_posix() for path in BENCH.rglob("*.py")),
]
TABLE = (  # high to low, as CONTRIBUTING.md shows it
    "abstrag_bench.cli",
    "abstrag_bench",
    "cli",
    "server",
    "integrations",
    "workspace",
    "answers collection",
    "engine testing abstrag_bench.baselines",
    "refine",
    "search",
    "indexing policy",
    "llm neural lexicon language documents stores backgrounds workers",
    "model",
    "config",
    "cores errors files memory telemetry",
)
# low to high: a module imports its own package and lower layers, never a peer
LAYERS = [set(layer.split()) for layer in reversed(TABLE)]
LEVEL = {name: i for i, names in enumerate(LAYERS) for name in names}
ABOVE_ALL = {"__init__", "__main__"}  # the public names; they may come from anywhere
TREES = ("src/abstrag/", "bench/src/abstrag_bench/")
DATA = "data"  # files that ship with the package, and no code
MAX_LINES = 600
LOADS_UPWARD = {"model/document.py"}  # Document.load: people look for it there
PRINTS = {"cli", "abstrag_bench.cli"}


def package(file: str) -> str:
    """Return the package, or the top-level module, a file belongs to."""
    return home(PurePosixPath(file).with_suffix("").parts)


def home(parts: Sequence[str]) -> str:
    """Return what the table calls the place of a module: two names for parts of the benchmark."""
    two = ".".join(parts[:2])
    return two if two in LEVEL else parts[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """Go through the modules a file imports, wherever in it the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def called_by_name(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Go through all calls, with the last part of the name that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id, node
            elif isinstance(node.func, ast.Attribute):
                yield node.func.attr, node


def import_faults(file: str, source: str) -> list[str]:
    """Say what is wrong with a file's imports."""
    tree, here, faults = ast.parse(source), package(file), []
    for name in imported(tree):
        if name.startswith("."):
            faults.append(f"{file}: relative import of {name}")
        elif name == "abstrag" and here in LEVEL and here not in ("server", "cli"):
            faults.append(f"{file}: import from the module that defines it, not from abstrag")
        elif (there := place_of(name)) and not may_import(here, there):
            faults.append(f"{file}: {here} may not import {name}")
    for name, call in called_by_name(tree):
        first = call.args[0] if call.args else None
        if (
            name in ("import_module", "__import__")
            and isinstance(first, ast.Constant)
            and str(first.value).startswith("abstrag")
            and file not in LOADS_UPWARD
            and here in LEVEL
        ):
            faults.append(f"{file}: imports {first.value!r} at run time")
    return faults


def place_of(name: str) -> str:
    """Return what the table calls the place of an imported module, nothing of one not ours."""
    first, *rest = name.split(".")
    if first == "abstrag_bench":
        return home([first, *rest])
    return home(rest) if first == "abstrag" and rest else ""


def may_import(here: str, there: str) -> bool:
    """Tell whether a package may import another one."""
    if there.startswith("abstrag_bench") and not here.startswith("abstrag_bench"):
        return False  # it may not be installed
    if here in ABOVE_ALL or there in (here, DATA):
        return True
    return LEVEL.get(there, len(LAYERS)) < LEVEL.get(here, -1)


def print_faults(file: str, source: str) -> list[str]:
    """Say where a file writes to the terminal."""
    if package(file) in PRINTS:
        return []
    tree = ast.parse(source)
    faults = [f"{file}:{call.lineno}: print" for n, call in called_by_name(tree) if n == "print"]
    faults += [
        f"{file}:{node.lineno}: sys.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("stdout", "stderr")
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    ]
    return faults


def read(file: str) -> str:
    tree = BENCH.parent if file.startswith("abstrag_bench/") else ROOT
    return (tree / file).read_text("utf-8")


def test_imports_only_point_down() -> None:
    assert [fault for file in FILES for fault in import_faults(file, read(file))] == []


def test_every_package_has_its_layer() -> None:
    homeless = {package(file) for file in FILES} - set(LEVEL) - ABOVE_ALL - {DATA}
    assert homeless == set()


def shown_blocks() -> tuple[list[str], list[str]]:
    """Return the lines of the two blocks that CONTRIBUTING.md shows: the tree, the layers."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    tree, layers = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return tree.splitlines(), layers.splitlines()


def tree_entries(lines: list[str]) -> list[tuple[str, str]]:
    """Return each path of the tree, from the top of the repository, and what is said of it."""
    found, folder = [], ""
    for line in lines:
        name, _, what = line.strip().partition(" ")
        inside = line.startswith(" ")
        found.append((f"{folder}{name}" if inside else name, what.strip()))
        folder = folder if inside else name
    return found


def test_the_contributors_tree_shows_every_package_once_and_says_what_it_is() -> None:
    entries = tree_entries(shown_blocks()[0])
    inside = [path for path, _ in entries if path.startswith(TREES)]
    packages = [
        f"{tree}{path.parent.name}/"
        for tree in TREES
        for path in (REPOSITORY / tree).glob("*/__init__.py")
    ]
    modules = [f"src/abstrag/{path.name}" for path in ROOT.glob("*.py")]
    expected = [*packages, *modules, *TREES]
    assert sorted(inside) == sorted(set(expected) - {"src/abstrag/__init__.py"})
    assert [path for path, what in entries if not what] == ["src/abstrag/"]


def test_everything_in_the_contributors_tree_is_there() -> None:
    paths = [path for path, _ in tree_entries(shown_blocks()[0])]
    gone = [path for path in paths if not (REPOSITORY / path).exists()]
    assert gone == []
    assert len(set(paths)) == len(paths)


def test_the_contributors_layers_are_those_kept_here() -> None:
    assert [layer.split() for layer in shown_blocks()[1]] == [layer.split() for layer in TABLE]


def test_a_tree_is_read_from_its_indents() -> None:
    lines = ["src/", "  model/    the nouns", "  cli/", "docs/  the site"]
    assert tree_entries(lines) == [
        ("src/", ""),
        ("src/model/", "the nouns"),
        ("src/cli/", ""),
        ("docs/", "the site"),
    ]


def test_no_file_is_too_long_to_read() -> None:
    assert [file for file in FILES if len(read(file).splitlines()) > MAX_LINES] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [file for file in FILES if not says_what_it_is_for(read(file))] == []


def says_what_it_is_for(source: str) -> bool:
    return not source.strip() or ast.get_docstring(ast.parse(source)) is not None


def test_nothing_below_the_command_line_prints() -> None:
    assert [fault for file in FILES for fault in print_faults(file, read(file))] == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("model/term.py", "from abstrag.indexing.operator import Chain"),  # upward
        ("model/term.py", "def f():\n    import abstrag.cli.main"),  # upward, hidden in a function
        ("stores/rows.py", "from abstrag.lexicon.wordnet import wordnet"),  # a peer
        ("abstrag_bench/baselines/bm25.py", "from abstrag.engine.library import Library"),
        ("abstrag_bench/baselines/bm25.py", "from abstrag_bench.case import Case"),
        ("abstrag_bench/runner.py", "from abstrag_bench.cli.bench import bench_command"),
        ("cli/main.py", "from abstrag_bench.cli.bench import bench_command"),
        ("__init__.py", "import abstrag_bench"),
        ("errors.py", "from abstrag.config import TAU"),
        ("stores/rows.py", "from .tables import StoreTable"),
        ("stores/rows.py", "from . import tables"),
        ("stores/rows.py", "from abstrag import index"),
        ("stores/rows.py", "from abstrag.nowhere import x"),
        ("model/term.py", "import_module('abstrag.documents.load')"),
        ("model/term.py", "importlib.import_module('abstrag.documents.load')"),
    ],
)
def test_a_wrong_import_is_seen(file: str, source: str) -> None:
    assert len(import_faults(file, source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("stores/rows.py", "from abstrag.model.term import Term\nimport sqlite3"),
        ("stores/rows.py", "from abstrag.stores.tables import StoreTable"),
        ("cli/main.py", "from abstrag import __version__"),
        ("abstrag_bench/runner.py", "from abstrag_bench.baselines.bm25 import Bm25"),
        ("abstrag_bench/cli/bench.py", "from abstrag.cli.output import console"),
        ("workspace/tour.py", "from abstrag.data import demo"),
        ("__init__.py", "from abstrag.engine.library import Library"),
        ("model/document.py", "import_module('abstrag.documents.load')"),
        ("language/parser.py", "import_module(MODEL)"),
    ],
)
def test_a_right_import_is_let_through(file: str, source: str) -> None:
    assert import_faults(file, source) == []


def test_a_print_is_seen() -> None:
    assert len(print_faults("index/lift.py", "print(1)\nsys.stderr.write('x')")) == 2
    assert print_faults("cli/main.py", "print(1)") == []


def test_a_module_without_a_docstring_is_seen() -> None:
    assert not says_what_it_is_for("x = 1")
    assert says_what_it_is_for("\n")
