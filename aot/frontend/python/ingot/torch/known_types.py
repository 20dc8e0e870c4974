"""What elementwise ops make of tensors without values: asked of PyTorch once for each op and types, and then known."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

from ingot.torch.torch_internals import fake_mode

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)  # which a program computes
CPU = torch.device("cpu")
IN_PLACE = object()  # the op gives its first operand

# By an op, its operands' types and its numbers: the shape, strides and type of elements that it gives.
KNOWN: dict[Hashable, Any] = {}


class _Unknown(Exception):
    """An operand whose type is more than its shape, strides and elements."""


@functools.cache
def is_elementwise(func: Any) -> bool:
    """Whether an op makes a new tensor of each element by itself, or writes it into its first operand alone."""
    aliased = [argument for argument in func._schema.arguments if argument.alias_info is not None]
    is_new = not aliased and all(result.alias_info is None for result in func._schema.returns)
    is_in_place = aliased == func._schema.arguments[:1] and aliased[0].alias_info.is_write
    return torch.Tag.pointwise in func.tags and (is_new or is_in_place)


def made_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an elementwise op makes of its operands."""
    mode = fake_mode()
    if mode is None:
        return func(*args, **kwargs)
    try:
        key = (func, torch.get_default_dtype(), _kind(args, mode), _kind(tuple(kwargs.items()), mode))
    except _Unknown:
        return func(*args, **kwargs)
    known = KNOWN.get(key)
    if known is IN_PLACE:
        return args[0]
    if known is not None:
        return empty(mode, *known)
    made = func(*args, **kwargs)
    if made is args[0]:
        KNOWN[key] = IN_PLACE
    elif type(made) is FakeTensor and made.storage_offset() == 0 and not made.requires_grad:
        _note(key, made, mode)
    return made


def empty(mode: FakeTensorMode, shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> Any:
    """A tensor without values of a type."""
    with in_kernel_invocation_manager(mode):
        memory = torch.empty_strided(shape, strides, dtype=dtype, device="meta")
    return FakeTensor(mode, memory, CPU)


def _note(key: Hashable, made: Any, mode: FakeTensorMode) -> None:
    try:
        KNOWN[key] = _type(made, mode)
    except _Unknown:
        return


def _kind(value: Any, mode: FakeTensorMode) -> Hashable:
    """What of an operand the type of the result depends on."""
    kind = type(value)
    if kind is FakeTensor:
        return FakeTensor, _type(value, mode)
    if kind is tuple or kind is list:
        return kind, *[_kind(part, mode) for part in value]
    if kind in NUMBERS:
        return (kind,)
    return kind, value if value == value else str(value)  # not a number is not itself


def _type(tensor: Any, mode: FakeTensorMode) -> tuple[tuple[int, ...], tuple[int, ...], torch.dtype]:
    dtype = tensor.dtype
    is_plain = tensor.fake_mode is mode and tensor.constant is None and tensor.fake_device == CPU
    if not is_plain or dtype.is_complex or tensor.is_neg() or tensor.layout is not torch.strided:
        raise _Unknown
    if tensor._has_symbolic_sizes_strides:
        raise _Unknown
    return tuple(tensor.shape), tensor.stride(), dtype
