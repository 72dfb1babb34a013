"""Words broken at line ends: found in one pass, however long the words are."""

import re
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from abstrag.documents.reading import Hyphens, broken_words, reading_text
from tests.unit.documents.limited import growth, read_limited

_AS_ONE_PATTERN = re.compile(r"([^\W_]+)[-‐\u00ad][ \t]*\r?\n[ \t]*([^\W_]+)")


@given(st.text("ab-‐\u00ad_ \t\r\n1é.", max_size=20), st.integers(0, 20), st.integers(0, 20))
@example("a-\nb-\nc", 0, 7)
@example("a-\nb", 1, 4)
def test_a_broken_word_is_what_one_pattern_for_all_of_it_would_find(
    text: str, start: int, end: int
) -> None:
    whole = [(m.start(), m.end(1), *m.span(2)) for m in _AS_ONE_PATTERN.finditer(text, start, end)]
    assert [tuple(word) for word in broken_words(text, start, min(end, len(text)))] == whole


def test_the_work_for_broken_words_grows_with_the_text() -> None:
    def read(size: int) -> None:
        text = "long" * size + "-\n" + "word" * size
        reading_text(text, [(0, len(text))], Hyphens(text))

    assert growth(read, 2_000) < 2.2


def test_a_word_of_half_a_megabyte_is_read(tmp_path: Path) -> None:
    file = tmp_path / "word.txt"
    file.write_text("Before it. " + "a" * 500_000 + " behind it.\n")
    (text,) = read_limited(file).texts
    assert len(text) == 500_022
