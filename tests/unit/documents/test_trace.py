from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.reading import Trace


def test_kept_and_decoded_pieces_map_back() -> None:
    source = "a &amp; b"
    trace = Trace()
    trace.keep(source, 0, 2)
    trace.decode("&", 2, 7)
    trace.keep(source, 7, 9)
    text, alignment = trace.read()
    assert text == "a & b"
    assert [alignment.at(i) for i in range(5)] == [0, 1, 2, 7, 8]


def test_a_long_replacement_stays_inside_what_it_stands_for() -> None:
    trace = Trace()
    trace.decode("longer", 3, 6)
    trace.keep("0123456789", 6, 8)
    text, alignment = trace.read()
    assert text == "longer67"
    assert [alignment.at(i) for i in range(8)] == [3, 4, 5, 5, 5, 5, 6, 7]


def test_the_end_counts_all_of_a_decoded_piece_and_no_white_space() -> None:
    trace = Trace()
    trace.decode("&", 0, 5)
    trace.keep("&amp;  ", 5, 7)
    assert trace.end == 5


def test_trimming_takes_back_white_space_only() -> None:
    trace = Trace()
    trace.keep("word  ", 0, 6)
    trace.keep(" ", 0, 1)
    trace.trim()
    assert (trace.text, trace.origins) == ("word", [0, 1, 2, 3])


@given(st.lists(st.tuples(st.booleans(), st.text("ab \n\t", max_size=6)), max_size=8))
def test_a_trace_of_a_trace_points_into_the_first_source(pieces: list[tuple[bool, str]]) -> None:
    source = "".join(piece for _, piece in pieces)
    first, at = Trace(), 0
    for kept, piece in pieces:
        if kept:
            first.keep(source, at, at + len(piece))
        at += len(piece)
    second = Trace()
    second.keep(first.text, 0, len(first.text))
    text, alignment = second.read()
    composed = first.compose(alignment, len(text))
    for i, char in enumerate(text):
        if not char.isspace():
            assert source[composed.at(i)] == char
