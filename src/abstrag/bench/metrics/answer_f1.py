"""Answer-F1: token overlap of a generated answer with the best of the annotators' (QASPER)."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import Final

from abstrag.bench.metrics.metric import Metric, lacking
from abstrag.bench.record import CaseRecord

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)


def answer_tokens(text: str) -> list[str]:
    """Normalize as SQuAD and QASPER do: no case, no punctuation, no articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def token_f1(answer: str, reference: str) -> float:
    """Return the F1 of two bags of tokens."""
    said, wanted = answer_tokens(answer), answer_tokens(reference)
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def _answer_f1(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.answer is None:
        raise lacking("Answer-F1", "a generated answer", record)
    references = [one for one in record.gold_answers if one.strip()]
    if not references:
        raise lacking("Answer-F1", "a reference answer", record)
    return max(token_f1(record.answer, reference) for reference in references)


ANSWER_F1 = Metric("Answer-F1", _answer_f1)
