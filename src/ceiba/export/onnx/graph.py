"""Build an ONNX graph node by node.

A value of the graph is referred to by its name, a str. All numbers are float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array

# Version 5 of the operators for machine learning has the trees with sets of categories.
_OPSETS = {"": 18, "ai.onnx.ml": 5}
_IR_VERSION = 10
ML = "ai.onnx.ml"


def import_onnx() -> Any:
    """Import onnx, which is an optional package."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx requires the package onnx: pip install 'ceiba[onnx]'."
        ) from error
    return onnx


class Graph:
    """An ONNX graph under construction."""

    def __init__(self) -> None:
        self.onnx = import_onnx()
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._names: set[str] = set()

    def input(self, name: str, dtype: Any, width: int) -> str:
        """Add an input of shape (n_rows, width)."""
        self._inputs.append(self._value_info(name, dtype, width))
        self._names.add(name)
        return name

    def output(self, name: str, value: str, dtype: Any, *widths: int) -> None:
        """Add an output of shape (n_rows, *widths); a name that is taken gets underscores."""
        while name in self._names:
            name += "_"
        self._names.add(name)
        self._nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._value_info(name, dtype, *widths))

    def _value_info(self, name: str, dtype: Any, *widths: int) -> Any:
        element_type, shape = self._element_type(dtype), ["n_rows", *widths]
        return self.onnx.helper.make_tensor_value_info(name, element_type, shape)

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Add an array, or strings if ``dtype`` is str."""
        array = np.array(values, object if dtype is str else dtype)
        name = self._new_name("constant")
        self._constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its first output."""
        return self.add_many(operator, inputs, 1, domain, **attributes)[0]

    def add_many(
        self,
        operator: str,
        inputs: Sequence[str],
        n_outputs: int,
        domain: str = "",
        **attributes: Any,
    ) -> list[str]:
        """Add a node and return the names of its outputs."""
        outputs = [self._new_name(operator.lower()) for _ in range(n_outputs)]
        make_node = self.onnx.helper.make_node
        self._nodes.append(make_node(operator, list(inputs), outputs, domain=domain, **attributes))
        return outputs

    def cast(self, value: str, dtype: Any) -> str:
        """Convert a value to another dtype."""
        return self.add("Cast", value, to=self._element_type(dtype))

    def reduce(self, operator: str, value: str, axis: int, keepdims: bool = False) -> str:
        """Reduce along one axis, by ReduceSum, ReduceMax or ReduceMean."""
        axes = self.constant([axis], np.int64)
        return self.add(operator, value, axes, keepdims=int(keepdims))

    def tensor(self, values: Any, dtype: Any) -> Any:
        """Return a one-dimensional tensor for an attribute of a node."""
        element_type, values = self._element_type(dtype), np.asarray(values).tolist()
        if dtype is str:
            values = [text.encode() for text in values]
        name = self._new_name("tensor")
        return self.onnx.helper.make_tensor(name, element_type, [len(values)], values)

    def model(self, description: str) -> Any:
        """Return the model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self._nodes, "ceiba", self._inputs, self._outputs, initializer=self._constants
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        model.producer_name, model.doc_string = "ceiba", description
        self.onnx.checker.check_model(model, full_check=True)
        return model

    def _element_type(self, dtype: Any) -> int:
        if dtype is str:
            return int(self.onnx.TensorProto.STRING)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _new_name(self, stem: str) -> str:
        number = len(self._names)
        while (name := f"{stem}_{number}") in self._names:
            number += 1
        self._names.add(name)
        return name


def log_sum_exp(graph: Graph, value: str, axis: int = 1) -> str:
    """Return the logarithm of the sum of exponentials along an axis, which is kept."""
    maximum = graph.reduce("ReduceMax", value, axis, keepdims=True)
    terms = graph.add("Exp", graph.add("Sub", value, maximum))
    total = graph.reduce("ReduceSum", terms, axis, keepdims=True)
    return graph.add("Add", maximum, graph.add("Log", total))


def add_labels(graph: Graph, scores: str, classes: Array, operator: str = "ArgMax") -> None:
    """Add the output "label": the class of the largest (or smallest) score, ties to the first."""
    index = graph.add(operator, scores, axis=1, keepdims=0)
    dtype: Any = np.float64
    if classes.dtype.kind in "OU":
        dtype = str
        classes = np.array([str(label) for label in classes.tolist()], dtype=object)
    elif classes.dtype.kind in "biu":
        dtype = np.int64
    label = graph.add("Gather", graph.constant(classes, dtype), index, axis=0)
    graph.output("label", label, dtype)
