"""A piece of LaTeX source with its groups paired, so that arguments are found in one step."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

VERBATIM: Final = r"(?:verbatim|Verbatim|lstlisting|minted|comment|filecontents)\*?"
MAX_RAW: Final = (
    2000  # characters between the bars of `\verb`, so that none looks through a whole book
)
RAW: Final = rf"[^\n]{{0,{MAX_RAW}}}?"
_BRACE: Final = re.compile(
    rf"\\begin\{{(?P<env>{VERBATIM})\}}.*?(?:\\end\{{(?P=env)\}}|\Z)|\\.|%[^\n]*|[{{}}]",
    re.DOTALL,
)
_ENVIRONMENT: Final = re.compile(
    rf"\\begin\{{(?P<env>{VERBATIM})\}}.*?(?P<close>\\end\{{(?P=env)\}}|\Z)"
    r"|\\begin\s*\{(?P<begin>[^{}]*)\}|\\end\s*\{(?P<end>[^{}]*)\}|\\.|%[^\n]*",
    re.DOTALL,
)
_GAP: Final = re.compile(r"[ \t\r]*(?:\n[ \t\r]*)?(?!\n)")  # no argument waits behind a blank line
_MAX_OPTION: Final = 2000


class Group(NamedTuple):
    """The inside of a group, and where reading goes on behind it."""

    start: int
    end: int
    after: int


class LatexSource:
    """LaTeX text; comments may still be in it.

    Nothing is found that reaches beyond `limit`: an argument that a cell or a caption leaves open
    does not swallow what follows.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.limit = len(text)
        self._pairs = _pairs(text)
        self._environments = _environments(text)
        self._absent: dict[str, tuple[int, int]] = {}  # where marks were looked for in vain

    def closing(self, at: int) -> int | None:
        """Return where the brace at `at` is closed, if it is one and is."""
        return self._pairs.get(at)

    def group(self, at: int) -> Group | None:
        """Return the braced argument that follows, if one does."""
        at = self._skip_gap(at)
        end = self._pairs.get(at)
        return Group(at + 1, end, end + 1) if end is not None and end < self.limit else None

    def environment(self, at: int) -> tuple[int, int] | None:
        r"""Return where `\end` of the environment that begins at `at` starts and ends."""
        found = self._environments.get(at)
        return found if found is not None and found[1] <= self.limit else None

    def option(self, at: int) -> Group | None:
        """Return the bracketed argument that follows, if one does."""
        at = self._skip_gap(at)
        if not self.text.startswith("[", at):
            return None
        i, limit = at + 1, min(self.limit, at + _MAX_OPTION)
        last = self.text.rfind("]", i, limit)
        while i <= last:
            char = self.text[i]
            if char == "]":
                return Group(at + 1, i, i + 1)
            if char == "\\":
                i += 1
            i = self._pairs.get(i, i) + 1
        return None

    def find(self, mark: str, at: int) -> int:
        """Return where a mark that is not escaped comes next, or -1."""
        start, end = self._absent.get(mark, (len(self.text), 0))
        if start <= at and self.limit <= end:
            return -1
        found = at
        while (found := self.text.find(mark, found, self.limit)) > 0 and (
            self.text[found - 1] == "\\"
        ):
            found += 1
        if found < 0:
            self._absent[mark] = (at, self.limit)
        return found

    def skip(self, at: int, arguments: str) -> int:
        """Go past arguments: `{` a braced one, `[` a bracketed one that may be missing."""
        for kind in arguments:
            found = self.option(at) if kind == "[" else self.group(at)
            at = found.after if found is not None else at
        return at

    def _skip_gap(self, at: int) -> int:
        gap = _GAP.match(self.text, at)
        return gap.end() if gap else at


def _pairs(text: str) -> dict[int, int]:
    pairs: dict[int, int] = {}
    open_braces: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            open_braces.append(match.start())
        elif match[0] == "}" and open_braces:
            pairs[open_braces.pop()] = match.start()
    return pairs


def _environments(text: str) -> dict[int, tuple[int, int]]:
    pairs: dict[int, tuple[int, int]] = {}
    begun: list[tuple[str, int]] = []
    for match in _ENVIRONMENT.finditer(text):
        if match["env"]:
            pairs[match.start()] = match.span("close")
        elif match["begin"] is not None:
            begun.append((match["begin"], match.start()))
        elif match["end"] is not None and any(name == match["end"] for name, _ in begun[-50:]):
            while begun:  # what was left open inside ends here too
                name, start = begun.pop()
                pairs[start] = match.span()
                if name == match["end"]:
                    break
    return pairs
