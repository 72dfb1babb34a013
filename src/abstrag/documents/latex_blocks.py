"""Blocks of a LaTeX document: read from its plain form, placed in its text."""

from __future__ import annotations

from collections.abc import Sequence

from abstrag.documents.grid import Slot, slot, table_block
from abstrag.documents.sections import Sections
from abstrag.documents.trace import Trace
from abstrag.model.document import Block, BlockKind
from abstrag.model.span import Alignment, Span

Place = tuple[BlockKind, int | None]  # what a block is, and its level


class LatexBlocks:
    """Collects blocks; traces and offsets handed in are of the plain form, spans never are."""

    def __init__(self, plain: Trace) -> None:
        self.made: list[Block] = []
        self.sections = Sections()
        self._plain = plain

    def read(self, trace: Trace) -> tuple[str, Alignment]:
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

    def add_table(self, rows: Sequence[Sequence[Slot]], start: int, end: int) -> None:
        """Add a table that stands between two offsets."""
        origins = self._plain.origins
        first = min(start, len(origins) - 1)
        span = Span(origins[first], origins[max(first, min(end, len(origins)) - 1)] + 1)
        block = table_block(rows, span, section=self.sections.path)
        if block is not None:
            self.made.append(block)

    def cell(self, trace: Trace, start: int) -> Slot:
        """Make a table cell; an empty one stands at `start`."""
        text, alignment = self.read(trace)
        at = self._plain.origins[min(start, len(self._plain.origins) - 1)]
        return slot(text, alignment, at, self._end_of(trace))

    def order(self, since: int) -> None:
        """Order the blocks added since then by where they begin."""
        self.made[since:] = sorted(self.made[since:], key=lambda block: block.span.start)

    def _append(self, place: Place, text: str, alignment: Alignment, trace: Trace) -> Block:
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
