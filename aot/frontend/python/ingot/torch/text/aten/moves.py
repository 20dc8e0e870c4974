"""Views, slices, concatenations and their gradients: elements move, none is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingot.stablehlo import Value
from ingot.torch.text.lowering import Lowering, Operand, aten


@aten("view.default", "_unsafe_view.default", "reshape.default", "view_copy.default", "_reshape_alias.default")
@aten("unsqueeze.default", "squeeze.dims", "squeeze.dim", "squeeze.default")
def reshaped(e: Lowering, x: Value, *_: Any) -> Value:
    """The same elements in the result's shape."""
    return e.reshape(x, e.result.shape)


@aten("view.dtype")
def bits_as(e: Lowering, x: Value, *_: Any) -> Value:
    """The bits of x as numbers of another type: of narrower ones there are as many more along the last dimension."""
    kinds = (x.type, e.result)
    if any(kind.is_complex or kind.dtype == "i1" for kind in kinds):
        raise e.refuse("the bits of truth values or complex numbers", "take view_as_real, or a comparison")
    last, mine = x.shape[-1:], e.result.shape[-1:]
    if last == mine:
        return e.op("stablehlo.bitcast_convert", [x], e.result)
    if last < mine:
        parts = e.result.with_shape((*x.shape, mine[0] // last[0]))
        return e.reshape(e.op("stablehlo.bitcast_convert", [x], parts), e.result.shape)
    whole = e.reshape(x, (*x.shape[:-1], mine[0], last[0] // mine[0]))
    return e.op("stablehlo.bitcast_convert", [whole], e.result)


@aten("ingot::barrier.default")
def barrier(e: Lowering, x: Value) -> Value:
    """The same values, which are taken for others: what torch.utils.checkpoint computes again."""
    return e.unary("optimization_barrier", x)


@aten("t.default")
def t(e: Lowering, x: Value) -> Value:
    """A matrix with its dimensions swapped; a vector as it is."""
    return e.transpose(x, list(reversed(range(x.type.rank))))


@aten("transpose.int")
def transpose(e: Lowering, x: Value, first: int, second: int) -> Value:
    """Two dimensions swapped."""
    order = list(range(x.type.rank))
    if not order:
        return x
    a, b = e.axis(first, x.type.rank), e.axis(second, x.type.rank)
    order[a], order[b] = order[b], order[a]
    return e.transpose(x, order)


@aten("permute.default")
def permute(e: Lowering, x: Value, order: Sequence[int]) -> Value:
    """Result dimension i is dimension order[i]."""
    return e.transpose(x, [e.axis(d, x.type.rank) for d in order])


@aten("expand.default")
def expand(e: Lowering, x: Value, sizes: Sequence[int], implicit: bool = False) -> Value:
    """X repeated to the result's shape."""
    return e.broadcast(x, e.result.shape)


@aten("repeat.default")
def repeat(e: Lowering, x: Value, repeats: Sequence[int]) -> Value:
    """X as tiles."""
    rank = len(repeats)
    shape = (*([1] * (rank - x.type.rank)), *x.shape)
    tiles = tuple(size for pair in zip(repeats, shape, strict=True) for size in pair)
    spread = e.broadcast_in_dim(e.reshape(x, shape), tiles, [2 * d + 1 for d in range(rank)])
    return e.reshape(spread, e.result.shape)


@aten("cat.default")
def cat(e: Lowering, parts: Sequence[Value], dim: int = 0) -> Value:
    """Tensors one after the other; empty vectors are left out, as PyTorch does."""
    kept = [e.convert(part, e.result.dtype) for part in parts if part.shape != (0,) or e.result.rank == 1]
    return e.concatenate(kept, e.axis(dim, e.result.rank))


@aten("stack.default")
def stack(e: Lowering, parts: Sequence[Value], dim: int = 0) -> Value:
    """Tensors one after the other along a dimension of their own."""
    axis = e.axis(dim, e.result.rank)
    shape = (*e.result.shape[:axis], 1, *e.result.shape[axis + 1 :])
    return e.concatenate([e.reshape(e.convert(part, e.result.dtype), shape) for part in parts], axis)


def bounds(start: int | None, end: int | None, extent: int) -> tuple[int, int]:
    """Python's slice bounds within an extent."""
    first, last, _ = slice(start, end).indices(extent)
    return first, max(first, last)


@aten("slice.Tensor")
def slice_(
    e: Lowering, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    """x[start:end:step] along a dimension."""
    axis = e.axis(dim, x.type.rank)
    first, last = bounds(start, end, x.shape[axis])
    return e.slice_dim(x, axis, first, last, step)


@aten("slice_scatter.default")
def slice_scatter(
    e: Lowering,
    x: Value,
    source: Value,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    """X with its slice replaced by the source."""
    axis = e.axis(dim, x.type.rank)
    first, last = bounds(start, end, x.shape[axis])
    if (last - first, step) == (x.shape[axis], 1):
        return e.convert(source, x.dtype)
    low, high, interior = [0] * x.type.rank, [0] * x.type.rank, [0] * x.type.rank
    used = max(0, (source.shape[axis] - 1) * step + 1)
    low[axis], high[axis], interior[axis] = first, x.shape[axis] - first - used, step - 1
    spread = e.pad(e.convert(source, x.dtype), 0, low, high, interior)
    inside = e.pad(e.constant(True, source.type.with_dtype("i1")), 0, low, high, interior)
    return e.select(inside, spread, x)


@aten("select.int")
def select(e: Lowering, x: Value, dim: int, index: int) -> Value:
    """x[index] along a dimension, which goes."""
    axis = e.axis(dim, x.type.rank)
    if isinstance(index, Value):
        raise e.refuse("an index that is computed needs torch.index_select, and index_copy_ to write")
    at = index + x.shape[axis] if index < 0 else index
    return e.reshape(e.slice_dim(x, axis, at, at + 1), e.result.shape)


@aten("select_scatter.default")
def select_scatter(e: Lowering, x: Value, source: Value, dim: int, index: int) -> Value:
    """X with one row replaced by the source."""
    axis = e.axis(dim, x.type.rank)
    at = index + x.shape[axis] if index < 0 else index
    row = e.reshape(source, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    return slice_scatter(e, x, row, axis, at, at + 1)


@aten("split_with_sizes.default")
def split_with_sizes(e: Lowering, x: Value, sizes: Sequence[int], dim: int = 0) -> tuple[Value, ...]:
    """Parts of given sizes along a dimension."""
    axis, start, parts = e.axis(dim, x.type.rank), 0, []
    for size in sizes:
        parts.append(e.slice_dim(x, axis, start, start + size))
        start += size
    return tuple(parts)


@aten("split.Tensor")
def split(e: Lowering, x: Value, size: int, dim: int = 0) -> tuple[Value, ...]:
    """Parts of one size along a dimension; the last may be smaller."""
    extent = x.shape[e.axis(dim, x.type.rank)]
    sizes = [min(size, extent - start) for start in range(0, extent, size)]
    return split_with_sizes(e, x, sizes, dim)


@aten("unbind.int")
def unbind(e: Lowering, x: Value, dim: int = 0) -> tuple[Value, ...]:
    """Every row along a dimension."""
    axis = e.axis(dim, x.type.rank)
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return tuple(e.reshape(e.slice_dim(x, axis, i, i + 1), shape) for i in range(x.shape[axis]))


@aten("flip.default")
def flip(e: Lowering, x: Value, dims: Sequence[int]) -> Value:
    """The order along dimensions reversed."""
    return e.reverse(x, e.axes(dims, x.type.rank)) if dims else x


@aten("roll.default")
def roll(e: Lowering, x: Value, shifts: Sequence[int], dims: Sequence[int] = ()) -> Value:
    """Elements shifted along dimensions, round the end."""
    if not dims:
        flat = e.reshape(x, (x.type.elements,))
        return e.reshape(rolled(e, flat, shifts[0], 0), x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        x = rolled(e, x, shift, e.axis(dim, x.type.rank))
    return x


def rolled(e: Lowering, x: Value, shift: int, axis: int) -> Value:
    """Elements shifted along one dimension, round the end."""
    extent = x.shape[axis]
    cut = -shift % extent if extent else 0
    if cut == 0:
        return x
    return e.concatenate([e.slice_dim(x, axis, cut, extent), e.slice_dim(x, axis, 0, cut)], axis)


@aten("constant_pad_nd.default")
def constant_pad_nd(e: Lowering, x: Value, padding: Sequence[int], value: Operand = 0) -> Value:
    """X with a value around it; `padding` has pairs from the last dimension on, negative ones cut."""
    low, high = [0] * x.type.rank, [0] * x.type.rank
    for i in range(len(padding) // 2):
        low[x.type.rank - 1 - i], high[x.type.rank - 1 - i] = padding[2 * i], padding[2 * i + 1]
    fill = value if not isinstance(value, Value) else e.convert(value, x.dtype)
    return e.pad(x, fill, low, high)  # type: ignore[arg-type]


@aten("diagonal.default")
def diagonal(e: Lowering, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The elements whose indices along two dimensions differ by `offset`; the diagonal is the last dimension."""
    rank = x.type.rank
    a, b = e.axis(dim1, rank), e.axis(dim2, rank)
    x = e.transpose(x, [*(d for d in range(rank) if d not in (a, b)), a, b])
    length = e.result.shape[-1]
    x = e.slice_dim(x, rank - 2, max(0, -offset), max(0, -offset) + length)
    x = e.slice_dim(x, rank - 1, max(0, offset), max(0, offset) + length)
    square = x.type.with_dtype("i64")
    on_it = e.compare("EQ", e.iota(rank - 2, square), e.iota(rank - 1, square))
    return e.reduce("add", e.select(on_it, x, e.constant(0, x.type)), [rank - 1])


@aten("diagonal_scatter.default")
def diagonal_scatter(e: Lowering, x: Value, source: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """X with a diagonal replaced; the source's last dimension lies along it."""
    rank = x.type.rank
    a, b = e.axis(dim1, rank), e.axis(dim2, rank)
    order = [*(d for d in range(rank) if d not in (a, b)), a, b]
    moved = e.transpose(x, order)
    low, high = [0] * source.type.rank, [0] * source.type.rank
    low[-1] = max(0, offset)
    high[-1] = moved.shape[-1] - source.shape[-1] - low[-1]
    columns = e.pad(e.convert(source, x.dtype), 0, low, high)
    spread = e.broadcast_in_dim(columns, moved.shape, [*range(rank - 2), rank - 1])
    square = moved.type.with_dtype("i64")
    ahead = e.binary("subtract", e.iota(rank - 1, square), e.iota(rank - 2, square))
    on_it = e.compare("EQ", ahead, e.constant(offset, square))
    return e.transpose(e.select(on_it, spread, moved), [order.index(d) for d in range(rank)])
