"""Models of other makers, through sentence-transformers, behind the same protocols as ours.

That library is an extra: `pip install 'abstrag[transformers]'`. Texts are run one at a time, as
ours are, for in a batch they are padded and a text's numbers depend on its company.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from typing import Any, Final

import numpy as np

from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.encoder import Vectors
from abstrag.neural.judge import AROUND, SegmentJudge, windows

_LIMIT: Final = 512  # tokens to read at a time at most, whatever a model says of itself
_QUERY_SHARE: Final = 3  # a query may take one part in so many of that


class ForeignEncoder:
    """A bi-encoder by its name on the Hugging Face hub or its path; implements `TextEncoder`."""

    def __init__(self, name: str) -> None:
        self._model = _load("SentenceTransformer", name)
        self.fingerprint = _fingerprint(name, self._model)

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"ForeignEncoder({self.fingerprint!r})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text; one without words gets zeros."""
        if isinstance(texts, str):
            raise InputError("embed takes several texts, and got one string", hint="embed([text])")
        if not texts:
            return self.embed([""])[:0]  # the library forgets how wide a row would be
        made = self._model.encode(
            list(texts), batch_size=1, normalize_embeddings=True, show_progress_bar=False
        )
        vectors = np.array(made, dtype=np.float32).reshape(len(texts), -1)
        vectors[[not text.strip() for text in texts]] = 0
        return vectors


class ForeignJudge(SegmentJudge):
    """A cross-encoder with one logit, by name or path; implements `PairScorer` and a `Judge`.

    A passage longer than the model reads is read in windows that overlap and scores as its best
    one. Where query or passage is blank the score is 0.
    """

    def __init__(self, name: str) -> None:
        self._model = _load("CrossEncoder", name)
        bare = [kind for kind in self._model.config.architectures or () if kind.endswith("Model")]
        if bare:  # the library would make up a random head
            raise InputError(
                f"model {name!r} is a {bare[0]}, which gives no score",
                hint="name a cross-encoder for ranking",
            )
        if self._model.num_labels != 1:
            raise InputError(
                f"model {name!r} tells {self._model.num_labels} classes apart, and a judge gives "
                "one score",
                hint="name a cross-encoder for ranking",
            )
        self.fingerprint = _fingerprint(name, self._model)
        named = getattr(self._model, "max_seq_length", None)  # `max_length` until version 5
        self._limit = min(named or self._model.max_length or _LIMIT, _LIMIT)

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"ForeignJudge({self.fingerprint!r})"

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""
        if isinstance(passages, str):
            raise InputError("several passages are wanted, and got one string", hint="[passage]")
        limit = self._limit
        asked = self._cut(query, limit // _QUERY_SHARE)[0]
        room = limit - AROUND - len(self._tokens(asked)[0])
        return [
            max((self._score(asked, piece) for piece in self._cut(text, room)), default=0.0)
            if query.strip() and text.strip()
            else 0.0
            for text in passages
        ]

    def _score(self, query: str, passage: str) -> float:
        sigmoid = import_module("torch").nn.Sigmoid()
        (said,) = self._model.predict(
            [(query, passage)], batch_size=1, activation_fn=sigmoid, show_progress_bar=False
        )
        return float(said)

    def _cut(self, text: str, room: int) -> list[str]:
        """Cut a text where its tokens end, so that every piece fits."""
        ids, places = self._tokens(text)
        if len(ids) <= room:
            return [text]
        cuts = windows(len(ids), room)
        return [text[places[cut.start][0] : places[cut.stop - 1][1]] for cut in cuts]

    def _tokens(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        found = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return found["input_ids"], found["offset_mapping"]


def _load(kind: str, name: str) -> Any:
    try:
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise ResourceMissing(
            f"model {name!r} needs sentence-transformers, which is not installed",
            hint="pip install 'abstrag[transformers]', or name a folder of our own format",
        ) from error
    make = getattr(library, kind)
    try:
        try:
            return make(name, device="cpu", local_files_only=True)
        except OSError:  # it was not downloaded before
            return make(name, device="cpu")
    except Exception as error:  # network, file and format errors of several libraries
        first = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(
            f"model {name!r} can neither be found here nor downloaded: {first}",
            hint="check the name and the connection, or give the path of a downloaded model",
        ) from error


def _fingerprint(name: str, model: Any) -> str:
    """Name a model by its numbers and by how they are put to use, not by what it is called."""
    digest = sha256(str(model).encode())
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(key.encode())
        digest.update(np.ascontiguousarray(tensor.detach().cpu().float().numpy()).tobytes())
    return f"{name}:{digest.hexdigest()[:16]}"
