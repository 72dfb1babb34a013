"""Formulas as a person would type them: "QK^T/√(d_k)" for the fraction and the root."""

from __future__ import annotations

import re
from typing import Final

from abstrag.documents.latex_source import Source
from abstrag.documents.latex_symbols import MATH, NAMES, SPACES
from abstrag.documents.trace import Trace

_TOKEN: Final = re.compile(
    r"\\(?P<env>begin|end)\s*\{[^{}]*\}(?:\s*\{[lcr|@{}\s]*\})?"
    r"|\\(?P<command>[A-Za-z]+)\*?|\\(?P<sign>.)"
    r"|(?P<script>[_^])|(?P<brace>[{}])|(?P<blank>[&~])|[^\\_^{}&~]+",
    re.DOTALL,
)
_UNSEEN: Final = {  # commands that leave no sign, and the arguments that go with them
    "label": "{",
    "tag": "{",
    "hspace": "{",
    "vspace": "{",
    "color": "{",
    "textcolor": "{",
    "phantom": "{",
    "vphantom": "{",
    "hphantom": "{",
    "rule": "[{{",
}
_DROPPED: Final = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle limits"
    " nolimits displaystyle textstyle scriptstyle scriptscriptstyle nonumber notag mathrm mathbf"
    " mathit mathsf mathtt mathcal mathbb mathfrak mathscr mathnormal boldsymbol bm bf rm it cal"
    " text textrm textbf textit texttt textsf textnormal mbox hbox operatorname hat widehat bar"
    " overline underline tilde widetilde vec dot ddot check breve acute grave mathring overbrace"
    " underbrace stackrel overset underset substack ensuremath centering boldmath"
    " unboldmath emph mathop mathbin mathrel mathord rlap llap smash".split()
)
_SIMPLE: Final = re.compile(  # needs no brackets around it, or has some
    r"\s*+(?:[+-]?[\w.,'*]*|\\[A-Za-z]+(?:\s*\{[\w\s-]*\})?|\([^()]*\))\s*"
)


def read_math(source: Source, start: int, end: int, into: Trace) -> None:
    """Write the formula between two offsets into a trace."""
    reader = _Math(source, into)
    at = start
    while at < end and (match := _TOKEN.match(source.text, at, end)):
        at = max(at + 1, min(reader.take(match), end))


class _Math:
    def __init__(self, source: Source, into: Trace) -> None:
        self._source = source
        self._into = into
        self._shown: dict[int, str] = {}  # braces that read as something

    def take(self, match: re.Match[str]) -> int:
        """Write one token and return where the next begins."""
        start, end = match.span()
        if match["command"] or match["sign"]:
            return self._command(match["command"] or match["sign"], start, end)
        if match["brace"]:
            shown = self._shown.pop(start, None)
            self._into.decode(shown or "", start, end)
            if shown is not None:  # the brace belongs to what is written, shown or not
                self._into.end = end
        elif match["blank"] or match["env"]:
            self._into.decode(" ", start, end)
        else:
            self._into.keep(self._source.text, start, end)
            if match["script"]:
                self._wrap(end, "(", ")")
        return end

    def _command(self, name: str, start: int, end: int) -> int:
        if name in ("frac", "dfrac", "tfrac", "nicefrac", "sfrac", "cfrac"):
            over = self._wrap(end, "(", ")/", bare="/")
            self._wrap(over, "(", ")")
        elif name in _UNSEEN:
            return self._source.skip(end, _UNSEEN[name])
        elif name in SPACES or name == "\\":
            self._into.decode(" ", start, end)
        elif name in MATH:
            self._into.decode(MATH[name], start, end)
            if name == "sqrt":
                self._wrap(end, "(", ")")
        elif name in NAMES or (name.isalpha() and name not in _DROPPED):
            self._into.keep(self._source.text, start + 1, end)
        return end

    def _wrap(self, at: int, opening: str, closing: str, bare: str = "") -> int:
        """Show the braces of the group that follows, unless it is simple; return its end."""
        group = self._source.group(at)
        if group is None:
            return at
        simple = _SIMPLE.fullmatch(self._source.text, group.start, group.end) is not None
        self._shown[group.start - 1] = "" if simple else opening
        self._shown[group.end] = bare if simple else closing
        return group.after
