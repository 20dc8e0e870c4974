"""What elementwise ops make of tensors without values: asked of PyTorch once for each op and types, and then known."""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any

import torch

from ingot.torch.base.torch_internals import fake_mode
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor, FakeTensorMode, in_kernel_invocation_manager
from ingot.torch.base.torch_internals.ops import has_kernel

# Numbers that a program computes, and others of the same type.
NUMBERS: dict[type, Any] = {torch.SymInt: 2, torch.SymFloat: 0.5, torch.SymBool: True}
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
    if mode is None or type(args[0]) is not FakeTensor:
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
    made = _by_kernel(func, args, kwargs, mode) if _has_kernel(func) else func(*args, **kwargs)
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


@functools.cache
def _has_kernel(func: Any) -> bool:
    """Whether PyTorch's own kernel can be asked, which is faster than what its tracer takes for it."""
    return bool(has_kernel(func.name(), "Meta"))


def _by_kernel(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: FakeTensorMode) -> Any:
    """The same by PyTorch's own kernel for tensors without values; what that refuses is refused in the other way."""
    plain = [NUMBERS.get(type(value), value) for value in args]
    named = {name: NUMBERS.get(type(value), value) for name, value in kwargs.items()}
    try:
        with in_kernel_invocation_manager(mode):
            made = func(*plain, **named)
    except (RuntimeError, TypeError, NotImplementedError):
        return func(*args, **kwargs)
    return made if made is args[0] else FakeTensor(mode, made, CPU)


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
