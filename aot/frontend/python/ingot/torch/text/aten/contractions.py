"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.torch.text.aten.elementwise import scaled
from ingot.torch.text.lowering import Lowering, Operand, aten


@aten("mm.default", "mv.default", "dot.default")
def mm(e: Lowering, x: Value, y: Value) -> Value:
    """[m, k] x [k, n] -> [m, n]; either may be a vector."""
    return e.dot_general(x, y, ([x.type.rank - 1], [0]))


@aten("bmm.default")
def bmm(e: Lowering, x: Value, y: Value) -> Value:
    """[b, m, k] x [b, k, n] -> [b, m, n]."""
    return e.dot_general(x, y, ([2], [1]), ([0], [0]))


@aten("addbmm.default")
def addbmm(e: Lowering, c: Value, x: Value, y: Value, *, beta: Operand = 1, alpha: Operand = 1) -> Value:
    """Beta c + alpha times the sum of the products of [b, m, k] and [b, k, n]."""
    return _with_addend(e, c, e.dot_general(x, y, ([0, 2], [0, 1]), dtype=_wide(x)), beta, alpha)


@aten("addmm.default")
def addmm(e: Lowering, c: Value, x: Value, y: Value, *, beta: Operand = 1, alpha: Operand = 1) -> Value:
    """Beta c + alpha x y, of matrices."""
    return _with_addend(e, c, e.dot_general(x, y, ([1], [0]), dtype=_wide(x)), beta, alpha)


@aten("baddbmm.default")
def baddbmm(e: Lowering, c: Value, x: Value, y: Value, *, beta: Operand = 1, alpha: Operand = 1) -> Value:
    """Beta c + alpha x y, of batches of matrices."""
    return _with_addend(e, c, e.dot_general(x, y, ([2], [1]), ([0], [0]), dtype=_wide(x)), beta, alpha)


def _wide(x: Value) -> str:
    """The element type of sums: f32 for f16 and bf16, which are rounded once."""
    return WIDE_SUM.get(x.dtype, x.dtype)


def _with_addend(e: Lowering, c: Value, product: Value, beta: Operand, alpha: Operand) -> Value:
    """Beta c + alpha product; a beta of 0 ignores NaN in c."""
    total = scaled(e, product, alpha)
    if isinstance(beta, Value) or beta != 0:
        total = e.binary("add", total, scaled(e, e.tensor(c, product.type), beta))
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
