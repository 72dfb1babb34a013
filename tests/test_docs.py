"""What the documentation shows, works: its Python, its marked commands, its links.

The rules a page has to follow are in CONTRIBUTING.md.
"""

import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SAMPLES = ROOT / "src" / "abstrag" / "data" / "demo"  # a page finds these beside it,
WITHOUT_SAMPLES = {ROOT / "README.md"}  # unless people paste from it into a folder of their own

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>run|printed|frameworks) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MARKED = {("console", "run"), ("text", "printed")}
ELSEWHERE = "frameworks"  # these run in tests/frameworks
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Fence:
    """A block that is to run or was printed, and the line of the page its body begins on."""

    kind: str
    body: str
    line: int


def checked(text: str) -> list[Fence]:
    """Return the blocks that hold a promise: all Python, and console and text marked so."""
    return [
        Fence(match["kind"], match["body"], text.count("\n", 0, match.start("body")) + 1)
        for match in FENCE.finditer(text)
        if (match["kind"] == "python" and match["mark"] != ELSEWHERE)
        or (match["kind"], match["mark"]) in MARKED
    ]


def commands(body: str) -> list[tuple[str, list[str]]]:
    """Split a console block into commands, each with the lines it is shown to print."""
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> "):
            command, shown = found.pop()
            found.append((f"{command}\n{line[2:]}", shown))
        elif line.strip():
            found[-1][1].append(line.strip())
    return found


def run_console(body: str, folder: Path) -> None:
    """Run the commands of a block; each must succeed and print the lines shown, in order."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command, shown in commands(body):
        done = subprocess.run(
            ["bash", "-euc", command],
            cwd=folder,
            env={**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        printed = iter([line.strip() for line in done.stdout.splitlines()])
        for line in shown:
            assert line == "..." or line in printed, f"$ {command}\nnot printed: {line!r}"


def run_page(page: str, text: str, folder: Path) -> None:
    """Run a page from top to bottom; its Python blocks share their names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = StringIO()
    for fence in checked(text):
        if fence.kind == "console":
            run_console(fence.body, folder)
        elif fence.kind == "text":
            assert words(fence.body) == words(printed.getvalue()), f"{page}:{fence.line}"
        else:
            padded = "\n" * (fence.line - 1) + fence.body  # tracebacks show the page's own lines
            printed = StringIO()
            with redirect_stdout(printed):
                exec(compile(padded, page, "exec"), names)


def words(text: str) -> str:
    """Return a text without its line breaks, which a page sets where it likes."""
    return " ".join(text.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page not in WITHOUT_SAMPLES:
        shutil.copytree(SAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    run_page(str(page), page.read_text("utf-8"), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    prose = FENCE.sub("", page.read_text("utf-8"))
    dead = [target for target in LINK.findall(prose) if not (page.parent / target).exists()]
    assert dead == []


PAGE = """Text.

```python
print("one\\ntwo")
```

<!-- printed -->
```text
one two
```

```text
not Python at all
```

```console
$ never-run
```

<!-- run -->
```console
$ echo one; echo two
> echo three
one
...
three
$ true
```
"""


def test_python_and_marked_blocks_are_found() -> None:
    first, shown, second = checked(PAGE)
    assert (first.kind, first.body, first.line) == ("python", 'print("one\\ntwo")\n', 4)
    assert (shown.kind, shown.body, shown.line) == ("text", "one two\n", 9)
    assert (second.kind, second.line) == ("console", 22)
    assert commands(second.body) == [
        ("echo one; echo two\necho three", ["one", "...", "three"]),
        ("true", []),
    ]


def test_a_page_that_works_passes(tmp_path: Path) -> None:
    run_page("page.md", PAGE, tmp_path)


@pytest.mark.parametrize(
    "body", ["$ false\n", "$ echo one\ntwo\n", "$ echo one; echo two\ntwo\none\n"]
)
def test_a_command_that_does_not_do_as_shown_fails(body: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_console(body, tmp_path)


@pytest.mark.parametrize("shown", ["one", "one two three", "two one"])
def test_python_that_prints_other_than_shown_fails(shown: str, tmp_path: Path) -> None:
    page = f"```python\nprint('one two')\n```\n\n<!-- printed -->\n```text\n{shown}\n```\n"
    with pytest.raises(AssertionError):
        run_page("page.md", page, tmp_path)


def test_python_that_fails_is_reported_on_the_pages_own_line(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("page.md", "Text.\n\n```python\nx = 1\nx / 0\n```\n", tmp_path)
    assert caught.traceback[-1].lineno + 1 == 5


def test_dead_links_are_seen() -> None:
    text = "[a](there.md#part) [b](https://example.org) [c](#here) ![d](e.png)"
    assert LINK.findall(text) == ["there.md", "e.png"]
