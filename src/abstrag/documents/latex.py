"""LaTeX: sections, lists, tables, captions, footnotes and formulas, spans in the flattened text."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from abstrag.documents.assemble import TITLE, Sections, assemble, with_caption
from abstrag.documents.decode import decode
from abstrag.documents.header import find_date
from abstrag.documents.latex_inline import (
    CODE_ENVIRONMENTS,
    DISPLAY,
    DISPLAYS,
    ENVIRONMENT_ARGUMENTS,
    FLOATS,
    LISTS,
    TABULARS,
    TOKEN,
    UNREAD_ENVIRONMENTS,
    InlineReader,
    cut_rows,
    shape,
)
from abstrag.documents.latex_source import Group, LatexSource, flatten, plain
from abstrag.documents.reading import Trace
from abstrag.documents.visible import GridCell, slot, table_block
from abstrag.model.document import Block, BlockKind, Document, OffsetMap, Span

LEVELS: Final = tuple(
    "part chapter section subsection subsubsection paragraph subparagraph".split()
)
_TOKEN: Final = re.compile(
    rf"\\(?P<section>{'|'.join(LEVELS)})(?P<star>\*?)\s*[\[{{]"
    r"|\\(?P<appendix>appendix)\b"
    r"|\\begin\s*\{(?P<begin>\w+\*?)\}|\\end\s*\{(?P<end>\w+\*?)\}"
    r"|\\(?P<caption>caption)\*?\s*[\[{]|\\label\s*\{(?P<label>[^{}]*)\}"
)
_FLOATS: Final = {
    **dict.fromkeys(("figure", "wrapfigure"), "figure"),
    **dict.fromkeys(("table", "wraptable", "sidewaystable", "longtable"), "table"),
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


# Blocks of a LaTeX document: read from its plain form, placed in its text.

Place = tuple[BlockKind, int | None]  # what a block is, and its level


class LatexBlocks:
    """Collects blocks; traces and offsets handed in are of the plain form, spans never are."""

    def __init__(self, plain: Trace) -> None:
        self.made: list[Block] = []
        self.sections = Sections()
        self._plain = plain

    def read(self, trace: Trace) -> tuple[str, OffsetMap]:
        """Return how a trace reads and where that stands in the document's text."""
        text, alignment = trace.read()
        return text, self._plain.compose(alignment, len(text)) if text else alignment

    def add(self, place: Place, trace: Trace) -> Block | None:
        """Add a block, unless there is nothing to read in it."""
        text, alignment = self.read(trace)
        return self._append(place, text, alignment, trace) if text else None

    def add_code(self, source: str, start: int, end: int) -> None:
        """Add a range as it is, blank lines around it left out."""
        raw = source[start:end]
        shown = raw.strip("\r\n").rstrip()
        if not shown:
            return
        first = start + raw.index(shown)
        trace = Trace()
        trace.keep(source, first, first + len(shown))
        text, alignment = trace.verbatim()
        place = (BlockKind.CODE, None)
        self._append(place, text, self._plain.compose(alignment, len(text)), trace)

    def add_table(self, rows: Sequence[Sequence[GridCell]], start: int, end: int) -> None:
        """Add a table that stands between two offsets."""
        origins = self._plain.origins
        first = min(start, len(origins) - 1)
        span = Span(origins[first], origins[max(first, min(end, len(origins)) - 1)] + 1)
        block = table_block(rows, span, section=self.sections.path)
        if block is not None:
            self.made.append(block)

    def cell(self, trace: Trace, start: int) -> GridCell:
        """Make a table cell; an empty one stands at `start`."""
        text, alignment = self.read(trace)
        at = self._plain.origins[min(start, len(self._plain.origins) - 1)]
        return slot(text, alignment, at, self._end_of(trace))

    def order(self, since: int) -> None:
        """Order the blocks added since then by where they begin."""
        self.made[since:] = sorted(self.made[since:], key=lambda block: block.span.start)

    def _append(self, place: Place, text: str, alignment: OffsetMap, trace: Trace) -> Block:
        kind, level = place
        section = self.sections.path
        if kind is BlockKind.HEADING and level is not None:
            section = self.sections.enter(level, text)
        found = alignment.locate(0, len(text))
        span = Span(found.start, max(found.end, self._end_of(trace)))
        block = Block(kind, text, span, alignment, section, level=level)
        self.made.append(block)
        return block

    def _end_of(self, trace: Trace) -> int:
        """Return where the source of a trace ends; a block may end in a formula or an accent."""
        return self._plain.origins[trace.end - 1] + 1 if trace.end else 0


# The environments that are open at a place of a LaTeX document.


class Environments:
    """A stack that knows how many of its lists are open without going through them."""

    def __init__(self) -> None:
        self._open: list[tuple[str, Place]] = []  # names, and the place to go back to
        self._names: Counter[str] = Counter()
        self.lists = 0

    def __bool__(self) -> bool:
        return bool(self._open)

    def begin(self, name: str, place: Place) -> None:
        """Open an environment in which blocks were of this place."""
        self._open.append((name, place))
        self._names[name] += 1
        self.lists += name in LISTS

    def end(self, name: str) -> Place | None:
        """Close an environment and what was left open inside; return the place to go back to."""
        if not self._names[name]:
            return None
        while True:
            closed, place = self._open.pop()
            self._names[closed] -= 1
            self.lists -= closed in LISTS
            if closed == name:
                return place


_DOCUMENT: Final = re.compile(r"\\begin\s*\{document\}")
_TITLE: Final = re.compile(r"\\(?:title|icmltitle|Title)\s*(?=[\[{])")
_DATE: Final = re.compile(r"\\date\s*(?=\{)")
_NOTES: Final = frozenset(("footnote", "footnotetext", "endnote", "sidenote", "marginpar"))

_TEXT: Final[Place] = (BlockKind.PARAGRAPH, None)


def load_latex(data: bytes, name: str, folder: Path | None = None) -> Document:
    """Read LaTeX; `folder` is where its inputs are looked for."""
    text = flatten(decode(data, name), name, folder)
    reader = _Reader(text)
    reader.read()
    return assemble(
        name, text, reader.blocks.made, format_name="latex", title=reader.title, date=reader.date
    )


class _Reader:
    """Reads the plain form of a text; everything it notes points into the text itself."""

    def __init__(self, text: str) -> None:
        source = plain(text)
        self.blocks = LatexBlocks(source)
        self.title: str | None = None
        self.date: tuple[str, Span] | None = None
        self._source = LatexSource(source.text)
        self._inline = InlineReader(self._source, label_numbers(self._source.text))
        self._top = outermost(self._source.text) - 1
        self._place = _TEXT
        self._open = Environments()
        self._later: list[tuple[str, int, int]] = []  # notes and floats the open paragraph holds
        self._in_float = False
        self._in_appendix = False
        self._in_option = False
        self._flat = False  # inside a heading, caption or cell: no blocks of their own
        self._actions: dict[str, Callable[[re.Match[str]], int | None]] = {
            "item": self._item,
            "bibitem": self._item,
            "caption": self._caption,
            "par": self._end_paragraph,
            "appendix": self._appendix,
            "abstract": self._abstract,
            "title": self._title,
            "date": self._date,
            "input": self._missing_input,
            "include": self._missing_input,
            "subfile": self._missing_input,
        }

    def read(self) -> None:
        """Read front matter and body."""
        text = self._source.text
        begin = _DOCUMENT.search(text)
        start, end = 0, len(text)
        if begin is not None:
            self._front(begin.start())
            start = begin.end()
            found = self._source.environment(begin.start())
            end = found[0] if found else end
        self._run(start, end)
        self._flush()

    def _front(self, end: int) -> None:
        """Read title and date; a brace that is left open there does not reach into the body."""
        outer, self._source.limit = self._source.limit, end
        before = len(self.blocks.made)
        if match := _TITLE.search(self._source.text, 0, end):
            self._title(match)
        if match := _DATE.search(self._source.text, 0, end):
            self._date(match)
        self._drain(before)
        self._source.limit = outer

    def _run(self, start: int, end: int) -> None:
        outer, self._source.limit = self._source.limit, min(end, self._source.limit)
        while start < end and (match := TOKEN.match(self._source.text, start, end)):
            after = self._structure(match)
            if after is None:
                after = self._inline.take(match)
            start = max(start + 1, after)
        self._source.limit = outer

    def _structure(self, match: re.Match[str]) -> int | None:
        """Deal with a token that shapes the page; None when it is running text."""
        if match["word"]:
            return self._command(match)
        if self._flat:
            return None
        if match["paragraph"]:
            if not (self._inline.trace and DISPLAY.match(self._source.text, match.end())):
                self._flush()
            return match.end() if not self._inline.trace else None
        if match["edge"] == "begin":
            return self._begin(match["env"], match)
        if match["edge"] == "end":
            self._end(match["env"])
            return match.end()
        return None

    # --- commands ---

    def _command(self, match: re.Match[str]) -> int | None:
        name, at = match["word"], match.end()
        if name in _NOTES:
            return self._note(at)
        if self._flat:
            return None
        if name in LEVELS:
            return self._heading(LEVELS.index(name) - self._top, at)
        action = self._actions.get(name)
        return action(match) if action else None

    def _note(self, at: int) -> int:
        """Set a footnote aside until the text it stands in is complete."""
        group = self._source.group(self._source.skip(at, "["))
        if group is None:
            return at
        self._inline.trace.trim()
        self._later.append(("", group.start, group.end))
        return group.after

    def _end_paragraph(self, match: re.Match[str]) -> int:
        self._flush()
        return match.end()

    def _appendix(self, match: re.Match[str]) -> int:
        """Open a section that holds all sections to come."""
        self._flush()
        if not self._in_appendix:
            self._in_appendix = True
            self._named_section("Appendix", *match.span("word"))
            self._top -= 1
        return match.end()

    def _abstract(self, match: re.Match[str]) -> None:
        r"""Open the abstract of a class that writes it as `\abstract{...}`."""
        if self._source.group(match.end()):
            self._flush()
            self._named_section("Abstract", *match.span("word"))

    def _heading(self, level: int, at: int) -> int:
        group = self._argument(at)
        if group is None:
            return at
        self._place = _TEXT if not self._open else self._place
        self._put((BlockKind.HEADING, level), group)
        return group.after

    def _argument(self, at: int) -> Group | None:
        """End the paragraph for an argument that becomes a block of its own; None without one."""
        group = self._source.group(self._source.skip(at, "["))
        if group is not None:
            self._flush()
        return group

    def _named_section(self, name: str, start: int, end: int) -> None:
        """Open a section whose heading LaTeX prints by itself."""
        trace = Trace()
        trace.decode(name, start, end)
        self.blocks.add((BlockKind.HEADING, 1), trace)

    def _item(self, match: re.Match[str]) -> int:
        name, at = match["word"], match.end()
        self._flush()
        self._place = (BlockKind.LIST_ITEM, max(1, self._open.lists))
        option = self._source.option(at)
        if name == "bibitem":
            group = self._source.group(option.after if option else at)
            if group is None:
                return at
            self._inline.key(group)
            return group.after
        if option is None or self._in_option:
            return at
        self._in_option = True  # an item in the label of another is text: labels do not nest
        self._run(option.start, option.end)
        self._in_option = False
        return option.after

    def _missing_input(self, match: re.Match[str]) -> int:
        """Show the command of an input that was not found, so that nobody misses it silently."""
        group = self._source.group(match.end())
        after = group.after if group else match.end()
        self._flush()
        self.blocks.add_code(self._source.text, match.start(), after)
        return after

    def _caption(self, match: re.Match[str]) -> int:
        group = self._argument(match.end())
        if group is None:
            return match.end()
        self._put((BlockKind.CAPTION, None), group)
        return group.after

    def _title(self, match: re.Match[str]) -> int:
        group = self._argument(match.end())
        if group is None:
            return match.end()
        block = self._put((BlockKind.HEADING, TITLE), group)
        self.title = self.title or (block.text if block else None)
        return group.after

    def _date(self, match: re.Match[str]) -> int:
        group = self._source.group(match.end())
        if group is None:
            return match.end()
        text, alignment = self.blocks.read(self._read(group))
        if found := find_date(text):
            self.date = found.iso, alignment.locate(found.start, found.end)
        return group.after

    # --- environments ---

    def _begin(self, env: str, match: re.Match[str]) -> int:
        pair = self._source.environment(match.start())
        name, at = env.rstrip("*"), match.end()
        end, after = pair or (self._source.limit, self._source.limit)
        if env in UNREAD_ENVIRONMENTS:
            return after
        if env in CODE_ENVIRONMENTS:
            self._flush()
            self.blocks.add_code(
                self._source.text, self._source.skip(at, CODE_ENVIRONMENTS[env]), end
            )
            return after
        if name in DISPLAYS:
            self._inline.display(self._source.skip(at, "{" if name == "alignat" else ""), end)
            return after
        if env in TABULARS:
            self._flush()
            self._table(self._source.skip(at, TABULARS[env]), end)
            return after
        if name in FLOATS and not self._in_float and pair:
            self._later.append((name, self._source.skip(at, FLOATS[name]), end))
            if not self._inline.trace:
                self._flush()
            return after
        self._open_environment(env, match)
        return self._source.skip(at, ENVIRONMENT_ARGUMENTS.get(name, "["))

    def _open_environment(self, env: str, match: re.Match[str]) -> None:
        self._flush()
        self._open.begin(env, self._place)
        if env == "abstract":
            self._named_section("Abstract", *match.span("env"))
        elif env == "thebibliography":
            self._named_section("References", *match.span("env"))

    def _end(self, env: str) -> None:
        self._flush()
        self._place = self._open.end(env) or self._place
        if env in ("abstract", "thebibliography"):
            self.blocks.sections.leave(1)

    def _float(self, start: int, end: int) -> None:
        """Read a figure or table that floats beside the text."""
        made = self.blocks.made
        before, place, opened = len(made), self._place, self._open
        self._in_float, self._place, self._open = True, _TEXT, Environments()
        self._run(start, end)
        self._flush()
        self._in_float, self._place, self._open = False, place, opened
        tables = [i for i in range(before, len(made)) if made[i].table]
        captions = [block for block in made[before:] if block.kind is BlockKind.CAPTION]
        if len(captions) == 1:
            captions *= len(tables)
        for i, caption in zip(tables, captions, strict=False):
            made[i] = with_caption(made[i], caption)

    def _table(self, start: int, end: int) -> None:
        before = len(self.blocks.made)
        rows = shape(cut_rows(self._source, start, end), self._cell)
        self.blocks.add_table(rows, start, end)
        self._drain(before)

    def _cell(self, start: int, end: int) -> GridCell:
        return self.blocks.cell(self._read(Group(start, end, end)), start)

    # --- blocks ---

    def _read(self, group: Group) -> Trace:
        """Read a range as one piece of text."""
        outer, flat = self._inline.trace, self._flat
        self._inline.trace, self._flat = Trace(), True
        self._run(group.start, group.end)
        made = self._inline.trace
        self._inline.trace, self._flat = outer, flat
        return made

    def _flush(self) -> None:
        """End the open paragraph, then read what was set aside while it was open."""
        trace, self._inline.trace = self._inline.trace, Trace()
        before = len(self.blocks.made)
        if trace:
            self.blocks.add(self._place, trace)
        self._drain(before)

    def _drain(self, before: int) -> None:
        """Read what was set aside, and order the blocks added since `before` by where they begin.

        A footnote may stand in front of the first word of its paragraph.
        """
        if not self._later:
            return
        waiting, self._later = deque(self._later), []
        while waiting:
            kind, start, end = waiting.popleft()
            if kind:
                self._float(start, end)
            else:
                note = self._read(Group(start, end, end))
                self.blocks.add((BlockKind.FOOTNOTE, None), note)
            waiting.extendleft(reversed(self._later))  # a note inside a note comes right behind it
            self._later = []
        self.blocks.order(before)

    def _put(self, place: Place, group: Group) -> Block | None:
        """Add a block of its own, then what was set aside in it."""
        before = len(self.blocks.made)
        block = self.blocks.add(place, self._read(group))
        self._drain(before)
        return block
