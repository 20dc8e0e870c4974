"""PyTorch's private names of tensors without values."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    in_kernel_invocation_manager,
)

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "in_kernel_invocation_manager",
]


# A tensor of a class without memory of its own: of a shape, strides, offset, memory format, type, layout and device.
make_wrapper: Any = torch.Tensor._make_wrapper_subclass


def wrapper(class_: Any, like: torch.Tensor, **how: Any) -> Any:
    """A tensor of a class without memory of its own, of the shape and strides of another."""
    return make_wrapper(class_, like.shape, strides=like.stride(), **how)
