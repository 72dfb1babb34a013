"""The gate: nothing that worked gets worse, the trigger does not spread, something improves."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abstrag.refine.evaluator import Signals
from abstrag.refine.gate import Controls, decide, kept_share, potential

NAMES = tuple("abcdef")
SIGNALS = st.builds(
    Signals,
    sufficient=st.booleans(),
    compression=st.integers(-10, 0).map(lambda n: n / 10),
    needed=st.lists(st.sampled_from(["s1", "s2"]), unique=True).map(tuple),
    dissent=st.sampled_from([*[0.0] * 9, 1 / 3]),
)
FILES = st.fixed_dictionaries(dict.fromkeys(NAMES, SIGNALS))
SOLVED, FAILED = Signals(True, -0.5), Signals(False, -0.5)


CHANGES = st.dictionaries(st.sampled_from(NAMES), SIGNALS, min_size=1, max_size=2)


@given(FILES, CHANGES, st.sets(st.sampled_from(NAMES), min_size=1), st.none() | st.floats(0, 1))
@example({"a": FAILED, **dict.fromkeys(NAMES[1:], SOLVED)}, {"a": SOLVED}, {"a"}, 0.5)
def test_the_gate_never_accepts_a_regression(
    before: dict[str, Signals],
    changes: dict[str, Signals],
    triggers: set[str],
    kept: float | None,
) -> None:
    after = {**before, **changes}
    controls = {name for name in NAMES if name not in triggers and before[name].sufficient}
    verdict = decide(before, after, triggers=triggers, controls=controls, kept=kept)
    assert verdict.accepted == (not verdict.reasons)
    if verdict.accepted:
        assert all(after[name].sufficient for name in controls)
        assert all(set(before[name].needed) <= set(after[name].needed) for name in controls)
        assert all(after[n].compression >= before[n].compression for n in triggers)
        assert potential(after) > potential(before)
        assert all(after[name].certain for name in triggers | controls)
        assert kept is None or kept >= 0.5


@given(FILES)
def test_standing_still_is_no_progress(cases: dict[str, Signals]) -> None:
    verdict = decide(cases, cases, triggers=["a"], controls=[])
    assert not verdict.accepted
    assert any("solves nothing" in reason for reason in verdict.reasons)


def test_a_patch_that_solves_the_trigger_and_harms_nobody_is_accepted() -> None:
    before = {"trigger": FAILED, "control": SOLVED}
    after = {"trigger": SOLVED, "control": SOLVED}
    assert decide(before, after, triggers=["trigger"], controls=["control"]).accepted


def test_one_lost_control_refuses_whatever_is_gained() -> None:
    before = {"t": FAILED, "u": FAILED, "control": SOLVED}
    after = {"t": SOLVED, "u": SOLVED, "control": FAILED}
    verdict = decide(before, after, triggers=["t", "u"], controls=["control"])
    assert verdict.reasons == ("control “control” loses its evidence",)


def test_other_evidence_does_not_make_up_for_what_a_control_was_solved_with() -> None:
    before = {"t": FAILED, "control": Signals(True, -0.5, needed=("s1", "s2"))}
    after = {"t": SOLVED, "control": Signals(True, -0.5, needed=("s2", "s3"))}
    verdict = decide(before, after, triggers=["t"], controls=["control"])
    assert verdict.reasons == ("control “control” loses its evidence",)


def test_a_trigger_that_spreads_out_refuses_although_it_is_solved() -> None:
    before, after = {"t": Signals(False, -0.2)}, {"t": Signals(True, -0.7)}
    (reason,) = decide(before, after, triggers=["t"], controls=[], kept=1.0).reasons
    assert reason == "“t” spreads out: compression -0.20 → -0.70"


def test_each_control_blocks_what_the_other_cannot() -> None:
    spread = {"t": Signals(False, -0.2), "c": SOLVED}, {"t": Signals(True, -0.7), "c": SOLVED}
    lost = (
        {"t": FAILED, "u": FAILED, "c": SOLVED},
        {"t": SOLVED, "u": SOLVED, "c": FAILED},
    )
    only_suff = Controls(compression=False, progress=False)
    only_comp = Controls(sufficiency=False, progress=False)

    def accepted(pair: tuple[dict[str, Signals], dict[str, Signals]], enforce: Controls) -> bool:
        return decide(*pair, triggers=["t"], controls=["c"], enforce=enforce).accepted

    assert accepted(spread, only_suff)
    assert not accepted(spread, only_comp)
    assert accepted(lost, only_comp)
    assert not accepted(lost, only_suff)


def test_what_changes_no_first_hit_is_refused_even_where_no_progress_is_asked_for() -> None:
    for enforce in (Controls(progress=False), Controls(False, False, False)):
        verdict = decide({"t": FAILED}, {"t": FAILED}, triggers=["t"], controls=[], enforce=enforce)
        assert verdict.reasons == ("it solves nothing: the first hits of no query change",)


def test_doubt_refuses() -> None:
    after = {"t": Signals(True, -0.5, dissent=1 / 3)}
    (reason,) = decide({"t": FAILED}, after, triggers=["t"], controls=[]).reasons
    assert "disagree" in reason
    assert "33%" in reason


def test_without_controls_the_ranking_may_not_be_turned_over() -> None:
    verdict = decide({"t": FAILED}, {"t": SOLVED}, triggers=["t"], controls=[], kept=0.3)
    assert verdict.reasons == ("only 30% of the first hits stay, at least 50% must",)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [((), ("a",), 1.0), (("a", "b"), ("b", "c"), 0.5), (("a",), (), 0.0)],
)
def test_the_share_of_hits_that_stay(
    before: tuple[str, ...], after: tuple[str, ...], share: float
) -> None:
    assert kept_share(before, after) == share
