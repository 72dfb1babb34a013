"""Annual reports that are no form of an agency: who reports, for which year.

Their first page shows little more than "Annual Report 2022", often without the company: that one is
named all over the report, with its legal form. So is the day on which the year ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from abstrag.documents.cover import Cover, cover_lines, read_cover
from abstrag.documents.dates import find_date
from abstrag.model.document import Block

ANNUAL: Final = "annual report"
INTERIM: Final = "interim report"
_KIND: Final = re.compile(
    r"\b(?:(?P<interim>half[\s-]+year(?:ly)?|interim)|annual|integrated|preliminary\s+final)\s+"
    r"(?:financial\s+|integrated\s+)?report\b|\b(?:annual\s+)?report\s+(?:and|&)\s+(?:annual\s+)?"
    r"(?:accounts|financial\s+statements)\b|\bfinancial\s+report\s+\d|\bannual\s+accounts\b",
    re.IGNORECASE,
)
_LEGAL: Final = (
    r"(?:Limited|LIMITED|Ltd\.?|LTD\.?|[Pp]lc|PLC|Inc\.?|INC\.?|Incorporated|Corporation|CORPORATION"
    r"|Corp\.?|CORP\.?|AG|Aktiengesellschaft|SE|S\.?A\.?|N\.?V\.?|ASA|AB|Oyj|A/S"
    r"|S\.p\.A\.|GmbH|KGaA|K\.K\.|L\.?L\.?C\.?|L\.?P\.?)"
)
_NAME: Final = re.compile(
    rf"(?<![\w@.])(?:[A-Z][\w&’'-]*|\d\w*|[a-z]{{2,}}(?=\s[A-Z]\w+\s[A-Z]))"
    rf"(?:\s+(?:[A-Z][\w&’'.-]*|&|of|and|\([A-Z][\w ]*\))){{0,5}}?,?\s+{_LEGAL}(?![\w-])"
)
_NOT_OURS: Final = re.compile(  # auditors, registrars and exchanges
    r"\b(?:KPMG|Deloitte|Pricewaterhouse\w*|PwC|Ernst|EY|Grant\s+Thornton|BDO|RSM|PKF|Crowe|Mazars|"
    r"Computershare|Link\s+(?:Market|Group)|Boardroom|Automic|Stock\s+Exchange|Securities\s+Exchange|"
    r"ASX|NASDAQ|Nasdaq|NYSE|Trustee|Registr\w+|Moody|Fitch|Capital\s+Markets|Partners\s+LLP|"
    r"Private|Holding\s+Company|Parent|Group\s+Company|The\s+Company)\b"
)
_LEADING: Final = frozenset(
    "the of in at for by to with and from annual report reports directors board members group our "
    "this that a an on as shares ordinary formerly known company".split()
)
_ENDED: Final = re.compile(
    r"\b(?P<kind>(?:financial\s+|fiscal\s+)?(?:half[\s-]+)?year|5[23]\s+weeks|six\s+months)\s+"
    r"(?:ended|ending|to)\s+(?P<date>[A-Za-z]+\s+\d{1,2},?\s+20\d\d|\d{1,2}\s+[A-Za-z]+,?\s+20\d\d)",
    re.IGNORECASE,
)
_THROUGH: Final = re.compile(  # as reports of Europe say it
    r"\b(?:1\s+January|January\s+1)\s*(?:,?\s*20\d\d)?\s*(?:to|until|–|-)\s*"
    r"(?P<date>31\s+December,?\s+20\d\d|December\s+31,?\s+20\d\d)"
    r"|\bas\s+(?:at|of)\s+(?P<at>31\s+December,?\s+20\d\d|30\s+June,?\s+20\d\d)",
    re.IGNORECASE,
)
_CAPITAL: Final = re.compile(r"\b[A-Z]\w+")
_YEAR: Final = re.compile(r"\b20\d\d\b")
_SHORT: Final = 120  # words of a first page that is a cover and nothing else
_LINE: Final = 12  # words of a line that names the report, on a page with more on it
_TOP: Final = 4  # lines of a text without pages that are its cover
_PAGES: Final = 2  # that may be the cover
_BODY: Final = 60_000  # characters in which the company and the year are looked for
_FEWEST: Final = 3  # times that a company is spoken of which the cover does not name
_SHARE: Final = 12  # times that one is spoken of, at most, for each time it is named in full


def cover_of(text: str, blocks: Sequence[Block]) -> Cover | None:
    """Return what a document's cover states: of a form, a release or an annual report."""
    lines = cover_lines(text, blocks)
    return read_cover(lines) or read_annual_report(lines, text, blocks)


def read_annual_report(lines: Sequence[str], text: str, blocks: Sequence[Block]) -> Cover | None:
    """Return who reports and for which year, None for what is no annual report.

    Args:
        lines: Those of the first page.
        text: The whole document's.
        blocks: The whole document's.
    """
    if not (blocks and blocks[0].page):
        lines = lines[:_TOP]
    body = " ".join(text[:_BODY].split())
    ends = Counter((m["kind"].casefold(), m["date"]) for m in _ENDED.finditer(body))
    ends = ends or Counter(("year", m["date"] or m["at"]) for m in _THROUGH.finditer(body))
    kind = next((found for page in _front(lines, blocks) if (found := _kind(page))), "")
    if not kind or not ends:
        return None
    short = [" ".join(line.split()) for line in lines if len(line.split()) <= _LINE]
    front = " ".join(short)
    years = {int(year) for year in _YEAR.findall(front)}
    told = Counter({end: n for end, n in ends.items() if not years or _year(end[1]) in years})
    (said, day), _ = (told or ends).most_common(1)[0]
    end = find_date(day)
    period = f"{' '.join(said.split())} ended {' '.join(day.split())}"
    return Cover(_company(front, body), kind, period, end.iso if end else "")


def _front(lines: Sequence[str], blocks: Sequence[Block]) -> list[list[str]]:
    """Return the lines of the pages that may be the cover; the second, if the first is bare."""
    pages = [list(lines)]
    if blocks and blocks[0].page and sum(len(line.split()) for line in lines) < _LINE:
        after = [b.text for b in blocks if b.page and 1 < b.page <= _PAGES]
        pages.append(after[:20])
    return pages


def _kind(lines: Sequence[str]) -> str:
    """Return what a page calls the report, empty for a page that is no cover of one."""
    words = sum(len(line.split()) for line in lines)
    named = [" ".join(lines)] if words <= _SHORT else [n for n in lines if len(n.split()) <= _LINE]
    found = next((m for line in named if (m := _KIND.search(" ".join(line.split())))), None)
    if found is None:
        return ""
    return INTERIM if found["interim"] else ANNUAL


def _company(front: str, body: str) -> str:
    """Return the company that the cover names, else the one that the report speaks of most.

    A report names others as well, such as those its directors serve. Of its own it speaks without
    the legal form too, so the first word of the name is counted.
    """
    often = Counter(name for m in _NAME.finditer(body) if (name := _bare(m.group())))
    words = Counter(word.casefold() for word in _CAPITAL.findall(body))  # "ventures" is no name
    full = Counter[str]()
    for name, count in often.items():
        full[name.casefold()] += count

    def spoken_of(name: str) -> int:
        word = re.findall(r"\w+", name.casefold())[0]
        return min(words[word] or full[name.casefold()], _SHARE * full[name.casefold()])

    shown = [name for m in _NAME.finditer(front) if (name := _bare(m.group()))]
    if shown:
        return max(shown, key=lambda name: (spoken_of(name), -shown.index(name)))
    best = max(often, key=lambda name: (spoken_of(name), often[name]), default="")
    return best if best and spoken_of(best) >= _FEWEST else ""


def _bare(name: str) -> str:
    """Return a name without the words of a sentence before it, empty if it is none of a filer."""
    words = name.split()
    while words and (words[0].casefold().strip(".,") in _LEADING or _YEAR.fullmatch(words[0])):
        words = words[1:]
    bare = " ".join(words)
    return "" if len(words) < 2 or _NOT_OURS.search(bare) else bare


def _year(day: str) -> int:
    return int(_YEAR.findall(day)[-1])
