"""Distances between rows, and their gradients; p is the order of the norm."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ingot.stablehlo import Value
from ingot.stablehlo.types import Shape
from ingot.torch.text.aten.indexing import added_rows, rows
from ingot.torch.text.aten.reductions import vector_norm
from ingot.torch.text.lowering import Lowering, aten


def gaps(e: Lowering, x: Value, y: Value, pairs: Shape) -> Value:
    """Differences of rows: x [..., m, k], y [..., n, k] -> [..., m, n, k], where `pairs` is [..., m, n]."""
    lead = len(pairs) - 2
    shape = (*pairs, x.shape[-1])
    first, second = (e.broadcast(v, (*pairs[:lead], *v.shape[-2:])) for v in (x, y))
    before, last = list(range(lead)), lead + 2
    wide = (e.broadcast_in_dim(v, shape, [*before, at, last]) for v, at in ((first, lead), (second, lead + 1)))
    return e.binary("subtract", *wide)


def slopes(e: Lowering, gap: Value, distance: Value, p: float) -> Value:
    """What a distance [...] grows by with each element of a gap [..., k]; 0 where the distance is 0."""
    wide = e.broadcast_in_dim(distance, gap.shape, range(distance.type.rank))
    zero = e.constant(0, gap.type)
    sign = e.unary("sign", gap)
    if p == 1:
        return sign
    if p == 0:
        return zero
    if math.isinf(p):
        return e.select(e.compare("EQ", e.unary("abs", gap), wide), sign, zero)
    if p == 2:
        slope = e.binary("divide", gap, wide)
    else:
        power = e.binary("power", e.binary("divide", e.unary("abs", gap), wide), e.constant(p - 1, gap.type))
        slope = e.binary("multiply", sign, power)
    return e.select(e.compare("EQ", wide, zero), zero, slope)


@aten("_cdist_forward.default")
def cdist(e: Lowering, x: Value, y: Value, p: float, compute_mode: int | None) -> Value:
    """The distance of each row of x [..., m, k] to each of y [..., n, k]: [..., m, n]."""
    return vector_norm(e, gaps(e, x, y, e.result.shape), p, -1)


@aten("_euclidean_dist.default")
def euclidean_dist(e: Lowering, x: Value, y: Value) -> Value:
    """The same for p = 2."""
    return vector_norm(e, gaps(e, x, y, e.result.shape), 2, -1)


@aten("_cdist_backward.default")
def cdist_backward(e: Lowering, gradient: Value, x: Value, y: Value, p: float, distance: Value) -> Value:
    """The gradient of x."""
    if not gradient.type.elements:
        return e.constant(0, e.result)
    gap = gaps(e, x, y, distance.shape)
    wide = e.broadcast_in_dim(gradient, gap.shape, range(gradient.type.rank))
    return e.reduce("add", e.binary("multiply", wide, slopes(e, gap, distance, p)), [gap.type.rank - 2])


def pairs(count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows of every pair, in order."""
    first, second = np.triu_indices(count, 1)
    return first, second


@aten("_pdist_forward.default")
def pdist(e: Lowering, x: Value, p: float = 2) -> Value:
    """The distance of every pair of rows of x [n, k]: [n (n - 1) / 2]."""
    first, second = (rows(e, x, e.dense(at, "i64"), 0) for at in pairs(x.shape[0]))
    return vector_norm(e, e.binary("subtract", first, second), p, -1)


@aten("_pdist_backward.default")
def pdist_backward(e: Lowering, gradient: Value, x: Value, p: float, distance: Value) -> Value:
    """The gradient of x."""
    at = [e.dense(index, "i64") for index in pairs(x.shape[0])]
    gap = e.binary("subtract", *(rows(e, x, index, 0) for index in at))
    each = e.binary("multiply", e.broadcast_in_dim(gradient, gap.shape, [0]), slopes(e, gap, distance, p))
    return e.binary("subtract", *(added_rows(e, x.type, index, each) for index in at))
