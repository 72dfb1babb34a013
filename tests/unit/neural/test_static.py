"""The static embedder: sums that can be worked out by hand."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import SCALES, VECTORS
from abstrag.neural.static import StaticEmbedder
from tests.unit.neural.test_bundle import vouch_for
from tests.unit.neural.tiny import WORDS
from tools.export.folder import export
from tools.export.graph import Precision


@pytest.fixture
def static(static_folder: Path) -> StaticEmbedder:
    return StaticEmbedder.load(static_folder)


def by_hand(*words: str) -> np.ndarray:
    """Add up the vectors of some tokens, each as often as its number, and scale to length 1."""
    rows = [WORDS.index(word) for word in words if word != "."]  # which counts for nothing
    angles = np.linspace(0, 3, len(WORDS))[rows]
    total = (np.array(rows)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)).sum(0)
    return np.asarray(total / np.linalg.norm(total))


def test_a_text_is_the_weighted_sum_of_its_tokens(static: StaticEmbedder) -> None:
    made = static.embed(["a dog", "hound", "a hound barks."])
    assert made[0] == pytest.approx(by_hand("a", "dog"), abs=0.01)
    assert made[1] == pytest.approx(by_hand("hound"), abs=0.01)
    assert made[2] == pytest.approx(by_hand("a", "hound", "bark", "##s", "."), abs=0.01)
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_a_text_has_one_vector_in_any_company(static: StaticEmbedder) -> None:
    draw = np.random.default_rng(1)
    texts = [" ".join(draw.choice(WORDS[4:8], size=n % 9)) for n in range(700)]
    together = static.embed(texts)
    assert np.array_equal(together, np.concatenate([static.embed([text]) for text in texts]))
    assert np.array_equal(together, static.embed(texts[::-1])[::-1])


def test_a_text_without_words_has_no_direction(static: StaticEmbedder) -> None:
    made = static.embed(["", "dog", " ", "\u200b", ""])
    assert made.any(axis=1).tolist() == [False, True, False, False, False]
    assert not static.embed(["", " "]).any()
    assert static.embed([]).shape == (0, 2)
    assert not static.embed(["."]).any()  # a token that counts for nothing


def test_a_text_is_read_to_its_end(static: StaticEmbedder) -> None:
    assert static.embed(["a " * 50_000 + "dog " * 50_000])[0] == pytest.approx(
        static.embed(["a dog"])[0], abs=1e-3
    )


def test_it_says_what_it_is(static: StaticEmbedder) -> None:
    assert static.fingerprint.startswith("tiny-static:")
    assert repr(static) == f"StaticEmbedder({static.fingerprint!r})"
    with pytest.raises(InputError, match="got one string"):
        static.embed("dog")


@pytest.mark.parametrize("name", [VECTORS, SCALES])
def test_files_that_are_something_else_are_errors(static_folder: Path, name: str) -> None:
    vouch_for(static_folder, name, b"no array")
    with pytest.raises(ResourceMissing, match=f"'{name}' in .* cannot be read"):
        StaticEmbedder.load(static_folder)
    file = io.BytesIO()
    np.save(file, np.zeros((3, 2), np.float32))
    vouch_for(static_folder, name, file.getvalue())
    with pytest.raises(ResourceMissing, match=r"is float32 of the shape \(3, 2\), where"):
        StaticEmbedder.load(static_folder)
    (static_folder / name).write_bytes(b"")
    with pytest.raises(ResourceMissing, match="its checksum differs"):
        StaticEmbedder.load(static_folder)


def test_weights_of_another_length_are_not_exported(static_folder: Path) -> None:
    source = static_folder.parent / "published-static"
    np.savez(source / "model.npz", vectors=np.ones((11, 2), "f4"), weights=np.ones(9, "f4"))
    with pytest.raises(InputError, match="11 vectors have weights of the shape"):
        export(source, static_folder.parent / "other", precision=Precision.INT8)
