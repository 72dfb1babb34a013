"""What every reader of files promises, as tests; give one of your own as the fixture `reader`.

The fixture `sample` is a good file: its bytes and its name.
"""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

from abstrag.documents.readers import DocumentReader, checked_read
from abstrag.indexing.pipeline import index


class ReaderConformance:
    """Everything that `abstrag.documents.readers.DocumentReader` says."""

    def test_a_good_file_becomes_a_sound_document(
        self, reader: DocumentReader, sample: tuple[bytes, str]
    ) -> None:
        made = checked_read(lambda: reader, "the reader", *sample)
        for block in made.blocks:
            assert block.span.start < block.span.end
            assert made.quote(block.span)

    def test_the_same_bytes_give_the_same_document(
        self, reader: DocumentReader, sample: tuple[bytes, str]
    ) -> None:
        assert reader(*sample) == reader(*sample)

    def test_the_document_can_be_indexed(
        self, reader: DocumentReader, sample: tuple[bytes, str]
    ) -> None:
        made = index(reader(*sample))
        assert made.segments
        for segment in made.segments:
            assert made.document.quote(segment.span)
