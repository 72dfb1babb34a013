"""The exporter, on a network that is also computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest

from abstrag.errors import InputError
from abstrag.neural.bundle import MANIFEST, MODEL, TOKENIZER, Bundle
from abstrag.neural.embedder import WEIGHTS, Embedder
from abstrag.neural.runtime import Runtime
from tests.unit.neural.tiny import POSITIONS, WORDS, forward, publish, tensors
from tools.export_minilm import (
    LICENCE,
    PUBLISHED,
    export,
    main,
    quantized_columns,
    quantized_rows,
    read_safetensors,
)

Quantized = Callable[
    [npt.NDArray[np.float32]], tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]
]

TEXTS = ([2, 3], [2, 4, 5, 7, 8, 3], [2, 4, 6, 7, 9, 10, 4, 5, 3])


def run(folder: Path, precision: str) -> list[np.ndarray]:
    checksum = publish(folder / "published")
    export(folder / "published", folder / precision, precision=precision, expected=checksum)
    runtime = Runtime((folder / precision / MODEL).read_bytes())
    return [runtime(np.array(ids, dtype=np.int64)) for ids in TEXTS]


def test_the_float_graph_is_the_network(tmp_path: Path) -> None:
    for ids, made in zip(TEXTS, run(tmp_path, "float32"), strict=True):
        assert made == pytest.approx(forward(tensors(), ids), abs=1e-5)


def test_the_integer_graph_is_close_to_it(tmp_path: Path) -> None:
    for ids, made in zip(TEXTS, run(tmp_path, "int8"), strict=True):
        assert float(made @ forward(tensors(), ids)) > 0.995
        assert float(np.linalg.norm(made)) == pytest.approx(1, abs=1e-6)


def test_an_exported_folder_is_an_embedder(bundle: Path) -> None:
    (vector,) = Embedder.load(bundle).embed(["A dog barks."])
    ids = [WORDS.index(word) for word in ("[CLS]", "a", "dog", "bark", "##s", ".", "[SEP]")]
    assert float(vector @ forward(tensors(), ids)) > 0.995


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    checksum = publish(tmp_path / "published")
    for name in ("one", "two"):
        export(tmp_path / "published", tmp_path / name, precision="int8", expected=checksum)
    for file in (MODEL, TOKENIZER, MANIFEST):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_only_float_tensors_are_read(tmp_path: Path) -> None:
    publish(tmp_path)
    read = read_safetensors((tmp_path / "model.safetensors").read_bytes())
    assert sorted(read) == sorted(tensors())
    assert all(np.array_equal(read[name], value) for name, value in tensors().items())


def test_a_model_has_no_more_places_than_it_was_given(bundle: Path) -> None:
    assert Bundle.open(bundle).manifest.max_tokens == POSITIONS


def test_other_weights_are_refused(tmp_path: Path) -> None:
    publish(tmp_path / "published")
    with pytest.raises(InputError, match="SHA-256") as caught:
        main([str(tmp_path / "published"), "--output", str(tmp_path / "bundle")])
    assert "--expect" in str(caught.value.hint)
    assert not (tmp_path / "bundle").exists()


def test_another_kind_of_network_is_refused(tmp_path: Path) -> None:
    checksum = publish(tmp_path, hidden_act="relu")
    with pytest.raises(InputError, match="hidden_act 'relu'"):
        main([str(tmp_path), "--output", str(tmp_path / "bundle"), "--expect", checksum])


@pytest.mark.parametrize(
    ("quantized", "axis"), [(quantized_rows, 1), (quantized_columns, 0)], ids=["rows", "columns"]
)
def test_rounding_is_off_by_half_a_step_at_most(quantized: Quantized, axis: int) -> None:
    values = np.random.default_rng(1).normal(size=(9, 9)).astype(np.float32)
    values[3] = values[:, 3] = 0
    whole, scale = quantized(values)
    assert scale.shape[axis] == 1
    assert np.all(np.abs(whole * scale - values) <= scale * 0.5001)
    assert not whole[3].any()
    assert not whole[:, 3].any()


def test_a_row_uses_its_whole_range_and_a_column_what_its_neighbours_leave() -> None:
    values = np.array([[1, 1], [-1, 0.01], [0.5, -0.5]], dtype=np.float32)
    assert np.abs(quantized_rows(values)[0]).max(axis=1).tolist() == [127, 127, 127]
    assert quantized_columns(values)[0][:, 0].tolist() == [64, -64, 32]  # 1 and 1 are too much
    assert quantized_columns(values)[0][:, 1].tolist() == [126, 1, -63]


def test_the_shipped_products_overflow_no_processor() -> None:
    model = onnx.load(str(WEIGHTS / MODEL))
    factors = {node.input[1] for node in model.graph.node if node.op_type == "MatMulIntegerToFloat"}
    tables = [onnx.numpy_helper.to_array(t) for t in model.graph.initializer if t.name in factors]
    assert len(tables) == len(factors) == 24
    sizes = [np.abs(table.astype(np.int64)) for table in tables]
    # two products of an unsigned activation and a weight are added up in 16 signed bits
    assert max(255 * int((size[:-1] + size[1:]).max()) for size in sizes) <= 2**15 - 1
    assert max(int(size.max()) for size in sizes) > 100  # and yet most of a byte is used


def test_what_ships_comes_from_the_published_weights_and_is_small() -> None:
    manifest = Bundle.open(WEIGHTS).manifest
    assert (manifest.source_sha256, manifest.licence) == (PUBLISHED, LICENCE)
    assert (manifest.precision, manifest.dimensions, manifest.max_tokens) == ("int8", 384, 256)
    assert sum(file.stat().st_size for file in WEIGHTS.iterdir()) < 25e6
