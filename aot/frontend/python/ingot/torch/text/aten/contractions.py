"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import Value
from ingot.stablehlo.ops import WIDE_SUM
from ingot.torch.text.aten.elementwise import scaled
from ingot.torch.text.lowering import Lowering, Operand, aten, rounded_once


@aten("mm.default", "mv.default", "dot.default")
def mm(e: Lowering, x: Value, y: Value) -> Value:
    """[m, k] x [k, n] -> [m, n]; either may be a vector."""
    return e.dot_general(x, y, ([x.type.rank - 1], [0]))


@aten("bmm.default")
def bmm(e: Lowering, x: Value, y: Value) -> Value:
    """[b, m, k] x [b, k, n] -> [b, m, n]."""
    return e.dot_general(x, y, ([2], [1]), ([0], [0]))


@aten("addbmm.default")
@rounded_once
def addbmm(e: Lowering, c: Value, x: Value, y: Value, *, beta: Operand = 1, alpha: Operand = 1) -> Value:
    """beta c + alpha times the sum of the products of [b, m, k] and [b, k, n]."""
    product = scaled(e, e.dot_general(x, y, ([0, 2], [0, 1])), alpha)
    return e.binary("add", scaled(e, e.broadcast(c, product.shape), beta), product)


@aten("addmm.default", "baddbmm.default")
def addmm(e: Lowering, c: Value, x: Value, y: Value, *, beta: Operand = 1, alpha: Operand = 1) -> Value:
    """Beta c + alpha x y, of matrices or batches of them; f16 and bf16 are summed in f32 and rounded once."""
    wide = e.result.with_dtype(WIDE_SUM.get(x.dtype, x.dtype))
    batch = range(x.type.rank - 2)
    product = e.dot_general(x, y, ([x.type.rank - 1], [x.type.rank - 2]), (batch, batch), wide.dtype)
    total = scaled(e, product, alpha)
    if beta != 0:
        total = e.binary("add", total, scaled(e, e.tensor(c, wide), beta))
    return e.convert(total, e.result.dtype)


@aten("_trilinear.default")
def trilinear(
    e: Lowering,
    x: Value,
    y: Value,
    z: Value,
    expand_x: Sequence[int],
    expand_y: Sequence[int],
    expand_z: Sequence[int],
    sum_dims: Sequence[int],
    unroll_dim: int = 1,
) -> Value:
    """The sum of x y z along dimensions, after each is given dimensions of 1 at the places that `expand` says."""
    parts = []
    for value, added in ((x, expand_x), (y, expand_y), (z, expand_z)):
        extents = iter(value.shape)
        rank = value.type.rank + len(added)
        parts.append(e.reshape(value, tuple(1 if d in added else next(extents) for d in range(rank))))
    shape = tuple(max(sizes) for sizes in zip(*(part.shape for part in parts), strict=True))
    first, second, third = (e.broadcast(part, shape) for part in parts)
    return e.reduce("add", e.binary("multiply", e.binary("multiply", first, second), third), list(sum_dims))
