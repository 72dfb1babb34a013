"""Finding what of a claim the evidence contradicts.

    differences("The model trained for one week.", ["It was trained for 3.5 days."])[0].text
    # "3.5 days, not one week"

Only sentences that are about the same thing are compared: they have most of the claim's content
words. What any of them says as the claim does is no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from abstrag.engine.contradictions.comparison import find_comparisons
from abstrag.engine.contradictions.dates import find_dates
from abstrag.engine.contradictions.figures import find_figures
from abstrag.engine.contradictions.parties import find_parties
from abstrag.engine.contradictions.polarity import find_negations
from abstrag.engine.contradictions.statement import Found, Statement, of_doc
from abstrag.language.parser import parse
from abstrag.model.answer import Difference, DifferenceKind

_RULES: Final[tuple[Callable[[Statement, Sequence[Statement]], list[Found]], ...]] = (
    find_figures,
    find_dates,
    find_negations,
    find_comparisons,
    find_parties,
)


def differences(claim: str, passages: Sequence[str]) -> tuple[Difference, ...]:
    """Return what differs between a claim and passages that bear on it, best first.

    Args:
        claim: what is said.
        passages: the evidence; a difference names its passage by number, from 1.
    """
    if not claim.strip() or not passages:
        return ()
    asked, *read = parse([claim, *passages])
    sentences = [
        (number, statement) for number, doc in enumerate(read, 1) for statement in of_doc(doc)
    ]
    found = [
        one
        for part in of_doc(asked)
        for rule in _RULES
        for one in rule(part, [statement for _, statement in sentences])
    ]
    return tuple(_difference(one, _where(one, sentences)) for one in found)


def _difference(found: Found, passage: int) -> Difference:
    return Difference(
        kind=found.kind,
        claim=found.claim,
        evidence=found.evidence,
        passage=passage,
        certain=found.certain,
        text=_told(found),
    )


def _told(found: Found) -> str:
    """Put a difference into words; stretches of several words stand in quotation marks."""
    if found.kind is DifferenceKind.NEGATION:
        return f"“{found.evidence}”, not “{found.claim}”"
    return f"{found.evidence}, not {found.claim}"


def _where(found: Found, sentences: Sequence[tuple[int, Statement]]) -> int:
    """Return the number of the passage that the evidence's words stand in."""
    first = found.evidence.split(" … ")[0]
    return next((n for n, s in sentences if first in " ".join(s.text.split())), 1)
