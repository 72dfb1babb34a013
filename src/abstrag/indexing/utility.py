"""U(s | D) = α·U_L(s) + NovMass(s)·AsrtMass(s), the query-independent prior (Eq. 1, appendix B).

It is computed when a document is indexed, because nothing in it depends on a query.

An abstract is a paper in small: it sets the scene, says what was done, then what came of it. Its
sentences carry no headings, so their place stands in for the role they play: what an opening
sentence states is setting, and both its layout weight and its assertedness are cut.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from abstrag.config import ALPHA, W_L, W_L_DEFAULT
from abstrag.documents.header import HeaderKind, header_line
from abstrag.errors import InputError
from abstrag.language.words import key
from abstrag.model.document import Genre
from abstrag.model.index import Statement, StatementKind, Utility
from abstrag.model.segment import Segment, SegmentKind, SegmentRole

Schedule = Mapping[str, float]

VERSION: Final = 5  # an index made with another prior is made again
# Of an abstract: up to three tenths of the way it sets the scene, from six tenths on it reports.
_SETTING_ENDS: Final = 0.3
_REPORT_BEGINS: Final = 0.6
_SETTING: Final = 0.02  # what is left of the utility of a sentence that only sets the scene
_LEAST: Final = 4  # sentences; fewer have no order to go by
_DATE: Final = 1e-6  # what is left of the utility of a line that only gives a date
_DATE_LINE: Final = 60  # characters of one at most
_PROSE: Final = frozenset({SegmentKind.SENTENCE, SegmentKind.PARAGRAPH})


def layout_weight(role: SegmentRole, genre: Genre, schedule: Schedule | None = None) -> float:
    """Return U_L: the weight of a role, from the user's schedule or the genre's."""
    return (schedule or W_L[genre]).get(role, W_L_DEFAULT[genre])


def utilities(
    segments: Sequence[Segment],
    statements: Sequence[tuple[Statement, ...]],
    genre: Genre,
    *,
    known: Iterable[str] = (),
    alpha: float = ALPHA,
    schedule: Schedule | None = None,
) -> tuple[Utility, ...]:
    """Return U for every segment; `known` are the phrases of B that are no news."""
    novelty = novelty_against(known, [s.text for s in segments])
    nov = [
        sum(
            novelty(i, x) * x.trust
            for x in own
            if x.kind in (StatementKind.CLAIM, StatementKind.PROPERTY)
        )
        for i, own in enumerate(statements)
    ]
    asrt = [
        sum(x.assertedness * x.trust for x in own if x.kind is StatementKind.CLAIM)
        for own in statements
    ]
    z_nov, z_asrt = max(nov, default=0.0) or 1.0, max(asrt, default=0.0) or 1.0
    reported = [
        _DATE * r if _only_dates(s) else r
        for s, r in zip(segments, rhetoric(segments, genre), strict=True)
    ]
    return tuple(
        _utility(r * layout_weight(s.role, genre, schedule), n / z_nov, r * a / z_asrt, alpha)
        for s, n, a, r in zip(segments, nov, asrt, reported, strict=True)
    )


def rhetoric(segments: Sequence[Segment], genre: Genre) -> tuple[float, ...]:
    """Return how far each segment reports rather than sets the scene; 1 outside of abstracts."""
    weights = [1.0] * len(segments)
    prose = [i for i, s in enumerate(segments) if s.kind in _PROSE]
    if genre is not Genre.ABSTRACT_ONLY or len(prose) < _LEAST:
        return tuple(weights)
    for place, i in enumerate(prose):
        way = place / (len(prose) - 1)
        told = (way - _SETTING_ENDS) / (_REPORT_BEGINS - _SETTING_ENDS)
        weights[i] = _SETTING + (1.0 - _SETTING) * min(1.0, max(0.0, told))
    return tuple(weights)


def _only_dates(segment: Segment) -> bool:
    """True for a line that gives a date and says nothing: "Sunday, 6 October 2019"."""
    line = header_line(segment.text) if len(segment.text) <= _DATE_LINE else None
    return line is not None and line.kind is HeaderKind.DATE


def novelty_against(
    known: Iterable[str], texts: Sequence[str]
) -> Callable[[int, Statement], float]:
    """Return Nov(x | B): the share of a statement's words that no known phrase of B covers."""
    phrases = sorted({k for k in map(key, known) if k}, key=lambda k: (-len(k), k))
    if not phrases:
        return lambda _segment, _statement: 1.0
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, phrases)) + r")\b")

    def novelty(segment: int, statement: Statement) -> float:
        text = key(texts[segment][statement.start : statement.end])
        words = len(text.split())
        return len(pattern.sub(" ", text).split()) / words if words else 0.0

    return novelty


def _utility(layout: float, novelty: float, assertedness: float, alpha: float) -> Utility:
    value = alpha * layout + novelty * assertedness
    return Utility(round(value, 6), round(layout, 6), round(novelty, 6), round(assertedness, 6))


def calibrate(ratings: str | Path) -> Schedule:
    """Turn a file of centrality ratings into a layout-role schedule (appendix K).

    One JSON object a line: `{"paper": ..., "section": ..., "role": ..., "rating": 0.0 to 1.0}`,
    several ratings a section. A section's ratings are averaged, then the sections of a role
    within a paper, then the papers that have the role.
    """
    by_section: dict[tuple[str, str, SegmentRole], list[float]] = defaultdict(list)
    for number, line in enumerate(Path(ratings).read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            paper, section, role = row["paper"], row["section"], SegmentRole(row["role"])
            rating = float(row["rating"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{ratings}, line {number}: not a rating: {error}") from error
        if not 0.0 <= rating <= 1.0:
            raise InputError(f"{ratings}, line {number}: rating {rating} is not in 0 to 1")
        by_section[paper, section, role].append(rating)
    by_paper: dict[tuple[str, SegmentRole], list[float]] = defaultdict(list)
    for (paper, _, role), values in sorted(by_section.items()):
        by_paper[paper, role].append(sum(values) / len(values))
    by_role: dict[SegmentRole, list[float]] = defaultdict(list)
    for (_, role), values in sorted(by_paper.items()):
        by_role[role].append(sum(values) / len(values))
    return MappingProxyType({r: round(sum(v) / len(v), 4) for r, v in sorted(by_role.items())})
