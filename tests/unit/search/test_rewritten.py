"""Words that only the canonical text has, and where they stand."""

import pytest

from abstrag import AbstRAG
from abstrag.search.document_words import rewritten_words


@pytest.mark.parametrize(
    ("text", "canonical", "found"),
    [
        ("It restarted.", "The reactor restarted.", [("reactor", "It")]),
        (
            "Then she met it.",
            "Then Maria Lopez met the board.",
            [("Maria", "she"), ("Lopez", "she"), ("board", "it")],
        ),
        ("He left on Tuesday.", "He left on 2024-05-14.", []),
        ("Nothing changed.", "Nothing changed.", []),
    ],
)
def test_a_canonical_word_stands_where_it_is_written_for(
    text: str, canonical: str, found: list[tuple[str, str]]
) -> None:
    made = rewritten_words(text, canonical)
    assert [(one.word, text[one.start : one.end]) for one in made] == found


def test_a_word_of_the_text_comes_before_a_pronoun_and_a_heading() -> None:
    text = """
# Harbour Crane

## Repairs of the crane

The crane was built in 1990. Its motor was weak. The crane was sold, and its motor went to Oster.
"""
    with AbstRAG.from_text(text, name="crane.md") as rag:
        hits = rag.search("Who sold the crane?", k=5).hits
    sold = next(hit for hit in hits if "sold" in hit.quote)
    crane = next(word for word in sold.words if word.asked == "crane")
    assert crane.said == "crane"
    assert not crane.in_section
