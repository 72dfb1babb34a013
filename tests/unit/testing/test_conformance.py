"""The tests for users' parts pass for right ones, and fail for wrong ones."""

from collections.abc import Sequence

import numpy as np
import pytest

from abstrag.documents.readers import DocumentReader
from abstrag.errors import DocumentError
from abstrag.model.document import Document
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.neural.encoder import TextEncoder, Vectors
from abstrag.neural.judge import default_judge
from abstrag.neural.whole_text import default_encoder
from abstrag.search.judging import Judge
from abstrag.testing.encoders import EncoderConformance
from abstrag.testing.judges import JudgeConformance
from abstrag.testing.readers import ReaderConformance
from tests.unit.testing.parts import LetterEncoder, read_shouted, shared_words

SAMPLE = b"The pump! was switched on.\n\nThe valve! stayed shut.\n", "pump.shout"


class TestEncoders(EncoderConformance):
    @pytest.fixture(params=[LetterEncoder, default_encoder])
    def encoder(self, request: pytest.FixtureRequest) -> TextEncoder:
        made: TextEncoder = request.param()
        return made


class TestJudges(JudgeConformance):
    @pytest.fixture(params=["own", "shipped"])
    def judge(self, request: pytest.FixtureRequest) -> Judge:
        return shared_words if request.param == "own" else default_judge()


class TestReaders(ReaderConformance):
    @pytest.fixture
    def reader(self) -> DocumentReader:
        return read_shouted

    @pytest.fixture
    def sample(self) -> tuple[bytes, str]:
        return SAMPLE


class TwiceAsLong(LetterEncoder):
    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(super().embed(texts) * 2, np.float32)


class ByCompany(LetterEncoder):
    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.roll(super().embed(texts), len(texts), axis=1)


def by_place(query: Query, segments: Sequence[Segment]) -> list[float]:
    return [1 / (place + 1) for place, _ in enumerate(segments)]


def test_vectors_of_another_length_are_seen() -> None:
    with pytest.raises(AssertionError):
        EncoderConformance().test_rows_have_length_one(TwiceAsLong())


def test_vectors_that_depend_on_the_batch_are_seen() -> None:
    with pytest.raises(AssertionError):
        EncoderConformance().test_a_text_gets_the_same_row_in_any_company(ByCompany())


def test_a_judge_that_ranks_by_place_is_seen() -> None:
    with pytest.raises(AssertionError):
        JudgeConformance().test_a_pair_is_judged_the_same_in_any_company(by_place)


def test_a_reader_without_blocks_is_seen() -> None:
    def nothing(data: bytes, name: str) -> Document:
        return Document(id=name, title=name, text=data.decode(), blocks=())

    with pytest.raises(DocumentError, match="it found no text"):
        ReaderConformance().test_a_good_file_becomes_a_sound_document(nothing, SAMPLE)
