"""Entries of bibliographies and contents are no evidence where passages meet as much."""

import pytest

from abstrag import AbstRAG
from abstrag.search.listing import asks_for_listing, listed_segments

PAPER = """
# Explaining Models of Boats

Ada Lunt, 2024

## Method

We trained a forest of trees on the dataset that Brill made. It has nine thousand boats.
The other models were compared with it on the same machine.

## References

[1] Brill, J.; Moor, A. Used data sets, and how we used them. Journal of Boats, 2019, 6, 1–8.

[2] Stone, E. Harbours and their data sets. Proc. of the Harbour Conference, 2020, pp. 3–9.
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which data sets were used?", "We trained a forest"),
        ("Which papers are about data sets of boats?", "["),
    ],
)
def test_a_bibliography_is_first_only_where_works_are_asked_for(question: str, first: str) -> None:
    with AbstRAG.from_text(PAPER, name="boats.md") as rag:
        hits = rag.search(question, k=4).hits
    assert hits[0].quote.startswith(first)


def test_the_score_says_that_a_hit_is_a_list_entry_and_still_adds_up() -> None:
    with AbstRAG.from_text(PAPER, name="boats.md") as rag:
        hits = rag.search("Which data sets were used?", k=9).hits
    entry = next(hit for hit in hits if hit.quote.startswith("[1]"))
    assert "a list entry" in {line.name for line in entry.lines}
    assert "a list entry" not in {line.name for line in hits[0].lines}


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which authors were cited?", True),
        ("In which chapter is rigging explained?", True),
        ("Which data sets were used?", False),
        ("How is the work done?", False),
    ],
)
def test_a_question_about_works_or_chapters_may_ask_for_what_is_listed(
    question: str, asked: bool
) -> None:
    assert asks_for_listing(question) is asked


FAQ = """
# Questions

- How do I paint a boat?
- Who repairs a motor?
- May I sleep on board?

## (1) How do I paint a boat?

A boat is painted with two coats.

## (2) Who repairs a motor?

The yard in Tarn repairs a motor within a week.

## (3) May I sleep on board?

Guests sleep on board in summer.
"""


def test_a_list_of_contents_stands_behind_what_it_lists() -> None:
    with AbstRAG.from_text(FAQ, name="questions.md") as rag:
        hits = rag.search("Who repairs a motor?", k=5).hits
        every = [segment.text for segment in rag.open("questions.md").index.segments]
    assert hits[0].quote.startswith("The yard in Tarn")
    assert every.index("Who repairs a motor?") < every.index(hits[0].quote)


def test_lines_that_are_only_repeated_are_no_list_of_contents() -> None:
    refrain = "Row the boat.\n\nSing a song.\n\nMind the oar.\n\n"
    with AbstRAG.from_text(refrain * 2 + "The end.", name="song.md") as rag:
        segments = rag.open("song.md").index.segments
    assert listed_segments(segments) == ()
