"""Tensors made of nothing."""

from __future__ import annotations

from typing import Any

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.lowering import Lowering, Operand, aten


@aten("full.default", "full_like.default")
def full(e: Lowering, _: Any, value: Operand, **__: Any) -> Value:
    """One value everywhere."""
    return e.tensor(value, e.result)


@aten("new_full.default")
def new_full(e: Lowering, _: Value, __: Any, value: Operand, **___: Any) -> Value:
    """One value everywhere."""
    return e.tensor(value, e.result)


@aten("scalar_tensor.default")
def scalar_tensor(e: Lowering, value: Operand, **_: Any) -> Value:
    """A number as a scalar."""
    return e.tensor(value, e.result)


@aten("zeros.default", "zeros_like.default", "new_zeros.default")
@aten("empty.memory_format", "empty_like.default", "new_empty.default", "new_empty_strided.default")
@aten("empty_strided.default", "empty_permuted.default")
def zeros(e: Lowering, *_: Any, **__: Any) -> Value:
    """Zeros; what PyTorch leaves open is zeros too."""
    return e.constant(0, e.result)


@aten("ones.default", "ones_like.default", "new_ones.default")
def ones(e: Lowering, *_: Any, **__: Any) -> Value:
    """Ones."""
    return e.constant(1, e.result)


@aten("arange.start_step", "arange.start", "arange.default")
def arange(e: Lowering, start: Operand, end: Operand | None = None, step: Operand = 1, **_: Any) -> Value:
    """start + i step."""
    if end is None:
        start = 0
    index = e.iota(0, e.result)
    return e.binary("add", e.tensor(start, e.result), e.binary("multiply", index, e.tensor(step, e.result)))


@aten("eye.default", "eye.m")
def eye(e: Lowering, *_: Any, **__: Any) -> Value:
    """Ones on the diagonal."""
    indices = TensorType("i64", e.result.shape)
    return e.convert(e.compare("EQ", e.iota(0, indices), e.iota(1, indices)), e.result.dtype)


def triangle(e: Lowering, x: Value, direction: str, diagonal: int) -> Value:
    """X where column - row compares with the diagonal as `direction` says, else zeros."""
    indices = x.type.with_dtype("i64")
    column, row = e.iota(x.type.rank - 1, indices), e.iota(x.type.rank - 2, indices)
    ahead = e.binary("subtract", column, row)
    return e.select(e.compare(direction, ahead, e.constant(diagonal, indices)), x, e.constant(0, x.type))


@aten("tril.default")
def tril(e: Lowering, x: Value, diagonal: int = 0) -> Value:
    """The lower triangle."""
    return triangle(e, x, "LE", diagonal)


@aten("triu.default")
def triu(e: Lowering, x: Value, diagonal: int = 0) -> Value:
    """The upper triangle."""
    return triangle(e, x, "GE", diagonal)
