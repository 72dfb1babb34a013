"""Questions about a document as a whole: "What is this paper about?".

They name nothing that a passage could say. What a document is about its title says, so that is
looked for; where it has none but the name of a file, its first words are. The title of a filing
names a form and a period, which its passages are not about: its filer's business is looked for.
"""

from __future__ import annotations

import re
from typing import Final

from abstrag.documents.header import cover_lines, read_cover
from abstrag.model.document import BlockKind, Document

_SELF: Final = (
    r"(?:this|the|that|your|our)\s+(?:whole\s+|entire\s+)?(?:document|paper|article|report|text|study|"
    r"page|website|file|manuscript|contract|agreement|filing|book|manual|essay|story|letter|post)|this|it"
)
_ABOUT: Final = re.compile(
    rf"\W*(?:what|who)(?:\s+is|'s|’s|\s+does)?\s+(?:{_SELF})\s+(?:all\s+)?"
    r"(?:about|deal\w*\s+with|cover|discuss|describe|say|talk\s+about|concern)\W*"
    rf"|\W*what(?:\s+is|'s|’s|\s+are)\s+the\s+(?:(?:main|overall|central|general)\s+)?"
    r"(?:topic|subject|theme|gist|subject\s+matter|content|contents|purpose|point)s?\s+of\s+"
    rf"(?:{_SELF})\W*"
    rf"|\W*(?:please\s+)?(?:summari[sz]e|give\s+(?:me\s+)?(?:an?\s+)?(?:overview|summary)\s+of)\s+"
    rf"(?:{_SELF})\W*",
    re.IGNORECASE,
)
_WORDS: Final = 20


def asks_for_overview(text: str) -> bool:
    """Tell whether a query asks what the document is about, and nothing else."""
    return _ABOUT.fullmatch(" ".join(text.split())) is not None


def said_of_itself(document: Document) -> str:
    """Return what a document is about: a filer's business, its title, or else its first words."""
    cover = read_cover(cover_lines(document.text, document.blocks))
    if cover is not None and cover.filed:
        return f"{cover.company}'s business"
    stem = document.id.replace("-", " ").casefold()
    if document.title and document.title.casefold().replace("-", " ").replace("_", " ") != stem:
        return document.title
    texts = (b.text for b in document.blocks if b.kind is not BlockKind.TABLE and b.text)
    return " ".join(next(texts, "").split()[:_WORDS])
