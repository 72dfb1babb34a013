"""A quotation is found where it stands or not at all, whatever the model did to its spaces."""

import pytest

from abstrag.answers.citations import Folded, find_quote, parts_of

SOURCE = "The state-of-the-art  method’s error fell from 12.5% to 9%\nin “two” trials – not three."


@pytest.mark.parametrize(
    "quote",
    [
        "error fell from 12.5% to 9% in",
        "state-of- the-art method's",
        "state‑of‑the‑art   method’s error",
        'in "two" trials - not three.',
        "  two  ",
        "trials—not three",
    ],
)
def test_spaces_dashes_and_quotation_marks_do_not_matter(quote: str) -> None:
    at = find_quote(quote, SOURCE)
    assert at is not None
    found = SOURCE[at[0] : at[1]]
    assert Folded.of(found).text.strip() == Folded.of(quote).text.strip()


@pytest.mark.parametrize(
    "quote",
    [
        "error fell from 12.5% to 8%",
        "the state-of-the-art",  # another case is another quotation
        "wo",  # part of a word
        "12.5% to",
        "",
        "…",
        "–",
    ],
)
def test_letters_digits_and_case_do(quote: str) -> None:
    wanted = None if quote != "12.5% to" else (41, 49)
    at = find_quote(quote, SOURCE)
    assert (at is None) == (wanted is None)


def test_a_ligature_and_a_soft_hyphen_read_as_their_letters() -> None:
    source = "The ef\ufb01ciency co\u00adeﬃcient rose."
    assert find_quote("efficiency coefficient", source) == (4, 24)
    assert source[4:24].endswith("cient")


def test_a_match_inside_a_word_does_not_hide_a_later_whole_one() -> None:
    source = "The party began; art followed."
    at = find_quote("art", source)
    assert at is not None
    assert source[at[0] - 2 : at[1]] == "; art"


def test_a_quotation_that_leaves_words_out_has_parts() -> None:
    assert parts_of("“The error fell … in two trials”") == ("The error fell", "in two trials")
    assert parts_of("fell [...] trials") == ("fell", "trials")
    assert parts_of(' "..." ') == ()
