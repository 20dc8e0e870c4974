"""PyTorch's prims, into which its decompositions take some ops apart: rows of the table under their other names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingot.stablehlo import Value
from ingot.torch.text.aten import (  # noqa: F401  (these rows have other names here)
    comparisons,
    complex_numbers,
    elementwise,
    reductions,
    special,
)
from ingot.torch.text.lowering import TABLE, Lowering, aten

UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfc exp exp2 expm1 floor isfinite "
    "lgamma log log10 log1p log2 neg reciprocal round rsqrt sign sin sinh sqrt tan tanh trunc"
)
BINARY = {
    "add": "add.Tensor",
    "atan2": "atan2.default",
    "bitwise_and": "bitwise_and.Tensor",
    "bitwise_or": "bitwise_or.Tensor",
    "bitwise_xor": "bitwise_xor.Tensor",
    "div": "div.Tensor",
    "eq": "eq.Tensor",
    "fmod": "fmod.Tensor",
    "ge": "ge.Tensor",
    "gt": "gt.Tensor",
    "le": "le.Tensor",
    "lt": "lt.Tensor",
    "maximum": "maximum.default",
    "minimum": "minimum.default",
    "mul": "mul.Tensor",
    "ne": "ne.Tensor",
    "pow": "pow.Tensor_Tensor",
    "remainder": "remainder.Tensor",
    "sub": "sub.Tensor",
    "where": "where.self",
}
REDUCTIONS = {"amax": "amax.default", "amin": "amin.default", "prod": "prod.dim_int", "sum": "sum.dim_IntList"}

for _name in UNARY.split():
    aten(f"prims::{_name}.default")(TABLE[f"{_name}.default"])
for _name, _overload in {**BINARY, **REDUCTIONS, "convert_element_type": "_to_copy.default"}.items():
    aten(f"prims::{_name}.default")(TABLE[_overload])


@aten("prims::iota.default")
def iota(e: Lowering, length: int, *, start: int = 0, step: int = 1, **_: Any) -> Value:
    """start + i step."""
    index = e.binary("multiply", e.iota(0, e.result), e.constant(step, e.result))
    return e.binary("add", index, e.constant(start, e.result))


@aten("prims::copy_strided.default")
def copy_strided(e: Lowering, x: Value, stride: Sequence[int]) -> Value:
    """The same in another order in memory, which values have not."""
    return x


@aten("prims::broadcast_in_dim.default")
def broadcast_in_dim(e: Lowering, x: Value, shape: Sequence[int], dimensions: Sequence[int]) -> Value:
    """Operand dimension i becomes result dimension `dimensions[i]`; the others repeat."""
    return e.broadcast_in_dim(x, tuple(shape), dimensions)
