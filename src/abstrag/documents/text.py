"""Plain text: paragraphs by blank lines, lines joined, headings and turns told by their look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from abstrag.documents.assemble import TITLE, Sections, assemble, is_caption
from abstrag.documents.decode import decode
from abstrag.documents.header import HEADER_BLOCKS, HeaderKind, header_line
from abstrag.documents.reading import Hyphens, SourceLine, lines, reading_text
from abstrag.model.document import Block, BlockKind, Document, OffsetMap, Span

MAX_HEADING: Final = 90  # characters; longer lines are sentences
MAX_TITLE: Final = 150
_NUMBERED: Final = re.compile(
    r"(?P<number>\d{1,2}(?:\.\d{1,2})*)(?P<dot>\.?)\s+(?P<words>[A-Z“\"].*)"
)
_NAMED: Final = re.compile(
    r"(?i:appendix|annex|chapter|part|article|section|schedule)\s+"
    r"(?:[A-Z]|\d{1,3}(?P<rest>(?:\.\d{1,2})*)|[IVXLC]+)(?:[.:–—-]?\s+\S.*|[.:]?)"
)
_ROMAN: Final = re.compile(r"[IVX]+\.\s+[A-Z].*")
_ENDS_SENTENCE: Final = re.compile(r"[.,;:]$")
_UNDERLINE: Final = re.compile(r"(?P<char>[=\-~^*_])(?P=char){2,}\s*")
_UNDERLINE_LEVELS: Final = {"=": 1, "-": 2}
_KNOWN: Final = frozenset(
    (
        "abstract|acknowledgements|acknowledgments|background|bibliography|conclusion|conclusions"
        "|discussion|executive summary|introduction|materials and methods|methods|references"
        "|related work|results|summary"
    ).split("|")
)


class FoundHeading(NamedTuple):
    """A heading that was recognized: its level, and whether a list item could look the same."""

    level: int
    ambiguous: bool = False


def heading(line: str) -> FoundHeading | None:
    """Recognize a heading in a line that stands by itself."""
    line = line.strip()
    if not line or len(line) > MAX_HEADING:
        return None
    if match := _NUMBERED.fullmatch(line):
        if _ENDS_SENTENCE.search(line) or _is_sentence(match["words"]):
            return None
        depth = match["number"].count(".") + 1
        return FoundHeading(depth, ambiguous=depth == 1)
    if _ENDS_SENTENCE.search(line):
        return None
    if match := _NAMED.fullmatch(line):
        return FoundHeading(1 + (match["rest"] or "").count("."))
    if is_capitals(line) or _ROMAN.fullmatch(line) or line.casefold() in _KNOWN:
        return FoundHeading(1)
    return None


def is_label(line: str) -> bool:
    """True for a few words and a colon, as they stand above a list."""
    return line.endswith(":") and len(line) <= MAX_HEADING and not _is_sentence(line)


def is_capitals(line: str) -> bool:
    """True for a line in capitals that holds at least one real word."""
    letters = [char for char in line if char.isalpha()]
    return (
        len(letters) >= 4
        and all(char.isupper() for char in letters)
        and re.search(r"[^\W\d_]{4}", line) is not None
        and 2 * len(letters) > len(line.strip())
    )


def underline(line: str, below: str) -> int | None:
    """Return the level of a heading underlined by the line below it."""
    match = _UNDERLINE.fullmatch(below.strip())
    if match is None or not line.strip() or len(line.strip()) > MAX_HEADING:
        return None
    if 2 * len(below.strip()) < len(line.strip()):
        return None
    return _UNDERLINE_LEVELS.get(match["char"], 3)


def is_title(line: str) -> bool:
    """True when the first line of a text, standing apart, reads like its title."""
    line = line.strip()
    return (
        len(line) <= MAX_TITLE
        and _ENDS_SENTENCE.search(line) is None
        and re.search(r"[^\W\d_]{2}", line) is not None
        and line[:1] not in "-*•"
    )


def _is_sentence(words: str) -> bool:
    """True when numbered words are prose: a small verb-like tail of lower-case words."""
    parts = words.split()
    return len(parts) > 8 and sum(part[:1].islower() for part in parts) > 0.7 * len(parts)


_CLOCK: Final = r"[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?[\])]?"
_NAME: Final = r"[A-Z][\w.'’-]*(?: (?:[A-Z0-9(][\w.'’)-]*|of|the|de|van|von)){0,4}"
_TURN: Final = re.compile(rf"\s*(?:{_CLOCK}\s+)?(?P<speaker>{_NAME})(?:\s+{_CLOCK})?\s*:(?=\s|$)")
_SENTENCE: Final = re.compile(r"[.?!…](?:\s|$)")
_LEAST: Final = 6  # turns; fewer are a list of labels as likely as a conversation
_TIMES: Final = 2  # that people speak, on average


def speaker_of(text: str) -> str | None:
    """Return the name a text begins with if a colon follows it, as in "Ann Lee: I agree."."""
    found = _TURN.match(text)
    return found["speaker"] if found else None


def speakers(texts: Iterable[str]) -> Counter[str]:
    """Return how often each speaks, where these texts are a conversation; else nobody does.

    In a conversation people speak more than once, take turns and say sentences. A glossary has as
    many names as entries, and the rows of a table begin with the same one again and again.
    """
    turns = [(name, text) for text in texts if (name := speaker_of(text))]
    said = Counter(name for name, _ in turns)
    changes = sum(one != other for (one, _), (other, _) in pairwise(turns))
    sentences = sum(bool(_SENTENCE.search(text)) for _, text in turns)
    talk = (
        len(turns) >= max(_LEAST, _TIMES * len(said))
        and sum(times > 1 for times in said.values()) > 1
        and changes >= (len(turns) - 1) / 2
        and sentences >= len(turns) / 4
    )
    return said if talk else Counter()


def cut_at_turns(
    group: Sequence[SourceLine], who: Counter[str]
) -> list[tuple[Sequence[SourceLine], bool]]:
    """Cut lines before every turn; say of each part whether it is one."""
    starts = [i for i, line in enumerate(group) if speaker_of(line.text) in who]
    bounds = [0, *starts, len(group)] if not starts or starts[0] else [*starts, len(group)]
    return [(group[first:end], first in starts) for first, end in pairwise(bounds) if end > first]


MAX_WRAP: Final = 120  # nobody wraps lines beyond this; longer ones are paragraphs of their own
_EARLY: Final = 0.75  # of the text's width: a line that ends before this was not wrapped
_LABEL: Final = 9  # the level of a heading that ends in a colon and rules the lines right below it
_BULLET: Final = re.compile(r"\s*(?P<mark>[-*+•‣◦▪·–])\s+(?=\S)")
_NUMBER: Final = re.compile(
    r"\s*(?P<mark>\((?:\d{1,3}|[A-Za-z]|[ivx]{1,5})\)|(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)])\s+(?=\S)"
)
_FOOTNOTE: Final = re.compile(r"\s*(?:\[(?:\^?\d{1,3}|\*{1,3})\]:?|[*†‡]{1,3})\s+(?=\S)")
_ENDS: Final = re.compile(r"[.;:!?]\s*$")
_COLUMNS: Final = re.compile(r"\S(?: {3,}|\t+)\S|^\s*[|+]")

Group = Sequence[SourceLine]


def load_text(data: bytes, name: str) -> Document:
    """Read plain text."""
    text = decode(data, name)
    reader = _Reader(text)
    reader.read()
    return assemble(
        name, text, reader.blocks, format_name="text", title=reader.title, date=reader.date
    )


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.hyphens = Hyphens(text)
        self.sections = Sections()
        self.blocks: list[Block] = []
        self.title: str | None = None
        self.date: tuple[str, Span] | None = None
        self._indents: list[int] = []  # of the list items that are open
        self._lines = lines(text)
        self._width = max((n for x in self._lines if (n := len(x.text)) <= MAX_WRAP), default=0)

    def read(self) -> None:
        """Make blocks of the whole text."""
        groups = self._header(list(_groups(self._lines)))
        who = speakers(line.text for group in groups for line in group)
        for i, group in enumerate(groups):
            following = groups[i + 1] if i + 1 < len(groups) else ()
            for part, is_turn in cut_at_turns(group, who):
                if is_turn:
                    self._indents.clear()
                    self._add(BlockKind.PARAGRAPH, part)
                else:
                    self._group(part, following)

    # --- the top of the file ---

    def _header(self, groups: list[Group]) -> list[Group]:
        """Take title and header lines off the top; return what is left."""
        left = list(groups)
        if left and self._is_title(left):
            self._add(BlockKind.HEADING, left[0][:1], level=TITLE)
            self.title = self.blocks[-1].text
            left = _without_first_line(left)
        for _ in range(HEADER_BLOCKS):
            if not left or not self._header_line(left[0][0]):
                break
            left = _without_first_line(left)
        return left

    def _is_title(self, groups: list[Group]) -> bool:
        first, *below = groups[0]
        alone = len(groups) == 1 and not below
        if alone or not is_title(first.text) or header_line(first.text.strip()):
            return False
        found = heading(first.text)
        if found is not None and not is_capitals(first.text):
            return False
        if below and underline(first.text, below[0].text):
            return False
        return not below or header_line(below[0].text.strip()) is not None

    def _header_line(self, line: SourceLine) -> bool:
        shown = line.text.strip()
        found = header_line(shown)
        if found is None:
            return False
        start = line.start + line.text.index(shown)
        if found.kind is HeaderKind.TITLE:
            self.title = found.value
        elif found.kind is HeaderKind.DATE and self.date is None:
            self.date = found.value, Span(start + found.start, start + found.end)
        self._add(BlockKind.PARAGRAPH, [line])
        return True

    # --- the rest ---

    def _group(self, group: Group, following: Group) -> None:
        """Read lines that no blank line parts."""
        head = self._heading(group, following)
        if head:
            self._indents.clear()
            if group[head:]:
                self._group(group[head:], following)
            return
        if _is_layout(group):
            self._code(group)
        elif items := _item_starts(group):
            self._list(group, items)
        elif self._indents and group[0].indent > self._indents[-1]:
            self._add(BlockKind.LIST_ITEM, group, level=len(self._indents))
            return
        else:
            self._paragraphs(group)
        if not _item_starts(group):
            self._indents.clear()

    def _heading(self, group: Group, following: Group) -> int:
        """Add a heading if the group begins with one; return how many lines it took."""
        first = group[0]
        if len(group) > 1 and (level := underline(first.text, group[1].text)):
            self._add(BlockKind.HEADING, [first], level=level)
            return 2
        found = heading(first.text)
        if found is None or (len(group) > 1 and not _heads_text(group)):
            return 0
        if found.ambiguous and (not following or _NUMBER.match(following[0].text)):
            return 0
        self._add(BlockKind.HEADING, [first], level=found.level)
        return 1

    def _code(self, group: Group) -> None:
        """Keep a group whose layout carries meaning as it is."""
        start, end = group[0].start, group[-1].end
        alignment = OffsetMap(((0, start),))
        self.blocks.append(
            Block(
                BlockKind.CODE,
                self.text[start:end],
                Span(start, end),
                alignment,
                self.sections.path,
            )
        )

    def _list(self, group: Group, starts: list[int]) -> None:
        if starts[0]:
            self._paragraphs(group[: starts[0]])
        for i, end in zip(starts, [*starts[1:], len(group)], strict=True):
            item = group[i:end]
            mark = _BULLET.match(item[0].text) or _NUMBER.match(item[0].text)
            level = self._level(item[0].indent)
            self._add(BlockKind.LIST_ITEM, item, level=level, skip=mark.end() if mark else 0)

    def _level(self, indent: int) -> int:
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)
        return len(self._indents)

    def _paragraphs(self, group: Group) -> None:
        parts = [[line] for line in group] if _is_unwrapped(group) else self._loose(group)
        for i, part in enumerate(parts, 1):
            first = part[0].text.strip()
            if mark := _FOOTNOTE.match(part[0].text):
                self._add(BlockKind.FOOTNOTE, part, skip=mark.end())
            elif is_caption(first):
                self._add(BlockKind.CAPTION, part)
            elif i < len(parts) and len(part) == 1 and is_label(first):
                self._add(BlockKind.HEADING, [_without_colon(part[0])], level=_LABEL)
            else:
                self._add(BlockKind.PARAGRAPH, part)
        self.sections.leave(_LABEL)

    def _loose(self, group: Group) -> list[Group]:
        """Cut lines apart that were not wrapped: most of them end where another word had room."""
        ends, early = [], 0
        for i, (line, below) in enumerate(pairwise(group), 1):
            if below.text.lstrip()[:1].islower():
                continue
            length = len(line.text.rstrip()) + len(below.text.split()[0])
            had_room = length < _EARLY * self._width
            early += had_room
            if had_room or is_label(below.text.strip()) or _ENDS.search(line.text):
                ends.append(i)
        if 2 * early < len(group) - 1:
            return [group]
        return [group[first:end] for first, end in pairwise([0, *ends, len(group)])]

    def _add(
        self, kind: BlockKind, group: Group, *, level: int | None = None, skip: int = 0
    ) -> None:
        """Add a block of these lines; `skip` characters of the first are a mark, not text."""
        start, end = group[0].start, group[-1].end
        reading, alignment = reading_text(self.text, [(start + skip, end)], self.hyphens)
        if not reading:
            return
        first = start + len(group[0].text) - len(group[0].text.lstrip())
        last = alignment.at(len(reading) - 1) + 1
        if kind is BlockKind.HEADING and level is not None:
            section = self.sections.enter(level, reading)
        else:
            section = self.sections.path
        self.blocks.append(Block(kind, reading, Span(first, last), alignment, section, level=level))


def _groups(all_lines: Sequence[SourceLine]) -> Iterator[Group]:
    """Cut lines at blank ones."""
    group: list[SourceLine] = []
    for line in all_lines:
        if not line.blank:
            group.append(line)
        elif group:
            yield group
            group = []
    if group:
        yield group


def _without_first_line(groups: list[Group]) -> list[Group]:
    rest = groups[0][1:]
    return [rest, *groups[1:]] if rest else groups[1:]


def _without_colon(label: SourceLine) -> SourceLine:
    at = label.text.rindex(":")
    return SourceLine(label.text[:at], label.start, label.start + at)


def _heads_text(group: Group) -> bool:
    """True when a line in capitals stands right above ordinary text."""
    return is_capitals(group[0].text) and any(char.islower() for char in group[1].text)


def _is_layout(group: Group) -> bool:
    """True when gaps inside most lines line up columns."""
    return len(group) > 1 and sum(bool(_COLUMNS.search(g.text)) for g in group) >= 0.6 * len(group)


def _is_unwrapped(group: Group) -> bool:
    return len(group) > 1 and median(len(line.text) for line in group) > MAX_WRAP


def _item_starts(group: Group) -> list[int]:
    """Return which lines of a group begin list items."""
    bullets = [i for i, line in enumerate(group) if _BULLET.match(line.text)]
    numbers = [i for i, line in enumerate(group) if _NUMBER.match(line.text)]
    marked = sorted({*bullets, *numbers})
    if not marked:
        return []
    first = marked[0]
    opens = first == 0 or group[first - 1].text.rstrip().endswith(":")
    return marked if opens or len(bullets) > 1 else []
