"""The minimal sufficient context C*: greedy pruning, lowest confidence first (appendix D)."""

from __future__ import annotations

from collections.abc import Callable, Generator

from abstrag.config import JUDGE_CALL_BUDGET
from abstrag.model.index import Context, FieldValue

Sufficient = Callable[[Context], bool]
Pruning = Generator[Context, bool, Context]


def minimize(
    context: Context, sufficient: Sufficient, *, budget: int = JUDGE_CALL_BUDGET
) -> Context:
    """Drop every value the segment can be understood without.

    `sufficient` is asked at most `budget` times, so that a model may be behind it; what was not
    tried stays.
    """
    if budget < 1:
        return context
    steps = pruning(context, budget=budget)
    tried = next(steps)
    while True:
        try:
            tried = steps.send(sufficient(tried))
        except StopIteration as done:
            pruned: Context = done.value
            return pruned


def pruning(
    context: Context,
    *,
    budget: int,
    fixed: Callable[[FieldValue], bool] = lambda _value: False,
) -> Pruning:
    """Prune step by step: yields a context to judge, is sent the verdict, returns what stays.

    The first to be judged is the whole context; one that does not suffice is left alone, because
    then nothing says what may go. Values are tried from the least sure to the surest, equals in
    the order they came, and a drop stands when the rest still suffices. `fixed` values are not
    tried. A caller that judges many segments in one call advances their prunings side by side.
    """
    if not (yield context):
        return context
    tries = sorted(context.values(), key=lambda pair: pair[1].confidence)
    asked = 1
    for field, value in tries:
        if fixed(value):
            continue
        if asked == budget:
            break
        asked += 1
        pruned = context.without(field, value)
        if (yield pruned):
            context = pruned
    return context
