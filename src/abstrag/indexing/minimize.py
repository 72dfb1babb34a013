"""The minimal sufficient context C*: greedy pruning, lowest confidence first (appendix D)."""

from __future__ import annotations

from collections.abc import Callable

from abstrag.config import JUDGE_CALL_BUDGET
from abstrag.model.context import Context

Sufficient = Callable[[Context], bool]


def minimize(
    context: Context, sufficient: Sufficient, *, budget: int = JUDGE_CALL_BUDGET
) -> Context:
    """Drop every value the segment can be understood without.

    Values are tried from the least sure to the surest, equals in the order they came; a drop
    stands when the rest still suffices. `sufficient` is asked at most `budget` times, so that a
    model may be behind it; what was not tried stays. A context that does not suffice to begin
    with is left alone, because then nothing says what may go.
    """
    if budget < 1 or not sufficient(context):
        return context
    asked = 1
    for field, value in sorted(context.values(), key=lambda pair: pair[1].confidence):
        if asked == budget:
            break
        asked += 1
        pruned = context.without(field, value)
        if sufficient(pruned):
            context = pruned
    return context
