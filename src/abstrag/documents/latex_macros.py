"""LaTeX made plain: comments gone, the author's own macros expanded, every character traced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.config import MAX_MACRO_CHARS, MAX_MACRO_EXPANSIONS
from abstrag.documents.latex_source import RAW, VERBATIM, Group, LatexSource
from abstrag.documents.limits import OverLimit
from abstrag.documents.trace import Trace

_MAX_DEPTH: Final = 16
_MAX_GROWTH: Final = 4  # times the source; a document that grows more is a bomb, not a paper
_TOKEN: Final = re.compile(
    rf"(?P<verbatim>\\begin\{{(?P<env>{VERBATIM})\}}.*?(?:\\end\{{(?P=env)\}}|\Z)"
    rf"|\\(?:verb|lstinline)\*?(?P<bar>[^\sA-Za-z*{{\[]){RAW}(?P=bar))"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*(?![ \t\r]*\n))?)"
    r"|\\(?P<define>(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator"
    r"|def|gdef|edef)\b\*?)"
    r"|\\(?P<word>[A-Za-z@]+)"
    r"|\\.",
    re.DOTALL,
)
_NAME: Final = re.compile(r"\s*(?P<open>\{\s*)?\\(?P<name>[A-Za-z@]+)\s*(?(open)\})")
_COUNT: Final = re.compile(r"\s*\[\s*(?P<count>\d)\s*\]")
_PARAMETERS: Final = re.compile(r"\s*(?P<all>(?:#\d\s*)*)(?=\{)")
_PARAMETER: Final = re.compile(r"#([1-9])")
_PROGRAMMED: Final = re.compile(
    r"\\(?:if|@|csname|expandafter|futurelet|let\b|def\b|newcommand|begingroup)|##"
)
_ONE_TOKEN: Final = re.compile(r"[ \t]*(\\[A-Za-z@]+|\\.|[^\s{}\\])", re.DOTALL)
_PROTECTED: Final = re.compile(  # what we read ourselves stays what it is, however it is redefined
    r"(?:sub)*section|chapter|part|(?:sub)?paragraph|\w*cite\w*|\w*ref|footnote\w*|caption|item"
    r"|label|title|author|date|begin|end|bibitem|the\w+|par|abstract|appendix"
)


@dataclass(frozen=True, slots=True)
class _Macro:
    """A macro of the author: how many arguments, the default of the first, and the body."""

    arguments: int
    default: str | None
    body: str


def plain(text: str) -> Trace:
    """Return the text without comments and definitions, its own macros expanded."""
    expansion = _Expansion(limit=_MAX_GROWTH * len(text) + 10_000)
    expansion.expand(text, range(len(text)))
    return expansion.trace


class _Expansion:
    def __init__(self, limit: int) -> None:
        self.trace = Trace()
        self._limit = limit
        self._macros: dict[str, _Macro] = {}
        self._last = 0
        self._expansions = 0
        self._spent = 0

    def expand(self, text: str, origins: Sequence[int], depth: int = 0) -> None:
        """Go through a text, or through the body of a macro called in it."""
        source = LatexSource(text)
        at = done = 0
        while match := _TOKEN.search(text, at):
            at = match.end()
            if match["comment"] is not None:
                after: int | None = at
            elif match["define"]:
                after = self._define(source, match)
            else:
                after = self._call(source, origins, match, done, depth)
                if after is not None:
                    at = done = after
                continue
            if after is not None:
                self._put(text, origins, done, match.start())
                at = done = after
        self._put(text, origins, done, len(text))

    def _put(self, text: str, origins: Sequence[int], start: int, end: int) -> None:
        """Write a piece; macros may turn arguments around, origins must never go back."""
        if start == end:
            return
        where = origins[start:end]
        if not isinstance(where, range) or where[0] < self._last:
            where = list(where)
            for i, origin in enumerate(where):
                self._last = where[i] = max(self._last, origin)
        self._last = where[-1]
        self.trace.put(text[start:end], where)

    # --- definitions ---

    def _define(self, source: LatexSource, match: re.Match[str]) -> int | None:
        """Learn a macro and return where its definition ends."""
        how = match["define"].rstrip("*")
        name = _NAME.match(source.text, match.end())
        if name is None:
            return None
        at, count, default = name.end(), 0, None
        if how.endswith("def"):
            parameters = _PARAMETERS.match(source.text, at)
            if parameters is None:
                return None
            at, count = parameters.end(), parameters["all"].count("#")
        elif how != "DeclareMathOperator":
            if number := _COUNT.match(source.text, at):
                at, count = number.end(), int(number["count"])
            if count and (option := source.option(at)):
                at, default = option.after, source.text[option.start : option.end]
        body = source.group(at)
        if body is None:
            return None
        self._learn(name["name"], count, default, source.text[body.start : body.end], how)
        return body.after

    def _learn(self, name: str, count: int, default: str | None, body: str, how: str) -> None:
        if _PROTECTED.fullmatch(name) or (how == "providecommand" and name in self._macros):
            return
        if how == "DeclareMathOperator":
            body = f"\\operatorname{{{body}}}"
        elif _PROGRAMMED.search(body):  # a small program: its name, or what it is applied to
            body = " ".join(f"#{i + 1}" for i in range(count)) or name
        self._macros[name] = _Macro(count, default, re.sub(r"(?<!\\)%[^\n]*\n?\s*", "", body))

    # --- calls ---

    def _call(
        self,
        source: LatexSource,
        origins: Sequence[int],
        match: re.Match[str],
        done: int,
        depth: int,
    ) -> int | None:
        """Expand a macro in place and return where its call ends; None when it is not ours."""
        macro = self._macros.get(match["word"] or "")
        if macro is None or depth >= _MAX_DEPTH or len(self.trace.origins) > self._limit:
            return None
        arguments, after = _arguments(source, macro, match.end())
        if arguments is None:
            return None
        self._pay(_length(macro, arguments))
        self._put(source.text, origins, done, match.start())
        text, where = _substitute(source, origins, macro, arguments, (match.start(), after))
        self.expand(text, where, depth + 1)
        return after

    def _pay(self, length: int) -> None:
        """Count an expansion before it is made; one may be larger than all memory."""
        self._expansions += 1
        self._spent += length
        hint = "give the document with its macros expanded"
        if self._expansions > MAX_MACRO_EXPANSIONS:
            what = f"its macros are expanded more than {MAX_MACRO_EXPANSIONS:,} times"
            raise OverLimit(what, "MAX_MACRO_EXPANSIONS", hint=hint)
        if self._spent > MAX_MACRO_CHARS:
            what = f"its macros expand to more than {MAX_MACRO_CHARS:,} characters"
            raise OverLimit(what, "MAX_MACRO_CHARS", hint=hint)


def _length(macro: _Macro, arguments: Sequence[Group | None]) -> int:
    """Return how long a body is once its arguments are put into it, or a little less."""
    given = [argument.end - argument.start if argument else 0 for argument in arguments]
    if given and arguments[0] is None:
        given[0] = len(macro.default or "")
    uses = (int(parameter[1]) - 1 for parameter in _PARAMETER.finditer(macro.body))
    return len(macro.body) + sum(given[use] for use in uses if use < len(given))


def _arguments(
    source: LatexSource, macro: _Macro, at: int
) -> tuple[list[Group | None] | None, int]:
    """Find the arguments of a call; None among them stands for the default of the first."""
    found: list[Group | None] = []
    if macro.arguments and macro.default is not None:
        option = source.option(at)
        at = option.after if option else at
        found.append(option)
    while len(found) < macro.arguments:
        group = source.group(at)
        if group is None:
            token = _ONE_TOKEN.match(source.text, at)
            if token is None:
                return None, at
            group = Group(token.start(1), token.end(1), token.end())
        found.append(group)
        at = group.after
    return found, at


def _substitute(
    source: LatexSource,
    origins: Sequence[int],
    macro: _Macro,
    arguments: Sequence[Group | None],
    call: tuple[int, int],
) -> tuple[str, list[int]]:
    """Put arguments into a body; what comes from the body belongs to the whole call."""
    start, last = origins[call[0]], origins[call[1] - 1]
    pieces: list[str] = []
    where: list[int] = []

    def put_body(text: str) -> None:
        # when nothing of the call's own text shows, the body is spread over its whole width
        first = start if arguments else start + len(where)
        step = 0 if arguments else 1
        where.extend([min(first + step * i, last) for i in range(len(text))])
        pieces.append(text)

    at = 0
    for parameter in _PARAMETER.finditer(macro.body):
        put_body(macro.body[at : parameter.start()])
        at = parameter.end()
        index = int(parameter[1]) - 1
        argument = arguments[index] if index < len(arguments) else None
        if argument is not None:
            pieces.append(source.text[argument.start : argument.end])
            where.extend(origins[argument.start : argument.end])
        elif index == 0 and macro.default is not None:
            put_body(macro.default)
    put_body(macro.body[at:])
    return "".join(pieces), where
