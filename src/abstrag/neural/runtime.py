"""One ONNX graph on one text at a time: its tokens, loading it, and several texts side by side.

A text is never batched with others. Batches would have to be padded, or quantized with a scale they
share, and either makes a text's numbers depend on its company; on a processor they gain next to
nothing (docs/decisions/020-onnx-runtime.md). Cores are used by running several texts side by side.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.segment import Segment
from abstrag.neural.bundle import MODEL, REMEDY, TOKENIZER, Bundle, ModelTask
from abstrag.neural.encoder import Vectors

# Many runs of one model on several cores, each run by itself.

T = TypeVar("T")
R = TypeVar("R")


@runtime_checkable
class SideBySide(Protocol):
    """A model that several threads may ask at once."""

    @property
    def threads(self) -> int:
        """How many texts it reads side by side."""
        ...


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: the number asked for, or one for every core we may use."""
    if threads is not None and threads < 1:
        raise InputError(f"threads is {threads!r}", hint="at least 1, or None for every core")
    allowed = getattr(os, "sched_getaffinity", None)  # not every system limits a process to some
    return threads or (len(allowed(0)) if allowed else os.cpu_count() or 1)


def side_by_side(
    run: Callable[[T], R], items: Sequence[T], *, threads: int, size: Callable[[T], int]
) -> list[R]:
    """Return what `run` makes of each item, in their order.

    The largest are begun first, so that no core is left alone with one at the end. The runtime lets
    go of the interpreter while it works, so threads are enough.
    """
    workers = min(threads, len(items))
    if workers <= 1:
        return [run(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # loaded when a model runs, as the models are

    order = sorted(range(len(items)), key=lambda i: size(items[i]), reverse=True)
    contexts = [copy_context() for _ in order]  # what holds here holds in a thread
    pool = ThreadPoolExecutor(workers)
    try:
        made = pool.map(lambda context, i: context.run(run, items[i]), contexts, order)
        done = dict(zip(order, made, strict=True))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt need not wait for the rest
    return [done[i] for i in range(len(items))]


# Text to token ids, as much of it as the model reads.

Ids = npt.NDArray[np.int64]

_SPECIAL: Final = 2  # what stands before and after the tokens of a text
_CHARACTERS: Final = 16  # of a text to look at for each token wanted; most tokens have four or five
_WIDER: Final = 4  # how much more to look at when that was not enough


class Tokenizer:
    """Cuts texts into the tokens of one model; safe to share between threads.

    `limit` is how many the model reads at a time, `vocabulary` how many different ones it knows.
    """

    def __init__(self, data: bytes, *, limit: int, vocabulary: int) -> None:
        self._cutter = _cutter(data)
        known = self._cutter.get_vocab_size()
        if known != vocabulary:
            raise ResourceMissing(
                f"the tokenizer knows {known} tokens and the model {vocabulary}, so it belongs to "
                "another model",
                hint=REMEDY,
            )
        around = self._cutter.encode("").ids
        if len(around) != _SPECIAL:
            raise ResourceMissing(
                f"the tokenizer puts {len(around)} tokens around a text, not one before and one "
                "after",
                hint=REMEDY,
            )
        self.begin, self.end = around
        self._limit = limit

    def __call__(self, text: str) -> Ids:
        """Return the ids of a text as a model reads it; none at all when no word is in it."""
        ids, _ = self._cut(text)
        return np.array(ids if len(ids) > _SPECIAL else (), dtype=np.int64)

    def placed(self, text: str) -> tuple[list[int], list[int | None], list[tuple[int, int]]]:
        """Return the ids of a text, and for each its word and where in the text it stands.

        A token around the text has no word.
        """
        found, cut = self._encoded(text)
        ids, words, places = found.ids, found.word_ids, found.offsets
        if not cut:
            return ids, words, places
        keep = self._limit - 1
        return [*ids[:keep], ids[-1]], [*words[:keep], None], [*places[:keep], (0, 0)]

    def truncates(self, text: str) -> bool:
        """Say whether the model reads only the beginning of a text."""
        return self._cut(text)[1]

    def bare(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of whole texts, however long, with nothing before or after them."""
        valid = [_valid(text) for text in texts]
        found = self._cutter.encode_batch_fast(valid, add_special_tokens=False)
        return [one.ids for one in found]

    def _cut(self, text: str) -> tuple[list[int], bool]:
        """Return the ids that fit, and whether there would be more."""
        found, cut = self._encoded(text)
        ids: list[int] = found.ids
        return ([*ids[: self._limit - 1], ids[-1]], True) if cut else (ids, False)

    def _encoded(self, text: str) -> tuple[Any, bool]:
        """Return the tokens of as much of a text as is needed, and whether some do not fit.

        A word is cut into tokens by itself, so only the last word of a text's beginning can change
        with what follows. It is enough to look at that beginning, however long the text is.
        """
        size = self._limit * _CHARACTERS
        while True:
            found = self._cutter.encode(_valid(text[:size]))
            if size >= len(text) or _settled(found) > self._limit - _SPECIAL:
                break
            size *= _WIDER
        return found, len(found.ids) > self._limit


@lru_cache(maxsize=2)
def _cutter(data: bytes) -> Any:
    """Read a tokenizer; models that ship with the same one share it."""
    from tokenizers import Tokenizer as Cutter  # loaded when a model is, and not before

    try:
        cutter = Cutter.from_str(data.decode())
    except Exception as error:  # the library raises nothing narrower
        raise ResourceMissing(f"the tokenizer cannot be read: {error}", hint=REMEDY) from error
    cutter.no_truncation()
    cutter.no_padding()
    return cutter


def _settled(found: Any) -> int:
    """Count the tokens of all words but the last."""
    words = [word for word in found.word_ids if word is not None]
    return sum(word != words[-1] for word in words)


def _valid(text: str) -> str:
    """Return a text without lone surrogates, which are no characters and have no UTF-8 form."""
    return text.encode(errors="ignore").decode()


class Runtime:
    """A loaded graph over the tokens of one text; safe to share between threads.

    `inputs` is how many arrays it takes and `dimensions` how many numbers it gives: a graph of
    another kind is refused when it is loaded, not when somebody first needs it. With a `trunk`,
    that graph takes the arrays, and this one the states that it gives.
    """

    def __init__(
        self, model: bytes, *, inputs: int = 1, dimensions: int, trunk: Trunk | None = None
    ) -> None:
        self._session = session_of(model)
        self._trunk = trunk
        names = [one.name for one in self._session.get_inputs()]
        shapes = [one.shape for one in self._session.get_outputs()]
        wanted = inputs if trunk is None else 1
        if len(names) != wanted or shapes != [[dimensions]]:
            raise ResourceMissing(
                f"the model takes {names} and gives {shapes}; expected were {wanted} inputs "
                f"and {[[dimensions]]}",
                hint=REMEDY,
            )
        self._inputs = names

    def __call__(self, *given: Ids) -> Vectors:
        """Return what the graph makes of one text."""
        read: tuple[Any, ...] = given if self._trunk is None else (self._trunk(*given),)
        (made,) = self._session.run(None, dict(zip(self._inputs, read, strict=True)))
        return np.asarray(made, dtype=np.float32)


class Trunk:
    """The lower layers that several models share: tokens of a pair in, their states out."""

    def __init__(self, model: bytes) -> None:
        self._session = session_of(model)
        names = [one.name for one in self._session.get_inputs()]
        if names != ["ids", "types"]:
            raise ResourceMissing(
                f"the trunk takes {names}; expected were ids and types", hint=REMEDY
            )

    def __call__(self, ids: Ids, types: Ids) -> Vectors:
        """Return a state for each token."""
        (states,) = self._session.run(None, {"ids": ids, "types": types})
        return np.asarray(states, dtype=np.float32)


def session_of(model: bytes) -> Any:
    """Load a graph to run on one core.

    Raises:
        ResourceMissing: It cannot be loaded.
    """
    import onnxruntime  # type: ignore[import-untyped]  # loaded when a model is

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The graph is exported as it is to run. Fusions would swap in slower kernels, and other
    # ones with every release.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_mem_pattern = False  # it keeps a plan for every length ever seen
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors share no base class but this
        raise ResourceMissing(f"the model cannot be loaded: {error}", hint=REMEDY) from error


# A model's tokenizer and graph: loaded once, when there is a text to read.
#
# Where all that a search asks is remembered, it needs a model's name and not its graph, and loading
# the graph would take several times as long as ranking.


class BundledModel(ABC):
    """A model in a folder of our format, which `tools.export` wrote."""

    task: ClassVar[ModelTask]
    home: ClassVar[Path | None] = None  # the folder of the one that ships

    fingerprint: str

    @abstractmethod
    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        """Read what the manifest says."""

    @classmethod
    def load(
        cls, folder: Path | None = None, *, threads: int | None = None, later: bool = False
    ) -> Self:
        """Read a model, by default the one that ships; `threads` is every core by default.

        With `later`, only the manifest is read now, and the rest when there is a text to read.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
            InputError: The folder has a model for something else, or none is named and none ships.
        """
        place = folder or cls.home
        if place is None:
            raise InputError(f"no {cls.__name__} ships", hint="name the folder of one")
        made = cls(Bundle.open(place, cls.task), threads=threads)
        if not later:
            made.prepare()
        return made

    @abstractmethod
    def prepare(self) -> None:
        """Load what is still to be loaded.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"{type(self).__name__}({self.fingerprint!r})"


@dataclass(frozen=True, slots=True)
class Parts:
    """What reads texts: one cuts them into tokens, the other runs the graph on these."""

    tokens: Tokenizer
    run: Runtime


class Loading:
    """The parts of a model, for whoever needs them first; threads may share it."""

    def __init__(self, bundle: Bundle, *, inputs: int = 1) -> None:
        self._load: Callable[[], Parts] = partial(_load, bundle, inputs)
        self._lock = Lock()
        self._parts: Parts | None = None

    def __call__(self) -> Parts:
        """Return the parts; wait for them where they are being loaded.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        if self._parts is None:
            with self._lock:
                if self._parts is None:
                    self._parts = self._load()
        return self._parts


def _load(bundle: Bundle, inputs: int) -> Parts:
    manifest = bundle.manifest
    tokens = Tokenizer(
        bundle.read(TOKENIZER), limit=manifest.max_tokens, vocabulary=manifest.vocabulary
    )
    trunk = bundle.trunk
    run = Runtime(
        bundle.read(MODEL),
        inputs=inputs,
        dimensions=manifest.dimensions,
        trunk=None if trunk is None else _trunk(trunk.folder, trunk.manifest.files[MODEL]),
    )
    return Parts(tokens, run)


@cache
def _trunk(folder: Path, _digest: str) -> Trunk:
    """Return the graph of a folder, once for all models that read with it."""
    return Trunk(Bundle.open(folder, ModelTask.TRUNK).read(MODEL))


# How a passage is put to a model: the heading above it says what the words alone do not.


def passage(
    text: str, *, section: Sequence[str] = (), headers: Sequence[str] = (), title: str = ""
) -> str:
    """Return the words of a passage after its section's name and a table cell's own headers.

    Of a section path only the innermost name is used: the outer ones are shared by too many
    passages to tell them apart. The document's title comes first for a model that wants it.
    """
    words = " ".join((*headers, text))
    names = (title, section[-1] if section else "")
    return ": ".join([*(name.strip() for name in names if name.strip()), words])


def segment_text(segment: Segment, *, title: str = "") -> str:
    """Return a segment as models read it: its section, its own headers, its words."""
    headers = [header.text for header in segment.headers]
    return passage(segment.text, section=segment.section, headers=headers, title=title)
