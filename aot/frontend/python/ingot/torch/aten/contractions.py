"""Matrix products."""

from __future__ import annotations

from ingot.stablehlo import Value
from ingot.torch.lowering import Lowering, aten


@aten("mm.default", "mv.default", "dot.default")
def mm(e: Lowering, x: Value, y: Value) -> Value:
    """[m, k] x [k, n] -> [m, n]; either may be a vector."""
    return e.dot_general(x, y, ([x.type.rank - 1], [0]))


@aten("bmm.default")
def bmm(e: Lowering, x: Value, y: Value) -> Value:
    """[b, m, k] x [b, k, n] -> [b, m, n]."""
    return e.dot_general(x, y, ([2], [1]), ([0], [0]))
