"""One ONNX graph on one text at a time.

A text is never batched with others. Batches would have to be padded, or quantized with a scale they
share, and either makes a text's numbers depend on its company; on a processor they gain next to
nothing (docs/decisions/020-onnx-runtime.md). Cores are used by running several texts side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from abstrag.errors import ResourceMissing
from abstrag.neural.bundle import REMEDY
from abstrag.neural.encoder import Vectors
from abstrag.neural.tokens import Ids


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
