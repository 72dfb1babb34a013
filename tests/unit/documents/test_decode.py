import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.decode import decode
from abstrag.errors import AbstragError, Undecodable, UnknownFormat

RUSSIAN = (
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. "
    "Все смешалось в доме Облонских. Жена узнала, что муж был в связи с бывшею в их доме "
    "француженкою-гувернанткой, и объявила мужу, что не может жить с ним в одном доме. "
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_names_the_encoding_and_is_no_text(encoding: str) -> None:
    mark = {
        "utf-8": codecs.BOM_UTF8,
        "utf-16-le": codecs.BOM_UTF16_LE,
        "utf-16-be": codecs.BOM_UTF16_BE,
        "utf-32-le": codecs.BOM_UTF32_LE,
        "utf-32-be": codecs.BOM_UTF32_BE,
    }[encoding]
    assert decode(mark + "Zürich — ok".encode(encoding), "x.txt") == "Zürich — ok"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_are_recognized_without_a_mark(encoding: str) -> None:
    text = "Plain words with one é in them, enough to see where the zeros stand."
    assert decode(text.encode(encoding), "x.txt") == text


def test_line_breaks_stay_as_they_are() -> None:
    assert decode(b"one\r\ntwo\rthree\n", "x.txt") == "one\r\ntwo\rthree\n"


def test_western_text_that_is_not_utf8_is_windows_1252() -> None:
    text = "The café in Zürich — “open” until 10 o’clock, naïve façade, 5 € each."
    assert decode(text.encode("cp1252"), "x.txt") == text


def test_the_declared_encoding_comes_before_any_guess() -> None:
    assert decode("Łódź i Kraków".encode("iso-8859-2"), "x.html", declared="iso-8859-2") == (
        "Łódź i Kraków"
    )


def test_a_long_text_in_another_alphabet_is_told_by_its_letters() -> None:
    assert decode((RUSSIAN * 3).encode("cp1251"), "x.txt") == RUSSIAN * 3


def test_bytes_in_no_encoding_are_refused_with_a_hint() -> None:
    with pytest.raises(Undecodable, match=r"'x\.txt'") as caught:
        decode(b"word \xff\xfe\x81\x8d bad \x9d\x90 " * 3, "x.txt")
    assert caught.value.hint == "save the file as UTF-8"


def test_half_an_utf16_file_is_refused() -> None:
    with pytest.raises(Undecodable, match="UTF-16"):
        decode(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le")[:-1], "x.txt")


def test_zero_bytes_mean_binary() -> None:
    with pytest.raises(UnknownFormat):
        decode(b"some\0bytes", "x.txt")


@given(st.binary(max_size=300))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    with suppress(AbstragError):
        assert "\0" not in decode(data, "x")
