"""Sums, products, extremes and means along dimensions. f16 and bf16 are summed in f32 and rounded once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ingot.stablehlo import TensorType, Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.stablehlo.types import COMPLEX_PARTS
from ingot.torch.text.aten.complex_numbers import COMPLEX_OF, magnitude, squared_magnitude
from ingot.torch.text.lowering import Lowering, aten, rounded_once

Dimensions = Sequence[int] | int | None


def reduced(e: Lowering, combine: str, x: Value, dims: Dimensions, keepdim: bool) -> Value:
    """X combined along dimensions (none given: all), which stay with extent 1 where `keepdim`."""
    axes = e.axes(dims, x.type.rank)
    result = e.reduce(combine, x, axes)
    kept = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    return e.reshape(result, kept) if keepdim else result


def extent(e: Lowering, x: Value, dims: Dimensions) -> int:
    """How many elements are combined into one."""
    return math.prod(x.shape[d] for d in e.axes(dims, x.type.rank))


@aten("sum.default", "sum.dim_IntList")
def sum_(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False, dtype: Any = None) -> Value:
    """The sum along dimensions."""
    return reduced(e, "add", e.convert(x, e.result.dtype), dims, keepdim)


@aten("prod.default", "prod.dim_int")
def prod(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False, dtype: Any = None) -> Value:
    """The product along a dimension."""
    return reduced(e, "multiply", e.convert(x, e.result.dtype), dims, keepdim)


@aten("mean.default", "mean.dim")
def mean(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False, dtype: Any = None) -> Value:
    """The mean along dimensions."""
    narrow = e.result.dtype
    x = e.convert(x, WIDE_SUM.get(narrow, narrow))
    total = reduced(e, "add", x, dims, keepdim)
    return e.convert(e.binary("divide", total, e.constant(extent(e, x, dims), total.type)), narrow)


@aten("amax.default", "max.default")
def amax(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False) -> Value:
    """The greatest element; NaN where there is one."""
    return reduced(e, "maximum", x, dims, keepdim)


@aten("amin.default", "min.default")
def amin(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False) -> Value:
    """The least element; NaN where there is one."""
    return reduced(e, "minimum", x, dims, keepdim)


@aten("any.default", "any.dim", "any.dims", "_is_any_true.default")
def any_(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False) -> Value:
    """Whether an element is not zero."""
    return reduced(e, "or", e.convert(x, "i1"), dims, keepdim)


@aten("all.default", "all.dim", "all.dims", "_is_all_true.default")
def all_(e: Lowering, x: Value, dims: Dimensions = None, keepdim: bool = False) -> Value:
    """Whether all elements are not zero."""
    return reduced(e, "and", e.convert(x, "i1"), dims, keepdim)


@aten("var.correction")
def var(
    e: Lowering, x: Value, dims: Dimensions = None, *, correction: float | None = None, keepdim: bool = False
) -> Value:
    """The variance along dimensions; `correction` is taken off the number of elements."""
    return variance_and_mean(e, x, dims, 1 if correction is None else correction, keepdim)[0]


@aten("var_mean.correction")
def var_mean(
    e: Lowering, x: Value, dims: Dimensions = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Value, Value]:
    """The variance and the mean along dimensions."""
    return variance_and_mean(e, x, dims, 1 if correction is None else correction, keepdim)


def variance_and_mean(e: Lowering, x: Value, dims: Dimensions, correction: float, keepdim: bool) -> tuple[Value, Value]:
    """In two passes: the mean, then the mean squared magnitude of what differs from it."""
    narrow = x.dtype
    x = e.convert(x, WIDE_SUM.get(narrow, narrow))
    count = extent(e, x, dims)
    total = reduced(e, "add", x, dims, True)
    mean = e.binary("divide", total, e.constant(count, total.type))
    away = e.binary("subtract", x, e.broadcast(mean, x.shape))
    squares = reduced(e, "add", squared_magnitude(e, away), dims, keepdim)
    variance = e.binary("divide", squares, e.constant(max(0, count - correction), squares.type))
    mean = e.convert(e.reshape(mean, variance.shape), narrow)
    return e.convert(variance, COMPLEX_PARTS.get(narrow, narrow)), mean


@aten("argmax.default")
def argmax(e: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    """The position of the first greatest element."""
    return first_position(e, "maximum", x, dim, keepdim)


@aten("argmin.default")
def argmin(e: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    """The position of the first least element."""
    return first_position(e, "minimum", x, dim, keepdim)


@aten("max.dim")
def max_dim(e: Lowering, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The greatest element along a dimension, and its position."""
    return reduced(e, "maximum", x, dim, keepdim), first_position(e, "maximum", x, dim, keepdim)


@aten("min.dim")
def min_dim(e: Lowering, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The least element along a dimension, and its position."""
    return reduced(e, "minimum", x, dim, keepdim), first_position(e, "minimum", x, dim, keepdim)


def first_position(e: Lowering, combine: str, x: Value, dim: int | None, keepdim: bool) -> Value:
    """The least index, i64, of an element that equals the extreme; NaN is the extreme where there is one."""
    flat = x if dim is not None else e.reshape(x, (x.type.elements,))
    axis = 0 if dim is None else dim
    if flat.type.rank == 0:
        return e.constant(0, TensorType("i64"))
    best = e.broadcast(reduced(e, combine, flat, axis, True), flat.shape)
    found = e.compare("EQ", flat, best)
    if flat.type.is_float:
        found = e.binary("or", found, e.compare("NE", flat, flat))
    index = e.iota(e.axis(axis, flat.type.rank), flat.type.with_dtype("i64"))
    nowhere = e.constant(flat.shape[axis], index.type)
    position = reduced(e, "minimum", e.select(found, index, nowhere), axis, keepdim)
    return e.reshape(position, e.results[-1].shape if e.results[-1] else position.shape)


@aten("linalg_vector_norm.default")
@rounded_once
def vector_norm(
    e: Lowering, x: Value, ord: float = 2, dims: Dimensions = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """(sum of |x|^ord)^(1 / ord); the extremes of |x| for infinite orders, the count of non-zeros for 0."""
    wide = e.result.dtype
    x = e.convert(x, COMPLEX_OF[wide] if x.type.is_complex else wide)
    if ord == 2:
        return e.unary("sqrt", reduced(e, "add", squared_magnitude(e, x), dims, keepdim))
    size = magnitude(e, x)
    if math.isinf(ord):
        return reduced(e, "maximum" if ord > 0 else "minimum", size, dims, keepdim)
    if ord == 0:
        return reduced(e, "add", e.convert(e.convert(size, "i1"), size.dtype), dims, keepdim)
    if ord == 1:
        return reduced(e, "add", size, dims, keepdim)
    total = reduced(e, "add", e.binary("power", size, e.constant(ord, size.type)), dims, keepdim)
    return e.binary("power", total, e.constant(1 / ord, total.type))


@aten("_softmax.default")
def softmax(e: Lowering, x: Value, dim: int, half_to_float: bool = False) -> Value:
    """e^x over its sum along a dimension; computed in f32 where x is narrower."""
    weights = e.unary("exponential", below_greatest(e, x, dim))
    total = e.broadcast(reduced(e, "add", weights, dim, True), weights.shape)
    return e.convert(e.binary("divide", weights, total), e.result.dtype)


@aten("_safe_softmax.default")
def safe_softmax(e: Lowering, x: Value, dim: int, dtype: Any = None) -> Value:
    """The same, but zeros where a row is minus infinity throughout: all of it is masked."""
    weights = softmax(e, x, dim)
    greatest = e.broadcast(reduced(e, "maximum", x, dim, True), x.shape)
    is_masked = e.compare("EQ", greatest, e.constant(-math.inf, x.type))
    return e.select(is_masked, e.constant(0, weights.type), weights)


@aten("_log_softmax.default")
def log_softmax(e: Lowering, x: Value, dim: int, half_to_float: bool = False) -> Value:
    """X minus the logarithm of the sum of e^x along a dimension; computed in f32 where x is narrower."""
    shifted = below_greatest(e, x, dim)
    total = e.unary("log", reduced(e, "add", e.unary("exponential", shifted), dim, True))
    return e.convert(e.binary("subtract", shifted, e.broadcast(total, shifted.shape)), e.result.dtype)


def below_greatest(e: Lowering, x: Value, dim: int) -> Value:
    """X minus its greatest element along a dimension."""
    x = e.convert(x, WIDE_SUM.get(x.dtype, x.dtype))
    return e.binary("subtract", x, e.broadcast(reduced(e, "maximum", x, dim, True), x.shape))
