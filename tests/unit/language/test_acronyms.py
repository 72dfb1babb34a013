import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abstrag.language.acronyms import acronyms, singular


def pairs(text: str) -> list[tuple[str, str]]:
    return [(a.short, a.long) for a in acronyms(text)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use large language models (LLMs) here.", "LLMs", "large language models"),
        (
            "TSMC (Taiwan Semiconductor Manufacturing Company) makes chips.",
            "TSMC",
            "Taiwan Semiconductor Manufacturing Company",
        ),
        ("the Department of Defense (DoD) said", "DoD", "Department of Defense"),
        ("coronavirus disease 2019 (COVID-19)", "COVID-19", "coronavirus disease 2019"),
        ("adenosine triphosphate (ATP)", "ATP", "adenosine triphosphate"),
        (
            "named by mean average precision (mAP; higher is better)",
            "mAP",
            "mean average precision",
        ),
        (
            'International Business Machines ("IBM")',
            "IBM",
            "International Business Machines",
        ),
        (
            "the General Data Protection Regulation (the “GDPR”)",
            "GDPR",
            "General Data Protection Regulation",
        ),
        ("Europe, Middle East & Africa (EMEA)", "EMEA", "Europe, Middle East & Africa"),
        (
            "bidirectional long short-term memory [Bi-LSTM]",
            "Bi-LSTM",
            "bidirectional long short-term memory",
        ),
    ],
)
def test_a_short_form_in_brackets_is_paired_with_its_long_form(
    text: str, short: str, long: str
) -> None:
    assert pairs(text) == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "a model (BERT)",
        "a p-value (P < 0.05)",
        "as before (e.g., BERT)",
        "mothers (MTCT)",
        "the previous section (Smith 2010)",
        "long short-term memory units (LSTM)",  # the last word takes no part
        "personal names (PER)",
        "a geometric bias (Geo)",
        "see there (2019)",
        "an (AN)",
        "()",
    ],
)
def test_other_brackets_define_nothing(text: str) -> None:
    assert pairs(text) == []


def test_places_point_at_both_forms() -> None:
    text = "Both convolutional neural networks (CNNs) and RNN (recurrent neural network) work."
    found = list(acronyms(text))
    assert len(found) == 2
    for a in found:
        assert text[a.short_start : a.short_start + len(a.short)] == a.short
        assert text[a.long_start : a.long_start + len(a.long)] == a.long
        assert {a.short, a.long} <= {
            p.strip("()") for p in (text[a.start : a.end], a.short, a.long)
        }
    assert text[found[1].start : found[1].end] == "RNN (recurrent neural network"


def test_only_a_plural_s_comes_off() -> None:
    assert [singular(s) for s in ("LLMs", "GPS", "DoS", "As", "mRNAs")] == [
        "LLM",
        "GPS",
        "DoS",
        "As",
        "mRNA",
    ]


PIECES = ("aa bb", "Aa-bb", "(AB)", "AB", "(aa bb", "A1 (", ")", "AB (aa, bb)", "[ab]", ";", "12.")


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map(" ".join))
@example("xs aa bb (AB) and A1 (a 1).")
def test_every_pair_quotes_the_text(text: str) -> None:
    for a in acronyms(text):
        assert text[a.short_start : a.short_start + len(a.short)] == a.short
        assert text[a.long_start : a.long_start + len(a.long)] == a.long
        assert 0 <= a.start < a.end <= len(text)


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("WSS stands for Walker Sleep Score and is old.", "WSS", "Walker Sleep Score"),
        ("The letters WSS stand for Walker Sleep Score.", "WSS", "Walker Sleep Score"),
        ("WSS is an acronym for Walker Sleep Score.", "WSS", "Walker Sleep Score"),
        ("PR means pull request here.", "PR", "pull request"),
        ("CPR stands for cardiopulmonary resuscitation.", "CPR", "cardiopulmonary resuscitation"),
        ("The Walker Sleep Score (WSS from here on) is old.", "WSS", "Walker Sleep Score"),
        ("The Walker Sleep Score (henceforth: WSS) is old.", "WSS", "Walker Sleep Score"),
        ("The Walker Sleep Score, WSS, is old.", "WSS", "Walker Sleep Score"),
        ("The Walker Sleep Score – WSS for short – is old.", "WSS", "Walker Sleep Score"),
    ],
)
def test_a_short_form_is_spelled_out_in_words(text: str, short: str, long: str) -> None:
    assert [(a.short, a.long) for a in acronyms(text)] == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "The Corks stand for Lanford and its river.",
        "The Tolls Act means Lanford pays.",
        "The RSPB means business.",
        "The IFA is an association for inland fishermen.",
        "TSB stands for nothing.",
        "Bank of Selby, BBC, and Lanford Post reported it.",
    ],
)
def test_words_that_its_letters_do_not_begin_are_no_long_form(text: str) -> None:
    assert not [*acronyms(text)]
