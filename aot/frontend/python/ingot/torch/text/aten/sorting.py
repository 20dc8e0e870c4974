"""Orders along a dimension."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ingot.stablehlo import Value
from ingot.torch.text.aten.reductions import reduced
from ingot.torch.text.aten.scans import scanned
from ingot.torch.text.lowering import Lowering, aten


def of_rows(rule: Callable[..., tuple[Value, Value]]) -> Callable[..., tuple[Value, Value]]:
    """A rule that takes a scalar for a row of one."""

    @functools.wraps(rule)
    def write(e: Lowering, x: Value, *args: Any, **kwargs: Any) -> tuple[Value, Value]:
        if x.type.rank:
            return rule(e, x, *args, **kwargs)
        values, indices = rule(e, e.reshape(x, (1,)), *args, **kwargs)
        return e.reshape(values, ()), e.reshape(indices, ())

    return write


@aten("sort.default", "sort.stable")
@of_rows
def sort(
    e: Lowering, x: Value, *arguments: object, stable: bool = False, dim: int = -1, descending: bool = False
) -> tuple[Value, Value]:
    """Rows in ascending or descending order, and where their elements were; stable."""
    places = [a for a in arguments if type(a) is int]
    flags = [a for a in arguments if type(a) is bool]
    axis = e.axis(places[0] if places else dim, x.type.rank)
    return ordered(e, x, axis, flags[-1] if flags else descending)


@aten("topk.default")
@of_rows
def topk(
    e: Lowering, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    """The k greatest or least elements along a dimension, in order, and where they were."""
    axis = e.axis(dim, x.type.rank)
    values, indices = ordered(e, x, axis, largest)
    return e.slice_dim(values, axis, 0, k), e.slice_dim(indices, axis, 0, k)


def ordered(e: Lowering, x: Value, axis: int, descending: bool) -> tuple[Value, Value]:
    """Sorted values and their positions, i64."""
    index = e.iota(axis, x.type.with_dtype("i64"))
    values, indices = e.sort([x, index], axis, descending=descending)
    return values, indices


def at_rank(e: Lowering, x: Value, rank: int | Value, axis: int, keepdim: bool) -> tuple[Value, Value]:
    """What stands at a place of each sorted row, and where it was; the place is one number, or one for each row."""
    values, indices = ordered(e, x, axis, descending=False)
    if isinstance(rank, Value):
        chosen = e.compare("EQ", e.iota(axis, indices.type), e.broadcast(rank, x.shape))
        parts = [reduced(e, "add", e.select(chosen, v, e.constant(0, v.type)), axis, True) for v in (values, indices)]
    else:
        parts = [e.slice_dim(v, axis, rank, rank + 1) for v in (values, indices)]
    if not keepdim:
        parts = [e.reshape(v, (*x.shape[:axis], *x.shape[axis + 1 :])) for v in parts]
    return parts[0], parts[1]


@aten("kthvalue.default")
@of_rows
def kthvalue(e: Lowering, x: Value, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The k-th least element along a dimension, from 1 on, and where it was."""
    return at_rank(e, x, k - 1, e.axis(dim, x.type.rank), keepdim)


@aten("median.dim")
@of_rows
def median_dim(e: Lowering, x: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The middle of each sorted row, the lower of two, and where it was; NaN where there is one."""
    axis = e.axis(dim, x.type.rank)
    middle = (x.shape[axis] - 1) // 2
    if not x.type.is_float:
        return at_rank(e, x, middle, axis, keepdim)
    has_nan = reduced(e, "or", e.compare("NE", x, x), axis, True)
    last = e.constant(x.shape[axis] - 1, has_nan.type.with_dtype("i64"))
    return at_rank(e, x, e.select(has_nan, last, e.constant(middle, last.type)), axis, keepdim)


@aten("nanmedian.dim")
@of_rows
def nanmedian_dim(e: Lowering, x: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The middle of the numbers of each sorted row, the lower of two, and where it was; NaN if there is none."""
    axis = e.axis(dim, x.type.rank)
    numbers = reduced(e, "add", e.convert(e.compare("EQ", x, x), "i64"), axis, True)
    one, zero = e.constant(1, numbers.type), e.constant(0, numbers.type)
    last = e.binary("maximum", e.binary("subtract", numbers, one), zero)
    return at_rank(e, x, e.binary("divide", last, e.constant(2, last.type)), axis, keepdim)


@aten("median.default")
def median(e: Lowering, x: Value) -> Value:
    """The middle of all elements, the lower of two; NaN where there is one."""
    return median_dim(e, e.reshape(x, (x.type.elements,)), 0)[0]


@aten("nanmedian.default")
def nanmedian(e: Lowering, x: Value) -> Value:
    """The middle of all numbers, the lower of two."""
    return nanmedian_dim(e, e.reshape(x, (x.type.elements,)), 0)[0]


@aten("mode.default")
@of_rows
def mode(e: Lowering, x: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The most frequent element of each row, the least of equally frequent ones, and where it was last."""
    axis = e.axis(dim, x.type.rank)
    values, indices = ordered(e, x, axis, descending=False)
    low, high = [0] * x.type.rank, [0] * x.type.rank
    low[axis], high[axis] = 1, -1
    place = e.iota(axis, indices.type)
    is_new = e.compare("NE", values, e.pad(values, 0, low, high))
    is_first = e.compare("EQ", place, e.constant(0, place.type))
    starts = e.select(e.binary("or", is_new, is_first), place, e.constant(0, place.type))
    (since,) = scanned(e, (starts,), axis, (0,), lambda before, here: (e.binary("maximum", before[0], here[0]),))
    often = e.binary("subtract", place, since)
    best = reduced(e, "maximum", often, axis, True)
    nowhere = e.constant(x.shape[axis], place.type)
    found = e.select(e.compare("EQ", often, e.broadcast(best, x.shape)), place, nowhere)
    chosen = e.compare("EQ", place, e.broadcast(reduced(e, "minimum", found, axis, True), x.shape))
    parts = [reduced(e, "add", e.select(chosen, v, e.constant(0, v.type)), axis, keepdim) for v in (values, indices)]
    return parts[0], parts[1]
