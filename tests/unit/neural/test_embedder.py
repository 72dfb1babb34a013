"""The embedder that ships: what it finds alike, and what must not matter to it."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest

from abstrag.errors import InputError
from abstrag.neural.embedder import Embedder, default_embedder
from abstrag.neural.encoder import Vectors
from abstrag.neural.tokens import Ids

SENTENCES = (
    "A dog barks.",
    "A hound is barking.",
    "Interest rates rose in May.",
    "The central bank tightened its policy.",
    "12 patients (40%) received the vaccine.",
)
# cosines of the published weights in 32-bit floats
COSINES = (
    (1.000, 0.806, -0.015, -0.045, 0.052),
    (0.806, 1.000, -0.012, -0.109, 0.043),
    (-0.015, -0.012, 1.000, 0.287, 0.011),
    (-0.045, -0.109, 0.287, 1.000, 0.029),
    (0.052, 0.043, 0.011, 0.029, 1.000),
)
WORDS = "the bank of a river is where dogs run and boats land in May 1990".split()


def some_texts() -> list[str]:
    draw = random.Random(5)
    return [" ".join(draw.choices(WORDS, k=k)) for k in (1, 2, 3, 5, 8, 13, 21, 34, 55, 3, 8)]


def test_it_has_not_gone_far_from_the_published_model_it_was_trained_from(
    shipped: Embedder,
) -> None:
    vectors = shipped.embed(SENTENCES)
    assert vectors.dtype == np.float32
    cosines = vectors @ vectors.T
    assert cosines == pytest.approx(np.array(COSINES), abs=0.1)
    assert _alike(cosines) == _alike(np.array(COSINES)) == [(0, 1), (2, 3)]
    first = np.array([0.043, -0.032, 0.052, 0.099, 0.018, -0.008])  # of the published vector
    assert vectors[0, :6] == pytest.approx(first, abs=0.03)


def _alike(cosines: Vectors | npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of sentences that have anything in common, the nearest first."""
    rows, columns = np.triu_indices(len(cosines), 1)
    pairs = sorted(zip(rows.tolist(), columns.tolist(), strict=True), key=lambda p: -cosines[p])
    return [pair for pair in pairs if cosines[pair] > 0.2]


def test_vectors_have_length_one(shipped: Embedder) -> None:
    lengths = np.linalg.norm(shipped.embed(some_texts()), axis=1)
    assert lengths == pytest.approx(np.ones(len(lengths)), abs=1e-6)


def test_a_text_has_one_vector_in_any_company(shipped: Embedder) -> None:
    texts = some_texts()
    together = shipped.embed(texts)
    alone = np.concatenate([shipped.embed([text]) for text in texts])
    backwards = shipped.embed(texts[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_threads_change_nothing(shipped: Embedder) -> None:
    three = Embedder.load(threads=3)
    assert (shipped.threads, three.threads) == (1, 3)
    assert np.array_equal(three.embed(some_texts()), shipped.embed(some_texts()))


def test_rows_follow_the_texts_repeated_ones_too(shipped: Embedder) -> None:
    a, b = SENTENCES[0], SENTENCES[2]
    rows = shipped.embed([b, a, "", b])
    assert np.array_equal(rows[[1, 0]], shipped.embed([a, b]))
    assert np.array_equal(rows[3], rows[0])
    assert not rows[2].any()


def test_a_repeated_text_is_embedded_once(
    shipped: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    run = shipped._run

    def counted(ids: Ids) -> Vectors:
        seen.append(len(ids))
        return run(ids)

    monkeypatch.setattr(shipped, "_run", counted)
    shipped.embed(["a dog", "a", "a dog", "a dog"])
    assert seen == [4, 3]


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\u200b\ufeff", "\ud800"])
def test_a_text_without_words_has_no_direction(shipped: Embedder, text: str) -> None:
    assert not shipped.embed([text]).any()


def test_no_texts_have_no_vectors(shipped: Embedder) -> None:
    assert shipped.embed([]).shape == (0, 384)


def test_only_the_first_256_tokens_are_read_and_it_says_so(shipped: Embedder) -> None:
    fits, longer, endless = (" ".join(["dog"] * n) for n in (254, 255, 100_000))
    assert shipped.truncated([fits, longer, "dog", endless]) == (1, 3)
    vectors = shipped.embed([fits, longer, endless])
    assert np.array_equal(vectors[1], vectors[0])
    assert np.array_equal(vectors[2], vectors[0])


def test_a_word_as_long_as_a_book_is_one_unknown_word(shipped: Embedder) -> None:
    assert np.array_equal(shipped.embed(["x" * 200_000]), shipped.embed(["x" * 101]))
    assert shipped.truncated(["x" * 200_000]) == ()


def test_one_string_is_not_taken_for_its_letters(shipped: Embedder) -> None:
    with pytest.raises(InputError, match="got one string"):
        shipped.embed("A dog barks.")


def test_no_threads_are_refused() -> None:
    with pytest.raises(InputError, match="threads is 0"):
        Embedder.load(threads=0)


def test_the_packaged_one_is_loaded_once(shipped: Embedder) -> None:
    assert default_embedder() is default_embedder()
    assert default_embedder().fingerprint == shipped.fingerprint
    assert repr(shipped) == f"Embedder({shipped.fingerprint!r})"


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, abstrag.neural.embedder, abstrag.rank.dense, abstrag.baselines.dense\n"
        "sys.exit(bool({'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
