"""The exporter, on networks that are also computed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest

from abstrag.errors import InputError
from abstrag.neural.aligner import ALIGNER
from abstrag.neural.bundle import MANIFEST, MODEL, TOKENIZER, WEIGHTS, Bundle
from abstrag.neural.embedder import Embedder
from abstrag.neural.runtime import Runtime
from tests.unit.neural import tiny
from tools.export.__main__ import main
from tools.export.folder import export
from tools.export.graph import Precision
from tools.export.published import LABELS, MINILM, MINILM_SHA256, read_safetensors
from tools.export.rounding import quantized_columns, quantized_rows

Quantized = Callable[
    [npt.NDArray[np.float32]], tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]
]

TEXTS = ([2, 3], [2, 4, 5, 7, 8, 3], [2, 4, 6, 7, 9, 10, 4, 5, 3])
PAIRS = (
    ([2, 5, 3, 6, 3], [0, 0, 0, 1, 1]),
    ([2, 4, 5, 7, 3, 4, 6, 7, 9, 10, 3], [0] * 5 + [1] * 6),
)
HEADS = [("judge", "linear", 1), ("judge", "tanh", 1), ("verdict", "tanh", 3)]


def embedded(folder: Path, precision: Precision) -> list[np.ndarray]:
    checksum = tiny.publish(folder / "published")
    export(folder / "published", folder / precision, precision=precision, expected=checksum)
    runtime = Runtime((folder / precision / MODEL).read_bytes(), dimensions=tiny.HIDDEN)
    return [runtime(np.array(ids)) for ids in TEXTS]


def judged(
    folder: Path, task: str, kind: str, size: int, precision: Precision, **more: object
) -> list[np.ndarray]:
    recipe = {"name": "x", "task": task, "head": kind, "max_tokens": 320, **more}
    tiny.publish(folder / "published", recipe=recipe, extra=tiny.head(kind, size))
    export(folder / "published", folder / "made", precision=precision)
    runtime = Runtime((folder / "made" / MODEL).read_bytes(), inputs=2, dimensions=size)
    return [runtime(np.array(ids), np.array(types)) for ids, types in PAIRS]


def test_the_float_graph_is_the_network(tmp_path: Path) -> None:
    for ids, made in zip(TEXTS, embedded(tmp_path, Precision.FLOAT32), strict=True):
        assert made == pytest.approx(tiny.embedding(tiny.tensors(), ids), abs=1e-5)


def test_the_integer_graph_is_close_to_it(tmp_path: Path) -> None:
    for ids, made in zip(TEXTS, embedded(tmp_path, Precision.INT8), strict=True):
        assert float(made @ tiny.embedding(tiny.tensors(), ids)) > 0.995
        assert float(np.linalg.norm(made)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("task", "kind", "size"), HEADS)
def test_a_float_graph_over_pairs_is_the_network(
    tmp_path: Path, task: str, kind: str, size: int
) -> None:
    weights = {**tiny.tensors(), **tiny.head(kind, size)}
    made = judged(tmp_path, task, kind, size, Precision.FLOAT32)
    for (ids, types), found in zip(PAIRS, made, strict=True):
        assert found == pytest.approx(tiny.logits(weights, ids, types), abs=1e-5)


@pytest.mark.parametrize(("task", "kind", "size"), HEADS)
def test_an_integer_graph_over_pairs_is_close_to_it(
    tmp_path: Path, task: str, kind: str, size: int
) -> None:
    weights = {**tiny.tensors(), **tiny.head(kind, size)}
    judged(tmp_path, task, kind, size, Precision.INT8)
    runtime = Runtime((tmp_path / "made" / MODEL).read_bytes(), inputs=2, dimensions=size)
    draw = np.random.default_rng(6)
    exact, rounded = [], []
    for _ in range(40):
        ids = [2, *draw.integers(4, 11, 3).tolist(), 3, *draw.integers(4, 11, 5).tolist(), 3]
        types = [0] * 5 + [1] * 6
        exact.append(tiny.logits(weights, ids, types)[0])
        rounded.append(runtime(np.array(ids), np.array(types))[0])
    assert np.corrcoef(exact, rounded)[0, 1] > 0.98


def test_it_matters_which_text_a_token_belongs_to(tmp_path: Path) -> None:
    judged(tmp_path, "judge", "linear", 1, Precision.FLOAT32)
    runtime = Runtime((tmp_path / "made" / MODEL).read_bytes(), inputs=2, dimensions=1)
    ids, types = (np.array(part) for part in PAIRS[0])
    assert abs(float(runtime(ids, types)[0] - runtime(ids, 1 - types)[0])) > 0.01


def test_labels_trained_in_another_order_come_out_in_ours(tmp_path: Path) -> None:
    usual = judged(tmp_path / "a", "verdict", "tanh", 3, Precision.FLOAT32)
    labels = [LABELS[2], LABELS[0], LABELS[1]]
    other = judged(tmp_path / "b", "verdict", "tanh", 3, Precision.FLOAT32, labels=labels)
    assert np.array_equal(other[0], usual[0][[1, 2, 0]])


def test_the_names_of_the_library_are_understood(tmp_path: Path) -> None:
    recipe = {"name": "x", "task": "judge", "head": "tanh", "max_tokens": 320}
    ours = {**tiny.tensors(), **tiny.head("tanh", 1)}
    theirs = {
        f"bert.{name}".replace("bert.head.dense", "bert.pooler.dense").replace(
            "bert.head.out", "classifier"
        ): values
        for name, values in ours.items()
    }
    made = []
    for name, tensors in (("ours", ours), ("theirs", theirs)):
        tiny.publish(tmp_path / name, recipe=recipe)
        (tmp_path / name / "model.safetensors").unlink()
        np.savez(tmp_path / name / "model.npz", **tensors)  # type: ignore[arg-type]
        export(tmp_path / name, tmp_path / f"{name}-made", precision=Precision.INT8)
        made.append((tmp_path / f"{name}-made" / MODEL).read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"task": "judge", "head": "mean"}, "head 'mean' for the task 'judge'"),
        ({"task": "embed", "head": "tanh"}, "head 'tanh' for the task 'embed'"),
        ({"task": "judge", "head": "tanh"}, r"no tensor 'head\.dense\.weight'"),
        ({"task": "verdict", "head": "linear"}, r"head\.weight has 1 rows"),
        ({"task": "verdict", "head": "linear", "labels": ["YES", "NO"]}, "labels"),
        ({"task": "rank"}, "not a Recipe: task"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(
    tmp_path: Path, recipe: dict[str, object], message: str
) -> None:
    whole = {"name": "x", "max_tokens": 320, **recipe}
    tiny.publish(tmp_path / "published", recipe=whole, extra=tiny.head("linear", 1))
    with pytest.raises(InputError, match=message):
        export(tmp_path / "published", tmp_path / "made", precision=Precision.INT8)
    assert not (tmp_path / "made").exists()


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no weights"):
        export(tmp_path, tmp_path / "made", precision=Precision.INT8)


def test_an_exported_folder_is_an_embedder(bundle: Path) -> None:
    (vector,) = Embedder.load(bundle).embed(["A dog barks."])
    ids = [tiny.WORDS.index(word) for word in ("[CLS]", "a", "dog", "bark", "##s", ".", "[SEP]")]
    assert float(vector @ tiny.embedding(tiny.tensors(), ids)) > 0.995


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    checksum = tiny.publish(tmp_path / "published")
    for name in ("one", "two"):
        export(tmp_path / "published", tmp_path / name, precision=Precision.INT8, expected=checksum)
    for file in (MODEL, TOKENIZER, MANIFEST):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_tokenizer_that_is_there_already_is_shared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checksum = tiny.publish(tmp_path / "published")
    order = [str(tmp_path / "published"), "--expect", checksum, "--output"]
    main([*order, str(tmp_path / "models" / "one")])
    own = tmp_path / "models" / "one" / TOKENIZER
    own.rename(tmp_path / "models" / TOKENIZER)
    main([*order, str(tmp_path / "models" / "one")])
    assert "shared" in capsys.readouterr().out
    assert not own.exists()
    assert Embedder.load(tmp_path / "models" / "one").embed(["a dog"]).any()
    other = {**tiny.tokenizer(), "version": "1.1"}
    (tmp_path / "models" / TOKENIZER).write_text(json.dumps(other), "utf-8")
    main([*order, str(tmp_path / "models" / "two")])
    assert (tmp_path / "models" / "two" / TOKENIZER).exists()


def test_only_float_tensors_are_read(tmp_path: Path) -> None:
    tiny.publish(tmp_path)
    read = read_safetensors((tmp_path / "model.safetensors").read_bytes())
    assert sorted(read) == sorted(tiny.tensors())
    assert all(np.array_equal(read[name], value) for name, value in tiny.tensors().items())


def test_a_model_has_no_more_places_than_it_was_given(bundle: Path) -> None:
    assert Bundle.open(bundle).manifest.max_tokens == tiny.POSITIONS


def test_other_weights_are_refused(tmp_path: Path) -> None:
    tiny.publish(tmp_path / "published")
    with pytest.raises(InputError, match="SHA-256") as caught:
        main([str(tmp_path / "published"), "--output", str(tmp_path / "bundle")])
    assert "--expect" in str(caught.value.hint)
    assert not (tmp_path / "bundle").exists()


def test_another_kind_of_network_is_refused(tmp_path: Path) -> None:
    checksum = tiny.publish(tmp_path, hidden_act="relu")
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


SHIPPED = sorted(path.parent for path in WEIGHTS.glob(f"*/{MANIFEST}"))


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_the_files_that_ship_are_those_of_their_manifest(folder: Path) -> None:
    bundle = Bundle.open(folder)
    assert all(bundle.read(name) for name in bundle.manifest.files)
    assert {path.name for path in folder.iterdir()} <= {MANIFEST, *bundle.manifest.files}
    assert (bundle.manifest.precision, bundle.manifest.licence) == ("int8", "Apache-2.0")


@pytest.mark.parametrize(
    "folder", [one for one in SHIPPED if (one / MODEL).exists()], ids=lambda folder: folder.name
)
def test_the_shipped_products_overflow_no_processor(folder: Path) -> None:
    model = onnx.load(str(folder / MODEL))
    factors = {node.input[1] for node in model.graph.node if node.op_type == "MatMulIntegerToFloat"}
    tables = [onnx.numpy_helper.to_array(t) for t in model.graph.initializer if t.name in factors]
    assert len(tables) == len(factors) >= 4
    sizes = [np.abs(table.astype(np.int64)) for table in tables]
    # two products of an unsigned activation and a weight are added up in 16 signed bits
    assert max(255 * int((size[:-1] + size[1:]).max()) for size in sizes) <= 2**15 - 1
    assert max(int(size.max()) for size in sizes) > 100  # and yet most of a byte is used


TRAINED = {  # the weights that training left behind, by the folder they went into
    "aligner": "9284dab1d00c1df00fd0143f143505eb3b0e9a3814f4f4ba627efeb207f39a24",
    "judge": "9439091c29de1a717e88a695bd19dc0104c9cadba108975c047596f4cd7d5a4b",
    "trunk": "9439091c29de1a717e88a695bd19dc0104c9cadba108975c047596f4cd7d5a4b",
    "verdict": "29433afd4f4ff4af56aeaa88acfb5419a8c0c5fc048a8679b0de95c5fcdc1b1d",
}


def test_the_models_come_from_the_weights_we_trained_and_are_named_for_them() -> None:
    manifests = {folder.name: Bundle.open(folder).manifest for folder in SHIPPED}
    assert {name: m.source_sha256 for name, m in manifests.items()} == TRAINED
    assert {name: m.name for name, m in manifests.items()} == {
        "aligner": "abstrag-aligner-2",
        "judge": "abstrag-judge-6",
        "trunk": "abstrag-trunk-6",
        "verdict": "abstrag-verdict-7",
    }
    # a model of ours never goes by the name of what it was trained from
    assert MINILM.name not in {m.name for m in manifests.values()}
    assert MINILM_SHA256 not in {m.source_sha256 for m in manifests.values()}


def test_the_models_that_ship_are_small() -> None:
    manifest = Bundle.open(ALIGNER).manifest
    assert (manifest.dimensions, manifest.max_tokens, manifest.vocabulary) == (128, 256, 30522)
    assert all((folder / MODEL).stat().st_size < 36e6 for folder in SHIPPED)
    assert sum(file.stat().st_size for file in WEIGHTS.rglob("*") if file.is_file()) < 82e6
