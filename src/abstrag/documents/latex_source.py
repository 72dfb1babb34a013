r"""LaTeX source made ready to be read: `\input` put in place, macros expanded, groups paired."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from abstrag.config import (
    MAX_FILE_BYTES,
    MAX_INPUT_DEPTH,
    MAX_INPUTS,
    MAX_MACRO_CHARS,
    MAX_MACRO_EXPANSIONS,
)
from abstrag.documents.assemble import OverLimit
from abstrag.documents.decode import decode
from abstrag.documents.reading import Trace
from abstrag.errors import Damaged

VERBATIM: Final = r"(?:verbatim|Verbatim|lstlisting|minted|comment|filecontents)\*?"
MAX_RAW: Final = (
    2000  # characters between the bars of `\verb`, so that none looks through a whole book
)
RAW: Final = rf"[^\n]{{0,{MAX_RAW}}}?"
_BRACE: Final = re.compile(
    rf"\\begin\{{(?P<env>{VERBATIM})\}}.*?(?:\\end\{{(?P=env)\}}|\Z)|\\.|%[^\n]*|[{{}}]", re.DOTALL
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


# One text out of many files: `\input`, `\include` and `\subfile` put in place.
#
# A document that lacks most of its parts is refused. One that lacks a few is read, and the commands
# that name the missing files stay in its text, where the reader of the document sees them.

_INPUT_TOKEN: Final = re.compile(
    rf"\\begin\{{(?P<verbatim>{VERBATIM})\}}.*?(?:\\end\{{(?P=verbatim)\}}|\Z)"
    rf"|\\verb\*?(?P<bar>[^\sA-Za-z*]){RAW}(?P=bar)"
    r"|%[^\n]*"
    r"|(?P<input>\\(?P<how>input|include|subfile|subfileinclude)"
    r"(?:\s*\{(?P<braced>[^{}]*)\}|[ \t]+(?P<bare>[^\s{}\\%]+)))"
    r"|(?P<bib>\\bibliography\s*\{[^{}]*\}|\\printbibliography(?:\[[^\]]*\])?)"
    r"|(?P<body>\\begin\{document\})"
    r"|(?P<end>\\end\{document\}|\\endinput\b)"
    r"|\\.",
    re.DOTALL,
)
_BY_PARTS: Final = "index its parts one by one"
LATEX: Final = frozenset({".tex", ".ltx"})
_BODY: Final = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)


def flatten(text: str, name: str, folder: Path | None) -> str:
    """Return the main file's text with every file it inputs in place."""
    flattening = _Flattening(name, folder)
    whole = flattening.flatten(text, (), in_body="\\begin{document}" not in text)
    flattening.check()
    return whole


def sources(path: Path) -> list[Path]:
    """Return the files a LaTeX document is read from besides its own; some may not be part of it.

    They are all LaTeX in its folder, and whatever else any of it inputs: a table in a text file, a
    bibliography. What lies there and cannot be read, an editor's lock or a pipe, is no part of a
    document: a document that does input it is refused when it is read.
    """
    folder = path.parent.resolve()
    latex = sorted(p for p in path.parent.rglob("*") if p.suffix.lower() in LATEX)
    found = [p for p in latex if _text_of(p) is not None]
    others: set[Path] = set()
    if _text_of(path.with_suffix(".bbl")) is not None:
        others.add(path.with_suffix(".bbl"))
    waiting = list(found)
    while waiting:
        for wanted in _inputs(_text_of(waiting.pop()) or ""):
            inside = _inside(folder, wanted)
            if inside is None or inside.suffix.lower() in LATEX:
                continue
            other = path.parent / inside
            if other not in others and _text_of(other) is not None:
                others.add(other)
                waiting.append(other)
    return found + sorted(others)


def _inputs(text: str) -> Iterator[str]:
    return (_wanted(match) for match in _INPUT_TOKEN.finditer(text) if match["input"])


def _text_of(path: Path) -> str | None:
    """Return the characters of a file as far as the names in it go, None when it has no text."""
    try:
        str(path).encode()  # a name that is no text names nothing that a text could input
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return None
        return path.read_bytes().decode("latin-1")
    except (OSError, ValueError):
        return None


def _wanted(match: re.Match[str]) -> str:
    return (match["braced"] or match["bare"] or "").strip().strip('"')


def _inside(folder: Path, wanted: str) -> Path | None:
    """Return where in a folder a file lies, None where there is none."""
    try:
        found = (folder / wanted).resolve()
        return found.relative_to(folder) if found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None  # outside of the folder, a name that no file can have, or links in a circle


class _Flattening:
    def __init__(self, name: str, folder: Path | None) -> None:
        self._name = name
        self._folder = folder.resolve() if folder is not None else None
        self._length = 0
        self._found: list[str] = []
        self._missing: list[str] = []

    def check(self) -> None:
        """Refuse a document of which more is missing than there is."""
        if not self._missing or len(self._missing) < len(self._found):
            return
        where = (
            f"put it into {str(self._folder)!r}" if self._folder else "give the main file's path"
        )
        raise Damaged(
            f"{self._name!r} inputs {self._missing[0]!r}, which is not there",
            hint=f"{where}, or give one flat file",
        )

    def flatten(self, text: str, above: tuple[Path, ...], *, in_body: bool) -> str:
        pieces: list[str] = []
        at = 0
        for match in _INPUT_TOKEN.finditer(text):
            if match["end"]:
                break
            in_body = in_body or match["body"] is not None
            inner = self._inner(match, above, in_body=in_body)
            if inner is not None:
                pieces += (text[at : match.start()], inner)
                at = match.end()
        pieces.append(text[at:])
        whole = "".join(pieces)
        if len(whole) > MAX_FILE_BYTES:
            raise self._too_large()
        return whole

    def _too_large(self) -> OverLimit:
        return OverLimit(
            f"it grows over {MAX_FILE_BYTES // 2**20} MB with its inputs",
            "MAX_FILE_BYTES",
            hint=_BY_PARTS,
        )

    def _inner(self, match: re.Match[str], above: tuple[Path, ...], *, in_body: bool) -> str | None:
        """Return what stands for a command, or None when the command stays as it is."""
        if match["bib"]:
            return self._bibliography(above)
        if not match["input"]:
            return None
        wanted = _wanted(match)
        found = self._find(wanted)
        if found is None:
            # in the preamble it may be a part of TeX itself, which holds no text
            self._missing += [wanted] if in_body else []
            return None
        self._found.append(wanted)
        if len(self._found) > MAX_INPUTS:
            raise OverLimit(
                f"it inputs more than {MAX_INPUTS:,} files", "MAX_INPUTS", hint=_BY_PARTS
            )
        if len(above) >= MAX_INPUT_DEPTH:
            raise OverLimit(
                f"its inputs input one another more than {MAX_INPUT_DEPTH} deep",
                "MAX_INPUT_DEPTH",
                hint=_BY_PARTS,
            )
        text = self._read(found, wanted, above)
        if match["how"].startswith("subfile") and (body := _BODY.search(text)):
            text = body[1]
        return self.flatten(text, (*above, found), in_body=in_body)

    def _bibliography(self, above: tuple[Path, ...]) -> str | None:
        """Put the typeset bibliography in place, as LaTeX does, where there is one."""
        found = self._find(f"{Path(self._name).stem}.bbl")
        return self._read(found, found.name, above) if found else None

    def _find(self, wanted: str) -> Path | None:
        if self._folder is None or not wanted:
            return None
        for candidate in (wanted, f"{wanted}.tex"):
            try:
                path = (self._folder / candidate).resolve()
                there = path.is_file()
            except (OSError, ValueError, RuntimeError):
                continue  # a name that no file can have, or links in a circle
            if there and not path.is_relative_to(self._folder):
                raise Damaged(
                    f"{self._name!r} inputs {wanted!r}, which lies outside its folder",
                    hint=f"copy that file into {str(self._folder)!r}",
                )
            if there:
                return path
        return None

    def _read(self, path: Path, wanted: str, above: tuple[Path, ...]) -> str:
        if path in above:
            raise Damaged(
                f"{self._name!r} inputs {wanted!r} in a circle", hint="remove one of the inputs"
            )
        try:
            with path.open("rb") as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise Damaged(
                f"{self._name!r} inputs {wanted!r}, which cannot be read: {error}",
                hint=f"make {str(path)!r} readable",
            ) from error
        self._length += len(data)
        if self._length > MAX_FILE_BYTES:
            raise self._too_large()
        return decode(data, path.name)
