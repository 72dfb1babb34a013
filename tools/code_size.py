"""How large the packages are, and what their trees look like.

    python tools/code_size.py                     # this checkout, the benchmark counted
    python tools/code_size.py --src ../old/src    # another one, for a before and after

Prints modules and lines, the longest file, the modules that only one sibling uses, the public
classes that share a name, and the packages that import each other.
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = (ROOT / "src", ROOT / "bench" / "src")


class Code:
    """The modules of packages: their source, and what each imports."""

    def __init__(self, *roots: Path) -> None:
        """Read everything below `roots`, whose folders are packages."""
        self.text = {
            _module(file.relative_to(root)): file.read_text("utf-8")
            for root in roots
            for file in sorted(root.rglob("*.py"))
        }
        self.tree = {name: ast.parse(text) for name, text in self.text.items()}
        self.imports = {name: set(self._imported(name)) for name in self.tree}

    def _imported(self, name: str) -> Iterator[str]:
        for node in ast.walk(self.tree[name]):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = (f"{node.module}.{one.name}" for one in node.names)
                yield from (part for part in (node.module, *parts) if part in self.tree)
            elif isinstance(node, ast.Import):
                yield from (one.name for one in node.names if one.name in self.tree)

    @property
    def lines(self) -> dict[str, int]:
        """The number of lines of each module."""
        return {name: len(text.splitlines()) for name, text in self.text.items()}

    def with_one_user(self) -> list[tuple[str, str]]:
        """Return modules that one other module of their folder imports, and nobody else."""
        users = defaultdict(list)
        for name, wanted in self.imports.items():
            for one in wanted:
                users[one].append(name)
        return sorted(
            (name, by[0])
            for name, by in users.items()
            if len(by) == 1 and name.rpartition(".")[0] == by[0].rpartition(".")[0]
        )

    def classes_twice(self) -> dict[str, list[str]]:
        """Return the names of public classes that several modules define."""
        homes = defaultdict(list)
        for name, tree in self.tree.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(name)
        return {name: where for name, where in sorted(homes.items()) if len(where) > 1}

    def mutual_packages(self) -> list[tuple[str, str]]:
        """Return pairs of packages each of which imports the other when it is loaded."""
        seen = {
            (_package(name), _package(other))
            for name, tree in self.tree.items()
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for other in [node.module]
            if other in self.tree
        }
        return sorted((a, b) for a, b in seen if a < b and (b, a) in seen)


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _package(name: str) -> str:
    return ".".join(name.split(".")[:2])


def main() -> None:
    """Print what is counted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--src", type=Path, nargs="+", default=HERE, help="the folders that hold the packages"
    )
    code = Code(*parser.parse_args().src)
    lines = code.lines
    longest = max(lines, key=lambda name: lines[name])
    print(f"modules {len(lines)}, lines {sum(lines.values())}")
    for whole in sorted({name.partition(".")[0] for name in lines}):
        own = [count for name, count in lines.items() if name.partition(".")[0] == whole]
        print(f"  of these {whole}: modules {len(own)}, lines {sum(own)}")
    print(f"longest {longest}, {lines[longest]} lines")
    for package, count in sorted(Counter(map(_package, lines)).items()):
        total = sum(n for name, n in lines.items() if _package(name) == package)
        print(f"  {package:28} {count:4} modules {total:6} lines")
    alone = code.with_one_user()
    print(f"modules with one user, a sibling: {len(alone)}")
    twice = code.classes_twice()
    print(f"public classes that share a name: {len(twice)}")
    for name, where in twice.items():
        print(f"  {name}: {', '.join(where)}")
    print(f"packages that import each other: {code.mutual_packages() or 'none'}")


if __name__ == "__main__":
    main()
