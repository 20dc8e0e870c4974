"""Comparisons and truth values. Operands are compared in the type that PyTorch promotes them to."""

from __future__ import annotations

import math

from ingot.stablehlo import Value
from ingot.torch.text.aten.complex_numbers import part
from ingot.torch.text.lowering import Lowering, Operand, Rule, aten

DIRECTIONS = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}
LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}


def _compare(direction: str) -> Rule:
    def write(e: Lowering, x: Operand, y: Operand) -> Value:
        return e.compare(direction, *e.promoted(x, y))

    write.__doc__ = f"`compare` {direction}."
    return write


def _logical(name: str) -> Rule:
    def write(e: Lowering, x: Value, y: Value) -> Value:
        return e.binary(name, *(e.broadcast(e.convert(v, "i1"), e.result.shape) for v in (x, y)))

    write.__doc__ = f"`{name}` of whether elements are not zero."
    return write


for _op, _direction in DIRECTIONS.items():
    aten(f"{_op}.Tensor", f"{_op}.Scalar")(_compare(_direction))
for _op, _name in LOGICAL.items():
    aten(f"{_op}.default")(_logical(_name))


@aten("logical_not.default")
def logical_not(e: Lowering, x: Value) -> Value:
    """Whether x is zero."""
    return e.unary("not", e.convert(x, "i1"))


@aten("isnan.default")
def isnan(e: Lowering, x: Value) -> Value:
    """Whether x is not a number."""
    return e.compare("NE", x, x)


@aten("isinf.default")
def isinf(e: Lowering, x: Value) -> Value:
    """Whether x is infinite."""
    if x.type.is_complex:
        return e.binary("or", *(isinf(e, part(e, name, x)) for name in ("real", "imag")))
    if not x.type.is_float:
        return e.constant(False, x.type.with_dtype("i1"))
    return e.compare("EQ", e.unary("abs", x), e.constant(math.inf, x.type))


@aten("isfinite.default")
def isfinite(e: Lowering, x: Value) -> Value:
    """Whether x is neither infinite nor NaN."""
    if x.type.is_complex:
        return e.binary("and", *(e.is_finite(part(e, name, x)) for name in ("real", "imag")))
    return e.is_finite(x) if x.type.is_float else e.constant(True, x.type.with_dtype("i1"))


@aten("heaviside.default")
def heaviside(e: Lowering, x: Operand, at_zero: Operand) -> Value:
    """0 below zero, 1 above, a given value at zero."""
    x, at_zero = e.like_result(x, at_zero)
    zero = e.constant(0, x.type)
    step = e.convert(e.compare("GT", x, zero), x.dtype)
    return e.select(e.compare("EQ", x, zero), at_zero, step)
