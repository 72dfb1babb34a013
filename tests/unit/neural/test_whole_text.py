"""The encoder of whole texts that ships: what it finds alike, and what must not matter to it."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.neural.vectors import AlignedText
from abstrag.neural.whole_text import WholeTextEncoder, default_encoder

SENTENCES = (
    "A dog barks.",
    "A hound is barking.",
    "Interest rates rose in May.",
    "The central bank tightened its policy.",
    "12 patients (40%) received the vaccine.",
)
WORDS = "the bank of a river is where dogs run and boats land in May 1990".split()


def some_texts() -> list[str]:
    draw = random.Random(5)
    return [" ".join(draw.choices(WORDS, k=k)) for k in (1, 2, 3, 5, 8, 13, 21, 34, 55, 3, 8)]


def test_what_means_the_same_points_the_same_way(shipped: WholeTextEncoder) -> None:
    vectors = shipped.embed(SENTENCES)
    assert vectors.dtype == np.float32
    cosines = vectors @ vectors.T
    rows, columns = np.triu_indices(len(SENTENCES), 1)
    pairs = sorted(zip(rows.tolist(), columns.tolist(), strict=True), key=lambda p: -cosines[p])
    assert pairs[:2] == [(0, 1), (2, 3)]


def test_vectors_have_length_one(shipped: WholeTextEncoder) -> None:
    lengths = np.linalg.norm(shipped.embed(some_texts()), axis=1)
    assert lengths == pytest.approx(np.ones(len(lengths)), abs=1e-6)


def test_a_text_has_one_vector_in_any_company(shipped: WholeTextEncoder) -> None:
    texts = some_texts()
    together = shipped.embed(texts)
    alone = np.concatenate([shipped.embed([text]) for text in texts])
    backwards = shipped.embed(texts[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_threads_change_nothing(shipped: WholeTextEncoder) -> None:
    three = WholeTextEncoder.load(threads=3)
    assert (shipped.threads, three.threads) == (1, 3)
    assert np.array_equal(three.embed(some_texts()), shipped.embed(some_texts()))


def test_rows_follow_the_texts_repeated_ones_too(shipped: WholeTextEncoder) -> None:
    a, b = SENTENCES[0], SENTENCES[2]
    rows = shipped.embed([b, a, "", b])
    assert np.array_equal(rows[[1, 0]], shipped.embed([a, b]))
    assert np.array_equal(rows[3], rows[0])
    assert not rows[2].any()


def test_a_repeated_text_is_embedded_once(
    shipped: WholeTextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    aligner = shipped._aligner
    read = aligner._once

    def counted(text: str) -> AlignedText:
        seen.append(text)
        return read(text)

    monkeypatch.setattr(aligner, "_once", counted)
    shipped.embed(["a dog", "a cat", "a dog", "a dog"])
    assert seen == ["a dog", "a cat"]


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\u200b\ufeff", "\ud800"])
def test_a_text_without_words_has_no_direction(shipped: WholeTextEncoder, text: str) -> None:
    assert not shipped.embed([text]).any()


def test_no_texts_have_no_vectors(shipped: WholeTextEncoder) -> None:
    assert shipped.embed([]).shape == (0, 384)


def test_only_the_first_256_tokens_are_read_and_it_says_so(shipped: WholeTextEncoder) -> None:
    fits, longer, endless = (" ".join(["dog"] * n) for n in (254, 255, 100_000))
    assert shipped.truncated([fits, longer, "dog", endless]) == (1, 3)
    vectors = shipped.embed([fits, longer, endless])
    assert np.array_equal(vectors[1], vectors[0])
    assert np.array_equal(vectors[2], vectors[0])


def test_a_word_as_long_as_a_book_is_one_unknown_word(shipped: WholeTextEncoder) -> None:
    assert np.array_equal(shipped.embed(["x" * 200_000]), shipped.embed(["x" * 101]))
    assert shipped.truncated(["x" * 200_000]) == ()


def test_one_string_is_not_taken_for_its_letters(shipped: WholeTextEncoder) -> None:
    with pytest.raises(InputError, match="got one string"):
        shipped.embed("A dog barks.")


def test_no_threads_are_refused() -> None:
    with pytest.raises(InputError, match="threads is 0"):
        WholeTextEncoder.load(threads=0)


def test_the_packaged_one_is_loaded_once(shipped: WholeTextEncoder) -> None:
    assert default_encoder() is default_encoder()
    assert default_encoder().fingerprint == shipped.fingerprint
    assert repr(shipped) == f"WholeTextEncoder({shipped.fingerprint!r})"


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, abstrag.neural.whole_text, abstrag.search.dense\n"
        "import abstrag_bench.baselines.dense\n"
        "sys.exit(bool({'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
