"""Places of values among sorted ones, and counts by bins."""

from __future__ import annotations

import math

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.indexing import added_rows, gather, rows
from ingot.torch.text.aten.scans import running
from ingot.torch.text.lowering import Lowering, Operand, aten


@aten("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(
    e: Lowering,
    sorted_sequence: Value,
    x: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    """How many elements of sorted rows are below x, or at most x (``right``); rows [..., n], x [..., m]."""
    if sorter is not None:
        sorted_sequence = gather(e, sorted_sequence, -1, sorter)
    return place_among(e, sorted_sequence, x, right or side == "right")


@aten("repeat_interleave.Tensor")
def repeated_positions(e: Lowering, repeats: Value, output_size: int | None = None) -> Value:
    """Each position as often as repeats say, one after the other: as many as `output_size` says."""
    ends = running(e, "add", repeats, 0, 0)
    return place_among(e, ends, e.iota(0, e.result.with_dtype(ends.dtype)), right=True)


@aten("bucketize.Tensor", "bucketize.Scalar")
def bucketize(e: Lowering, x: Operand, boundaries: Value, *, out_int32: bool = False, right: bool = False) -> Value:
    """How many boundaries are below x, or at most x (``right``)."""
    return place_among(e, boundaries, x, right)


def place_among(e: Lowering, ordered: Value, x: Operand, right: bool) -> Value:
    """By halving: the number of elements known to be before x grows by powers of two."""
    extent = ordered.shape[-1]
    places = e.result.with_dtype("i64")
    found = e.constant(0, places)
    step = 1 << max(0, extent.bit_length() - 1)
    while extent and step:
        next_ = e.binary("add", found, e.constant(step, places))
        last = e.binary("minimum", e.binary("subtract", next_, e.constant(1, places)), e.constant(extent - 1, places))
        element = rows(e, ordered, last, 0) if ordered.type.rank == 1 else gather(e, ordered, -1, last)
        is_before = e.compare("LE" if right else "LT", *e.promoted(element, x))
        inside = e.compare("LE", next_, e.constant(extent, places))
        found = e.select(e.binary("and", is_before, inside), next_, found)
        step //= 2
    return e.convert(found, e.result.dtype)


@aten("histc.default")
def histc(e: Lowering, x: Value, bins: int = 100, low: float = 0, high: float = 0) -> Value:
    """How many elements are in each of some bins of one width; the last has its upper end."""
    flat = e.reshape(x, (x.type.elements,))
    scalar = TensorType(x.dtype)
    bounds = [e.constant(low, scalar), e.constant(high, scalar)]
    if low == high:
        bounds = [e.reduce(name, flat, [0]) for name in ("minimum", "maximum")]
        same, one = e.compare("EQ", *bounds), e.constant(1, scalar)
        bounds = [
            e.select(same, e.binary(name, bound, one), bound)
            for name, bound in zip(("subtract", "add"), bounds, strict=True)
        ]
    start, end = (e.broadcast(bound, flat.shape) for bound in bounds)
    part = e.binary("divide", e.binary("subtract", flat, start), e.binary("subtract", end, start))
    scaled = e.unary("floor", e.binary("multiply", part, e.constant(bins, flat.type)))
    at = e.binary("minimum", scaled, e.constant(bins - 1, flat.type))
    inside = e.binary("and", e.compare("GE", flat, start), e.compare("LE", flat, end))
    index = e.convert(e.select(inside, at, e.constant(math.inf, flat.type)), "i64")
    return added_rows(e, e.result, index, e.constant(1, scalar))
