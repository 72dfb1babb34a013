"""The flow of the text across columns, pages and whatever floats between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.documents.pdf_layout.draft import BlockDraft
from abstrag.documents.pdf_layout.marks import OPEN_WORDS
from abstrag.model.document import BlockKind

_FLOWING: Final = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
_SAME_SIZE: Final = 0.1
_LETTERS: Final = 15  # in the rest of a paragraph, unless it ends one
_WORD: Final = re.compile(r"[\"'“‘(\[]*[^\W\d_]{2,}(?:[^\W_]|[-'’./])*[^\w\s]*|a|I|\d+")
_OPEN_ENDS: Final = frozenset(",-–—(&/")


def flowing(drafts: Sequence[BlockDraft]) -> list[BlockDraft]:
    """Join paragraphs that a column, a page or a float tears apart.

    What stood between the parts follows the whole, so that a paragraph is one stretch of text.
    """
    made: list[BlockDraft] = []
    tail: BlockDraft | None = None
    torn = False  # something lies between the tail and where we are
    for draft in drafts:
        if draft.floating:
            made.append(draft)
            torn = True
            continue
        if tail is not None and (torn or _elsewhere(made[-1], draft)) and _goes_on(tail, draft):
            tail.lines += draft.lines
            tail.left, tail.right = draft.left, draft.right
            torn = True  # a second column may hold nothing but the middle of a paragraph
            continue
        made.append(draft)
        tail, torn = draft, False
    return made


def _elsewhere(last: BlockDraft, draft: BlockDraft) -> bool:
    return (last.page, last.left, last.right) != (draft.page, draft.left, draft.right)


def _goes_on(tail: BlockDraft, draft: BlockDraft) -> bool:
    """True when a block is the rest of another: the sentence is open and goes on."""
    if tail.kind not in _FLOWING or draft.kind is not BlockKind.PARAGRAPH or tail.ends_sentence:
        return False
    if abs(tail.size - draft.size) > _SAME_SIZE * tail.size:
        return False
    if sum(line.letters for line in draft.lines) < _LETTERS and not draft.ends_sentence:
        return False
    end, start = tail.lines[-1], draft.lines[0]
    if draft.bold and not tail.bold:  # a heading at the top of a column
        return False
    if not _is_language(end.text):
        return False
    if start.text[:1].islower() or end.words[-1].text.lower() in OPEN_WORDS:
        return True
    word = start.words[0]
    full = end.x1 + word.x1 - word.x0 > tail.right - end.size  # the next word found no room
    indented = start.x0 > draft.left + 0.7 * start.size
    last = end.text[-1]
    return full and not indented and (last.isalnum() or last in _OPEN_ENDS)


def _is_language(text: str) -> bool:
    """True unless most of a line is symbols, as in a formula."""
    words = text.split()
    return 2 * sum(_WORD.fullmatch(word) is not None for word in words) >= len(words)
