"""Words of a case stay out of the rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstrag.policy.edit import NGRAM, CaseText, leak

CASE = CaseText(
    "Which collaborations between model makers and chip suppliers began in 2024?",
    ("The CTO of Anthropic visited the head of TSMC's 3 nm fabrication division this Tuesday.",),
)


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("Mind the head of TSMC when it is named.", "head of tsmc"),
        ("Offices such as CTO are roles.", "'cto'"),
        ("Sizes of 3 are small.", "'3'"),
        ("When chip suppliers and model makers meet, collaborations follow.", "chip"),
        ("A visit by the CTO OF ANTHROPIC VISITED THE head is one.", "visited the head"),
        ("A plant of tsmc is a site.", "'tsmc'"),
    ],
)
def test_what_a_rule_takes_from_its_case_is_named(rule: str, found: str) -> None:
    reason = leak(rule, CASE)
    assert reason is not None
    assert found in reason


@pytest.mark.parametrize(
    "rule",
    [
        "Who holds an office may stand for the organization.",
        "A visit between two organizations is an event of the type meeting.",
        "The head of a division is a role.",
        "Between two dates the later one counts.",
    ],
)
def test_a_general_rule_passes(rule: str) -> None:
    assert leak(rule, CASE) is None


def test_runs_that_the_program_has_itself_are_free() -> None:
    case = CaseText("x", ("He said: copy the words of the segment exactly.",))
    rule = "Copy the words of the segment, not of the title."
    assert leak(rule, case) is not None
    assert leak(rule, case, common=["`quote` copies: copy the words of the segment"]) is None


def test_a_short_query_may_share_its_words() -> None:
    assert leak("A bank is an institution.", CaseText("bank failures")) is None


words = st.lists(st.sampled_from("red green blue grey pink gold".split()), min_size=8, max_size=12)


@settings(deadline=None)
@given(words, st.integers(0, 4))
def test_any_run_of_four_words_is_a_leak(document: list[str], start: int) -> None:
    run = document[start : start + NGRAM]
    assert leak(f"mark {' '.join(run)} apart", CaseText("", (" ".join(document),))) is not None
