"""Words that only the canonical text has, and where they stand."""

import pytest

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
