"""Names as written: where a name begins and ends, and which of its words are only dress."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

_LEAD = re.compile(
    r"(?:[^\w(]+|(?i:the|a|an)\s+|(?:BACKGROUND|METHODS?|RESULTS?|CONCLUSIONS?|OBJECTIVES?|PURPOSE"
    r"|AIMS?|DESIGN|SETTING|FINDINGS|INTERPRETATION|IMPORTANCE|LIMITATIONS)[\s:.]+)+"
)
_TAIL = re.compile(
    r"(?:\s+|['’]s?|[\"“”«»,;:!?*†‡§¹²³⁰-⁹\u2014–-]+|\.?\s*\[[\d,\s–-]*\]?|\(|\$?\^\{?[\d,\s]+\}?\$?"
    r"|\s+et\s+al\.?)$"
)
_STOP = re.compile(r"(?<![.\s])\.$")
_ABBREVIATION = re.compile(
    r"(?:\b\w\.|\b(?:Inc|Corp|Co|Ltd|Bros|Jr|Sr|St|Ph\.D|M\.D|No|Dept|vs)\.)$"
)

# Words a document uses for its own parts; a "name" made of them names nothing.
_PART: Final = (
    r"tables?|tab|figures?|figs?|sections?|sec|appendi(?:x|ces)|equations?|eqs?|chapters?|algorithm"
    r"|theorem|lemma|proposition|corollary|definition|example|exhibit|note|item|part|page|step"
)
_LAYOUT = re.compile(
    rf"(?:(?:{_PART})\b\.?\s*[\dA-Za-z]?[\d.-]*(?:\(\w\))?"
    r"|background|methods?|results?|conclusions?|objectives?|purpose|aims?|introduction|abstract"
    r"|discussion|findings|interpretation|references|acknowledg\w+|dataset|et al\.?)$",
    re.IGNORECASE,
)
# mark-up, formulas, addresses, placeholders that text extraction leaves for them, and lists
_NOISE = re.compile(
    r"[\\{}$=<>|_^@#~]|https?:|www\.|\b(?:(?:BIB|SEC|TAB|FIG|EQ)REF|(?:INLINE|DISPLAY)FORM)\d|[,;].*[,;]"
)
_TWICE = re.compile(r"(.{3,})\s+\1$", re.IGNORECASE)
_NOT_LETTER = re.compile(r"\W")
_SHORTEST: Final = 2
_LONGEST: Final = 80


def trim(surface: str) -> tuple[int, int]:
    """Return the part of a surface that is the name.

    Quotes, bullets, a leading article, a closing possessive and footnote marks go:
    `trim("the ‘Acme Corp.’s") == (5, 15)`.
    """
    lead = _LEAD.match(surface)
    start, end = lead.end() if lead else 0, len(surface)
    while start < end:
        rest = surface[start:end]
        if tail := _TAIL.search(rest):
            end = start + tail.start()
        elif _STOP.search(rest) and not _ABBREVIATION.search(rest):
            end -= 1
        else:
            break
    return start, max(start, end)


def nameable(name: str) -> bool:
    """True when a trimmed surface can be a name at all: no mark-up, no citation, no layout word."""
    return (
        _SHORTEST <= len(name) <= _LONGEST
        and any(c.isupper() for c in name)
        and name.count("(") == name.count(")")
        and not _NOISE.search(name)
        and not _TWICE.match(name)
        and not _LAYOUT.match(name)
        and _letters(name) not in _LEGAL
    )


def _letters(word: str) -> str:
    return _NOT_LETTER.sub("", word).casefold()


# A legal form never tells what a company is called. A house word often belongs to the name, so it
# is dropped only where the text itself drops it.
_LEGAL: Final = MappingProxyType(
    {
        "inc": "inc",
        "incorporated": "inc",
        "corp": "corp",
        "ltd": "ltd",
        "limited": "ltd",
        "llc": "llc",
        "llp": "llp",
        "lp": "lp",
        "plc": "plc",
        "pbc": "pbc",
        "gmbh": "gmbh",
        "ag": "ag",
        "se": "se",
        "sa": "sa",
        "nv": "nv",
        "bv": "bv",
        "ab": "ab",
        "oy": "oy",
        "spa": "spa",
        "pty": "pty",
        "kk": "kk",
        "sarl": "sarl",
        "kgaa": "kgaa",
    }
)
_HOUSE: Final = MappingProxyType(
    {
        "co": "company",
        "company": "company",
        "corporation": "corp",
        "group": "group",
    }
)
_NEXT_WORD = re.compile(r",?\s(?P<word>[A-Z](?:(?:\.[A-Z])+\.?|[A-Za-z]*\b\.?))")
_LAST_WORD = re.compile(r"^(?P<base>.*\w[)'’]?)(?:,\s*|\s+)(?:&\s+)?(?P<last>[A-Za-z][A-Za-z./]*)$")


def legal_form(name: str) -> tuple[str, str]:
    """Split a company name into what it is called and its legal form: `("Acme", "inc")`."""
    return _split(name, _LEGAL)


def legal_form_end(text: str, end: int) -> int:
    """Return where a name that ends at `end` ends together with the legal form that follows."""
    following = _NEXT_WORD.match(text, end)
    return following.end() if following and _letters(following["word"]) in _LEGAL else end


def house_form(name: str) -> tuple[str, str]:
    """Split off legal form and house word: `("Acme", "company ltd")` for `Acme Company Ltd.`."""
    base, legal = legal_form(name)
    base, house = _split(base, _HOUSE)
    return base, " ".join(filter(None, (house, legal)))


def _split(name: str, forms: MappingProxyType[str, str] | dict[str, str]) -> tuple[str, str]:
    found: list[str] = []
    while match := _LAST_WORD.match(name):
        form = forms.get(_letters(match["last"]))
        if form is None or (not match["last"][0].isupper() and form not in ("plc", "pbc")):
            break
        found.insert(0, form)
        name = match["base"].rstrip(" ,")
    return name, " ".join(found)
