"""Memory of the state that Python also holds otherwise: NumPy's arrays over a parameter, tensors that are views of it.

PyTorch's steps change what these hold. A program has its state elsewhere, so of them it would see the first values.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.torch_internals import without_functions
from ingot.torch.python_state.reach import C_VALUES
from ingot.torch.python_state.snapshot import BYTES

Tensors = Mapping[str, torch.Tensor]
Span = tuple[int, int]  # the first byte, and the one behind the last
ARRAYS = (np.ndarray, *BYTES, *C_VALUES)
READ = "read the tensor of the state itself, or a copy of what it is now"


def refuse_arrays(held: Iterable[tuple[str, Any]], state: Tensors) -> None:
    """Raises TraceError for an array, by its path, that lies in the memory of a tensor of the state."""
    arrays = [(path, value) for path, value in held if isinstance(value, ARRAYS)]
    spans = _spans(state) if arrays else {}
    for path, value in arrays:
        if name := _owner(_span_of(value), spans):
            what = f"`{path}`, a {type(value).__name__}, lies in the memory of {name!r}, which a program has elsewhere"
            raise TraceError(what, fix=READ)


def refuse_views(constants: Iterable[tuple[torch.Tensor, Place | None]], state: Tensors) -> None:
    """Raises TraceError for a tensor that a function reads, at a place, as no state but in the memory of the state."""
    spans = _spans(state)
    for tensor, place in constants:
        if tensor.numel() and (name := _owner(_span_in_memory(tensor), spans)):
            raise TraceError(f"reads a tensor that lies in the memory of {name!r}, and is not it", place, READ)


def refuse_arguments(arguments: Iterable[torch.Tensor], written: Tensors) -> None:
    """Raises TraceError for an argument in the memory of a tensor of the state that a function changes."""
    spans = _spans(written)
    for tensor in arguments:
        if tensor.numel() and (name := _owner(_span_in_memory(tensor), spans)):
            what = f"an argument is in the memory of {name!r}, which the function changes"
            raise TraceError(what, fix=f"give a copy, argument.clone(), or read {name!r} in the function")


def _owner(span: Span, spans: Mapping[str, Span]) -> str | None:
    """The tensor of the state that has bytes of a span."""
    first, end = span
    return next((name for name, (start, stop) in spans.items() if first < stop and start < end), None)


def _spans(state: Tensors) -> dict[str, Span]:
    with without_functions():
        return {name: _span_in_memory(tensor) for name, tensor in state.items() if tensor.numel()}


def _span_in_memory(tensor: torch.Tensor) -> Span:
    with without_functions():
        start = tensor.data_ptr()
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        return start, start + (last + 1) * tensor.element_size()


def _span_of(value: Any) -> Span:
    """The bytes of an array of Python's, of NumPy's or of C's."""
    if isinstance(value, C_VALUES):
        start = ctypes.addressof(value)
        return start, start + ctypes.sizeof(value)
    array = value if isinstance(value, np.ndarray) else np.asarray(memoryview(value))
    start = end = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    for size, stride in zip(array.shape, array.strides, strict=True):
        start, end = start + min(0, (size - 1) * stride), end + max(0, (size - 1) * stride)
    return start, end + array.itemsize
