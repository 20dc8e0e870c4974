"""Reading and writing at positions that tensors say. Negative positions count from the end, as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ingot.stablehlo import TensorType, Value
from ingot.stablehlo.combining import REDUCTION_STARTS
from ingot.torch.text.aten.elementwise import floored_quotient
from ingot.torch.text.aten.scans import running
from ingot.torch.text.lowering import Lowering, Operand, aten

COMBINE = {
    "sum": "add",
    "add": "add",
    "mean": "add",
    "prod": "multiply",
    "multiply": "multiply",
    "amax": "maximum",
    "amin": "minimum",
}


def from_front(e: Lowering, index: Value, extent: int) -> Value:
    """Positions, i64, with negative ones counted from the end."""
    index = e.convert(index, "i64")
    behind = e.compare("LT", index, e.constant(0, index.type))
    return e.select(behind, e.binary("add", index, e.constant(extent, index.type)), index)


def rows(e: Lowering, x: Value, index: Value, axis: int) -> Value:
    """x[..., index, ...]: result shape: x's before the axis, the index's, x's after it."""
    window = [*x.shape]
    window[axis] = 1
    at = index.type.rank
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    offsets = [*range(axis), *range(axis + at, len(shape))]
    vectors = e.reshape(index, (*index.shape, 1))
    return e.gather(
        x, vectors, offset_dims=offsets, collapsed=[axis], index_map=[axis], slice_sizes=window, shape=shape
    )


@aten("embedding.default")
def embedding(
    e: Lowering, weight: Value, index: Value, padding_idx: int = -1, scale: bool = False, sparse: bool = False
) -> Value:
    """Rows of the weight."""
    return rows(e, weight, index, 0)


def added_rows(
    e: Lowering, type_: TensorType, index: Value, updates: Value, combine: str = "add", start: float = 0
) -> Value:
    """A tensor of one value, with updates [index's..., row's...] combined into the rows that the index says.

    Rows that are not there are left out; updates of the index's shape are for a vector.
    """
    at = index.type.rank
    updates = e.broadcast(updates, (*index.shape, *type_.shape[1:]))
    return e.scatter(
        combine,
        e.constant(start, type_),
        e.reshape(index, (*index.shape, 1)),
        updates,
        window_dims=list(range(at, updates.type.rank)),
        inserted=[0],
        index_map=[0],
    )


def frequencies(e: Lowering, index: Value, count: int, type_: TensorType) -> Value:
    """How often each position's row is read, in the type of what is read: [index's..., row's...]."""
    often = added_rows(e, TensorType("i64", (count,)), index, e.constant(1, index.type))
    each = e.convert(rows(e, often, index, 0), type_.dtype)
    return e.broadcast_in_dim(each, type_.shape, range(index.type.rank))


@aten("embedding_dense_backward.default")
def embedding_backward(
    e: Lowering, gradient: Value, index: Value, count: int, padding_idx: int, scale_by_frequency: bool
) -> Value:
    """Gradients added to the rows that were read, but for the padding row."""
    index = e.convert(index, "i64")
    if scale_by_frequency:
        gradient = e.binary("divide", gradient, frequencies(e, index, count, gradient.type))
    if padding_idx >= 0:
        padding = e.compare("EQ", index, e.constant(padding_idx, index.type))
        index = e.select(padding, e.constant(count, index.type), index)
    return added_rows(e, e.result, index, gradient)


def at_least_1d(e: Lowering, x: Value) -> Value:
    """X; a scalar as a vector of one."""
    return x if x.type.rank else e.reshape(x, (1,))


@aten("take.default")
def take(e: Lowering, x: Value, index: Value) -> Value:
    """Elements at row-major positions."""
    flat = e.reshape(x, (x.type.elements,))
    return rows(e, flat, from_front(e, index, x.type.elements), 0)


@aten("index_select.default")
def index_select(e: Lowering, x: Value, dim: int, index: Value) -> Value:
    """Rows along a dimension."""
    x = at_least_1d(e, x)
    axis = e.axis(dim, x.type.rank)
    return e.reshape(rows(e, x, from_front(e, index, x.shape[axis]), axis), e.result.shape)


class Places:
    """PyTorch's x[i, :, j]: which dimensions are indexed, and the index vectors of shape [common shape..., k]."""

    def __init__(self, e: Lowering, x: Value, indices: Sequence[Value | None]):
        self.axes = [d for d, index in enumerate(indices) if index is not None]
        given = [index for index in indices if index is not None]
        if any(index.dtype in ("i1", "ui8") for index in given):
            raise e.refuse(
                "a mask as an index gives a shape that depends on its values", "use torch.where(mask, x, other)"
            )
        self.shape = _broadcast_shape([index.shape for index in given])
        columns = [
            e.reshape(e.broadcast(from_front(e, index, x.shape[d]), self.shape), (*self.shape, 1))
            for d, index in zip(self.axes, given, strict=True)
        ]
        self.vectors = e.concatenate(columns, len(self.shape))
        together = self.axes == list(range(self.axes[0], self.axes[-1] + 1))
        self.start = self.axes[0] if together else 0
        rest = x.type.rank - len(self.axes)
        total = len(self.shape) + rest
        self.window_dims = [*range(self.start), *range(self.start + len(self.shape), total)]
        others = [n for d, n in enumerate(x.shape) if d not in self.axes]
        self.result = (*others[: self.start], *self.shape, *others[self.start :])


def _broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    rank = max(map(len, shapes))
    padded = [(*([1] * (rank - len(shape))), *shape) for shape in shapes]
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*padded, strict=True))


@aten("index.Tensor", "_unsafe_index.Tensor")
def index(e: Lowering, x: Value, indices: Sequence[Value | None]) -> Value:
    """x[indices]."""
    places = Places(e, x, indices)
    return e.gather(
        x,
        places.vectors,
        offset_dims=places.window_dims,
        collapsed=places.axes,
        index_map=places.axes,
        slice_sizes=[1 if d in places.axes else n for d, n in enumerate(x.shape)],
        shape=places.result,
    )


def masked_put(e: Lowering, x: Value, axis: int, mask: Value, values: Value, accumulate: bool) -> Value:
    """x[..., mask, ...] = values, for a mask of the dimensions from an axis on."""
    end = axis + mask.type.rank
    before, after = x.shape[:axis], x.shape[end:]
    sizes = (*[1] * (len(before) + 1 + len(after) - values.type.rank), *values.shape)
    if sizes[axis] != 1:
        raise e.refuse(
            "a mask selects as many elements as its values say, so that no shape fits the values put there",
            "put one value, or use torch.where(mask, values, x) with values of x's shape, or masked_scatter",
        )
    one = e.reshape(values, (*sizes[:axis], *[1] * mask.type.rank, *sizes[axis + 1 :]))
    put = e.broadcast(e.convert(one, x.dtype), x.shape)
    chosen = e.broadcast_in_dim(mask, x.shape, range(axis, end))
    return e.select(chosen, e.binary("add", x, put) if accumulate else put, x)


@aten("index_put.default", "_unsafe_index_put.default")
def index_put(e: Lowering, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    """X with x[indices] replaced by values, or values added to it; a mask puts one row of values wherever it holds."""
    given = [(d, index) for d, index in enumerate(indices) if index is not None]
    if len(given) == 1 and given[0][1].dtype == "i1":
        return masked_put(e, x, *given[0], values, accumulate)
    places = Places(e, x, indices)
    return e.scatter(
        "add" if accumulate else "set",
        x,
        places.vectors,
        e.broadcast(values, places.result),
        window_dims=places.window_dims,
        inserted=places.axes,
        index_map=places.axes,
    )


def vectors_along(e: Lowering, index: Value, axis: int, extent: int) -> Value:
    """For each element of an index its position in x: its own, but for one axis; shape [index's..., rank]."""
    wide = index.type.with_dtype("i64")
    columns = [from_front(e, index, extent) if d == axis else e.iota(d, wide) for d in range(wide.rank)]
    return e.concatenate([e.reshape(c, (*wide.shape, 1)) for c in columns], wide.rank)


@aten("gather.default")
def gather(e: Lowering, x: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    """Each element of x whose position along one dimension the index says."""
    if x.type.rank == 0:
        return e.broadcast(x, index.shape)
    axis = e.axis(dim, x.type.rank)
    every = list(range(x.type.rank))
    return e.gather(
        x,
        e.reshape(vectors_along(e, at_least_1d(e, index), axis, x.shape[axis]), (*index.shape, x.type.rank)),
        offset_dims=[],
        collapsed=every,
        index_map=every,
        slice_sizes=[1] * x.type.rank,
        shape=index.shape,
    )


def scattered(e: Lowering, combine: str, x: Value, dim: int, index: Value, source: Operand) -> Value:
    """X with the source combined where the index says along one dimension."""
    if not index.type.elements:
        return x
    updates = source if isinstance(source, Value) else e.constant(source, TensorType(x.dtype))
    if x.type.rank == 0:
        whole, at, update = (e.reshape(v, (1,)) for v in (x, index, updates))
        return e.reshape(scattered(e, combine, whole, 0, at, update), ())
    axis, index = e.axis(dim, x.type.rank), at_least_1d(e, index)
    if isinstance(source, Value):
        updates = at_least_1d(e, updates)
    if updates.type.rank == index.type.rank and updates.shape != index.shape:
        updates = e.slice(updates, [0] * index.type.rank, index.shape, [1] * index.type.rank)
    updates = e.tensor(updates, TensorType(x.dtype, index.shape))
    every = list(range(x.type.rank))
    vectors = vectors_along(e, index, axis, x.shape[axis])
    return e.scatter(combine, x, vectors, updates, window_dims=[], inserted=every, index_map=every)


@aten("scatter.src", "scatter.value")
def scatter(e: Lowering, x: Value, dim: int, index: Value, source: Operand) -> Value:
    """X with elements replaced."""
    return scattered(e, "set", x, dim, index, source)


@aten("scatter.reduce", "scatter.value_reduce")
def scatter_with(e: Lowering, x: Value, dim: int, index: Value, source: Operand, *, reduce: str) -> Value:
    """X with elements added to, or multiplied."""
    return scattered(e, COMBINE[reduce], x, dim, index, source)


@aten("scatter_add.default")
def scatter_add(e: Lowering, x: Value, dim: int, index: Value, source: Value) -> Value:
    """X with elements added to."""
    return scattered(e, "add", x, dim, index, source)


@aten("scatter_reduce.two")
def scatter_reduce(
    e: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    """X with elements combined (sum, prod, mean, amax, amin); without `include_self`, x's own do not count."""
    combine = COMBINE[reduce]
    touched = scattered(e, "set", e.constant(False, x.type.with_dtype("i1")), dim, index, True)
    start = x
    if not include_self:
        start = e.select(touched, e.constant(REDUCTION_STARTS[combine](x.dtype), x.type), x)
    result = scattered(e, combine, start, dim, index, source)
    if reduce == "mean":
        counts = scattered(e, "add", e.constant(1 if include_self else 0, x.type), dim, index, 1)
        counts = e.select(touched, counts, e.constant(1, x.type))
        result = floored_quotient(e, result, counts) if x.type.is_integer else e.binary("divide", result, counts)
    return result


@aten("index_reduce.default")
def index_reduce(
    e: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    """X with rows combined: prod, mean, amax, amin."""
    x, index, source = (at_least_1d(e, value) for value in (x, index, source))
    axis = e.axis(dim, x.type.rank)
    wide = e.broadcast_in_dim(index, source.shape, [axis])
    return e.reshape(scatter_reduce(e, x, axis, wide, source, reduce, include_self), e.result.shape)


@aten("put.default")
def put(e: Lowering, x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """X with elements at row-major positions replaced, or added to."""
    flat, count = e.reshape(x, (x.type.elements,)), (index.type.elements,)
    at, values = e.reshape(index, count), e.reshape(source, count)
    return e.reshape(scattered(e, "add" if accumulate else "set", flat, 0, at, values), x.shape)


def order_among(e: Lowering, mask: Value) -> Value:
    """For each element of a mask, flat, i64: how many before it hold, in row-major order."""
    flat = e.convert(e.reshape(mask, (mask.type.elements,)), "i64")
    return e.binary("subtract", running(e, "add", flat, 0, 0), flat)


@aten("masked_scatter.default")
def masked_scatter(e: Lowering, x: Value, mask: Value, source: Value) -> Value:
    """X with the source's elements, in order, where the mask holds."""
    mask = e.broadcast(mask, e.result.shape)
    values = rows(e, e.reshape(source, (source.type.elements,)), order_among(e, mask), 0)
    return e.select(mask, e.reshape(values, mask.shape), e.broadcast(x, mask.shape))


@aten("masked_scatter_backward.default")
def masked_scatter_backward(e: Lowering, gradient: Value, mask: Value, sizes: Sequence[int]) -> Value:
    """The gradient's elements where the mask holds, in order, then zeros."""
    mask = e.broadcast(mask, gradient.shape)
    count = math.prod(sizes)
    outside = e.constant(count, TensorType("i64", (mask.type.elements,)))
    at = e.select(e.reshape(mask, outside.shape), order_among(e, mask), outside)
    type_ = TensorType(gradient.dtype, (count,))
    return e.reshape(added_rows(e, type_, at, e.reshape(gradient, outside.shape)), tuple(sizes))


@aten("nonzero_static.default")
def nonzero_static(e: Lowering, x: Value, *, size: int, fill_value: int = -1) -> Value:
    """The positions of the first `size` elements that are not zero, [size, rank]; where there are fewer, a value."""
    holds = e.convert(x, "i1")
    outside = e.constant(size, TensorType("i64", (x.type.elements,)))
    at = e.select(e.reshape(holds, outside.shape), order_among(e, holds), outside)
    columns = []
    for d in range(x.type.rank):
        place = e.reshape(e.iota(d, x.type.with_dtype("i64")), outside.shape)
        row = added_rows(e, TensorType("i64", (size,)), at, place, "maximum", fill_value)
        columns.append(e.reshape(row, (size, 1)))
    return e.concatenate(columns, 1)


@aten("index_add.default")
def index_add(e: Lowering, x: Value, dim: int, index: Value, source: Value, alpha: Operand = 1) -> Value:
    """X with rows added to."""
    x, index, source = (at_least_1d(e, value) for value in (x, index, source))
    axis = e.axis(dim, x.type.rank)
    at = from_front(e, index, x.shape[axis])
    updates = e.binary("multiply", source, e.tensor(alpha, source.type)) if alpha != 1 else source
    added = e.scatter(
        "add",
        x,
        e.reshape(at, (*at.shape, 1)),
        updates,
        window_dims=[d for d in range(x.type.rank) if d != axis],
        inserted=[axis],
        index_map=[axis],
    )
    return e.reshape(added, e.result.shape)
