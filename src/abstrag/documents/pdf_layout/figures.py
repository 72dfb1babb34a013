"""The words of drawings: told from the text by their captions, and kept together.

Axis labels and the boxes of a diagram are text to the file. They are read after what they stand
in, as one block per figure, and nothing of them may become a heading or tear a paragraph apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from abstrag.documents.pdf_layout.draft import BlockDraft
from abstrag.documents.pdf_layout.lattice import Lattice
from abstrag.documents.pdf_layout.lines import SPACE, PdfLine
from abstrag.documents.pdf_layout.marks import number_depth
from abstrag.documents.pdf_layout.page import Word
from abstrag.model.document import BlockKind

_SMALL: Final = 0.93  # of the body's size
_FEW: Final = 26  # letters a line, at most, where labels are as large as the text
_TERSE: Final = 5  # characters in the cell of a diagram
_SHORT: Final = 0.6  # of the column's width


def gathered(drafts: Sequence[BlockDraft], body: float) -> list[BlockDraft]:
    """Make one block of the words above each caption of a figure."""
    made: list[BlockDraft] = []
    for draft in drafts:
        if draft.caption_for == "figure":
            words: list[BlockDraft] = []
            while made and made[-1].page == draft.page and _sketched(made[-1], body):
                words.insert(0, made.pop())
            if words:
                lines = [line for word in words for line in word.lines]
                first = words[0]
                made.append(
                    BlockDraft(
                        BlockKind.PARAGRAPH, lines, first.page, first.left, first.right, figure=True
                    )
                )
        made.append(draft)
    return made


def _sketched(draft: BlockDraft, body: float) -> bool:
    """True for words that are no running text: small, or few in a line."""
    if draft.table is not None:
        return _drawn(draft.table)
    if draft.kind in (BlockKind.CAPTION, BlockKind.FOOTNOTE) or draft.bullet:
        return False
    if draft.bold and draft.size > 1.05 * body and number_depth(draft.text):
        return False
    width = draft.right - draft.left
    runs = [run for line in draft.lines for run in _runs(line)]
    full = sum(run[-1].x1 - run[0].x0 > _SHORT * width and len(run) > 5 for run in runs)
    if draft.size < _SMALL * body:
        return 3 * full <= len(draft.lines)
    letters = sum(len(word.text) for run in runs for word in run) / len(runs)
    return letters <= _FEW and not full and not draft.ends_sentence


def _drawn(table: Lattice) -> bool:
    """True for what looks like a table, but has no head and next to no words: a diagram."""
    texts = [entry.text for row in table.rows for entry in row.entries]
    headed = any(row.header for row in table.rows)
    return not headed and sum(map(len, texts)) <= _TERSE * len(texts)


def _runs(line: PdfLine) -> list[list[Word]]:
    """Cut a line at its wide gaps."""
    runs: list[list[Word]] = []
    for word in line.words:
        if runs and word.x0 - runs[-1][-1].x1 < SPACE * line.size:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs
