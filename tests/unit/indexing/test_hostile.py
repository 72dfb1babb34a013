"""Texts made to cost more than they weigh: the work for them grows with their length."""

from pathlib import Path

import pytest
from spacy.tokens import Doc

from abstrag.config import MAX_PARSED_CHARS, MAX_PARSED_TOKENS, MAX_WORD_CHARS
from abstrag.documents.load import load_bytes
from abstrag.indexing import coref
from abstrag.indexing.pipeline import index
from abstrag.indexing.reference.pronouns import governor
from abstrag.indexing.segment import _pieces, sentences
from abstrag.language import parser
from abstrag.language.parser import SIGN, parse
from abstrag.model.index import DocumentIndex
from tests.unit.documents.limited import growth, read_limited


def indexed(text: str) -> DocumentIndex:
    return index(load_bytes(text.encode(), name="made.txt"))


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, "a" * 50_000, "word " * 9_000, "[ " * 30_000, "Go on. " * 9_000, "é" * 999],
    ids=["signs", "a word", "words", "signs and spaces", "sentences", "short"],
)
def test_no_piece_of_a_text_is_more_than_a_parser_should_see(text: str) -> None:
    pieces = [text[start:end] for start, end in _pieces(text)]
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    for piece in pieces:
        assert len(piece) <= MAX_PARSED_CHARS
        assert max(map(len, piece.split())) <= MAX_WORD_CHARS
        assert sum(1 for _ in SIGN.finditer(piece)) <= MAX_PARSED_TOKENS


def test_a_long_word_is_cut_from_what_stands_before_it() -> None:
    text = "A sentence. Then comes " + "x" * (MAX_WORD_CHARS + 5) + " at last."
    pieces = [text[start:end] for start, end in _pieces(text)]
    assert pieces[:2] == ["A sentence.", "Then comes"]
    assert pieces[2:] == ["x" * MAX_WORD_CHARS, "xxxxx at last."]


@pytest.mark.parametrize("sign", ["[", '"', "(", "(a) "])
def test_brackets_and_quotes_by_the_thousand_are_indexed_within_the_limits(
    tmp_path: Path, sign: str
) -> None:
    file = tmp_path / "signs.txt"
    file.write_text("Text here. " + sign * (60_000 // len(sign)) + " end.\n")
    assert len(read_limited(file, index=True, megabytes=3000, seconds=120).texts) > 5


def test_a_cell_of_more_than_a_parser_reads_is_cut() -> None:
    cell = "word " * (MAX_PARSED_CHARS // 4)
    page = f"<html><table><tr><th>Name<th>Text<tr><td>Long<td>{cell}</table></html>"
    made = index(load_bytes(page.encode(), name="made.html"))
    pieces = [record.segment for record in made.records if "word" in record.segment.text]
    assert len(pieces) == 2
    texts = [piece.text.removeprefix("Long | ") for piece in pieces]
    assert all(t in p.span.of(made.document.text) for t, p in zip(texts, pieces, strict=True))
    assert sum(piece.text.count("word") for piece in pieces) == cell.count("word")


def test_a_batch_holds_no_more_tokens_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_BATCH_TOKENS", 10)
    texts = ["one two three four"] * 5 + ["alone " * 30, "a b"]
    batches = list(parser._batches(texts))
    assert [len(batch) for batch in batches] == [2, 2, 1, 1, 1]
    assert [doc.text for doc in parse(texts)] == texts


def test_texts_of_ordinary_length_are_parsed_as_many_at_a_time_as_ever() -> None:
    batches = list(parser._batches(["A sentence of six words."] * 300))
    assert [len(batch) for batch in batches] == [128, 128, 44]


@pytest.mark.parametrize(
    "words",
    ["he and she and it and ", "he says that she thinks that it ", "the company and the firm "],
)
def test_the_work_for_pronouns_grows_with_the_sentence(words: str) -> None:
    assert growth(lambda size: indexed("Acme met Ann. " + words * size + "."), 150) < 2.5


def test_pronouns_of_a_very_long_sentence_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Ann Lee founded a firm and she sold it."
    assert {a.reason for a in indexed(text).ambiguities} != {"long sentence"}
    monkeypatch.setattr(coref, "MAX_SENTENCE_TOKENS", 5)
    made = indexed(text)
    open_ones = [a for a in made.ambiguities if a.reason == "long sentence"]
    assert [text[a.start : a.end] for a in open_ones] == ["she", "it"]


def test_what_governs_the_last_of_thousands_is_found() -> None:
    words = ["saw", *["it"] * 5_000]
    heads = [0, *range(5_000)]
    deps = ["ROOT", "dobj", *["conj"] * 4_999]
    doc = Doc(
        parser.parser().vocab,
        words=words,
        heads=heads,
        deps=deps,
        pos=["VERB", *["PRON"] * 5_000],
    )
    assert governor(doc[5_000]) == doc[0]


def test_the_work_for_sentence_ends_taken_back_grows_with_their_number() -> None:
    def cut(size: int) -> None:
        doc = Doc(
            parser.parser().vocab,
            words=["no"] * size,
            sent_starts=[True] * size,
        )
        assert sentences(doc) == [(0, size)]

    assert growth(cut, 1_000) < 2.2
