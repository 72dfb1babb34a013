"""Small documents for whole chains."""

from abstrag.model.document import Block, BlockKind, Document, Metadata, OffsetMap, Span


def document(*texts: str) -> Document:
    """Return a document with a paragraph for each text."""
    blocks, at = [], 0
    for text in texts:
        span = Span(at, at + len(text))
        blocks.append(Block(BlockKind.PARAGRAPH, text, span, OffsetMap(((0, at),))))
        at += len(text) + 2
    return Document("doc", "Annual report", "\n\n".join(texts), tuple(blocks), Metadata())
