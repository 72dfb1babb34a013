"""What every loader uses: section paths, links, captions, limits, and a document made of blocks."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final
from urllib.parse import unquote, urlsplit

from abstrag.errors import EmptyDocument, FileTooLarge
from abstrag.model.document import Block, BlockKind, Document, Metadata, PageLink, Quote, Span

TITLE: Final = 0  # the level of a document's title: a heading, but no section


class Sections:
    """Follows the headings of a document and knows the path to where we are.

    A heading closes every open section of its own level or deeper. Levels may be skipped, as
    people do; a title stands above all sections and is not part of any path.
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above the next block, outermost first."""
        return tuple(heading for _, heading in self._open)

    def enter(self, level: int, heading: str) -> tuple[str, ...]:
        """Open a section and return the path above its heading."""
        self.leave(level)
        above = self.path
        if level > TITLE:
            self._open.append((level, heading))
        return above

    def leave(self, level: int) -> None:
        """Close every section of this level or deeper."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()


# Links from one file of a folder to another: what they name, and nothing that has to be opened.
#
# A link is taken for a name. The file it leads to is neither looked for nor read, so a page cannot
# make the program touch anything by what it links to.

MAX_LINKS: Final = 2_000  # of a document; what is beyond them is passed over
_PAGES: Final = (".md", ".markdown", ".html", ".htm", ".xhtml", ".txt")
_LONGEST: Final = 200  # characters
_WORD: Final = re.compile(r"[^\W_]+")


def local_target(address: str) -> str | None:
    """Return the page of the same folder that an address leads to, None for anything else.

    >>> local_target("./fees/late-fees.md#when-due")
    'fees/late-fees.md#when-due'
    """
    if len(address) > _LONGEST:
        return None
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme or parts.netloc or not path or path.startswith("/"):
        return None
    if not path.casefold().endswith(_PAGES) or not path.isprintable() or "\\" in path:
        return None
    fragment = unquote(parts.fragment)
    return posixpath.normpath(path) + (
        f"#{fragment}" if fragment.isprintable() and fragment else ""
    )


def target_words(target: str) -> str:
    """Return what the name of a target says, as words.

    >>> target_words("fees/late-fees.md#when-due")
    'late fees when due'
    """
    path, _, fragment = target.partition("#")
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return " ".join(_WORD.findall(f"{stem} {fragment}"))


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


class OverLimit(FileTooLarge):
    """A document is larger in some respect than we read; it names the limit.

    It is raised where the count is kept and the file's name is not known; `within` adds the name.
    """

    def __init__(self, what: str, limit: str, *, hint: str) -> None:
        super().__init__(f"{what} (limit {limit})", hint=hint)
        self._what = what
        self._limit = limit

    def within(self, name: str) -> FileTooLarge:
        """Return the error that users know, with the name of the file in front."""
        said = f"{name!r} cannot be read: {self._what} (limit {self._limit})"
        return FileTooLarge(said, hint=self.hint)


def document_id(name: str) -> str:
    """Make an id of a file's name: its stem in `[a-z0-9-]`."""
    stem = PurePath(name).stem
    apart = unicodedata.normalize("NFKD", stem)
    plain = "".join(char for char in apart if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", plain.casefold()).strip("-") or "document"


def assemble(
    name: str,
    text: str,
    blocks: Sequence[Block],
    *,
    format_name: str,
    title: str | None = None,
    date: tuple[str, Span] | str | None = None,
    links: Sequence[PageLink] = (),
    pages: int | None = None,
) -> Document:
    """Make a document of its parts; the title defaults to the first heading, then the name."""
    if not any(block.text for block in blocks):
        raise EmptyDocument(
            f"{name!r} holds no text to read", hint="open the file and see if it shows any text"
        )
    headings = (block.text for block in blocks if block.kind is BlockKind.HEADING)
    stated = " ".join((title or "").split())
    iso, span = date if isinstance(date, tuple) else (date, None)
    return Document(
        id=document_id(name),
        title=stated or next(headings, "") or PurePath(name).stem or name,
        text=text,
        blocks=_title_apart(blocks, stated),
        metadata=Metadata(date=iso, date_span=span, source=name, format=format_name, pages=pages),
        links=tuple(links[:MAX_LINKS]),
    )


def _title_apart(blocks: Sequence[Block], title: str) -> tuple[Block, ...]:
    """Take a stated title out of the section paths where it heads the whole text once more."""
    heading = blocks[0]
    top = [b for b in blocks if b.kind is BlockKind.HEADING and b.level == 1]
    if top != [heading] or " ".join(heading.text.split()).casefold() != title.casefold():
        return tuple(blocks)
    return tuple(
        replace(block, level=TITLE)
        if block is heading
        else replace(block, section=block.section[1:])
        if block.section[:1] == (heading.text,)
        else block
        for block in blocks
    )
