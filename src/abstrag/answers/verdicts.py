"""The local judge of claims: a small model's opinion, given only when it is sure.

Sure is not enough: it reads likeness well and figures badly. So an opinion is also held against
what can be checked, and not told where that speaks against it. Where rules see a contradiction
between claim and evidence, SUPPORTS is never said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Protocol

from abstrag.answers.citations import CitedPassage, figures
from abstrag.answers.contradictions.find import differences
from abstrag.answers.sentences import strangers
from abstrag.model.answer import Difference, Label, Verdict
from abstrag.model.document import Document
from abstrag.neural.verdict import default_verdict

LABELS: Final = (Label.SUPPORTS, Label.REFUTES, Label.NOT_ENOUGH_INFO)  # of the probabilities
BY: Final = "the local judge"
BY_RULES: Final = "a comparison with the evidence, word by word"
WEIGHED: Final = 5  # passages that the local judge was trained to read, best first
OPEN: Final = 0.5  # of NOT ENOUGH INFO from which on rules do not speak for an unsure judge
SIDE_FLOOR: Final = 0.3  # what the evidence judge has to give a passage that a side is taken on


class Verdicts(Protocol):
    """Says how probably evidence supports a claim, refutes it, or does neither."""

    @property
    def threshold(self) -> float:
        """The probability from which on its opinion is worth hearing."""
        ...

    def __call__(self, claim: str, evidence: Sequence[str]) -> tuple[float, float, float]:
        """Return the probabilities of SUPPORTS, REFUTES and NOT ENOUGH INFO."""
        ...


def installed_verdicts() -> Verdicts:
    """Return the packaged judge of claims."""
    return default_verdict()


def opinion(verdicts: Verdicts, claim: str, evidence: Sequence[str]) -> Verdict | None:
    """Return the likeliest label, None when the judge is not sure enough of it."""
    return _sure(verdicts(claim, evidence), verdicts.threshold)


def _sure(told: Sequence[float], threshold: float) -> Verdict | None:
    best = max(range(len(LABELS)), key=lambda i: told[i])
    if told[best] < threshold:
        return None
    return Verdict(LABELS[best], BY, confidence=round(min(1.0, told[best]), 6))


def compared(claim: str, passages: Sequence[CitedPassage]) -> tuple[Difference, ...]:
    """Return what differs between a claim and the passages that are evidence enough for a side."""
    good = [p for p in passages if p.hit.judgement is None or p.hit.judgement >= SIDE_FLOOR]
    found = differences(claim, [passage.text for passage in good])
    return tuple(replace(one, passage=good[one.passage - 1].number) for one in found)


def ruled(
    told: tuple[float, float, float], threshold: float, found: Sequence[Difference]
) -> tuple[Verdict | None, str | None]:
    """Return what to say given the judge's probabilities and what rules see, or why nothing.

    Over a difference SUPPORTS is never said: a certain one refutes the claim, with any other
    the judge abstains. Where the judge is unsure, a certain difference decides, unless the judge
    leans to NOT ENOUGH INFO.
    """
    verdict = _sure(told, threshold)
    certain = any(one.certain for one in found)
    if verdict is None:
        open_ = told[LABELS.index(Label.NOT_ENOUGH_INFO)] >= OPEN
        return (Verdict(Label.REFUTES, BY_RULES), None) if certain and not open_ else (None, None)
    if verdict.label is not Label.SUPPORTS or not found:
        return verdict, None
    if certain:
        return Verdict(Label.REFUTES, BY_RULES), None
    return None, f"the evidence says {found[0].text}"


def forced(told: tuple[float, float, float], found: Sequence[Difference]) -> Label:
    """Return the label of a judge that may not abstain; where rules differ it is not SUPPORTS."""
    if any(one.certain for one in found) and told[0] == max(told):
        return Label.REFUTES
    first = 1 if found else 0
    return LABELS[max(range(first, len(LABELS)), key=lambda i: told[i])]


def objection(
    verdict: Verdict, claim: str, passages: Sequence[CitedPassage], document: Document
) -> str | None:
    """Say what speaks against telling an opinion; None when nothing does.

    No side is taken on passages that hardly are evidence, and none in favour of a claim whose
    figures the passages do not state or whose names the document does not know.
    """
    if verdict.label is Label.NOT_ENOUGH_INFO:
        return None
    judged = [p.hit.judgement for p in passages if p.hit.judgement is not None]
    if judged and max(judged) < SIDE_FLOOR:
        return "no passage is evidence enough to take a side"
    if verdict.label is Label.REFUTES:
        return None
    known = " ".join((document.metadata.date or "", *_told(passages)))
    if strange := sorted(figures(claim) - figures(known)):
        return f"the passages do not state {', '.join(strange)}"
    if unknown := strangers([passage.hit for passage in passages], document):
        return f"the document never mentions {', '.join(unknown)}"
    return None


def _told(passages: Sequence[CitedPassage]) -> Iterator[str]:
    """Everything that is said in passages and above them."""
    for passage in passages:
        yield passage.text
        yield from passage.segment.section
