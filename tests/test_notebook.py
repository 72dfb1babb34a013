"""The example notebook runs from top to bottom, and its results show themselves."""

import ast
import json
from pathlib import Path
from typing import Any

from abstrag.workspace.tour import DEMO_SENTENCE

NOTEBOOK = Path(__file__).parent.parent / "examples" / "evidence.ipynb"


def code_cells(path: Path) -> list[str]:
    """Return the code of a notebook, cell by cell."""
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does: the value of a last expression is what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_the_example_notebook_runs_and_shows_its_results() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [run(source, names) for source in code_cells(NOTEBOOK)]
    assert all(value is not None for value in shown)
    pages = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pages) == 5
    ranking, explained, why_not, budget, bare = pages
    quote = DEMO_SENTENCE.replace("'", "&#x27;")
    assert quote in ranking
    assert "event:visit → event:collaboration 0.90" in explained
    assert "<b>" in why_not
    assert "<polyline" in budget
    assert "✗" not in explained
    assert "✗" in bare
