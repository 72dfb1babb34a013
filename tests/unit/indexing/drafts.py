"""Small drafts for operator tests: one paragraph block per text, cut into sentences."""

from abstrag.indexing.layers import Segments
from abstrag.indexing.operator import IndexDraft
from abstrag.language.parser import parse
from abstrag.model.document import Block, BlockKind, Document, Genre, Metadata, OffsetMap, Span
from abstrag.model.segment import Granularity, Segment, SegmentKind, SegmentRole

BREAK = "\n\n"


def draft_of(*texts: str, title: str = "", date: str | None = None) -> IndexDraft:
    """Return a draft whose segments are the sentences of the texts, in one section."""
    starts = [sum(len(text) + len(BREAK) for text in texts[:i]) for i in range(len(texts))]
    blocks = tuple(
        Block(BlockKind.PARAGRAPH, text, Span(at, at + len(text)), OffsetMap(((0, at),)))
        for text, at in zip(texts, starts, strict=True)
    )
    document = Document("doc", title, BREAK.join(texts), blocks, Metadata(date=date))
    parses = tuple(parse(texts))
    segments: list[Segment] = []
    tokens: list[tuple[int, int, int]] = []
    for number, (parsed, at) in enumerate(zip(parses, starts, strict=True)):
        for sentence in parsed.sents:
            kept = sentence.text.rstrip()  # spaCy counts trailing space tokens in
            first, last = sentence.start_char, sentence.start_char + len(kept)
            span = parsed.char_span(first, last, alignment_mode="contract")
            if not kept or span is None:
                continue
            segments.append(
                Segment(
                    id=f"doc#{len(segments)}",
                    kind=SegmentKind.SENTENCE,
                    role=SegmentRole.OTHER,
                    text=kept,
                    span=Span(at + first, at + last),
                    alignment=OffsetMap(((0, at + first),)),
                    block=number,
                )
            )
            tokens.append((number, span.start, span.end))
    layer = Segments(Genre.PLAIN, Granularity.SENTENCE, tuple(segments), tuple(tokens))
    return IndexDraft(document, parses, layer)
