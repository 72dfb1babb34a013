"""Words of headings that are torn: "Balance Shee t", where a link's target was set into the word.

The gap is as wide as a space, so only the document's own words can tell: "sheet" stands elsewhere,
"shee" does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from abstrag.documents.pdf_layout.draft import BlockDraft
from abstrag.documents.pdf_layout.lines import PdfLine
from abstrag.documents.pdf_layout.page import Word

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_END: Final = ".,:;"
_WORDS: Final = frozenset({"a", "i", "o"})  # that have one letter
_PIECE: Final = 4  # letters that a link's target parts from the end of a word
_ROMAN: Final = frozenset({"II", "III", "IV", "VI"})


def mend_torn_words(drafts: Sequence[BlockDraft]) -> None:
    """Put together what stands in two pieces in the bold lines of a document."""
    bold = [d for d in drafts if d.table is None and d.bold and not d.figure and len(d.lines) <= 6]
    known = Counter(
        word.casefold() for d in drafts for line in d.lines for word in _LETTERS.findall(line.text)
    )
    for draft in bold:
        draft.lines = [_mended(line, known) for line in draft.lines]


def _mended(line: PdfLine, known: Counter[str]) -> PdfLine:
    torn = [i for i in range(1, len(line.words)) if _torn(line.words, i, known)]
    if not torn:
        return line
    words = [replace(word, glued=word.glued or i in torn) for i, word in enumerate(line.words)]
    made = PdfLine(words)
    made.underlined = line.underlined
    return made


def _torn(words: Sequence[Word], i: int, known: Counter[str]) -> bool:
    """True when the words before and at a place are one word that the document uses elsewhere."""
    first, second = words[i - 1].text, words[i].text.rstrip(_END)
    if words[i].glued or not _all_letters((first, second)):
        return False
    if i > 1 and words[i - 2].text.casefold() == "part" and first + second in _ROMAN:
        return True
    whole = (first + second).casefold()
    if len(whole) < 4 or len(second) > _PIECE or not known[whole]:
        return False
    if len(second) == 1 and second.casefold() not in _WORDS:
        return True
    return known[first.casefold()] <= known[whole] and known[second.casefold()] <= known[whole]


def _all_letters(texts: Iterable[str]) -> bool:
    return all(_LETTERS.fullmatch(text) for text in texts)
