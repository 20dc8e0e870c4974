"""Views by strides, of tensors whose elements lie in memory in their order: values have no storage of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.indexing import rows
from ingot.torch.text.lowering import Lowering, aten

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


def nesting(size: Ints, stride: Ints) -> list[int] | None:
    """The order of dimensions in which a view goes through memory without a gap; none where it has gaps or overlaps."""
    order = sorted(range(len(size)), key=lambda d: (-stride[d], -size[d]))
    step = 1
    for d in reversed(order):
        if size[d] == 1 or stride[d] == 0:
            continue
        if stride[d] != step:
            return None
        step *= size[d]
    return order


def inverse(order: Ints) -> list[int]:
    """The order that undoes a permutation."""
    return sorted(range(len(order)), key=lambda d: order[d])


def start(e: Lowering, x: Value, size: Ints, stride: Ints, offset: int | None) -> int:
    """Where in x's memory a view starts; raises TraceError where it reaches beyond."""
    first = 0 if offset is None else offset - e.offset
    last = first + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if min(size, default=1) and not 0 <= first <= last < x.type.elements:
        raise e.refuse("as_strided reaches beyond its tensor", "call it on the whole tensor")
    return first


def positions(e: Lowering, size: Ints, stride: Ints, first: int) -> Value:
    """Where each element of the view is in memory, i64 of its shape."""
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
    first, order = start(e, x, size, stride, storage_offset), nesting(size, stride)
    if order is None:
        return rows(e, flat, positions(e, size, stride, first), 0)
    own = [1 if step == 0 else n for n, step in zip(size, stride, strict=True)]
    part = e.reshape(e.slice_dim(flat, 0, first, first + math.prod(own)), tuple(own[d] for d in order))
    return e.broadcast(e.transpose(part, inverse(order)), tuple(size))


@aten("as_strided_scatter.default")
def as_strided_scatter(
    e: Lowering, x: Value, source: Value, size: Ints, stride: Ints, storage_offset: int | None = None
) -> Value:
    """X with these elements replaced."""
    dims = in_memory(e, x)
    moved = e.transpose(x, dims)
    flat = e.reshape(moved, (x.type.elements,))
    first, order, count = start(e, x, size, stride, storage_offset), nesting(size, stride), source.type.elements
    if order is None or 0 in stride:
        at = e.reshape(positions(e, size, stride, first), (count, 1))
        put = e.scatter("set", flat, at, e.reshape(source, (count,)), window_dims=[], inserted=[0], index_map=[0])
    else:
        new = e.reshape(e.transpose(source, order), (count,))
        rest = [e.slice_dim(flat, 0, *ends) for ends in ((0, first), (first + count, x.type.elements))]
        put = e.concatenate([part for part in (rest[0], new, rest[1]) if part.type.elements], 0)
    return e.transpose(e.reshape(put, moved.shape), inverse(dims))
