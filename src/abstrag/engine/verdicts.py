"""The local judge of claims: a small model's opinion, given only when it is sure.

Sure is not enough: it reads likeness well and figures badly. So an opinion is also held against
what can be checked, and not told where that speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from abstrag.engine.citations import Passage, figures
from abstrag.engine.extractive import strangers
from abstrag.model.answer import Label, Verdict
from abstrag.model.document import Document
from abstrag.neural.verdict import default_verdict

LABELS: Final = (Label.SUPPORTS, Label.REFUTES, Label.NOT_ENOUGH_INFO)  # of the probabilities
BY: Final = "the local judge"
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
    told = verdicts(claim, evidence)
    best = max(range(len(LABELS)), key=lambda i: told[i])
    if told[best] < verdicts.threshold:
        return None
    return Verdict(LABELS[best], BY, confidence=round(min(1.0, told[best]), 6))


def objection(
    verdict: Verdict, claim: str, passages: Sequence[Passage], document: Document
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


def _told(passages: Sequence[Passage]) -> Iterator[str]:
    """Everything that is said in passages and above them."""
    for passage in passages:
        yield passage.text
        yield from passage.segment.section
