"""Orders along a dimension."""

from __future__ import annotations

from ingot.stablehlo import Value
from ingot.torch.lowering import Lowering, aten


@aten("sort.default", "sort.stable")
def sort(
    e: Lowering, x: Value, *arguments: object, stable: bool = False, dim: int = -1, descending: bool = False
) -> tuple[Value, Value]:
    """Rows in ascending or descending order, and where their elements were; stable."""
    places = [a for a in arguments if type(a) is int]
    flags = [a for a in arguments if type(a) is bool]
    axis = e.axis(places[0] if places else dim, x.type.rank)
    return ordered(e, x, axis, flags[-1] if flags else descending)


@aten("topk.default")
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
