"""What every encoder promises, as tests; give one of your own as the fixture `encoder`."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

import numpy as np

from abstrag.neural.encoder import TextEncoder

_TEXTS = ("The minister toured the factory.", "It rained.", "Prices rose by 3 per cent in May.")


class EncoderConformance:
    """Everything that `abstrag.neural.encoder.TextEncoder` says."""

    def test_each_text_gets_a_row_of_32_bit_floats(self, encoder: TextEncoder) -> None:
        rows = encoder.embed(_TEXTS)
        assert rows.ndim == 2
        assert len(rows) == len(_TEXTS)
        assert rows.dtype == np.float32

    def test_rows_have_length_one(self, encoder: TextEncoder) -> None:
        lengths = np.linalg.norm(encoder.embed(_TEXTS), axis=1)
        assert np.allclose(lengths, 1.0, atol=1e-3)

    def test_a_text_that_says_nothing_gets_zeros(self, encoder: TextEncoder) -> None:
        said, nothing = encoder.embed([_TEXTS[0], ""])
        assert np.any(said)
        assert not np.any(nothing)

    def test_no_texts_give_no_rows(self, encoder: TextEncoder) -> None:
        assert len(encoder.embed([])) == 0

    def test_a_text_gets_the_same_row_in_any_company(self, encoder: TextEncoder) -> None:
        together = encoder.embed(_TEXTS)
        for row, text in zip(together, _TEXTS, strict=True):
            assert np.allclose(row, encoder.embed([text])[0], atol=1e-5)

    def test_the_fingerprint_is_a_name_that_stays(self, encoder: TextEncoder) -> None:
        before = encoder.fingerprint
        encoder.embed(_TEXTS)
        assert before
        assert encoder.fingerprint == before
