"""Names as written: where they begin and end, which words are only dress; names of people."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

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


class Gender(StrEnum):
    """What a name or noun says about he and she."""

    MALE = "male"
    FEMALE = "female"


_MALE_TITLES: Final = frozenset("mr mister sir lord king prince father brother pope baron".split())
_FEMALE_TITLES: Final = frozenset(
    "mrs ms miss madam dame lady queen princess sister mother baroness".split()
)
_PLAIN_TITLES: Final = frozenset(
    """dr doctor prof professor president vice senator sen representative rep congressman
    congresswoman governor gov mayor minister secretary chancellor ambassador judge justice
    general gen colonel col captain capt major maj lieutenant lt sergeant sgt admiral commander
    rev reverend rabbi bishop archbishop cardinal imam chairman chairwoman chief ceo cto cfo
    coach officer detective saint emperor""".split()
)
_TITLES: Final = _MALE_TITLES | _FEMALE_TITLES | _PLAIN_TITLES
_ADDRESS: Final = frozenset("mr mister mrs ms miss madam sir dame dr doctor prof professor".split())
_SUFFIXES: Final = frozenset("jr sr ii iii iv phd md esq cpa mba".split())
_PARTICLES: Final = frozenset(
    "van von de der den del della di da dos du la le el al bin ibn ben ter ten zu y e".split()
)
_NAME_WORD = re.compile(r"^(?:[^\W\d_][.’'-]?)+$")

# Given names whose bearers are, in English prose, nearly all of one gender. Names in wide use for
# both (Alex, Andrea, Jordan, Kim, Robin, Taylor, Wei) are left out on purpose.
_MALE: Final = frozenset(
    """aaron abraham adam adrian ahmed alan albert alexander alfred ali andrew anthony antonio
    arthur benjamin bernard bill bob boris brad brandon brian bruce carl carlos charles chris
    christopher christoph craig dan daniel dave david dennis dick donald doug douglas dwight
    ed edgar edmund edward edwin elijah eric ernest eugene felix ferdinand francisco
    frank franklin fred frederick friedrich gary geoffrey george gerald giovanni giuseppe gordon
    greg gregory guillermo gustav hans harold harry heinrich henri henry herbert herman howard hugh
    ian igor isaac ivan jack jacob jacques jake james jason jeff jeffrey jeremy jerry jim
    joachim joe johann johannes john jon jonathan jose joseph joshua juan julius karl keith ken
    kenneth kevin klaus kurt lars larry lawrence leo leonard leonardo lewis louis ludwig luis luke
    malcolm manuel marco marcus mark martin matt matthew max michael miguel mike mohamed mohammed
    muhammad nathan nathaniel neil nelson nicholas nick nikola niels oliver oscar otto
    pablo patrick paul pedro peter phil philip philippe pierre rafael ralph raymond ricardo richard
    rick rob robert roberto rodney roger ron ronald roy rudolf russell ryan samuel scott sean
    sergei simon stanley stefan stephen steve steven stuart ted terry theodore thomas tim
    timothy tobias todd tom tony trevor victor vincent vladimir volker walter warren wayne werner
    wilhelm will william winston wolfgang""".split()
)
_FEMALE: Final = frozenset(
    """abigail ada adele agnes aisha alexandra alice alicia alison amanda amelia amy angela anita
    ann anna anne annette annie annika barbara beatrice becky bertha beth betty brenda brigitte
    caitlin camilla carla carmen carol caroline carolyn catherine cathy cecilia charlotte cheryl
    christina christine cindy claire clara claudia colleen cynthia daniela deborah debra denise
    diana diane donna doris dorothy edith eileen elaine eleanor elena elisabeth elizabeth ellen elsa
    emily emma erica esther eva eve evelyn fatima fiona florence frances francesca gabriela
    geraldine gertrude gina gloria grace greta hannah harriet heather heidi helen helena hilary
    hillary hilda holly ingrid irene isabel isabella jacqueline jane janet janice jeanne jennifer
    jenny jessica jill joan joanna josephine joyce judith judy julia julie karen karin kate
    katherine kathleen kathryn kathy katie kimberly kristen laura lauren leah lena lillian lily
    linda lisa liz louise lucia lucy lydia madeleine maggie margaret margot maria marie marilyn
    marissa marjorie martha mary matilda melanie melinda melissa mercedes michelle mildred miranda
    miriam molly monica monique nadia nancy naomi natalie nathalie nicole nina nora olga olivia
    pamela patricia paula pauline penelope phyllis priya rachel rebecca rosa rosalind rose ruth
    sabine sally samantha sandra sara sarah serena sharon sheila sheryl shirley simone sofia
    sonia sophia sophie stella stephanie sue susan suzanne sylvia tamara teresa theresa tina
    ursula valerie vanessa vera veronica victoria virginia vivian wendy yolanda yvonne
    zoe""".split()
)


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
