"""How fast the evidence judge loads and reads pairs, beside sentence-transformers on its weights.

    python benchmarks/judge.py [--weights DIR] [--rival PYTHON] [--pairs 48]

Passages are runs of words of the bundled article: sentences of 20 words and paragraphs of 150.
"Load" is what a first search waits for, in a process of its own. The rival is the CrossEncoder of
sentence-transformers in 32-bit floats: the shipped integers times their scales, written as a model
that it can load. It runs in the Python of `--rival`, this one by default, which must have
sentence-transformers; when it has not, only our half is measured. Both use two threads and take
turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx

from abstrag.neural.bundle import MODEL, TOKENIZER, Bundle, Judging, ModelTask
from abstrag.neural.judge import JUDGE, EvidenceJudge
from abstrag.workspace.tour import demo_document

QUERY: Final = "Who visited the plant in May, and what did the company say about it?"
LENGTHS: Final = {"sentence, 20 words": 20, "paragraph, 150 words": 150}
AT_ONCE: Final = (12, 32)  # paragraphs judged in one search
ROUNDS: Final = 5
THREADS: Final = 2
LOAD: Final = """
import sys, time, numpy
begin = time.perf_counter()
from pathlib import Path
from abstrag.neural.judge import EvidenceJudge
judge = EvidenceJudge.load(Path(sys.argv[1]))
judge.score("Who visited the plant in May?", ["The minister did."])
print(time.perf_counter() - begin)
"""
RIVAL: Final = """
import json, sys, time
import torch
from sentence_transformers import CrossEncoder
torch.set_num_threads(int(sys.argv[2]))
model = CrossEncoder(sys.argv[1], device="cpu")
for line in sys.stdin:
    pairs = json.loads(line)
    begin = time.perf_counter()
    said = model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    print(json.dumps([time.perf_counter() - begin, said.tolist()]), flush=True)
"""
SMALL: Final = 1e-3  # tanh of so little is the number itself

Floats = npt.NDArray[np.float32]


def load_seconds(weights: Path) -> float:
    """Return the best time of a fresh process until its first answer."""
    order = [sys.executable, "-c", LOAD, str(weights)]
    runs = [subprocess.run(order, capture_output=True, text=True, check=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def some_texts(words: Sequence[str], *, length: int, count: int) -> list[str]:
    """Return texts that overlap, but none of which is another's."""
    return [" ".join(islice(cycle(words), 7 * i, 7 * i + length)) for i in range(count)]


def seconds(judge: EvidenceJudge, texts: Sequence[str]) -> float:
    """Return the time of one round."""
    start = time.perf_counter()
    judge.score(QUERY, texts)
    return time.perf_counter() - start


# --- The rival ------------------------------------------------------------------------------------


class Rival:
    """The CrossEncoder of sentence-transformers, in a process of its own."""

    def __init__(self, python: str, published: Path) -> None:
        self._process = subprocess.Popen(
            [python, "-c", RIVAL, str(published), str(THREADS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def read(self, texts: Sequence[str]) -> tuple[float, list[float]]:
        """Return the time of one round, and the logits."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([[QUERY, one] for one in texts]) + "\n")
        self._process.stdin.flush()
        taken, logits = json.loads(self._process.stdout.readline())
        return taken, logits

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def has_rival(python: str) -> bool:
    """Tell whether a Python has the library."""
    probe = [python, "-c", "import sentence_transformers"]
    return not subprocess.run(probe, capture_output=True, check=False).returncode


def write_published(bundle: Bundle, folder: Path) -> None:
    """Write a judge as the Hugging Face library keeps one."""
    tensors = restored(bundle.read(MODEL))
    words = tensors["bert.embeddings.word_embeddings.weight"]
    layers = 1 + max(int(name.split(".")[3]) for name in tensors if ".layer." in name)
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": words.shape[1],
        "vocab_size": len(words),
        "num_hidden_layers": layers,
        "num_attention_heads": 12,
        "intermediate_size": len(tensors["bert.encoder.layer.0.intermediate.dense.bias"]),
        "max_position_embeddings": bundle.manifest.max_tokens,
        "layer_norm_eps": 1e-12,
        "id2label": {"0": "evidence"},
        "label2id": {"evidence": 0},
    }
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep")}
    settings = {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": bundle.manifest.max_tokens,
        "mask_token": "[MASK]",
        **special,
    }
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    (folder / "tokenizer.json").write_bytes(bundle.read(TOKENIZER))
    (folder / "model.safetensors").write_bytes(safetensors(tensors))


def restored(model: bytes) -> dict[str, Floats]:
    """Return the weights of a judge's graph in 32-bit floats, under their published names."""
    found = {
        one.name: onnx.numpy_helper.to_array(one)
        for one in onnx.load_model_from_string(model).graph.initializer
    }

    def factor(name: str) -> Floats:
        scale = found.get(f"{name}.scale", np.float32(1))
        return (found[name] * scale).astype(np.float32)

    made: dict[str, Floats] = {
        "embeddings.word_embeddings.weight": factor("words"),
        "embeddings.position_embeddings.weight": found["places"],
        "embeddings.token_type_embeddings.weight": found["types.table"],
    }
    for name in found:
        if name.endswith(("LayerNorm.weight", "LayerNorm.bias", "dense.bias")):
            made[name] = found[name]
        elif name.endswith(".dense") and name.startswith("encoder."):
            made[f"{name}.weight"] = factor(name).T
        elif name.endswith(".self"):
            parts = ["query", "key", "value"]
            columns = [factor(f"{name}.query")] if f"{name}.query" in found else []
            joined = np.concatenate([*columns, factor(name)], axis=1).T
            for part, weight, bias in zip(
                parts, np.split(joined, 3), np.split(found[f"{name}.bias"], 3), strict=True
            ):
                made[f"{name}.{part}.weight"], made[f"{name}.{part}.bias"] = weight, bias
    made = {f"bert.{name}": values for name, values in made.items() if "head." not in name}
    return {**made, **_head(found)}


def _head(found: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the head as the library wants it: a layer with tanh always stands before the logits.

    Where the judge has none, one that makes everything very small does nothing.
    """
    if "head.dense.weight" in found:
        inner, bias = found["head.dense.weight"].T, found["head.dense.bias"]
        out, last = found["head.out.weight"].T, found["head.out.bias"]
    else:
        out, last = found["head.weight"].T / np.float32(SMALL), found["head.bias"]
        inner = np.eye(out.shape[1], dtype=np.float32) * np.float32(SMALL)
        bias = np.zeros(out.shape[1], dtype=np.float32)
    return {
        "bert.pooler.dense.weight": inner,
        "bert.pooler.dense.bias": bias,
        "classifier.weight": out,
        "classifier.bias": last,
    }


def safetensors(tensors: Mapping[str, Floats]) -> bytes:
    """Return the bytes of a safetensors file."""
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at, parts = 0, []
    for name, values in tensors.items():
        data = np.ascontiguousarray(values, dtype="<f4").tobytes()
        table[name] = {
            "dtype": "F32",
            "shape": list(values.shape),
            "data_offsets": [at, at + len(data)],
        }
        at += len(data)
        parts.append(data)
    head = json.dumps(table).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


# --- Both -----------------------------------------------------------------------------------------


def largest_difference(ours: Sequence[float], logits: Sequence[float], judging: Judging) -> float:
    """Return how far apart two judges are, the rival calibrated as ours is."""
    z = judging.slope * np.array(logits) + judging.offset
    return float(np.abs(np.array(ours) - 1 / (1 + np.exp(-z))).max())


def compare(
    judge: EvidenceJudge, weights: Path, passages: Mapping[str, Sequence[str]], python: str
) -> None:
    """Let both read the same pairs in turns, so that a busy machine is busy for both."""
    bundle = Bundle.open(weights, ModelTask.JUDGE)
    judging = bundle.manifest.judging or Judging()
    with tempfile.TemporaryDirectory() as folder:
        write_published(bundle, Path(folder))
        rival = Rival(python, Path(folder))
        for label, texts in passages.items():
            rival.read(texts[:4])
            ours, theirs = [], []
            logits: list[float] = []
            for _ in range(ROUNDS):
                ours.append(len(texts) / seconds(judge, texts))
                taken, logits = rival.read(texts)
                theirs.append(len(texts) / taken)
            apart = largest_difference(judge.score(QUERY, texts), logits, judging)
            print(
                f"{label:<22} {max(ours):>8.0f} pairs a second; CrossEncoder {max(theirs):.0f}, "
                f"{max(ours) / max(theirs):.1f} times as fast; "
                f"probabilities at most {apart:.3f} apart"
            )
        rival.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the evidence judge.")
    parser.add_argument("--weights", type=Path, default=JUDGE, metavar="DIR")
    parser.add_argument("--rival", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--pairs", type=int, default=48)
    given = parser.parse_args()
    judge = EvidenceJudge.load(given.weights, threads=THREADS)
    words = demo_document().text.split()
    print(f"{judge!r}, threads: {THREADS}")
    print(f"{'load and first pair':<22} {load_seconds(given.weights) * 1e3:>8.0f} ms")
    for count in AT_ONCE:
        texts = some_texts(words, length=LENGTHS["paragraph, 150 words"], count=count)
        taken = statistics.median(seconds(judge, texts) for _ in range(ROUNDS))
        print(f"{f'{count} paragraphs':<22} {taken * 1e3:>8.0f} ms")
    passages = {
        label: some_texts(words, length=length, count=given.pairs)
        for label, length in LENGTHS.items()
    }
    if has_rival(given.rival):
        compare(judge, given.weights, passages, given.rival)
        return
    for label, texts in passages.items():
        rate = len(texts) / min(seconds(judge, texts) for _ in range(ROUNDS))
        print(f"{label:<22} {rate:>8.0f} pairs a second")
    print(
        f"no CrossEncoder: {given.rival} has no sentence-transformers; install it into a "
        "virtual environment and name its Python with --rival"
    )


if __name__ == "__main__":
    main()
