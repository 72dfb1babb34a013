"""A block on its way: its kind and lines, and where on the page it stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from abstrag.documents.pdf_layout.lattice import Lattice
from abstrag.documents.pdf_layout.lines import PdfLine
from abstrag.model.document import BlockKind

_SENTENCE_END: Final = tuple(".?!:;")
_CLOSING: Final = "\"'”’)]»*†‡"


@dataclass(slots=True)
class BlockDraft:
    """A block before it has a place in the document's text.

    `left` and `right` are the margins of its column. `caption_for` says what a caption is for,
    `figure` marks the words of a drawing, `bullet` an item whose bullet may be drawn.
    """

    kind: BlockKind
    lines: list[PdfLine]
    page: int
    left: float = 0.0
    right: float = 0.0
    table: Lattice | None = None
    caption_for: str | None = None
    level: int | None = None
    figure: bool = False
    bullet: bool = False

    @property
    def text(self) -> str:
        """The lines joined by spaces."""
        return " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        """The size most of its letters have."""
        return max(self.lines, key=lambda n: n.letters).size if self.lines else 0.0

    @property
    def bold(self) -> bool:
        """True when every line is."""
        return all(line.bold for line in self.lines)

    @property
    def floating(self) -> bool:
        """True for what the text flows around: tables, figures, captions, footnotes."""
        aside = (BlockKind.TABLE, BlockKind.CAPTION, BlockKind.FOOTNOTE)
        return self.figure or self.kind in aside

    @property
    def ends_sentence(self) -> bool:
        """True when the last line ends as sentences do."""
        return ends_sentence(self.lines[-1].text)


def ends_sentence(text: str) -> bool:
    """True for a text whose last mark, quotes and brackets aside, ends a sentence."""
    return text.rstrip(_CLOSING + " ").endswith(_SENTENCE_END)
