"""Captions: told from paragraphs by how they begin, and tied to their tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abstrag.model.document import Block, BlockKind
from abstrag.model.span import Quote

_CAPTION: Final = re.compile(
    r"(?P<what>(?i:table|tab\.|figure|fig\.|listing|chart|exhibit|algorithm))\s+"
    r"(?:[A-Z]?\d+(?:[.-]\d+)*[a-z]?|[IVX]+)(?:\s*[.:–—|-](?!\w)|\s+[A-Z(]|\s*$)"
)


def is_caption(text: str) -> bool:
    """True when a paragraph begins like a caption: "Table 2: ...", "Fig. 3. ..."."""
    return _CAPTION.match(text) is not None


def is_table_caption(text: str) -> bool:
    """True when a caption says that it belongs to a table."""
    match = _CAPTION.match(text)
    return match is not None and match["what"].casefold().startswith("tab")


def tie_captions(blocks: Sequence[Block]) -> list[Block]:
    """Make caption-like paragraphs beside tables captions, and give each table its own.

    A table takes the block before it if that is a caption for tables, else the one after it.
    """
    tied = list(blocks)
    used: set[int] = set()
    for i, block in enumerate(tied):
        if block.table is None or block.table.caption is not None:
            continue
        for j in (i - 1, i + 1):
            if 0 <= j < len(tied) and j not in used and _captions_table(tied[j]):
                used.add(j)
                tied[j] = replace(tied[j], kind=BlockKind.CAPTION)
                tied[i] = with_caption(block, tied[j])
                break
    return tied


def with_caption(block: Block, caption: Block) -> Block:
    """Return a table's block with the text of a caption's block as its caption."""
    if block.table is None:
        return block
    quote = Quote(caption.text, caption.alignment.locate(0, len(caption.text)))
    return replace(block, table=replace(block.table, caption=quote))


def _captions_table(block: Block) -> bool:
    kinds = (BlockKind.CAPTION, BlockKind.PARAGRAPH)
    return block.kind in kinds and is_table_caption(block.text)
