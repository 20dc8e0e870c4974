"""Views by strides, of tensors whose elements lie in memory in their order: values have no storage of their own."""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import TensorType, Value
from ingot.torch.aten.indexing import rows
from ingot.torch.lowering import Lowering, aten

Ints = Sequence[int]


def in_memory(e: Lowering, x: Value) -> list[int]:
    """The dimensions of x from the one whose neighbours are furthest apart in memory to the nearest."""
    order = sorted(range(x.type.rank), key=lambda d: (-e.strides[d], x.shape[d] != 1))
    step = 1
    for d in reversed(order):
        if x.shape[d] != 1 and e.strides[d] != step:
            raise e.refuse("as_strided of a tensor that is itself a view with gaps", "call contiguous() before it")
        step *= x.shape[d]
    return order


def positions(e: Lowering, x: Value, size: Ints, stride: Ints, offset: int | None) -> Value:
    """Where each element of the view is in memory, i64 of its shape."""
    first = 0 if offset is None else offset - e.offset
    last = first + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if min(size, default=1) and not 0 <= first <= last < x.type.elements:
        raise e.refuse("as_strided reaches beyond its tensor", "call it on the whole tensor")
    indices = TensorType("i64", tuple(size))
    place = e.constant(first, indices)
    for d, step in enumerate(stride):
        along = e.binary("multiply", e.iota(d, indices), e.constant(step, indices))
        place = e.binary("add", place, along)
    return place


@aten("as_strided.default", "as_strided_copy.default")
def as_strided(e: Lowering, x: Value, size: Ints, stride: Ints, storage_offset: int | None = None) -> Value:
    """The elements at storage_offset + i · stride."""
    flat = e.reshape(e.transpose(x, in_memory(e, x)), (x.type.elements,))
    return rows(e, flat, positions(e, x, size, stride, storage_offset), 0)


@aten("as_strided_scatter.default")
def as_strided_scatter(
    e: Lowering, x: Value, source: Value, size: Ints, stride: Ints, storage_offset: int | None = None
) -> Value:
    """X with these elements replaced."""
    order = in_memory(e, x)
    moved = e.transpose(x, order)
    at = e.reshape(positions(e, x, size, stride, storage_offset), (source.type.elements, 1))
    flat, updates = e.reshape(moved, (x.type.elements,)), e.reshape(source, (source.type.elements,))
    put = e.scatter("set", flat, at, updates, window_dims=[], inserted=[0], index_map=[0])
    return e.transpose(e.reshape(put, moved.shape), [order.index(d) for d in range(x.type.rank)])
