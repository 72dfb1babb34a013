"""Texts as the aligner reads them: their words, as training cuts them, and a table of all words."""

from collections.abc import Sequence

import numpy as np
import pytest
from tokenizers import Tokenizer

from abstrag.neural import vectors
from abstrag.neural.bundle import TOKENIZER, WEIGHTS
from abstrag.neural.vectors import (
    FUNCTION_WORDS,
    AlignedText,
    WordTable,
    grouped,
    has_content,
    name_of,
    rounded,
    spread,
    words_of,
)
from training import words

# Words are cut at run time as training, which does without the package, cuts them.

WORDED = (
    "Did the physician's sales decline by 3,250.5 % in FY2018?",
    "Antihypertensives, e.g. lisinopril (10 mg), cost $4.20 each.",
    "p53-dependent apoptosis; write-ahead log, 1.2.3",
    "",
)


@pytest.mark.parametrize("text", WORDED)
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


# The table of a document's words: what is read comes back from its file, and groups are sound.

TEXTS = ("The harbour was dredged.", "", "Sales fell\nby 40 tons.")


def read(texts: Sequence[str]) -> list[AlignedText]:
    chance = np.random.default_rng(0)
    made = []
    for text in texts:
        spans, at = [], 0
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            spans.append((start, at))
        rows = chance.normal(size=(len(spans), 8)).astype(np.float32)
        rows = spread(rounded(rows / np.linalg.norm(rows, axis=1, keepdims=True)))
        made.append(
            AlignedText(
                np.array(spans, np.int32).reshape(-1, 2),
                rows,
                np.ones(len(spans), np.float32),
                np.full(4, 0.5, np.float32),
            )
        )
    return made


def test_a_table_comes_back_from_its_file_as_it_was() -> None:
    table = WordTable.read(TEXTS, read)
    again = WordTable.mapped(memoryview(b"".join(table.parts())))
    for name in (
        "starts",
        "spans",
        "numbers",
        "vectors",
        "gists",
        "letters",
        "middles",
        "groups",
        "added",
    ):
        assert np.array_equal(getattr(again, name), getattr(table, name)), name
    assert again.vocabulary == [
        "The",
        "harbour",
        "was",
        "dredged.",
        "Sales",
        "fell",
        "by",
        "40",
        "tons.",
    ]
    assert again.starts.tolist() == [0, 4, 4, 9]


@pytest.mark.parametrize("cut", [5, 40, -64])
def test_a_file_that_was_cut_off_is_no_table(cut: int) -> None:
    data = b"".join(WordTable.read(TEXTS, read).parts())
    with pytest.raises(ValueError, match=r".*"):
        WordTable.mapped(memoryview(data[:cut]))


def test_cosines_are_those_of_the_vectors_whatever_the_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", 2)
    table = WordTable.read(TEXTS, read)
    (asked,) = read(["one two"])
    whole = asked.vectors @ spread(table.vectors).T
    assert np.allclose(table.cosines(asked.vectors), whole)
    some = np.array([1, 6])
    assert np.allclose(table.cosines(asked.vectors, some), whole[:, some])
    assert np.allclose(table.nearness(asked.gist), spread(table.gists) @ asked.gist)


def test_the_name_of_a_file_changes_with_the_model_and_with_every_text() -> None:
    names = {
        name_of(TEXTS, "model"),
        name_of(TEXTS, "another"),
        name_of(TEXTS[:2], "model"),
        name_of(("".join(TEXTS),), "model"),
    }
    assert len(names) == 4


def test_a_word_is_in_the_group_whose_middle_is_nearest() -> None:
    drawn = np.random.default_rng(1).normal(size=(3000, 8)).astype(np.float32)
    rows = rounded(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    middles, groups = grouped(rows)
    near = spread(rows) @ spread(middles).T
    assert np.array_equal(near.argmax(axis=1), groups)
