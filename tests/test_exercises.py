"""Each solution of docs/exercises.md applies, changes few files and passes its own test."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "exercises.md").read_text("utf-8")
PATCHES = sorted((ROOT / "docs" / "exercises").glob("*.patch"))
MOST = 3  # files outside its own that a solution may touch
LARGE = "src/abstrag/neural/weights"  # linked, not copied
NOT_COPIED = ignore_patterns("weights", "corpus", "*.patch")
SHAPE = (  # what every file has to keep, also a new one
    "tests/test_architecture.py::test_imports_only_point_down",
    "tests/test_architecture.py::test_no_file_is_too_long_to_read",
    "tests/test_architecture.py::test_every_module_says_what_it_is_for",
)

every_solution = pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)


def changes(patch: Path) -> tuple[set[str], set[str]]:
    """Return the files that a patch changes and those that it brings."""
    parts = patch.read_text("utf-8").split("diff --git a/")[1:]
    new = {part.split(" ", 1)[0] for part in parts if "\nnew file mode " in part}
    return {part.split(" ", 1)[0] for part in parts} - new, new


def section_of(patch: Path) -> str:
    """Return the section of the page that tells what a patch solves."""
    (found,) = (part for part in PAGE.split("\n## ") if f"(exercises/{patch.name})" in part)
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of what a patch may touch, without what git knows about it."""
    made = tmp_path / "tree"
    for folder in ("bench", "docs", "src", "tests"):
        copytree(ROOT / folder, made / folder, ignore=NOT_COPIED)
    (made / LARGE).symlink_to(ROOT / LARGE, target_is_directory=True)
    (made / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    return made


def run(tree: Path, *command: str) -> None:
    """Run a command in a copy of the tree; what it says is shown when it fails."""
    above = {"GIT_CEILING_DIRECTORIES": str(tree.parent)}  # it is no repository
    path = os.pathsep.join((str(tree / "src"), str(tree / "bench" / "src")))
    own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=tree, env={**os.environ, **above, **own}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def test_there_is_an_exercise_for_each_seam() -> None:
    assert [patch.stem for patch in PATCHES] == ["family", "format", "metric", "operator", "store"]


@every_solution
def test_a_solution_changes_at_most_three_files_and_the_page_names_them(patch: Path) -> None:
    changed, new = changes(patch)
    (line,) = re.findall(r"^Files to change: (.*)$", section_of(patch), re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", line)) == changed
    assert 0 < len(changed) <= MOST
    assert [name for name in new if (ROOT / name).exists()] == []
    assert [name for name in changed if not (ROOT / name).exists()] == []


@every_solution
def test_a_solution_applies_and_passes_its_own_test(patch: Path, tree: Path) -> None:
    changed, new = changes(patch)
    tests = sorted(name for name in new if name.startswith("tests/"))
    assert tests, "a solution brings a test"
    run(tree, "git", "apply", str(patch))
    python = [name for name in sorted(changed | new) if name.endswith(".py")]
    run(tree, sys.executable, "-m", "ruff", "check", "--no-cache", *python)
    run(tree, sys.executable, "-m", "ruff", "format", "--no-cache", "--check", *python)
    quiet = ("-q", "-p", "no:cacheprovider")
    run(tree, sys.executable, "-m", "pytest", *quiet, *tests, *SHAPE)
