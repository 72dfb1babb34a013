"""An ONNX graph written node by node, and the two kinds of numbers it can be written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tools.export.rounding import (
    ACTIVATION_ZERO,
    TOP,
    Floats,
    quantized_columns,
    quantized_rows,
)

OPSET: Final = 17
IR_VERSION: Final = 8
FUSED: Final = "com.microsoft"  # operators of onnxruntime itself

Array = npt.NDArray[Any]


class Precision(StrEnum):
    """How numbers are kept and multiplied."""

    INT8 = "int8"
    FLOAT32 = "float32"


@dataclass(slots=True)
class Graph:
    """An ONNX graph under construction; values are named by the node that makes them."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def constant(self, name: str, value: Array | np.generic) -> str:
        """Add a constant, or find it if it is there."""
        made = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
        assert self.constants.setdefault(name, made) == made, name
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return that."""
        return self.split(kind, 1, *inputs, domain=domain, **attributes)[0]

    def split(
        self, kind: str, outputs: int, *inputs: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node and return all its outputs."""
        names = [f"{kind}.{len(self.nodes)}.{i}" for i in range(outputs)]
        node = helper.make_node(kind, inputs, names, name=names[0], domain=domain, **attributes)
        self.nodes.append(node)
        return names

    def axis(self, number: int) -> str:
        """Add an axis as nodes take it."""
        return self.constant(f"axis{number}", np.array([number], np.int64))

    def model(self, name: str, inputs: list[str], output: str, size: int) -> ModelProto:
        """Return the finished model: arrays of one number a token in, one of a fixed size out."""
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(one, TensorProto.INT64, ["tokens"]) for one in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [size])],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


class Numbers(Protocol):
    """How tables are looked up and products are made."""

    def expect(self, count: str) -> None:
        """Prepare for products with so many rows; a table that is looked up does it too."""
        ...

    def look_up(self, name: str, table: Floats, ids: str) -> str:
        """Return the rows of a table."""
        ...

    def product(self, x: str, name: str, weight: Floats, *, one_row: bool = False) -> str:
        """Return x times the transposed weight; x has a row for each token, or just one."""
        ...


@dataclass(slots=True)
class Float32:
    """Leaves every number as it is."""

    graph: Graph

    def expect(self, count: str) -> None:
        """Prepare for nothing: a float needs no scale."""

    def look_up(self, name: str, table: Floats, ids: str) -> str:
        """Return the rows of a table."""
        return self.graph.add("Gather", self.graph.constant(name, table), ids)

    def product(self, x: str, name: str, weight: Floats, *, one_row: bool = False) -> str:
        """Return x times the transposed weight."""
        del one_row  # a float needs no scale, so it is all the same
        return self.graph.add("MatMul", x, self.graph.constant(name, weight.T))


@dataclass(slots=True)
class Int8:
    """Multiplies integers; see `rounding.py`."""

    graph: Graph
    _zeros: str = ""

    def expect(self, count: str) -> None:
        """Make the zeros of so many rows."""
        zero = self.graph.constant("zeros", np.array([ACTIVATION_ZERO], np.uint8))
        self._zeros = self.graph.add("Expand", zero, count)

    def look_up(self, name: str, table: Floats, ids: str) -> str:
        """Return the rows of a table that is kept as integers and a scale for each row."""
        g = self.graph
        whole, scale = quantized_rows(table)
        rows = g.add("Gather", g.constant(name, whole), ids)
        scales = g.add("Gather", g.constant(f"{name}.scale", scale), ids)
        self.expect(g.add("Shape", ids))
        return g.add("Mul", g.add("Cast", rows, to=TensorProto.FLOAT), scales)

    def product(self, x: str, name: str, weight: Floats, *, one_row: bool = False) -> str:
        """Return x times the transposed weight, each row of x rounded on its own scale."""
        g = self.graph
        whole, scale = quantized_columns(weight.T)
        largest = g.add("ReduceMax", g.add("Abs", x), axes=[-1], keepdims=0)
        step = g.constant("step", np.float32(1 / TOP))
        row_scale = g.add("Mul", largest, step)
        rounded = g.add("QuantizeLinear", x, row_scale, "zeros" if one_row else self._zeros, axis=0)
        made = g.add(
            "MatMulIntegerToFloat",
            rounded,
            g.constant(name, whole),
            g.constant("one", np.float32(1)),  # the rows' own scales follow
            g.constant(f"{name}.scale", scale[0]),
            g.constant("zero", np.uint8(ACTIVATION_ZERO)),
            domain=FUSED,
        )
        return g.add("Mul", made, g.add("Unsqueeze", row_scale, g.axis(-1)))
