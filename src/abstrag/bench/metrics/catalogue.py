"""Which metrics a report shows, and which of them decide."""

from __future__ import annotations

from typing import Final

from abstrag.bench.metrics.answer_f1 import ANSWER_F1
from abstrag.bench.metrics.any_set import ANY_SET
from abstrag.bench.metrics.bridge_cost import BRIDGE_COST
from abstrag.bench.metrics.effort import JUDGEMENTS, LLM_CALLS, SECONDS
from abstrag.bench.metrics.label import ACCURACY, ANSWERED, WRONG
from abstrag.bench.metrics.metric import Metric
from abstrag.bench.metrics.mrr import MRR
from abstrag.bench.metrics.ndcg import NDCG
from abstrag.bench.metrics.over_expansion import OVER_EXPANSION
from abstrag.bench.metrics.preserved import PRESERVED
from abstrag.bench.metrics.recall import RECALL
from abstrag.bench.metrics.set_f1 import EVIDENCE_F1, SENTENCE_F1
from abstrag.bench.metrics.suff import SUFF

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
