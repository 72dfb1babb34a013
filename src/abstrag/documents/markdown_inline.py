"""Inline Markdown: what a piece of it reads as, every character traced to the source.

markdown-it tells which lines a block takes up, not where its words stand. Two steps close the gap:
the block's raw content is found line by line in the source (`Content`), and its inline tokens are
walked along that content, the rules that swallow characters having noted how far they reached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt, rules_inline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from abstrag.documents.lines import SourceLine
from abstrag.documents.links import local_target
from abstrag.documents.trace import Trace
from abstrag.model.document import PageLink
from abstrag.model.span import Span

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
