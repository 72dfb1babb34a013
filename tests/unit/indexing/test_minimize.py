from hypothesis import given
from hypothesis import strategies as st

from abstrag.indexing.minimize import minimize
from abstrag.model.index import Context, FieldValue

values = st.lists(
    st.builds(
        FieldValue, name=st.sampled_from("abcde"), value=st.just("x"), confidence=st.floats(0, 1)
    ),
    max_size=6,
    unique_by=lambda v: v.name,
)


@given(values, st.sets(st.sampled_from("abcde")))
def test_exactly_what_is_needed_is_kept(offer: list[FieldValue], wanted: set[str]) -> None:
    needs = wanted & {v.name for v in offer}
    kept = minimize(Context(scope=tuple(offer)), lambda c: needs <= {v.name for v in c.scope})
    assert {v.name for v in kept.scope} == needs


def test_of_two_values_that_would_do_the_surer_one_stays() -> None:
    sure, unsure = FieldValue("it", "TSMC", 0.9), FieldValue("it", "Samsung", 0.4)
    kept = minimize(Context(entities=(sure, unsure)), lambda c: len(c.entities) >= 1)
    assert kept.entities == (sure,)


def test_the_judge_is_asked_at_most_as_often_as_the_budget_says() -> None:
    asked = 0

    def judge(_context: Context) -> bool:
        nonlocal asked
        asked += 1
        return True

    offer = tuple(FieldValue(str(i), "x", 0.5) for i in range(30))
    kept = minimize(Context(scope=offer), judge, budget=24)
    assert asked == 24
    assert len(kept.scope) == 30 - 23


def test_a_context_that_never_sufficed_is_left_alone() -> None:
    offer = Context(scope=(FieldValue("section", "Results", 0.9),))
    assert minimize(offer, lambda _c: False) == offer
