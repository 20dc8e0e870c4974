"""Sums, means and maxima of bags of embeddings: a list of positions, cut into bags where `offsets` say.

Shapes: weight [rows, width], indices [count], offsets [bags] or, with the end of the last bag, [bags + 1].
"""

from __future__ import annotations

from ingot.stablehlo import TensorType, Value
from ingot.stablehlo.types import lowest
from ingot.torch.text.aten.indexing import added_rows, frequencies, rows
from ingot.torch.text.aten.scans import running
from ingot.torch.text.lowering import Lowering, aten

SUM, MEAN, MAX = 0, 1, 2


def bag_of_each(e: Lowering, offsets: Value, count: int) -> Value:
    """Which bag a position is in, [count]: the number of bags that start at or before it, less 1."""
    starts = added_rows(e, TensorType("i64", (count,)), offsets, e.constant(1, offsets.type))
    return e.binary("subtract", running(e, "add", starts, 0, 0), e.constant(1, starts.type))


def known_bags(e: Lowering, bag_of: Value, offsets: Value, indices: Value) -> Value:
    """Which bag each position is in: what the forward pass gives, or anew where that is left out."""
    count = indices.shape[0]
    return bag_of if bag_of.shape == (count,) else bag_of_each(e, e.convert(offsets, "i64"), count)


def without_padding(e: Lowering, x: Value, indices: Value, padding_idx: int, nowhere: int) -> Value:
    """X [count], but `nowhere` where the padding row is read."""
    if padding_idx < 0:
        return x
    is_padding = e.compare("EQ", indices, e.constant(padding_idx, indices.type))
    return e.select(is_padding, e.constant(nowhere, x.type), x)


@aten("_embedding_bag.default", "_embedding_bag_forward_only.default")
def embedding_bag(
    e: Lowering,
    weight: Value,
    indices: Value,
    offsets: Value,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Value, ...]:
    """The bags' embeddings; each position's bag, each bag's size, and the rows of maxima, for the gradient.

    The padding row is in no bag: its positions are in one behind the last.
    """
    bags = e.result.shape[0]
    indices, offsets = e.convert(indices, "i64"), e.convert(offsets, "i64")
    bag_of = bag_of_each(e, e.slice_dim(offsets, 0, 0, bags), indices.shape[0])
    bag_of = without_padding(e, bag_of, indices, padding_idx, bags)
    sizes = added_rows(e, TensorType("i64", (bags,)), bag_of, e.constant(1, bag_of.type))
    embeddings = rows(e, weight, indices, 0)
    if per_sample_weights is not None:
        factors = e.broadcast_in_dim(per_sample_weights, embeddings.shape, [0])
        embeddings = e.binary("multiply", embeddings, factors)
    if mode == MAX:
        greatest, maxima = greatest_rows(e, embeddings, indices, bag_of, sizes, weight.shape[0])
        return greatest, bag_of, sizes, maxima
    total = added_rows(e, e.result, bag_of, embeddings)
    if mode == MEAN:
        total = e.binary("divide", total, e.broadcast_in_dim(divisors(e, sizes, total.dtype), total.shape, [0]))
    assert e.results[1] and e.results[3]
    if e.results[1].elements == 0:  # which PyTorch leaves out where it sums fast
        bag_of = e.constant(0, e.results[1])
    return total, bag_of, sizes, e.constant(0, e.results[3])


def greatest_rows(
    e: Lowering, embeddings: Value, indices: Value, bag_of: Value, sizes: Value, nowhere: int
) -> tuple[Value, Value]:
    """Each bag's greatest elements, and the row of the weight that each is of: the first; 0 and `nowhere` if empty."""
    type_, positions = e.result, e.result.with_dtype("i64")
    greatest = added_rows(e, type_, bag_of, embeddings, "maximum", lowest(type_.dtype))
    is_greatest = e.compare("EQ", embeddings, rows(e, greatest, bag_of, 0))
    index = e.iota(0, embeddings.type.with_dtype("i64"))
    count = e.constant(indices.shape[0], index.type)
    first = added_rows(e, positions, bag_of, e.select(is_greatest, index, count), "minimum", indices.shape[0])
    is_empty = e.broadcast_in_dim(e.compare("EQ", sizes, e.constant(0, sizes.type)), type_.shape, [0])
    maxima = e.select(is_empty, e.constant(nowhere, positions), rows(e, indices, first, 0))
    return e.select(is_empty, e.constant(0, type_), greatest), maxima


def divisors(e: Lowering, sizes: Value, dtype: str) -> Value:
    """The sizes of bags; 1 for those that are empty."""
    sizes = e.convert(sizes, dtype)
    return e.binary("maximum", sizes, e.constant(1, sizes.type))


@aten("_embedding_bag_dense_backward.default")
def embedding_bag_dense_backward(
    e: Lowering,
    gradient: Value,
    indices: Value,
    bag_of: Value,
    sizes: Value,
    maxima: Value,
    count: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Value | None,
    padding_idx: int = -1,
) -> Value:
    """Each bag's gradient added to the rows that it is made of."""
    indices = e.convert(indices, "i64")
    if mode == MAX:
        columns = [maxima, e.iota(1, maxima.type)]
        vectors = e.concatenate([e.reshape(c, (*c.shape, 1)) for c in columns], 2)
        zeros = e.constant(0, e.result)
        return e.scatter("add", zeros, vectors, gradient, window_dims=[], inserted=[0, 1], index_map=[0, 1])
    if mode == MEAN:
        shares = e.broadcast_in_dim(divisors(e, sizes, gradient.dtype), gradient.shape, [0])
        gradient = e.binary("divide", gradient, shares)
    each = rows(e, gradient, bag_of, 0)
    if per_sample_weights is not None:
        each = e.binary("multiply", each, e.broadcast_in_dim(per_sample_weights, each.shape, [0]))
    if scale_grad_by_freq:
        each = e.binary("divide", each, frequencies(e, indices, e.result.shape[0], each.type))
    return added_rows(e, e.result, without_padding(e, indices, indices, padding_idx, e.result.shape[0]), each)


@aten("_embedding_bag_backward.default")
def embedding_bag_backward_of_offsets(
    e: Lowering,
    gradient: Value,
    indices: Value,
    offsets: Value,
    bag_of: Value,
    sizes: Value,
    maxima: Value,
    count: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Value | None,
    padding_idx: int = -1,
) -> Value:
    """The same of a call that could ask for a sparse gradient: it is dense here."""
    bag_of = known_bags(e, bag_of, offsets, indices)
    return embedding_bag_dense_backward(
        e, gradient, indices, bag_of, sizes, maxima, count, scale_grad_by_freq, mode, per_sample_weights, padding_idx
    )


@aten("_embedding_bag_per_sample_weights_backward.default")
def embedding_bag_weights_backward(
    e: Lowering,
    gradient: Value,
    weight: Value,
    indices: Value,
    offsets: Value,
    bag_of: Value,
    mode: int,
    padding_idx: int = -1,
) -> Value:
    """Each position's embedding times its bag's gradient, summed; 0 of the padding row."""
    bag_of = known_bags(e, bag_of, offsets, indices)
    indices = e.convert(indices, "i64")
    products = e.binary("multiply", rows(e, gradient, bag_of, 0), rows(e, weight, indices, 0))
    sums = e.reduce("add", products, [1])
    if padding_idx < 0:
        return sums
    is_padding = e.compare("EQ", indices, e.constant(padding_idx, indices.type))
    return e.select(is_padding, e.constant(0, sums.type), sums)
