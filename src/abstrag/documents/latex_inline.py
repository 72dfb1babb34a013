"""Running LaTeX text: words, accents, quotes, citations, references and formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from abstrag.documents.latex_commands import DIMENSIONED, DISPLAYS, PREFIXED, UNREAD
from abstrag.documents.latex_math import read_math
from abstrag.documents.latex_source import MAX_RAW, Group, Source
from abstrag.documents.latex_symbols import LETTERS, SIGNS, SPACES, accented, is_accent
from abstrag.documents.trace import Trace

TOKEN: Final = re.compile(
    r"(?P<paragraph>\n[ \t\r]*\n\s*)"
    r"|\\(?P<edge>begin|end)\s*\{(?P<env>[^{}]*)\}"
    r"|\\(?P<word>[A-Za-z@]+)\*?"
    r"|\\(?P<sign>.)"
    r"|(?P<math>\$\$?)"
    r"|(?P<typed>---?|``|''|`|~|&)"
    r"|(?P<brace>[{}])"
    r"|(?P<plain>[^\\${}~&\n`'-]+|.)",
    re.DOTALL,
)
DISPLAY: Final = re.compile(rf"\\\[|\$\$|\\begin\s*\{{(?:{'|'.join(sorted(DISPLAYS))})\*?\}}")
_TYPED: Final = {"--": "–", "---": "—", "``": "“", "''": "”", "`": "‘", "~": " ", "&": " "}
_BLANK: Final = re.compile(r"[ \t]*(?:\n(?![ \t\r]*\n)[ \t]*)?")
_PARAGRAPH: Final = re.compile(r"\n[ \t\r]*\n")
_LETTER: Final = re.compile(r"\s*(\\[ij](?![A-Za-z])|[^\W\d_])")
_DIMENSION: Final = re.compile(
    r"\s*(?:=\s*)?-?[\d.]+\s*(?:[a-z]{2}\b|\\[a-z]+)(?:\s*(?:plus|minus)\s*\S+)*"
)
_CITE: Final = re.compile(r"\w*[cC]ite\w*")
_REFERENCE: Final = re.compile(r"(?:page|name|auto|eq|v|c|C|sub|full)?refs?")
_LITERAL: Final = frozenset("%&$#_{}")
_NOTHING: Final = frozenset("-/!@)")


class InlineReader:
    """Writes running text into `trace`, token by token."""

    def __init__(self, source: Source, labels: Mapping[str, str]) -> None:
        self.trace = Trace()
        self._source = source
        self._labels = labels

    def take(self, match: re.Match[str]) -> int:
        """Write one token and return where the next begins."""
        start, end = match.span()
        if match["plain"]:
            self._keep(start, end)
        elif match["typed"]:
            self._decode(_TYPED[match["typed"]], start, end)
        elif match["word"]:
            return self._word(match["word"], start, end)
        elif match["sign"]:
            return self._sign(match["sign"], start, end)
        elif match["math"]:
            return self._until(match["math"], start, end)
        elif match["paragraph"] or match["edge"]:
            self._decode(" ", start, end)
        return end

    def display(self, start: int, end: int) -> None:
        """Write a formula that is set apart, as part of the sentence it belongs to."""
        self.math(start, end)
        self._decode(" ", end, end + 1)

    def math(self, start: int, end: int) -> None:
        """Write a formula."""
        read_math(self._source, start, end, self.trace)

    def key(self, group: Group) -> None:
        """Write the key of a citation in brackets, as both ends of a citation show it."""
        self._decode("[", group.start - 1, group.start)
        self._keep(group.start, group.end)
        self._decode("]", group.end, group.end + 1)

    def _word(self, name: str, start: int, end: int) -> int:
        source = self._source
        if name in UNREAD:
            return source.skip(end, UNREAD[name])
        if name in PREFIXED:
            return source.skip(end, PREFIXED[name])
        if name in LETTERS:
            self._decode(LETTERS[name], start, end)
            return self._after_blank(end)
        if name in SIGNS:
            self._decode(SIGNS[name], start, end)
            return end
        if is_accent(name) and (after := self._accent(name, start, end)):
            return after
        if _CITE.fullmatch(name) or _REFERENCE.fullmatch(name):
            return self._key(name, end)
        return self._other_word(name, start, end)

    def _other_word(self, name: str, start: int, end: int) -> int:
        source = self._source
        if name in ("verb", "lstinline", "mintinline", "path", "url", "nolinkurl"):
            return self._raw(name, end)
        if name == "texorpdfstring" and (group := source.group(end)):
            self._keep(group.start, group.end)
            return source.skip(end, "{{")
        if name in ("ensuremath", "boldmath") and (group := source.group(end)):
            self.math(group.start, group.end)
            return group.after
        if name in DIMENSIONED and (size := _DIMENSION.match(source.text, end)):
            return size.end()
        if name in SPACES or name in ("newline", "linebreak", "hfill", "newblock"):
            self._decode(" ", start, end)
            return end
        option = source.option(end)
        if option is not None and source.group(option.after):
            return option.after
        # any other command is a matter of looks: its argument is read, its name is not
        return end if source.group(end) else self._after_blank(end)

    def _sign(self, sign: str, start: int, end: int) -> int:
        if sign in _LITERAL:
            self._keep(start + 1, end)
        elif sign in "([":
            return self._until("\\" + {"(": ")", "[": "]"}[sign], start, end)
        elif sign == "\\":
            self._decode(" ", start, end)
            option = self._source.option(end)
            return option.after if option and option.end - option.start < 12 else end
        elif is_accent(sign) and (after := self._accent(sign, start, end)):
            return after
        elif sign not in _NOTHING:
            self._decode(" ", start, end)
        return end

    def _until(self, mark: str, start: int, end: int) -> int:
        """Read a formula up to its closing mark; one that never closes is only a sign."""
        at = self._source.find(mark, end)
        if at < 0 or (len(mark) == 1 and _PARAGRAPH.search(self._source.text, end, at)):
            if mark.startswith("$"):
                self._keep(start, end)
            return end
        self.math(end, at)
        return at + len(mark)

    def _accent(self, accent: str, start: int, end: int) -> int | None:
        group = self._source.group(end)
        if group is not None and group.end - group.start <= 8:
            letter, after = self._source.text[group.start : group.end], group.after
            if letter.strip("{} \\"):
                self._decode(accented(accent, letter.strip("{}")), start, after)
            return after
        found = _LETTER.match(self._source.text, end)
        if found is None or (accent.isalpha() and found.start(1) == end):
            return None
        self._decode(accented(accent, found[1]), start, found.end())
        return found.end()

    def _key(self, name: str, end: int) -> int:
        at = self._source.skip(end, "[[")
        group = self._source.group(at)
        if group is None:
            return end
        key = self._source.text[group.start : group.end]
        if _CITE.fullmatch(name):
            self.key(group)
        elif number := self._labels.get(key.strip()):
            shown = f"({number})" if name == "eqref" else number
            self._decode(shown, group.start, group.end)
        else:
            self._keep(group.start, group.end)
        return group.after

    def _raw(self, name: str, end: int) -> int:
        """Keep what is meant to be read letter by letter."""
        source = self._source
        at = source.skip(end, "[")
        if name == "mintinline":
            at = source.skip(at, "{")
        if name != "verb" and (group := source.group(at)):
            self._keep(group.start, group.end)
            return group.after
        mark = source.text[at : at + 1]
        far = min(source.limit, at + MAX_RAW)
        close = source.text.find(mark, at + 1, far) if mark.strip() else -1
        if close < 0:
            return end
        self._keep(at + 1, close)
        return close + 1

    def _after_blank(self, at: int) -> int:
        blank = _BLANK.match(self._source.text, at)
        return blank.end() if blank else at

    def _keep(self, start: int, end: int) -> None:
        self.trace.keep(self._source.text, start, end)

    def _decode(self, text: str, start: int, end: int) -> None:
        self.trace.decode(text, start, end)
