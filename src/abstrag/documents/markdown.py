"""Markdown: CommonMark with pipe tables, footnotes and front matter."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from markdown_it import MarkdownIt, rules_inline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from abstrag.documents.assemble import Sections, assemble, is_caption, local_target, tie_captions
from abstrag.documents.decode import decode
from abstrag.documents.header import find_date, stated_date
from abstrag.documents.reading import SourceLine, Trace, lines
from abstrag.documents.visible import GridCell, as_header, slot, table_block
from abstrag.model.document import Block, BlockKind, Document, OffsetMap, PageLink, Span

# Inline Markdown: what a piece of it reads as, every character traced to the source.
#
# markdown-it tells which lines a block takes up, not where its words stand. Two steps close the
# gap: the block's raw content is found line by line in the source (`Content`), and its inline
# tokens are walked along that content, the rules that swallow characters having noted how far they
# reached.

Rule = Callable[[StateInline, bool], bool]

_SWALLOWING: Final[dict[str, Rule]] = {
    "newline": rules_inline.newline,
    "escape": rules_inline.escape,
    "backticks": rules_inline.backtick,
    "link": rules_inline.link,
    "image": rules_inline.image,
    "autolink": rules_inline.autolink,
    "html_inline": rules_inline.html_inline,
    "entity": rules_inline.entity,
}
ODD_SPACE: Final = "\ue000"
_ODD_SPACES: Final = dict.fromkeys(
    map(ord, "\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"), ODD_SPACE
) | dict.fromkeys(range(0x2000, 0x200B), ODD_SPACE)
_RANGE: Final = "range"
_NOTE_MARK: Final = re.compile(r"(?<=\[)\^(?=[^\]\s]+\])")
_CELL_PREFIX: Final = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]*)?")
_BAR: Final = re.compile(r"(?<!\\)\|")


def mask_odd_spaces(text: str) -> str:
    """Replace, one for one, white space that is none to Markdown.

    The parser strips what Python takes for white space, which would shift lines and cells.
    """
    return text.translate(_ODD_SPACES)


def note_positions(md: MarkdownIt) -> None:
    """Make inline rules write into their tokens where in the content they began and ended."""
    for name, rule in _SWALLOWING.items():
        md.inline.ruler.at(name, _noting(rule))


def _noting(rule: Rule) -> Rule:
    def noting(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[known:]:
            token.meta.setdefault(_RANGE, (start, state.pos))  # inner rules have written theirs
        return True

    return noting


class Content:
    """The raw inline source of a block, and where each of its characters stands."""

    def __init__(self, raw: str, origins: Sequence[int], at: int) -> None:
        self.raw = raw
        self.shown = raw.replace(ODD_SPACE, " ")
        self.origins = origins
        self.at = at  # where the content would stand if it were not empty

    @classmethod
    def of_lines(cls, raw: str, lines: Sequence[SourceLine], after: int = 0) -> Content:
        """Find a block's content in its lines: each of its own lines ends one of them.

        A heading may be followed by closing marks instead; it is searched for behind `after`.
        """
        origins: list[int] = []
        for part, line in zip(raw.split("\n"), lines, strict=False):
            core = part.strip()
            if after:
                start = line.start + line.text.find(core, after)
            else:
                start = line.start + len(line.text.rstrip()) - len(core)
            indent = len(part) - len(part.lstrip())
            first = max(line.start, start - indent)
            origins.extend(min(first + i, start) for i in range(indent))
            origins.extend(min(start + i, line.end) for i in range(len(part) - indent + 1))
        return cls(raw, origins[: len(raw)], origins[0] if origins else 0)

    @classmethod
    def of_cells(cls, cells: Sequence[str], line: SourceLine) -> list[Content]:
        """Find the cells of a table row in its line, where bars inside cells are escaped."""
        edges = [-1, *(match.start() for match in _BAR.finditer(line.text)), len(line.text)]
        chunks = [(a + 1, b) for a, b in pairwise(edges)]
        # what stands before the first bar may be the mark of a quote or list, or a cell
        if _CELL_PREFIX.fullmatch(line.text, *chunks[0]) and _fits(cells, line, chunks[1:]):
            chunks = chunks[1:]
        end = len(line.text.rstrip())
        chunks += [(end, end)] * (len(cells) - len(chunks))
        return [cls._of_cell(raw, line, *chunk) for raw, chunk in zip(cells, chunks, strict=False)]

    @classmethod
    def _of_cell(cls, raw: str, line: SourceLine, start: int, end: int) -> Content:
        kept = [i for i in range(start, end) if line.text[i : i + 2] != "\\|"]
        at = "".join(line.text[i] for i in kept).rfind(raw)
        empty = line.start + min(start, len(line.text.rstrip()))
        return cls(raw, [line.start + i for i in kept[at : at + len(raw)]], empty)


def _fits(cells: Sequence[str], line: SourceLine, chunks: Sequence[tuple[int, int]]) -> bool:
    """True when each cell is what stands in its chunk of the line."""
    shown = [line.text[a:b].replace("\\|", "|").strip() for a, b in chunks]
    shown += [""] * (len(cells) - len(shown))
    return all(raw.strip() == text for raw, text in zip(cells, shown, strict=False))


def read_inline(token: Token, content: Content) -> Trace:
    """Return what an inline token reads as: its words without their mark-up."""
    walker = _Walker(content)
    for child in token.children or ():
        walker.walk(child)
    return walker.trace


def inline_links(token: Token, span: Span) -> Iterator[PageLink]:
    """Go through the links of an inline token to other pages of the same folder."""
    target, text = None, ""
    for child in token.children or ():
        if child.type == "link_open":
            target, text = local_target(str(child.attrGet("href") or "")), ""
        elif child.type == "link_close" and target is not None:
            yield PageLink(span, " ".join(text.split()), target)
            target = None
        else:
            text += " " if child.type in ("softbreak", "hardbreak") else child.content


class _Walker:
    """Goes along a block's content, one inline token after the other."""

    def __init__(self, content: Content) -> None:
        self.trace = Trace()
        self._raw, self._shown, self._origins = content.raw, content.shown, content.origins
        self._at = 0

    def walk(self, child: Token) -> None:
        """Take one token and move on behind it."""
        start, end = child.meta.get(_RANGE, (self._at, self._at))
        match child.type:
            case "text":
                self._literal(child.content, self._at)
            case "text_special":
                self._decoded(child.content, start, end)
            case "code_inline":
                self._code(child, start, end)
            case "softbreak" | "hardbreak":
                self._decoded(" ", start, end)
            case "link_open":
                self._at = start + 1
            case "link_close" | "image" | "html_inline":
                self._at = end
            case _:  # emphasis
                self._at += len(child.markup)

    def _literal(self, text: str, at: int) -> None:
        if not self._raw.startswith(text, at):  # the text of <http://a%20b> is shown decoded
            self._decoded(text, at, at + len(text))
            return
        self._at = at + len(text)
        for mark in _NOTE_MARK.finditer(text):  # [^1] reads [1]
            self._keep(at, self._at - len(text) + mark.start())
            at = self._at - len(text) + mark.end()
        self._keep(at, self._at)

    def _code(self, token: Token, start: int, end: int) -> None:
        marks = len(token.markup)
        inside = self._raw[start + marks : end - marks].replace("\n", " ")
        at = start + marks + inside.find(token.content)
        self._keep(at, at + len(token.content))
        self._at = end

    def _decoded(self, text: str, start: int, end: int) -> None:
        self._at = end
        if self._raw[start:end].endswith(text):  # an escape: the character itself is there
            self._keep(end - len(text), end)
            return
        where = self._origins[start:end] or self._origins[-1:]
        last = len(where) - 1
        self.trace.put(text, [where[min(i, last)] for i in range(len(text))], where[-1] + 1)

    def _keep(self, start: int, end: int) -> None:
        self.trace.put(self._shown[start:end].replace("\n", " "), self._origins[start:end])


# Front matter: the title and date that a Markdown file states above its text.

_BLOCK: Final = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<body>.*?)^(?:(?P=fence)|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FIELD: Final = re.compile(
    r"^(?P<key>title|date|published|publishdate|pubdate)[ \t]*[:=][ \t]*(?P<value>\S.*?)[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_KEY: Final = re.compile(r"^[\w-]+[ \t]*[:=]", re.MULTILINE)


class FrontMatter(NamedTuple):
    """What the front matter says, and where the text below it begins."""

    end: int = 0
    title: str | None = None
    date: tuple[str, Span] | None = None


def front_matter(text: str) -> FrontMatter:
    """Read YAML (`---`) or TOML (`+++`) front matter; a text without any has an empty one."""
    block = _BLOCK.match(text)
    if block is None or _KEY.search(block["body"]) is None:
        return FrontMatter()
    title: str | None = None
    date: tuple[str, Span] | None = None
    for field in _FIELD.finditer(text, block.start("body"), block.end("body")):
        if field["key"].casefold() == "title":
            title = title or _unquoted(field["value"])
        elif date is None and (found := find_date(field["value"])):
            at = field.start("value")
            date = found.iso, Span(at + found.start, at + found.end)
    return FrontMatter(block.end(), title, date)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


# HTML tags inside another text: what shows when they are taken away.

_TOKEN: Final = re.compile(
    r"(?P<hidden><!--.*?(?:-->|\Z)|<(?P<name>script|style)\b.*?(?:</(?P=name)\s*>|\Z))"
    r"|(?P<inline></?(?:a|abbr|b|code|em|i|kbd|mark|s|small|span|strong|sub|sup|u)\b[^<>]*>)"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    r"|(?P<entity>&(?:\w{2,32}|#\d{1,7}|#[xX][\da-fA-F]{1,6});)",
    re.DOTALL | re.IGNORECASE,
)


def without_tags(source: str, start: int, end: int) -> Trace:
    """Return the visible text of `source[start:end]`; tags that part words leave a space."""
    trace = Trace()
    at = start
    for match in _TOKEN.finditer(source, start, end):
        trace.keep(source, at, match.start())
        if match["entity"]:
            trace.decode(html.unescape(match[0]), *match.span())
        elif match["tag"]:
            trace.decode(" ", *match.span())
        at = match.end()
    trace.keep(source, at, end)
    return trace


_MAX_NESTING: Final = 60  # quotes in quotes in lists; what is deeper is not read
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]+\]:[ \t]*(?=\S)")


def load_markdown(data: bytes, name: str) -> Document:
    """Read Markdown."""
    text = decode(data, name)
    front = front_matter(text)
    reader = _Reader(text, front.end)
    reader.read()
    blocks = tie_captions(reader.blocks)
    return assemble(
        name,
        text,
        blocks,
        format_name="markdown",
        title=front.title,
        date=front.date or stated_date(blocks),
        links=reader.links,
    )


@cache
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    md.enable(["table", "strikethrough"]).disable("text_join")
    md.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    note_positions(md)
    return md


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognize `[^1]: ...` and the lines that go on below it, before links are looked for."""
    at = state.bMarks[start] + state.tShift[start]
    mark = _FOOTNOTE.match(state.src, at, state.eMarks[start])
    if mark is None or state.is_code_block(start):
        return False
    if silent:
        return True
    below = start + 1
    while below < end and not state.isEmpty(below):
        first = state.bMarks[below] + state.tShift[below]
        if _FOOTNOTE.match(state.src, first):
            break
        below += 1
    rest = state.getLines(start + 1, below, state.blkIndent, False)
    state.push("footnote_open", "", 1)
    token = state.push("inline", "", 0)
    token.content = "\n".join(
        part for part in (state.src[mark.end() : state.eMarks[start]], rest) if part
    ).rstrip()
    token.map, token.children = [start, below], []
    state.push("footnote_close", "", -1)
    state.line = below
    return True


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self.text = mask_odd_spaces(text)
        self.shown = self.text.replace(ODD_SPACE, " ")
        self.lines = lines(self.text, start)
        self.tokens = _parser().parse(self.text[start:])
        self.sections = Sections()
        self.blocks: list[Block] = []
        self._open: list[Token] = []
        self._rows: list[list[GridCell]] = []
        self._row: list[Token] = []
        self.links: list[PageLink] = []

    def read(self) -> None:
        """Make blocks of all tokens."""
        actions: dict[str, Callable[[Token], None]] = {
            "inline": self._inline,
            "fence": self._code,
            "code_block": self._code,
            "html_block": self._html,
            "tr_close": self._end_row,
            "table_close": self._end_table,
        }
        for token in self.tokens:
            if token.nesting > 0:
                self._open.append(token)
            if action := actions.get(token.type):
                action(token)
            if token.nesting < 0:
                self._open.pop()

    def _inline(self, token: Token) -> None:
        holder = self._open[-1] if self._open else token
        if holder.tag in ("td", "th"):
            self._row.append(token)
            return
        first, last = token.map or (0, 0)
        after = 0
        if holder.type == "heading_open" and holder.markup.startswith("#"):
            after = self.lines[first].text.find(holder.markup) + len(holder.markup)
        content = Content.of_lines(token.content, self.lines[first:last], after)
        if holder.type == "heading_open":
            self._add(BlockKind.HEADING, token, content, int(holder.tag[1:]))
        elif holder.type == "footnote_open":
            self._add(BlockKind.FOOTNOTE, token, content)
        elif depth := sum(opened.type == "list_item_open" for opened in self._open):
            self._add(BlockKind.LIST_ITEM, token, content, depth)
        elif not self._figure(token, content):
            self._add(BlockKind.PARAGRAPH, token, content)

    def _add(
        self, kind: BlockKind, token: Token, content: Content, level: int | None = None
    ) -> None:
        reading, alignment = read_inline(token, content).read()
        if not reading:
            return
        if kind is BlockKind.PARAGRAPH and is_caption(reading):
            kind = BlockKind.CAPTION
        section = self.sections.path
        if kind is BlockKind.HEADING and level is not None:
            section = self.sections.enter(level, reading)
        self._put(kind, reading, alignment, token, section, level)

    def _put(
        self,
        kind: BlockKind,
        reading: str,
        alignment: OffsetMap,
        token: Token,
        section: tuple[str, ...],
        level: int | None = None,
    ) -> None:
        self.blocks.append(Block(kind, reading, self._span(token), alignment, section, level=level))
        self.links += inline_links(token, self._span(token))

    def _figure(self, token: Token, content: Content) -> bool:
        """Read an image that is a paragraph of its own as a figure with its caption."""
        images = [child for child in token.children or () if child.type != "softbreak"]
        if len(images) != 1 or images[0].type != "image":
            return False
        alt = images[0].content
        at = content.raw.find(alt)
        if not alt.strip() or at < 0:
            return False
        trace = Trace()
        trace.put(content.shown[at : at + len(alt)], content.origins[at : at + len(alt)])
        reading, alignment = trace.read()
        if not reading:
            return False
        self._put(BlockKind.CAPTION, reading, alignment, token, self.sections.path)
        return True

    def _code(self, token: Token) -> None:
        first, last = token.map or (0, 0)
        inside = self.lines[first + (token.type == "fence") : last]
        raw = token.content.rstrip()
        content = Content.of_lines(raw, inside)
        if not content.shown.strip():
            return
        trace = Trace()
        trace.put(content.shown, content.origins)
        text, alignment = trace.verbatim()
        span = Span(self.lines[first].start, self._span(token).end)
        self.blocks.append(Block(BlockKind.CODE, text, span, alignment, self.sections.path))

    def _html(self, token: Token) -> None:
        span = self._span(token)
        reading, alignment = without_tags(self.shown, span.start, span.end).read()
        if reading:
            self._put(BlockKind.PARAGRAPH, reading, alignment, token, self.sections.path)

    def _end_row(self, _: Token) -> None:
        if not self._row:
            return
        line = self.lines[(self._row[0].map or [0])[0]]
        contents = Content.of_cells([token.content for token in self._row], line)
        traces = [read_inline(token, c) for token, c in zip(self._row, contents, strict=True)]
        slots = [
            slot(*trace.read(), content.at, trace.end)
            for trace, content in zip(traces, contents, strict=True)
        ]
        head = any(opened.type == "thead_open" for opened in self._open)
        self._rows.append(as_header(slots) if head else slots)
        self._row = []

    def _end_table(self, _: Token) -> None:
        span = self._span(self._open[-1])
        block = table_block(self._rows, span, section=self.sections.path)
        if block is not None:
            self.blocks.append(block)
        self._rows = []

    def _span(self, token: Token) -> Span:
        """Return where a token's lines stand, outer white space left out."""
        first, last = token.map or (0, 0)
        block = self.lines[first:last]
        while len(block) > 1 and block[-1].blank:
            block.pop()
        start, end = block[0].start, block[-1].end
        shown = self.text[start:end]
        return Span(start + len(shown) - len(shown.lstrip()), start + len(shown.rstrip()))
