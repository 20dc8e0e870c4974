"""PyTorch's element types and shapes as StableHLO's."""

from __future__ import annotations

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ingot.stablehlo import TensorType
from ingot.torch.base.errors import TraceError, ValueAsked

DTYPES = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "ui8",
    torch.bool: "i1",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}
TORCH_DTYPES = {name: dtype for dtype, name in DTYPES.items()}


def dtype_name(dtype: torch.dtype) -> str:
    """``f32`` for torch.float32; raises TraceError for types that StableHLO lacks."""
    if dtype not in DTYPES:
        raise TraceError(f"element type {dtype} is not supported", fix=f"use one of {', '.join(map(str, DTYPES))}")
    return DTYPES[dtype]


def type_of(tensor: torch.Tensor) -> TensorType:
    """The type of a tensor, real or fake; raises TraceError where its shape depends on values."""
    try:
        shape = tuple(int(size) for size in tensor.shape)
    except GuardOnDataDependentSymNode as error:
        fix = "take lengths and ranges from shapes, which are fixed when the function is traced, not from tensors"
        raise ValueAsked("a shape depends on the values in a tensor", fix=fix) from error
    return TensorType(dtype_name(tensor.dtype), shape)
