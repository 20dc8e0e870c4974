"""Elementwise arithmetic and functions. Operands broadcast; all are in the result's element type."""

from __future__ import annotations

import math
from typing import Any

import torch

from ingot.stablehlo import TensorType, Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.torch.text.aten.complex_numbers import composed, has_sign, magnitude, part
from ingot.torch.text.dtypes import TORCH_DTYPES
from ingot.torch.text.lowering import Lowering, Operand, Rule, aten, rounded_once

UNARY = {
    "acos": "chlo.acos",
    "acosh": "chlo.acosh",
    "asin": "chlo.asin",
    "asinh": "chlo.asinh",
    "atan": "chlo.atan",
    "atanh": "chlo.atanh",
    "cos": "cosine",
    "cosh": "chlo.cosh",
    "erf": "chlo.erf",
    "erfc": "chlo.erfc",
    "erfinv": "chlo.erf_inv",
    "exp": "exponential",
    "expm1": "exponential_minus_one",
    "lgamma": "chlo.lgamma",
    "log": "log",
    "log1p": "log_plus_one",
    "_neg_view": "negate",
    "neg": "negate",
    "rsqrt": "rsqrt",
    "sigmoid": "logistic",
    "sin": "sine",
    "sinh": "chlo.sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}
ROUNDING = {"ceil": "ceil", "floor": "floor", "round": "round_nearest_even"}
BINARY = {
    "atan2.default": "atan2",
    "bitwise_and.Scalar": "and",
    "bitwise_left_shift.Tensor": "shift_left",
    "bitwise_left_shift.Tensor_Scalar": "shift_left",
    "__lshift__.Scalar": "shift_left",
    "__lshift__.Tensor": "shift_left",
    "bitwise_and.Tensor": "and",
    "bitwise_or.Scalar": "or",
    "bitwise_or.Tensor": "or",
    "bitwise_xor.Scalar": "xor",
    "bitwise_xor.Tensor": "xor",
    "fmod.Scalar": "remainder",
    "fmod.Tensor": "remainder",
    "maximum.default": "maximum",
    "minimum.default": "minimum",
    "mul.Scalar": "multiply",
    "mul.Tensor": "multiply",
    "pow.Scalar": "power",
    "pow.Tensor_Tensor": "power",
}


def _unary(name: str) -> Rule:
    def write(e: Lowering, x: Value) -> Value:
        return e.unary(name, *e.like_result(x))

    write.__doc__ = f"`{name}`."
    return write


def _rounding(name: str) -> Rule:
    def write(e: Lowering, x: Value) -> Value:
        return e.unary(name, x) if x.type.is_float else x

    write.__doc__ = f"`{name}`; whole numbers stay as they are."
    return write


def _binary(name: str) -> Rule:
    def write(e: Lowering, x: Operand, y: Operand) -> Value:
        return e.binary(name, *e.like_result(x, y))

    write.__doc__ = f"`{name}`."
    return rounded_once(write)


for _op, _name in ROUNDING.items():
    aten(f"{_op}.default")(_rounding(_name))
for _op, _name in UNARY.items():
    aten(f"{_op}.default")(_unary(_name))
for _name in sorted(set(BINARY.values())):
    aten(*(op for op, name in BINARY.items() if name == _name))(_binary(_name))


def scaled(e: Lowering, x: Value, factor: Operand) -> Value:
    """X times a number; x itself for 1."""
    if not isinstance(factor, Value) and factor == 1:
        return x
    return e.binary("multiply", x, e.tensor(factor, x.type))


def alpha_of(e: Lowering, alpha: Operand) -> Operand:
    """The factor in the result's type, as PyTorch's kernels of f16 and bf16 have it."""
    return alpha if e.result.dtype not in WIDE_SUM or alpha == 1 else e.tensor(alpha, TensorType(e.result.dtype))


@rounded_once
def with_multiple(e: Lowering, name: str, x: Operand, y: Operand, alpha: Operand) -> Value:
    """X and alpha y, added or subtracted."""
    x, y = e.like_result(x, y)
    return e.binary(name, x, scaled(e, y, alpha))


@aten("add.Tensor", "add.Scalar")
def add(e: Lowering, x: Operand, y: Operand, alpha: Operand = 1) -> Value:
    """X + alpha y."""
    return with_multiple(e, "add", x, y, alpha_of(e, alpha))


@aten("sub.Tensor", "sub.Scalar")
def sub(e: Lowering, x: Operand, y: Operand, alpha: Operand = 1) -> Value:
    """X - alpha y."""
    return with_multiple(e, "subtract", x, y, alpha_of(e, alpha))


@aten("rsub.Tensor", "rsub.Scalar")
def rsub(e: Lowering, x: Operand, y: Operand, alpha: Operand = 1) -> Value:
    """Y - alpha x."""
    return with_multiple(e, "subtract", y, x, alpha_of(e, alpha))


@aten("div.Tensor", "div.Scalar", "div.Tensor_mode", "div.Scalar_mode")
@rounded_once
def div(e: Lowering, x: Operand, y: Operand, rounding_mode: str | None = None) -> Value:
    """X / y; rounded toward zero (``trunc``) or down (``floor``)."""
    x, y = e.like_result(x, y)
    if rounding_mode == "floor":
        return floored_quotient(e, x, y)
    quotient = e.binary("divide", x, y)
    return truncated(e, quotient) if rounding_mode == "trunc" and x.type.is_float else quotient


@aten("floor_divide.default")
@rounded_once
def floor_divide(e: Lowering, x: Operand, y: Operand) -> Value:
    """The greatest whole number at or below x / y."""
    return floored_quotient(e, *e.like_result(x, y))


@aten("remainder.Scalar", "remainder.Tensor", "remainder.Scalar_Tensor")
@rounded_once
def remainder(e: Lowering, x: Operand, y: Operand) -> Value:
    """X modulo y, with the sign of y."""
    x, y = e.like_result(x, y)
    rest = e.binary("remainder", x, y)
    zero = e.constant(0, x.type)
    differs = e.compare("NE", e.compare("LT", rest, zero), e.compare("LT", y, zero))
    wrong = e.binary("and", e.compare("NE", rest, zero), differs)
    return e.select(wrong, e.binary("add", rest, y), rest)


def floored_quotient(e: Lowering, x: Value, y: Value) -> Value:
    """X / y rounded down, in x's type."""
    if x.type.is_float:
        return e.unary("floor", e.binary("divide", x, y))
    zero = e.constant(0, x.type)
    exact = e.compare("EQ", e.binary("remainder", x, y), zero)
    same_sign = e.compare("EQ", e.compare("LT", x, zero), e.compare("LT", y, zero))
    quotient = e.binary("divide", x, y)
    below = e.binary("subtract", quotient, e.constant(1, x.type))
    return e.select(e.binary("or", exact, same_sign), quotient, below)


def truncated(e: Lowering, x: Value) -> Value:
    """X rounded toward zero."""
    return e.select(e.compare("LT", x, e.constant(0, x.type)), e.unary("ceil", x), e.unary("floor", x))


@aten("abs.default")
def absolute(e: Lowering, x: Value) -> Value:
    """The size of x, of a complex number too."""
    return magnitude(e, x)


@aten("sign.default")
def sign(e: Lowering, x: Value) -> Value:
    """-1, 0 or 1; of what has no sign, whether it is 0."""
    return e.unary("sign", x) if has_sign(x) else e.convert(e.convert(x, "i1"), x.dtype)


@aten("trunc.default")
def trunc(e: Lowering, x: Value) -> Value:
    """X rounded toward zero; whole numbers stay as they are."""
    return truncated(e, x) if x.type.is_float else x


@aten("reciprocal.default")
def reciprocal(e: Lowering, x: Value) -> Value:
    """1 / x."""
    (x,) = e.like_result(x)
    return e.binary("divide", e.constant(1, x.type), x)


@aten("exp2.default")
@rounded_once
def exp2(e: Lowering, x: Value) -> Value:
    """2^x."""
    (x,) = e.like_result(x)
    return e.binary("power", e.constant(2, x.type), x)


@aten("log2.default")
@rounded_once
def log2(e: Lowering, x: Value) -> Value:
    """The logarithm to base 2."""
    (x,) = e.like_result(x)
    return scaled(e, e.unary("log", x), 1 / math.log(2))


@aten("log10.default")
@rounded_once
def log10(e: Lowering, x: Value) -> Value:
    """The logarithm to base 10."""
    (x,) = e.like_result(x)
    return scaled(e, e.unary("log", x), 1 / math.log(10))


@aten("pow.Tensor_Scalar")
def pow_scalar(e: Lowering, x: Value, y: Operand) -> Value:
    """X^y; squares, cubes and roots by what they are."""
    (x,) = e.like_result(x)
    if isinstance(y, Value):
        return e.binary("power", x, e.tensor(y, x.type))
    if y == 2:
        return e.binary("multiply", x, x)
    if y == 3:
        return e.binary("multiply", e.binary("multiply", x, x), x)
    if y == 1:
        return x
    if y == 0.5 and x.type.is_float:
        return e.unary("sqrt", x)
    return e.binary("power", x, e.constant(y, x.type))


@aten("clamp.default", "clamp.Tensor", "clamp_min.default", "hardtanh.default")
def clamp(e: Lowering, x: Value, low: Operand | None = None, high: Operand | None = None) -> Value:
    """X within bounds; either may be missing."""
    (x,) = e.like_result(x)
    if low is not None:
        x = e.binary("maximum", x, e.tensor(low, x.type))
    return x if high is None else e.binary("minimum", x, e.tensor(high, x.type))


@aten("clamp_max.default")
def clamp_max(e: Lowering, x: Value, high: Operand) -> Value:
    """min(x, high)."""
    return e.binary("minimum", *e.like_result(x, high))


@aten("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(e: Lowering, condition: Value, x: Operand, y: Operand) -> Value:
    """X where the condition holds, else y."""
    holds = e.tensor(condition, TensorType("i1", e.result.shape))
    return e.select(holds, *e.like_result(x, y))


@aten("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(e: Lowering, x: Value, mask: Value, value: Operand) -> Value:
    """The value where the mask holds, else x."""
    return where(e, mask, value, x)


@aten("bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "__rshift__.Scalar", "__rshift__.Tensor")
def right_shift(e: Lowering, x: Operand, y: Operand) -> Value:
    """X shifted right by y bits; copies of the sign bit move in."""
    x, y = e.like_result(x, y)
    kind = "logical" if x.dtype.startswith("ui") else "arithmetic"
    return e.binary(f"shift_right_{kind}", x, y)


@aten("bitwise_not.default")
def bitwise_not(e: Lowering, x: Value) -> Value:
    """Every bit flipped; of truth values, the opposite."""
    return e.unary("not", x)


@aten(
    "clone.default",
    "detach.default",
    "alias.default",
    "lift_fresh_copy.default",
    "lift_fresh.default",
    "contiguous.default",
    "resolve_conj.default",
    "resolve_neg.default",
)
def same(e: Lowering, x: Value, **_: Any) -> Value:
    """X itself: values have no storage."""
    return x


@aten("_local_scalar_dense.default")
def item(e: Lowering, x: Value) -> Value:
    """The one element as Python's number: f64, i64 or a truth value."""
    return e.convert(e.reshape(x, ()), "f64" if x.type.is_float else "i1" if x.dtype == "i1" else "i64")


@aten("nan_to_num.default")
def nan_to_num(
    e: Lowering, x: Value, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Value:
    """NaN and infinities as numbers, also in each part of a complex one."""
    if x.type.is_complex:
        return composed(e, *(nan_to_num(e, part(e, name, x), nan, posinf, neginf) for name in ("real", "imag")))
    if not x.type.is_float:
        return x
    greatest = torch.finfo(TORCH_DTYPES[x.dtype]).max
    top = greatest if posinf is None else posinf
    bottom = -greatest if neginf is None else neginf
    y = e.select(e.compare("EQ", x, e.constant(math.inf, x.type)), e.constant(top, x.type), x)
    y = e.select(e.compare("EQ", x, e.constant(-math.inf, x.type)), e.constant(bottom, x.type), y)
    return e.select(e.compare("NE", x, x), e.constant(nan or 0.0, x.type), y)
