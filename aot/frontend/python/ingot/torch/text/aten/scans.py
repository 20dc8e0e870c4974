"""Running sums, products and extremes along a dimension, in rounds of doubling: after k, 2^k elements are combined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ingot.stablehlo import Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.stablehlo.types import highest, lowest
from ingot.torch.text.lowering import Lowering, aten

Parts = tuple[Value, ...]


def scanned(
    e: Lowering, parts: Parts, dim: int, starts: tuple[float, ...], combine: Callable[[Parts, Parts], Parts]
) -> Parts:
    """Each element combined with all before it; `combine(before, here)` is associative, `starts` change nothing."""
    rank = parts[0].type.rank
    if rank == 0:
        return parts
    axis, step = e.axis(dim, rank), 1
    while step < parts[0].shape[axis]:
        low, high = [0] * rank, [0] * rank
        low[axis], high[axis] = step, -step
        before = tuple(e.pad(part, start, low, high) for part, start in zip(parts, starts, strict=True))
        parts = combine(before, parts)
        step *= 2
    return parts


def running(e: Lowering, name: str, x: Value, dim: int, start: float) -> Value:
    """A scan by a binary op; of f16 and bf16 in f32."""
    wide = e.convert(x, WIDE_SUM.get(x.dtype, x.dtype))
    (total,) = scanned(e, (wide,), dim, (start,), lambda before, here: (e.binary(name, before[0], here[0]),))
    return e.convert(total, x.dtype)


@aten("cumsum.default")
def cumsum(e: Lowering, x: Value, dim: int, dtype: Any = None) -> Value:
    """Each element added to all before it along a dimension."""
    return running(e, "add", e.convert(x, e.result.dtype), dim, 0)


@aten("cumprod.default")
def cumprod(e: Lowering, x: Value, dim: int, dtype: Any = None) -> Value:
    """Each element multiplied by all before it along a dimension."""
    return running(e, "multiply", e.convert(x, e.result.dtype), dim, 1)


@aten("cummax.default")
def cummax(e: Lowering, x: Value, dim: int) -> tuple[Value, Value]:
    """The greatest element so far, and where it was: the last of equal ones; NaN where there was one."""
    return extreme_so_far(e, x, dim, "GE", lowest(x.dtype))


@aten("cummin.default")
def cummin(e: Lowering, x: Value, dim: int) -> tuple[Value, Value]:
    """The least element so far, and where it was: the last of equal ones; NaN where there was one."""
    return extreme_so_far(e, x, dim, "LE", highest(x.dtype))


def extreme_so_far(e: Lowering, x: Value, dim: int, direction: str, start: float) -> tuple[Value, Value]:
    """Values and positions, i64."""

    def combine(before: Parts, here: Parts) -> Parts:
        better = e.compare(direction, here[0], before[0])
        if x.type.is_float:
            better = e.binary("or", better, e.compare("NE", here[0], here[0]))
        return e.select(better, here[0], before[0]), e.select(better, here[1], before[1])

    indices = x.type.with_dtype("i64")
    index = e.iota(e.axis(dim, x.type.rank), indices) if x.type.rank else e.constant(0, indices)
    values, positions = scanned(e, (x, index), dim, (start, 0), combine)
    return values, positions


@aten("logcumsumexp.default")
def logcumsumexp(e: Lowering, x: Value, dim: int) -> Value:
    """The logarithm of the running sum of e^x along a dimension."""
    wide = e.convert(x, WIDE_SUM.get(x.dtype, x.dtype))

    def combine(before: Parts, here: Parts) -> Parts:
        greatest, least = e.binary("maximum", before[0], here[0]), e.binary("minimum", before[0], here[0])
        gap = e.select(
            e.compare("EQ", greatest, least), e.constant(0, wide.type), e.binary("subtract", least, greatest)
        )
        return (e.binary("add", greatest, e.unary("log_plus_one", e.unary("exponential", gap))),)

    (total,) = scanned(e, (wide,), dim, (lowest(wide.dtype),), combine)
    return e.convert(total, x.dtype)
