"""Running LaTeX text: words, accents, quotes, citations, references and formulas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from abstrag.documents.latex_source import MAX_RAW, Group, LatexSource
from abstrag.documents.reading import Trace

# LaTeX commands and environments that show nothing, or less than they hold.
#
# Arguments are written as `Source.skip` reads them: `{` for a braced one, `[` for an optional one.

UNREAD: Final = MappingProxyType(  # commands whose arguments are no text
    {
        "addbibresource": "[{",
        "addcontentsline": "{{{",
        "addtocounter": "{{",
        "addtolength": "{{",
        "affil": "[{",
        "affiliation": "[{",
        "address": "[{",
        "author": "[{",
        "bibliography": "{",
        "bibliographystyle": "{",
        "color": "[{",
        "definecolor": "{{{",
        "documentclass": "[{",
        "email": "{",
        "fontsize": "{{",
        "footnotemark": "[",
        "geometry": "{",
        "graphicspath": "{",
        "hspace": "{",
        "hypersetup": "{",
        "hyphenation": "{",
        "include": "{",
        "includegraphics": "[{",
        "includepdf": "[{",
        "input": "{",
        "index": "[{",
        "institute": "{",
        "label": "{",
        "lstset": "{",
        "newcounter": "{[",
        "newenvironment": "{[[{{",
        "newlength": "{",
        "newtheorem": "{[{[",
        "nocite": "{",
        "pagenumbering": "{",
        "pagestyle": "{",
        "phantom": "{",
        "phantomsection": "",
        "renewenvironment": "{[[{{",
        "RequirePackage": "[{",
        "rowcolor": "[{",
        "cellcolor": "[{",
        "rule": "[{{",
        "selectlanguage": "{",
        "setcounter": "{{",
        "setlength": "{{",
        "thanks": "{",
        "thispagestyle": "{",
        "titlespacing": "{{{{",
        "todo": "[{",
        "usepackage": "[{",
        "usetikzlibrary": "{",
        "vphantom": "{",
        "hphantom": "{",
        "vspace": "{",
    }
)
PREFIXED: Final = MappingProxyType(  # commands whose text comes behind arguments that are none
    {
        "colorbox": "[{",
        "fcolorbox": "[{{",
        "foreignlanguage": "[{",
        "href": "[{",
        "hyperref": "[",
        "makebox": "[[",
        "multicolumn": "{{",
        "multirow": "[{[{[",
        "parbox": "[[[{",
        "raisebox": "{[[",
        "resizebox": "{{",
        "rotatebox": "[{",
        "scalebox": "{[",
        "textcolor": "[{",
    }
)
DIMENSIONED: Final = frozenset(("vskip", "hskip", "kern", "parskip", "parindent", "baselineskip"))

UNREAD_ENVIRONMENTS: Final = frozenset(
    "comment tikzpicture tikzcd pgfpicture picture forest CCSXML filecontents filecontents*".split()
)
CODE_ENVIRONMENTS: Final = MappingProxyType(
    {
        "verbatim": "",
        "verbatim*": "",
        "Verbatim": "[",
        "Verbatim*": "[",
        "lstlisting": "[",
        "minted": "[{",
        "alltt": "",
        "algorithmic": "[",
    }
)
FLOATS: Final = MappingProxyType(
    {
        "figure": "[",
        "table": "[",
        "wrapfigure": "[{[{",
        "wraptable": "[{[{",
        "sidewaysfigure": "[",
        "sidewaystable": "[",
        "algorithm": "[",
        "listing": "[",
        "SCfigure": "[[",
    }
)
LISTS: Final = frozenset(
    ("itemize", "enumerate", "description", "compactitem", "compactenum", "inparaenum", "list")
)
DISPLAYS: Final = frozenset(
    "equation align alignat flalign gather multline eqnarray displaymath math dmath split".split()
)
ENVIRONMENT_ARGUMENTS: Final = MappingProxyType(
    {
        "minipage": "[[[{",
        "multicols": "{[",
        "adjustbox": "{",
        "subfigure": "[{",
        "subtable": "[{",
        "thebibliography": "{",
        "spacing": "{",
        "tcolorbox": "[",
        "list": "{{",
        "enumerate": "[",
        "itemize": "[",
        "description": "[",
    }
)


# What LaTeX commands stand for: letters, signs, accents.


def _table(text: str) -> MappingProxyType[str, str]:
    words = text.split()
    return MappingProxyType(dict(zip(words[::2], words[1::2], strict=True)))


LETTERS: Final = _table(
    # these swallow the blank behind them: "\o re" is one word
    "L Ł l ł o ø O Ø ss ß ae æ AE Æ oe œ OE Œ aa å AA Å i ı j ȷ dh ð DH Ð th þ TH Þ"
)
SIGNS: Final = _table(
    "ldots … dots … textellipsis … textendash – textemdash — textbullet • textperiodcentered · "
    "S § P ¶ copyright © textcopyright © textregistered ® texttrademark ™ pounds £ euro € "
    "texteuro € textdegree ° degree ° dag † ddag ‡ textquoteleft ‘ textquoteright ’ "
    "textquotedblleft “ textquotedblright ” textasciitilde ~ textasciicircum ^ textbackslash \\ "
    "textbar | textless < textgreater > textunderscore _ textdollar $ textpercent % textmu µ "
    "LaTeX LaTeX TeX TeX BibTeX BibTeX checkmark ✓ cmark ✓ xmark ✗ slash /"
)
MATH: Final = _table(
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta θ iota ι "
    "kappa κ lambda λ mu μ nu ν xi ξ pi π varpi π rho ρ varrho ρ sigma σ varsigma ς tau τ "
    "upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π "
    "Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω times × cdot · cdots ⋯ ldots … dots … vdots ⋮ ddots ⋱ "
    "pm ± mp ∓ div ÷ ast * star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗ odot ⊙ leq ≤ le ≤ geq ≥ ge ≥ "
    "neq ≠ ne ≠ approx ≈ sim ∼ simeq ≃ equiv ≡ cong ≅ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ "
    "subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ bigcup ⋃ bigcap ⋂ setminus ∖ emptyset ∅ "
    "varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ land ∧ wedge ∧ lor ∨ vee ∨ to → "
    "rightarrow → leftarrow ← Rightarrow ⇒ Leftarrow ⇐ leftrightarrow ↔ Leftrightarrow ⇔ iff ⇔ "
    "implies ⇒ mapsto ↦ longrightarrow ⟶ uparrow ↑ downarrow ↓ nearrow ↗ searrow ↘ infty ∞ "
    "partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ sqrt √ angle ∠ perp ⊥ parallel ∥ mid | vert | "
    "lvert | rvert | Vert ‖ lVert ‖ rVert ‖ | ‖ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ "
    "rceil ⌉ ell ℓ hbar ℏ Re ℜ Im ℑ aleph ℵ prime ′ dagger † ddagger ‡ top ⊤ bot ⊥ models ⊨ "
    "vdash ⊢ triangleq ≜ coloneqq ≔ lesssim ≲ gtrsim ≳ prec ≺ succ ≻ preceq ⪯ succeq ⪰ "
    "square □ blacksquare ■ triangle △ degree ° lbrace { rbrace } { { } } % % & & # # $ $ _ _ "
    "colon : backslash \\ checkmark ✓ bigvee ⋁ bigwedge ⋀ bigoplus ⨁ bigotimes ⨂ coprod ∐ iint ∬ "
    "succsim ≿ precsim ≾ Longrightarrow ⟹ Longleftarrow ⟸ Longleftrightarrow ⟺ longmapsto ⟼ "
    "longleftrightarrow ⟷ hookrightarrow ↪ rightharpoonup ⇀ leadsto ⇝ dashv ⊣ Vdash ⊩ because ∵ "
    "therefore ∴ bowtie ⋈ amalg ⨿ uplus ⊎ sqcup ⊔ sqcap ⊓ sqsubseteq ⊑ sqsupseteq ⊒ nsubseteq ⊈ "
    "subsetneq ⊊ complement ∁ gets ← lt < gt > asymp ≍ doteq ≐ bigcirc ○ diamond ⋄ lozenge ◊"
)
SPACES: Final = frozenset(
    (" ", ",", ";", ":", ">", "quad", "qquad", "enspace", "enskip", "thinspace", "space", "\n")
)
NAMES: Final = frozenset(  # functions that are written by their own name
    "log ln exp sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan max min sup inf lim"
    " limsup liminf arg det dim ker deg gcd Pr hom mod bmod".split()
)
_ACCENTS: Final = MappingProxyType(
    {
        "`": "\u0300",
        "'": "\u0301",
        "^": "\u0302",
        "~": "\u0303",
        "=": "\u0304",
        "u": "\u0306",
        ".": "\u0307",
        '"': "\u0308",
        "r": "\u030a",
        "H": "\u030b",
        "v": "\u030c",
        "d": "\u0323",
        "c": "\u0327",
        "k": "\u0328",
        "b": "\u0331",
    }
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
_UNSEEN: Final = {  # commands that leave no sign, and the arguments that go with them
    "label": "{",
    "tag": "{",
    "hspace": "{",
    "vspace": "{",
    "color": "{",
    "textcolor": "{",
    "phantom": "{",
    "vphantom": "{",
    "hphantom": "{",
    "rule": "[{{",
}
_DROPPED: Final = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle limits"
    " nolimits displaystyle textstyle scriptstyle scriptscriptstyle nonumber notag mathrm mathbf"
    " mathit mathsf mathtt mathcal mathbb mathfrak mathscr mathnormal boldsymbol bm bf rm it cal"
    " text textrm textbf textit texttt textsf textnormal mbox hbox operatorname hat widehat bar"
    " overline underline tilde widetilde vec dot ddot check breve acute grave mathring overbrace"
    " underbrace stackrel overset underset substack ensuremath centering boldmath"
    " unboldmath emph mathop mathbin mathrel mathord rlap llap smash".split()
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
        elif name in SPACES or name == "\\":
            self._into.decode(" ", start, end)
        elif name in MATH:
            self._into.decode(MATH[name], start, end)
            if name == "sqrt":
                self._wrap(end, "(", ")")
        elif name in NAMES or (name.isalpha() and name not in _DROPPED):
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
