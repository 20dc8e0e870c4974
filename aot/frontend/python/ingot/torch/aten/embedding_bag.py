"""Sums and means of bags of embeddings: a list of positions, cut into bags where `offsets` say."""

from __future__ import annotations

from ingot.stablehlo import TensorType, Value
from ingot.torch.aten.indexing import rows
from ingot.torch.lowering import Lowering, aten

SUM, MEAN = 0, 1


def check(e: Lowering, mode: int, scale_by_frequency: bool, weights: Value | None, padding_idx: int) -> None:
    """Raises TraceError for what is not supported."""
    if mode not in (SUM, MEAN) or scale_by_frequency or weights is not None or padding_idx >= 0:
        raise e.refuse(
            "an embedding bag of mode max, scale_grad_by_freq, per_sample_weights or padding_idx is not supported",
            "use nn.Embedding, and sum",
        )


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
    """The bags' embeddings, each position's bag, each bag's size, and zeros for the positions of maxima."""
    check(e, mode, scale_grad_by_freq, per_sample_weights, padding_idx)
    bags, width = e.result.shape
    count = indices.shape[0]
    offsets = e.slice_dim(e.convert(offsets, "i64"), 0, 0, bags)
    table = TensorType("i64", (count, bags))
    starts_before = e.compare("LE", e.broadcast_in_dim(offsets, table.shape, [1]), e.iota(0, table))
    started = e.reduce("add", e.convert(starts_before, "i64"), [1])
    bag_of = e.binary("subtract", started, e.constant(1, started.type))
    is_in = e.compare("EQ", e.broadcast_in_dim(bag_of, table.shape, [0]), e.iota(1, table))
    sizes = e.reduce("add", e.convert(is_in, "i64"), [0])
    embeddings = rows(e, weight, indices, 0)
    total = e.scatter(
        "add",
        e.constant(0, e.result),
        e.reshape(bag_of, (count, 1)),
        embeddings,
        window_dims=[1],
        inserted=[0],
        index_map=[0],
    )
    if mode == MEAN:
        total = e.binary("divide", total, e.broadcast_in_dim(divisors(e, sizes, total.dtype), (bags, width), [0]))
    return total, bag_of, sizes, e.constant(0, TensorType("i64", sizes.shape))


def divisors(e: Lowering, sizes: Value, dtype: str) -> Value:
    """The sizes of bags; 1 for those that are empty."""
    sizes = e.convert(sizes, dtype)
    return e.binary("maximum", sizes, e.constant(1, sizes.type))


def dense_gradient(e: Lowering, gradient: Value, indices: Value, bag_of: Value, sizes: Value, mode: int) -> Value:
    """The gradient of the weight, of the result's type."""
    if mode == MEAN:
        sizes = e.slice_dim(sizes, 0, 0, gradient.shape[0])
        shares = e.broadcast_in_dim(divisors(e, sizes, gradient.dtype), gradient.shape, [0])
        gradient = e.binary("divide", gradient, shares)
    return e.scatter(
        "add",
        e.constant(0, e.result),
        e.reshape(indices, (*indices.shape, 1)),
        rows(e, gradient, bag_of, 0),
        window_dims=[1],
        inserted=[0],
        index_map=[0],
    )


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
    """Each bag's gradient added to the rows that it summed."""
    check(e, mode, scale_grad_by_freq, per_sample_weights, padding_idx)
    return dense_gradient(e, gradient, indices, bag_of, sizes, mode)


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
    check(e, mode, scale_grad_by_freq, per_sample_weights, padding_idx)
    return dense_gradient(e, gradient, indices, bag_of, sizes, mode)
