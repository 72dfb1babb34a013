"""Running LaTeX text and the cells of tables: words, accents, citations, references, formulas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from abstrag.config import MAX_TABLE_COLUMNS
from abstrag.documents.latex_source import MAX_RAW, Group, LatexSource
from abstrag.documents.reading import Trace
from abstrag.documents.visible import MAX_SPAN, GridCell, as_header, has_header_look, too_large
from abstrag.files import read_data_file

# LaTeX commands and environments that show nothing, or less than they hold, and what others stand
# for: letters, signs, accents.


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _pairs(name: str) -> dict[str, str]:
    words = _LISTS[name].split()
    return dict(zip(words[::2], words[1::2], strict=True))


_LISTS: Final = read_data_file("abstrag.documents", "latex.toml")
TABULARS: Final[dict[str, str]] = _LISTS["tabulars"]
CODE_ENVIRONMENTS: Final[dict[str, str]] = _LISTS["code"]
FLOATS: Final[dict[str, str]] = _LISTS["floats"]
ENVIRONMENT_ARGUMENTS: Final[dict[str, str]] = _LISTS["environments"]
UNREAD_ENVIRONMENTS: Final = _words("unread_environments")
LISTS: Final = _words("lists")
DISPLAYS: Final = _words("displays")
_UNREAD: Final[dict[str, str]] = _LISTS["unread"]
_PREFIXED: Final[dict[str, str]] = _LISTS["prefixed"]
_UNSEEN: Final[dict[str, str]] = _LISTS["unseen"]
_RULE_ARGUMENTS: Final[dict[str, str]] = _LISTS["rules"]
_ACCENTS: Final[dict[str, str]] = _LISTS["accents"]
_DIMENSIONED: Final = _words("dimensioned")
_DROPPED: Final = _words("dropped")
_FUNCTIONS: Final = _words("functions")
_LETTERS: Final = _pairs("letters")
_SIGNS: Final = _pairs("signs")
_MATH: Final = _pairs("math")
_SPACES: Final = frozenset(
    (" ", ",", ";", ":", ">", "quad", "qquad", "enspace", "enskip", "thinspace", "space", "\n")
)


def is_accent(command: str) -> bool:
    """True when a command puts an accent on the letter behind it."""
    return command in _ACCENTS


def accented(command: str, letter: str) -> str:
    """Put an accent on a letter."""
    base = {"\\i": "i", "\\j": "j", "ı": "i", "ȷ": "j"}.get(letter.strip(), letter.strip())
    return unicodedata.normalize("NFC", base[:1] + _ACCENTS[command]) + base[1:]


# Formulas as a person would type them: "QK^T/√(d_k)" for the fraction and the root.

_TOKEN: Final = re.compile(
    r"\\(?P<env>begin|end)\s*\{[^{}]*\}(?:\s*\{[lcr|@{}\s]*\})?"
    r"|\\(?P<command>[A-Za-z]+)\*?|\\(?P<sign>.)"
    r"|(?P<script>[_^])|(?P<brace>[{}])|(?P<blank>[&~])|[^\\_^{}&~]+",
    re.DOTALL,
)
_SIMPLE: Final = re.compile(  # needs no brackets around it, or has some
    r"\s*+(?:[+-]?[\w.,'*]*|\\[A-Za-z]+(?:\s*\{[\w\s-]*\})?|\([^()]*\))\s*"
)


def read_math(source: LatexSource, start: int, end: int, into: Trace) -> None:
    """Write the formula between two offsets into a trace."""
    reader = _Math(source, into)
    at = start
    while at < end and (match := _TOKEN.match(source.text, at, end)):
        at = max(at + 1, min(reader.take(match), end))


class _Math:
    def __init__(self, source: LatexSource, into: Trace) -> None:
        self._source = source
        self._into = into
        self._shown: dict[int, str] = {}  # braces that read as something

    def take(self, match: re.Match[str]) -> int:
        """Write one token and return where the next begins."""
        start, end = match.span()
        if match["command"] or match["sign"]:
            return self._command(match["command"] or match["sign"], start, end)
        if match["brace"]:
            shown = self._shown.pop(start, None)
            self._into.decode(shown or "", start, end)
            if shown is not None:  # the brace belongs to what is written, shown or not
                self._into.end = end
        elif match["blank"] or match["env"]:
            self._into.decode(" ", start, end)
        else:
            self._into.keep(self._source.text, start, end)
            if match["script"]:
                self._wrap(end, "(", ")")
        return end

    def _command(self, name: str, start: int, end: int) -> int:
        if name in ("frac", "dfrac", "tfrac", "nicefrac", "sfrac", "cfrac"):
            over = self._wrap(end, "(", ")/", bare="/")
            self._wrap(over, "(", ")")
        elif name in _UNSEEN:
            return self._source.skip(end, _UNSEEN[name])
        elif name in _SPACES or name == "\\":
            self._into.decode(" ", start, end)
        elif name in _MATH:
            self._into.decode(_MATH[name], start, end)
            if name == "sqrt":
                self._wrap(end, "(", ")")
        elif name in _FUNCTIONS or (name.isalpha() and name not in _DROPPED):
            self._into.keep(self._source.text, start + 1, end)
        return end

    def _wrap(self, at: int, opening: str, closing: str, bare: str = "") -> int:
        """Show the braces of the group that follows, unless it is simple; return its end."""
        group = self._source.group(at)
        if group is None:
            return at
        simple = _SIMPLE.fullmatch(self._source.text, group.start, group.end) is not None
        self._shown[group.start - 1] = "" if simple else opening
        self._shown[group.end] = bare if simple else closing
        return group.after


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

    def __init__(self, source: LatexSource, labels: Mapping[str, str]) -> None:
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
        if name in _UNREAD:
            return source.skip(end, _UNREAD[name])
        if name in _PREFIXED:
            return source.skip(end, _PREFIXED[name])
        if name in _LETTERS:
            self._decode(_LETTERS[name], start, end)
            return self._after_blank(end)
        if name in _SIGNS:
            self._decode(_SIGNS[name], start, end)
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
        if name in _DIMENSIONED and (size := _DIMENSION.match(source.text, end)):
            return size.end()
        if name in _SPACES or name in ("newline", "linebreak", "hfill", "newblock"):
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


_TABLE_TOKEN: Final = re.compile(
    r"(?P<cell>&)"
    r"|(?P<row>\\\\\*?|\\tabularnewline\b|\\cr\b)"
    r"|\\(?:(?P<rule>midrule|hline|specialrule|Xhline|endhead|endfirsthead)"
    r"|(?P<line>toprule|bottomrule|cmidrule|cline|addlinespace|rowcolor|endfoot|endlastfoot"
    r"|noalign|hdashline|cdashline|arrayrulecolor|morecmidrules))(?![A-Za-z])"
    r"|(?P<begin>\\begin\s*\{)"
    r"|(?P<group>\{)|\\.",
    re.DOTALL,
)
_TRIMS: Final = re.compile(r"\s*\([lr\d.a-z{}\s]*\)")
_MULTICOLUMN: Final = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,3})\s*\}")
_MULTIROW: Final = re.compile(r"\\multirow\s*(?:\[[^\]]{0,200}\])?\s*\{\s*(\d{1,3})\s*\}")
_SHOWN: Final = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class _RawTableCell:
    """Where a cell's source stands and how far the cell reaches."""

    start: int
    end: int
    row_span: int
    column_span: int


@dataclass(slots=True)
class _RawRow:
    """One row, and whether a rule runs the whole way above it."""

    cells: list[_RawTableCell] = field(default_factory=list)
    ruled: bool = False


def cut_rows(source: LatexSource, start: int, end: int) -> list[_RawRow]:
    """Cut a table's body into rows."""
    cutter = _Cutter(source, start)
    at = start
    while match := _TABLE_TOKEN.search(source.text, at, end):
        at = min(max(cutter.take(match), match.end()), end)
    cutter.end_row(end)
    return cutter.rows


def shape(rows: list[_RawRow], read: Callable[[int, int], GridCell]) -> list[list[GridCell]]:
    """Read the cells, drop those that a cell from above covers, and mark the header rows."""
    made: list[list[GridCell]] = []
    covered: dict[int, int] = {}  # column → first row that no cell from above reaches
    for r, row in enumerate(rows):
        made.append([])
        column = 0
        for cell in row.cells:
            here = read(cell.start, cell.end)
            if column + cell.column_span > MAX_TABLE_COLUMNS:
                raise too_large(f"{MAX_TABLE_COLUMNS:,} columns", "MAX_TABLE_COLUMNS")
            if here.text or covered.get(column, 0) <= r:
                down, across = min(cell.row_span, len(rows) - r), cell.column_span
                made[r].append(replace(here, row_span=down, column_span=across))
                covered.update(dict.fromkeys(range(column, column + across), r + down))
            column += cell.column_span
    heads = _header_rows(rows)
    if not heads and made:
        heads = int(has_header_look(made[0], made[1:]))
    return [as_header(row) if r < heads else row for r, row in enumerate(made)]


def _header_rows(rows: list[_RawRow]) -> int:
    """Return how many rows stand above the first rule inside the table; 0 if none does."""
    return next((i for i, row in enumerate(rows) if row.ruled and i > 0), 0)


class _Cutter:
    def __init__(self, source: LatexSource, start: int) -> None:
        self.rows: list[_RawRow] = []
        self._source = source
        self._row = _RawRow()
        self._from = start

    def take(self, match: re.Match[str]) -> int:
        """Take one token and return where to go on."""
        at = match.end()
        if match["group"]:
            return (self._source.closing(match.start()) or match.start()) + 1
        if match["begin"]:
            inner = self._source.environment(match.start())
            return inner[1] if inner else at
        if match["cell"]:
            self._end_cell(match.start())
            self._from = at
        elif match["row"]:
            self.end_row(match.start())
            option = self._source.option(at) if match["row"].startswith("\\\\") else None
            self._from = at = option.after if option else at
        elif (match["rule"] or match["line"]) and self._at_row_start(match.start()):
            self._row.ruled = self._row.ruled or bool(match["rule"])
            self._from = at = self._rule_end(match["rule"] or match["line"], at)
        return at

    def _at_row_start(self, at: int) -> bool:
        return not self._row.cells and _SHOWN.search(self._source.text, self._from, at) is None

    def end_row(self, at: int) -> None:
        """Finish a row unless nothing is in it."""
        if self._row.cells or self._source.text[self._from : at].strip():
            self._end_cell(at)
            self.rows.append(self._row)
            self._row = _RawRow()

    def _end_cell(self, at: int) -> None:
        raw = self._source.text[self._from : at]
        across, down = _MULTICOLUMN.match(raw), _MULTIROW.search(raw)
        self._row.cells.append(
            _RawTableCell(
                self._from,
                at,
                max(1, int(down[1])) if down else 1,
                min(max(1, int(across[1])), MAX_SPAN) if across else 1,
            )
        )

    def _rule_end(self, name: str, at: int) -> int:
        """Go past the options, trims and widths of a rule."""
        for kind in _RULE_ARGUMENTS.get(name, ""):
            if kind == "(":
                trims = _TRIMS.match(self._source.text, at)
                at = trims.end() if trims else at
            else:
                at = self._source.skip(at, kind)
        return at
