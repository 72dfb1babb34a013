r"""Numbers behind labels: what `\ref` prints for sections, figures, tables and equations."""

from __future__ import annotations

import re
from typing import Final

LEVELS: Final = (
    "part",
    "chapter",
    "section",
    "subsection",
    "subsubsection",
    "paragraph",
    "subparagraph",
)
_TOKEN: Final = re.compile(
    rf"\\(?P<section>{'|'.join(LEVELS)})(?P<star>\*?)\s*[\[{{]"
    r"|\\(?P<appendix>appendix)\b"
    r"|\\begin\s*\{(?P<begin>\w+\*?)\}|\\end\s*\{(?P<end>\w+\*?)\}"
    r"|\\(?P<caption>caption)\*?\s*[\[{]|\\label\s*\{(?P<label>[^{}]*)\}"
)
_FLOATS: Final = {"figure": "figure", "wrapfigure": "figure", "table": "table"} | {
    "wraptable": "table",
    "sidewaystable": "table",
    "longtable": "table",
    "algorithm": "algorithm",
}
_TRANSPARENT: Final = frozenset(
    "document center small footnotesize flushleft minipage abstract adjustbox frame".split()
)
_DEEPEST: Final = 100  # environments around a label or caption that are looked at
_NUMBERED: Final = 3  # sections this far below the outermost level still get numbers


def outermost(text: str) -> int:
    """Return the index of the outermost sectioning command a text uses."""
    used = (i for i, name in enumerate(LEVELS[:3]) if re.search(rf"\\{name}\*?\s*[\[{{]", text))
    return next(used, LEVELS.index("section"))


def label_numbers(text: str) -> dict[str, str]:
    """Return the number each label stands for; labels we cannot number are left out."""
    counter = _Counter(outermost(text))
    for match in _TOKEN.finditer(text):
        counter.see(match)
    return counter.labels


class _Counter:
    def __init__(self, top: int) -> None:
        self.labels: dict[str, str] = {}
        self._top = top
        self._sections: list[int] = []
        self._appendix = False
        self._counts: dict[str, int] = {}
        self._open: list[tuple[str, str | None]] = []  # environments and their numbers

    def see(self, match: re.Match[str]) -> None:
        """Count what one command counts."""
        if match["section"]:
            if not match["star"]:
                self._section(LEVELS.index(match["section"]) - self._top)
        elif match["appendix"]:
            self._appendix, self._sections = True, []
        elif match["begin"]:
            env = match["begin"]
            self._open.append((env, self._next("equation") if env == "equation" else None))
        elif match["end"]:
            if self._open:
                self._open.pop()
        elif match["caption"]:
            self._caption()
        elif number := self._current():
            self.labels.setdefault(match["label"].strip(), number)

    def _section(self, depth: int) -> None:
        if not 0 <= depth < _NUMBERED:
            return
        del self._sections[depth + 1 :]
        self._sections += [0] * (depth + 1 - len(self._sections))
        self._sections[depth] += 1

    def _caption(self) -> None:
        for i in reversed(range(max(0, len(self._open) - _DEEPEST), len(self._open))):
            kind = _FLOATS.get(self._open[i][0].rstrip("*"))
            if kind:
                self._open[i] = (self._open[i][0], self._next(kind))
                return

    def _next(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return str(self._counts[kind])

    def _current(self) -> str | None:
        for env, number in reversed(self._open[-_DEEPEST:]):
            if number is not None or env.rstrip("*") not in _TRANSPARENT:
                return number
        if not self._sections:
            return None
        first, *rest = self._sections
        lead = chr(ord("A") + first - 1) if self._appendix and 0 < first <= 26 else str(first)
        return ".".join([lead, *map(str, rest)])
