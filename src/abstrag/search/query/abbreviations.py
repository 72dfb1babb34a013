"""Abbreviations of a query that documents write out, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from abstrag.search.query.finance import finance_terms

_LINKS: Final = frozenset("a an and before by for in of on or per the to".split())


class Abbreviated(NamedTuple):
    """An abbreviation or a long form at `text[start:end]`, and everything it is called."""

    start: int
    end: int
    forms: tuple[str, ...]  # as written here first, then the short form and the long ones
    words: tuple[str, ...]  # content words of the first long form


_Known = dict[str, tuple[str, tuple[str, ...]]]


@lru_cache(maxsize=4)
def _forms(listed: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[re.Pattern[str], _Known]:
    known: _Known = {}
    for short, longs in listed:
        known.setdefault(short, (short, longs))
        for long in longs:
            known.setdefault(long.casefold(), (short, longs))
    ordered = sorted(known, key=lambda form: (-len(form), form))
    shorts = "|".join(re.escape(f) for f in ordered if " " not in f and "-" not in f)
    longs_ = "|".join(re.escape(f) for f in ordered if " " in f or "-" in f)
    return re.compile(rf"(?<![\w&-])(?:{shorts}|(?i:{longs_})s?)(?![\w&-])"), known


def abbreviated(text: str) -> Iterator[Abbreviated]:
    """Go through the abbreviations and long forms of a text."""
    listed = finance_terms().abbreviations
    if not listed:
        return
    pattern, known = _forms(tuple(listed.items()))
    for found in pattern.finditer(text):
        written = found.group()
        folded = written.casefold()
        entry = known.get(written) or known.get(folded) or known[folded.removesuffix("s")]
        short, longs = entry
        words = [w for w in re.split(r"[\s,'-]+", longs[0]) if w not in _LINKS and len(w) > 1]
        forms = tuple(dict.fromkeys((written, short, *longs)))
        yield Abbreviated(found.start(), found.end(), forms, tuple(words))
