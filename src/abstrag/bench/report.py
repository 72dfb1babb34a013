"""A report on disk: the same summary as Markdown, JSON, LaTeX and one HTML page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from abstrag.bench.render.html import html
from abstrag.bench.render.latex import latex
from abstrag.bench.render.markdown import markdown
from abstrag.bench.run_folder import RunFolder
from abstrag.bench.summary import Summary, summarize
from abstrag.model.record import to_json

_FORMATS: Final[dict[str, Callable[[Summary], str]]] = {
    "report.md": markdown,
    "report.json": lambda summary: to_json(summary, indent=2) + "\n",
    "report.tex": latex,
    "report.html": html,
}
LAST: Final = next(reversed(_FORMATS))  # the file that is written last


def report(run: Path, *, reference: str | None = None) -> tuple[Summary, tuple[Path, ...]]:
    """Summarize a run and write the report into its folder."""
    folder = RunFolder(run)
    summary = summarize(folder.manifest(), folder.records(), reference=reference)
    written = []
    for name, render in _FORMATS.items():
        path = run / name
        path.write_text(render(summary), "utf-8")
        written.append(path)
    return summary, tuple(written)
