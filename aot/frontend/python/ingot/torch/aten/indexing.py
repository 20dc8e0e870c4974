"""Reading and writing at positions that tensors say. Negative positions count from the end, as in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import TensorType, Value
from ingot.torch.lowering import Lowering, Operand, aten

COMBINE = {"sum": "add", "add": "add", "prod": "multiply", "multiply": "multiply", "amax": "maximum", "amin": "minimum"}


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


@aten("embedding_dense_backward.default")
def embedding_backward(
    e: Lowering, gradient: Value, index: Value, count: int, padding_idx: int, scale_by_frequency: bool
) -> Value:
    """Gradients added to the rows that were read, but for the padding row."""
    if scale_by_frequency:
        raise e.refuse("embeddings with scale_grad_by_freq are not supported", "scale the gradient in the function")
    index = e.convert(index, "i64")
    if padding_idx >= 0:
        padding = e.compare("EQ", index, e.constant(padding_idx, index.type))
        index = e.select(padding, e.constant(count, index.type), index)
    vectors = e.reshape(index, (*index.shape, 1))
    return e.scatter(
        "add",
        e.constant(0, e.result),
        vectors,
        gradient,
        window_dims=[gradient.type.rank - 1],
        inserted=[0],
        index_map=[0],
    )


@aten("index_select.default")
def index_select(e: Lowering, x: Value, dim: int, index: Value) -> Value:
    """Rows along a dimension."""
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


@aten("index_put.default", "_unsafe_index_put.default")
def index_put(e: Lowering, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    """X with x[indices] replaced by values, or values added to it; a single mask selects."""
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype == "i1" and values.type.elements == 1:
        mask = e.broadcast_in_dim(indices[0], x.shape, range(indices[0].type.rank))
        put = e.broadcast(e.reshape(values, ()), x.shape)
        return e.select(mask, e.binary("add", x, put) if accumulate else put, x)
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
        vectors_along(e, index, axis, x.shape[axis]),
        offset_dims=[],
        collapsed=every,
        index_map=every,
        slice_sizes=[1] * x.type.rank,
        shape=index.shape,
    )


def scattered(e: Lowering, combine: str, x: Value, dim: int, index: Value, source: Operand) -> Value:
    """X with the source combined where the index says along one dimension."""
    axis = e.axis(dim, x.type.rank)
    updates = source if isinstance(source, Value) else e.constant(source, TensorType(x.dtype))
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


@aten("scatter_add.default")
def scatter_add(e: Lowering, x: Value, dim: int, index: Value, source: Value) -> Value:
    """X with elements added to."""
    return scattered(e, "add", x, dim, index, source)


@aten("scatter_reduce.two")
def scatter_reduce(
    e: Lowering, x: Value, dim: int, index: Value, source: Value, reduce: str, include_self: bool = True
) -> Value:
    """X with elements combined: sum, prod, amax, amin."""
    if reduce not in COMBINE or not include_self:
        raise e.refuse(f"scatter_reduce with {reduce!r}, include_self={include_self} is not supported")
    return scattered(e, COMBINE[reduce], x, dim, index, source)


@aten("index_add.default")
def index_add(e: Lowering, x: Value, dim: int, index: Value, source: Value, alpha: Operand = 1) -> Value:
    """X with rows added to."""
    axis = e.axis(dim, x.type.rank)
    at = from_front(e, index, x.shape[axis])
    updates = e.binary("multiply", source, e.tensor(alpha, source.type)) if alpha != 1 else source
    return e.scatter(
        "add",
        x,
        e.reshape(at, (*at.shape, 1)),
        updates,
        window_dims=[d for d in range(x.type.rank) if d != axis],
        inserted=[axis],
        index_map=[axis],
    )
