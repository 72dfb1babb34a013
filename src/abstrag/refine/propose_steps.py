"""Steps between words: what the aligner finds likely but dear, and what leads others astray."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abstrag.config import OMEGA
from abstrag.model.patch import Patch, Stage, StepPrice
from abstrag.model.ranking import Hit, WordTrace
from abstrag.model.term import Licence, LicenceKind
from abstrag.refine.feedback import CONFIRMED, REFUSED
from abstrag.refine.lessons import base
from abstrag.search.aligned_trace import word_traces
from abstrag.search.lexical import words
from abstrag.search.scoring import Scoring

MIDDLING: Final = 2.5  # the dearest pair of words that is worth a try
_RIVALS: Final = 3  # segments ranked higher whose steps are looked at


def dear_steps(hit: Hit) -> Iterator[Patch]:
    """Propose that a word which nearly meets the query's does, the likeliest first.

    A pair has a middling price: the aligner neither takes the one for the other nor rules it out,
    and no lexicon has it.
    """
    for word in hit.words:
        if word.family is None or word.other_sense or not CONFIRMED < word.price <= MIDDLING:
            continue
        if not _tells(word):
            continue
        delta = StepPrice(base(word.asked), base(word.said), at_most=CONFIRMED)
        licence = Licence(LicenceKind.MODEL, f"the aligner prices it {word.price:.2f}")
        yield Patch(Stage.MAP, delta, licence, round(word.price, 4))


def misleading_steps(hit: Hit, scoring: Scoring) -> Iterator[Patch]:
    """Propose that steps by which segments rank above the right one no longer count."""
    if scoring.alignment is None:
        return
    own = {(base(word.asked), base(word.said)) for word in hit.words}
    order = scoring.order
    place = order.index(hit.position) if hit.position in order else len(order)
    for position in order[: min(place, _RIVALS)]:
        for word in word_traces(scoring.alignment, position):
            step = base(word.asked), base(word.said)
            if not word.met or word.family is None or step in own or not _tells(word):
                continue
            delta = StepPrice(*step, at_least=REFUSED)
            segment = scoring.document.segments[position].id
            licence = Licence(LicenceKind.TEXT, f"it puts {segment} above {hit.segment}")
            yield Patch(Stage.MAP, delta, licence, round(OMEGA["related"] + word.price, 4))


def _tells(word: WordTrace) -> bool:
    """Tell whether both words say something, and neither is a number."""
    both = word.asked, word.said
    return all(words(one) for one in both) and not any(c.isdigit() for one in both for c in one)
