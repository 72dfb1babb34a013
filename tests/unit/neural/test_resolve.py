"""A model by the word a user gives for it, be it ours or from somewhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.query import Query
from abstrag.neural import resolve
from abstrag.neural.embedder import Embedder
from abstrag.neural.foreign import ForeignEncoder, ForeignJudge
from abstrag.neural.judge import EvidenceJudge
from abstrag.neural.resolve import resolve_encoder, resolve_judge
from abstrag.neural.whole_text import WholeTextEncoder
from abstrag.testing.sample_index import sample_index


class Tensor(SimpleNamespace):
    """As much of a tensor as anybody asks for."""

    def detach(self) -> Tensor:
        return self

    cpu = float = detach

    def numpy(self) -> Any:
        return np.array(self.values, dtype=np.float32)


class Library(ModuleType):
    """A stand-in for sentence-transformers with models that count letters and words."""

    def __init__(self) -> None:
        super().__init__("sentence_transformers")
        self.weights = [1.0, 2.0]
        self.labels = 1
        self.architectures = ["BertForSequenceClassification"]
        self.seen: list[tuple[str, str]] = []
        self.batches: set[int] = set()
        self.fails: Exception | None = None
        self.downloaded = True
        self.tried: list[str] = []
        library = self

        class Model:
            def __init__(self, name: str, *, device: str, local_files_only: bool = False) -> None:
                library.tried.append("here" if local_files_only else "anywhere")
                if library.fails or (local_files_only and not library.downloaded):
                    raise library.fails or OSError("not downloaded")
                self.num_labels = library.labels
                self.max_seq_length = 15
                self.config = SimpleNamespace(architectures=library.architectures)

            def __str__(self) -> str:
                return "Model"

            def state_dict(self) -> dict[str, Tensor]:
                return {"w": Tensor(values=library.weights)}

            def encode(self, texts: list[str], *, batch_size: int, **_: object) -> Any:
                library.batches.add(batch_size)
                return [[len(text), 1.0] for text in texts]

            def tokenizer(self, text: str, **_: object) -> dict[str, list[Any]]:
                starts = [i for i in range(len(text)) if text[i : i + 1].strip()]
                starts = [i for i in starts if i == 0 or not text[i - 1].strip()]
                spans = [(i, i + len(text[i:].split()[0])) for i in starts]
                return {"input_ids": [1] * len(spans), "offset_mapping": spans}

            def predict(self, pairs: list[tuple[str, str]], *, batch_size: int, **_: object) -> Any:
                library.batches.add(batch_size)
                library.seen += pairs
                return [text.count("yes") / 10 for _, text in pairs]

        self.SentenceTransformer = self.CrossEncoder = Model


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setitem(sys.modules, "sentence_transformers", made)
    torch = ModuleType("torch")
    torch.nn = SimpleNamespace(Sigmoid=lambda: None)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    return made


# --- Our own --------------------------------------------------------------------------------------


def test_a_folder_of_ours_is_what_its_manifest_says(bundle: Path, judge_folder: Path) -> None:
    assert isinstance(resolve_encoder(str(bundle)), Embedder)
    judge = resolve_judge(str(judge_folder), threads=2)
    assert isinstance(judge, EvidenceJudge)
    assert judge.threads == 2


def test_the_shipped_one_has_a_short_name(shipped: WholeTextEncoder) -> None:
    assert resolve_encoder("aligner").fingerprint == shipped.fingerprint


def test_a_shipped_name_never_means_a_model_of_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: Library
) -> None:
    monkeypatch.setattr(resolve, "WEIGHTS", tmp_path)
    with pytest.raises(ResourceMissing, match=r"cannot read .*judge/manifest\.json"):
        resolve_judge("judge")


def test_a_model_for_something_else_is_refused(bundle: Path, judge_folder: Path) -> None:
    with pytest.raises(InputError, match="is for the task 'embed'"):
        resolve_judge(str(bundle))
    with pytest.raises(InputError, match="is for the task 'judge'"):
        resolve_encoder(str(judge_folder))


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "~/no-such-model", "a/b/c"])
def test_a_path_to_nothing_is_not_taken_for_a_name(name: str) -> None:
    with pytest.raises(InputError, match="there is no model at"):
        resolve_encoder(name)


def test_no_name_is_refused() -> None:
    with pytest.raises(InputError, match="needs a name"):
        resolve_judge(" ")


# --- Other makers' --------------------------------------------------------------------------------


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for resolved in (resolve_encoder, resolve_judge):
        with pytest.raises(ResourceMissing, match="'some/model' needs sentence-transformers") as e:
            resolved("some/model")
        assert "pip install" in str(e.value.hint)


def test_a_model_that_cannot_be_had_is_named(library: Library) -> None:
    library.fails = OSError("We couldn't connect to the hub\nand more")
    with pytest.raises(InputError, match=r"'some/model' can neither .* connect to the hub\nhint"):
        resolve_encoder("some/model")


def test_a_model_that_was_downloaded_needs_no_connection(library: Library) -> None:
    resolve_encoder("some/model")
    assert library.tried == ["here"]
    library.downloaded = False
    resolve_judge("some/model")
    assert library.tried == ["here", "here", "anywhere"]


def test_a_foreign_encoder_embeds_one_text_at_a_time(library: Library) -> None:
    encoder = resolve_encoder("some/model")
    assert isinstance(encoder, ForeignEncoder)
    made = encoder.embed(["four", " ", "a"])
    assert made.tolist() == [[4, 1], [0, 0], [1, 1]]
    assert made.dtype == np.float32
    assert encoder.embed([]).shape == (0, 2)
    assert library.batches == {1}
    with pytest.raises(InputError, match="got one string"):
        encoder.embed("four")


def test_a_fingerprint_names_the_numbers(library: Library) -> None:
    one, same = resolve_judge("some/model"), resolve_judge("some/model")
    library.weights = [1.0, 2.5]
    assert one.fingerprint == same.fingerprint != resolve_judge("some/model").fingerprint
    assert repr(one) == f"ForeignJudge({one.fingerprint!r})"
    assert "some/model" in repr(resolve_encoder("some/model"))


def test_a_foreign_judge_reads_a_long_passage_to_its_end(library: Library) -> None:
    judge = resolve_judge("some/model")
    assert isinstance(judge, ForeignJudge)
    long = "no " * 40 + "yes yes"
    assert judge.score("is it so", ["yes", long, "", "no"]) == [0.1, 0.2, 0.0, 0.0]
    pieces = [text for _, text in library.seen]
    assert max(len(text.split()) for text in pieces) == 9  # of 15: the query, the frame, the rest
    assert judge.score(" ", ["yes"]) == [0.0]
    judge.score("so " * 50, ["yes"])
    assert library.seen[-1] == ("so so so so so", "yes")
    assert library.batches == {1}
    with pytest.raises(InputError, match="got one string"):
        judge.score("q", "yes")


def test_a_foreign_judge_judges_segments(library: Library) -> None:
    segments: Sequence[Any] = [one.segment for one in sample_index().records]
    judge = resolve_judge("some/model")
    assert judge.reading("A title")(Query("q", ()), segments) == [0.0] * len(segments)
    assert not any(text.startswith("A title") for _, text in library.seen)


def test_a_classifier_is_no_judge(library: Library) -> None:
    library.labels = 3
    with pytest.raises(InputError, match="tells 3 classes apart"):
        resolve_judge("some/model")


def test_a_model_without_a_head_is_no_judge(library: Library) -> None:
    library.architectures = ["BertModel"]
    with pytest.raises(InputError, match="is a BertModel, which gives no score"):
        resolve_judge("some/model")
