"""The metrics of records, which of them a report shows, and which of them decide."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from math import log2
from typing import Final

from abstrag_bench.metrics.label import ACCURACY, ANSWERED, WRONG
from abstrag_bench.metrics.metric import Metric, lacking, recorded
from abstrag_bench.record import CaseRecord

# Cost/τ: the cost of the accepted clause as a share of the budget.


def _normalized(record: CaseRecord, k: int) -> float:  # noqa: ARG001
    if record.bridge_cost is None:
        raise lacking("Cost/τ", "the cost of an accepted clause", record)
    if not record.tau:
        raise lacking("Cost/τ", "a budget above 0", record)
    return record.bridge_cost / record.tau


BRIDGE_COST = Metric("Cost/τ", _normalized, scale=1.0)


# nDCG@K with binary gain: what the gold spans' ranks are worth, against the best order.


def _ndcg(record: CaseRecord, k: int) -> float:
    gold = set(record.gold)
    gain = sum(1 / log2(i + 2) for i, span in enumerate(record.ranked[:k]) if span in gold)
    return gain / sum(1 / log2(i + 2) for i in range(min(k, len(gold))))


NDCG = Metric("nDCG", _ndcg, 10, empty=0.0)


# OverExp@K: 1 when a span that is no gold is among the first K only because of a patch. It must not
# have been there before the patches, and its bridges must be ones that a patch added.


def _over_expansion(record: CaseRecord, k: int) -> float:
    if record.ranked_before is None or record.patched is None:
        raise lacking("OverExp", "the ranking before any patch", record)
    entered = set(record.ranked[:k]) - set(record.ranked_before[:k]) - set(record.gold)
    return float(bool(entered & set(record.patched)))


OVER_EXPANSION = Metric("OverExp", _over_expansion, 10)


# Preserved: of the cases solved before an accepted update, the share still solved after it.


PRESERVED = recorded("Preserved", "preserved", "an accepted update after a solved state")


# Suff@K: 1 when all gold spans are among the first K, else 0; nothing retrieved is 0.


def _suff(record: CaseRecord, k: int) -> float:
    return float(set(record.gold) <= set(record.ranked[:k]))


SUFF = Metric("Suff", _suff, 10, empty=1.0)


# Answer-F1: token overlap of a generated answer with the best of the annotators' (QASPER).

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


# Set F1 of the first K spans: against the gold, or against the nearest alternative set.
#
# `Sent-F1@3` is SciFact's (three sentences an abstract, as its protocol allows), `Evid-F1@5` is
# the paper's for FEVEROUS: against whichever single evidence set fits best.


def set_f1(predicted: Iterable[str], gold: Iterable[str]) -> float:
    """Return the harmonic mean of precision and recall of two sets."""
    found, wanted = set(predicted), set(gold)
    shared = len(found & wanted)
    return 2 * shared / (len(found) + len(wanted)) if shared else 0.0


def _sentence_f1(record: CaseRecord, k: int) -> float:
    return set_f1(record.ranked[:k], record.gold)


def _evidence_f1(record: CaseRecord, k: int) -> float:
    return max(set_f1(record.ranked[:k], one) for one in record.gold_sets or (record.gold,))


SENTENCE_F1 = Metric("Sent-F1", _sentence_f1, 3, empty=0.0)
EVIDENCE_F1 = Metric("Evid-F1", _evidence_f1, 5, empty=0.0)


# Effort: seconds a query, judgements and model calls. Nobody's zero: unknown is not computable.


SECONDS = recorded("ms/query", "seconds", "a timing", scale=1000.0)
JUDGEMENTS = recorded("Judgements", "judgements", "a judge", scale=1.0)
LLM_CALLS = recorded("LLM calls", "llm_calls", "a language model", scale=1.0)


# R@K: the share of the gold spans among the first K.


def _recall(record: CaseRecord, k: int) -> float:
    gold = set(record.gold)
    return len(gold & set(record.ranked[:k])) / len(gold)


RECALL = Metric("R", _recall, 10, empty=1.0)


# MRR@K: one over the rank of the first gold span, 0 when none is among the first K.


def _mrr(record: CaseRecord, k: int) -> float:
    gold = set(record.gold)
    return next((1 / (i + 1) for i, span in enumerate(record.ranked[:k]) if span in gold), 0.0)


MRR = Metric("MRR", _mrr, 10, empty=0.0)


# AnySuff@K: 1 when one alternative gold set is wholly among the first K, else 0.


def _any_set(record: CaseRecord, k: int) -> float:
    top = set(record.ranked[:k])
    return float(any(top.issuperset(one) for one in record.gold_sets or (record.gold,)))


ANY_SET = Metric("AnySuff", _any_set, 10, empty=1.0)


# The paper's figures; differences in these are tested, and the tests corrected for their number.
HEADLINE: Final[tuple[Metric, ...]] = (SUFF @ 5, SUFF @ 10, NDCG @ 10)
RETRIEVAL: Final[tuple[Metric, ...]] = (*HEADLINE, RECALL @ 5, RECALL @ 10, MRR @ 10)
# The same over what a user is shown only, for every metric of rankings.
HEADLINE_SHOWN: Final[tuple[Metric, ...]] = tuple(metric.shown for metric in HEADLINE)
RETRIEVAL_SHOWN: Final[tuple[Metric, ...]] = tuple(metric.shown for metric in RETRIEVAL)
SETS: Final[tuple[Metric, ...]] = (ANY_SET @ 5, SENTENCE_F1 @ 3, EVIDENCE_F1 @ 5)
GENERATION: Final[tuple[Metric, ...]] = (ANSWER_F1, ACCURACY, ANSWERED, WRONG)
MECHANISM: Final[tuple[Metric, ...]] = (BRIDGE_COST, PRESERVED, OVER_EXPANSION @ 10)
EFFORT: Final[tuple[Metric, ...]] = (SECONDS, JUDGEMENTS, LLM_CALLS)
ALL: Final[tuple[Metric, ...]] = (
    *RETRIEVAL,
    *RETRIEVAL_SHOWN,
    *SETS,
    *GENERATION,
    *MECHANISM,
    *EFFORT,
)
