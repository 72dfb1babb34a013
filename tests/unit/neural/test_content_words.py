"""Words are cut at run time as training, which does without the package, cuts them."""

import pytest
from tokenizers import Tokenizer

from abstrag.neural.aligned_text import FUNCTION_WORDS, has_content, words_of
from abstrag.neural.bundle import TOKENIZER, WEIGHTS
from training import words

TEXTS = (
    "Did the physician's sales decline by 3,250.5 % in FY2018?",
    "Antihypertensives, e.g. lisinopril (10 mg), cost $4.20 each.",
    "p53-dependent apoptosis; write-ahead log, 1.2.3",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_words_and_their_content_are_those_of_training(text: str) -> None:
    found = Tokenizer.from_file(str(WEIGHTS / TOKENIZER)).encode(text, add_special_tokens=False)
    marks = [0] * len(found.ids)
    for word in words_of(text, found.word_ids, found.offsets):
        content = words.CONTENT if has_content(text[word.start : word.end].lower()) else 0
        for place in range(word.first, word.last):
            marks[place] = content + (words.STARTS if place == word.first else 0)
    assert marks == words.marks(text, found)


def test_function_words_are_those_of_training() -> None:
    assert FUNCTION_WORDS == words.FUNCTION_WORDS
