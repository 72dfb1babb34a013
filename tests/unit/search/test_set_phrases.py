"""A word of a set phrase means nothing by itself."""

import pytest

from abstrag.search.said_of import in_phrase


def place(text: str, word: str) -> tuple[int, int]:
    return text.index(word), text.index(word) + len(word)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("In addition to the stalls, there is a well.", "addition"),
        ("It fell as a\nresult of the storm.", "result"),
        ("The opening took place on Monday.", "place"),
    ],
)
def test_a_word_of_a_phrase_is_a_part_of_it(text: str, word: str) -> None:
    assert in_phrase(text, *place(text, word), "What does the well add?")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The addition of two stalls was approved.", "addition"),
        ("The results of the race were read out.", "results"),
        ("In addition, the result was read out.", "result"),
    ],
)
def test_the_same_word_elsewhere_is_not(text: str, word: str) -> None:
    assert not in_phrase(text, *place(text, word), "What does the well add?")


def test_a_query_that_has_the_phrase_means_it() -> None:
    text = "It fell as a result of the storm."
    assert not in_phrase(text, *place(text, "result"), "What came as a result of the storm?")
