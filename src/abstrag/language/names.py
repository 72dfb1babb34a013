"""Names as written: where they begin and end, which words are only dress; names of people."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from abstrag.files import read_data_file
from abstrag.language.spelling import plain

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


_LISTS: Final = read_data_file("abstrag.language", "names.toml")
# A legal form never tells what a company is called. A house word often belongs to the name, so it
# is dropped only where the text itself drops it.
_LEGAL: Final[dict[str, str]] = _LISTS["legal_forms"]
_HOUSE: Final[dict[str, str]] = _LISTS["house_words"]
# Of the forms that a name may end in, those that nothing but a company has.
_COMPANY_FORMS: Final = frozenset("company corp gmbh inc kgaa llc ltd pbc plc pty".split())
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


def names_company(name: str) -> bool:
    """True when the form at the end of a name says that it is a company's."""
    return not _COMPANY_FORMS.isdisjoint(house_form(name)[1].split())


def _split(name: str, forms: dict[str, str]) -> tuple[str, str]:
    found: list[str] = []
    while match := _LAST_WORD.match(name):
        form = forms.get(_letters(match["last"]))
        if form is None or (not match["last"][0].isupper() and form not in ("plc", "pbc")):
            break
        found.insert(0, form)
        name = match["base"].rstrip(" ,")
    return name, " ".join(found)


class Gender(StrEnum):
    """What a name or noun says about he and she."""

    MALE = "male"
    FEMALE = "female"


def _listed(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


_MALE_TITLES: Final = _listed("male_titles")
_FEMALE_TITLES: Final = _listed("female_titles")
_TITLES: Final = _MALE_TITLES | _FEMALE_TITLES | _listed("titles")
_ADDRESS: Final = _listed("address")
_SUFFIXES: Final = _listed("suffixes")
_PARTICLES: Final = _listed("particles")
_MALE: Final = _listed("male_names")
_FEMALE: Final = _listed("female_names")
_NAME_WORD = re.compile(r"^(?:[^\W\d_][.’'-]?)+$")


def gender_of(first_name: str) -> Gender | None:
    """Return the gender nearly all bearers of a folded first name have."""
    if first_name in _MALE:
        return Gender.MALE
    return Gender.FEMALE if first_name in _FEMALE else None


@dataclass(frozen=True, slots=True)
class PersonName:
    """A person's name in parts, folded to lower case; `given` may hold initials or be empty."""

    titles: tuple[str, ...]
    given: tuple[str, ...]
    surname: str
    suffix: str

    @property
    def gender(self) -> Gender | None:
        """What the title says, or else the first name."""
        for title in self.titles:
            if title in _MALE_TITLES or title in _FEMALE_TITLES:
                return Gender.MALE if title in _MALE_TITLES else Gender.FEMALE
        return gender_of(self.given[0]) if self.given else None

    def may_be(self, other: PersonName) -> bool:
        """True when nothing in the two names keeps them from being one person's."""
        if self.surname != other.surname or (
            self.gender is not other.gender and self.gender and other.gender
        ):
            return False
        if self.suffix != other.suffix and self.given and other.given:
            return False
        pairs = zip(self.given, other.given, strict=False)
        return all(a == b or ((len(a) == 1 or len(b) == 1) and a[0] == b[0]) for a, b in pairs)

    def is_plainly(self, other: PersonName) -> bool:
        """True for full names that differ by titles and middle initials at most."""
        mine, yours = ([g for g in p.given[1:] if len(g) > 1] for p in (self, other))
        spelled = all(p.given and len(p.given[0]) > 1 for p in (self, other))
        return spelled and self.may_be(other) and mine == yours


def person_name(surface: str) -> PersonName | None:
    """Read a surface as a person's name, or return None when it cannot be one."""
    words = [w.strip(",") for w in surface.split()]
    if not words or not all(_NAME_WORD.match(w) for w in words):
        return None
    folded = [plain(w).casefold().replace(".", "") for w in words]
    titles = 0
    while titles < len(folded) - 1 and folded[titles] in _TITLES:
        titles += 1
    last = len(folded)
    while last - 1 > titles and folded[last - 1] in _SUFFIXES:
        last -= 1
    if not words[last - 1][:1].isupper() or len(folded[last - 1]) < 2:
        return None
    given = tuple(w for w in folded[titles : last - 1] if w not in _PARTICLES)
    return PersonName(tuple(folded[:titles]), given, folded[last - 1], " ".join(folded[last:]))


def title_before(text: str, start: int) -> int:
    """Return where the titles begin that stand directly before `text[start:]`, or `start`."""
    while (found := _TITLE_BEFORE.search(text, max(0, start - 16), start)) and (
        found["title"].rstrip(".").casefold() in _TITLES
    ):
        start = found.start("title")
    return start


_TITLE_BEFORE = re.compile(r"(?<!\w)(?P<title>[A-Z][a-z]+\.?)\s+$")


def without_titles(name: str) -> str:
    """Drop forms of address, not offices: `Jane Smith` of `Dr. Jane Smith`."""
    words = name.split()
    while len(words) > 1 and words[0].rstrip(".").casefold() in _ADDRESS:
        del words[0]
    return " ".join(words)
