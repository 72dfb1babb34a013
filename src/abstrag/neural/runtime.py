"""One ONNX graph on one text at a time.

A text is never batched with others. Batches would have to be padded, or quantized with a scale they
share, and either makes a text's numbers depend on its company; on a processor they gain next to
nothing (docs/decisions/020-onnx-runtime.md). Cores are used by running several texts side by side.
"""

from __future__ import annotations

import numpy as np

from abstrag.errors import ResourceMissing
from abstrag.neural.encoder import Vectors
from abstrag.neural.tokens import Ids


class Runtime:
    """A loaded graph with one input, token ids, and one output; safe to share between threads."""

    def __init__(self, model: bytes) -> None:
        import onnxruntime  # type: ignore[import-untyped]  # loaded when a model is

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # The graph is exported as it is to run. Fusions would swap in slower kernels, and other
        # ones with every release.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_mem_pattern = False  # it keeps a plan for every length ever seen
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library's errors share no base class but this
            raise ResourceMissing(
                f"the model cannot be loaded: {error}", hint="write it again, or reinstall abstrag"
            ) from error
        (self._input,) = (one.name for one in self._session.get_inputs())

    def __call__(self, ids: Ids) -> Vectors:
        """Return what the graph makes of one text."""
        (made,) = self._session.run(None, {self._input: ids})
        return np.asarray(made, dtype=np.float32)
