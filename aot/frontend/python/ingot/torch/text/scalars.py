"""Python's own arithmetic with numbers that a program computes: learning rates, step counters, bias corrections.

Each is an f64 or i64 scalar, as in Python.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.sym_node import METHOD_TO_OPERATOR

from ingot.stablehlo import TensorType, Value
from ingot.torch.base.torch_internals.ops import sym_sqrt
from ingot.torch.text.lowering import Lowering, Operand

FLOAT, INTEGER, TRUTH = TensorType("f64"), TensorType("i64"), TensorType("i1")


def _numbers(e: Lowering, *operands: Operand) -> list[Value]:
    """Operands in the type in which Python computes with them."""
    if any(isinstance(v, int) and not -(2**63) <= v < 2**63 for v in operands):
        raise e.refuse("an integer has more than 64 bits, and those that a program computes have 64", "use a float")
    whole = all(isinstance(v, int) or (isinstance(v, Value) and v.type.is_integer) for v in operands)
    return [e.tensor(v, INTEGER if whole else FLOAT) for v in operands]


def _arithmetic(name: str) -> Callable[[Lowering, Operand, Operand], Value]:
    return lambda e, x, y: e.binary(name, *_numbers(e, x, y))


def _function(name: str) -> Callable[[Lowering, Operand], Value]:
    return lambda e, x: e.unary(name, e.tensor(x, FLOAT))


def _whole(name: str) -> Callable[[Lowering, Operand], Value]:
    return lambda e, x: e.convert(e.unary(name, e.tensor(x, FLOAT)), "i64")


def _round(e: Lowering, x: Operand, digits: int | None = None) -> Value:
    if digits is not None:
        raise e.refuse("Python's round() to some digits goes by how a number is written", "round(x * 100) / 100")
    return _whole("round_nearest_even")(e, x)


def _sum(e: Lowering, terms: Sequence[Operand]) -> Value:
    """The sum, one number after the other."""
    first, *others = terms
    return functools.reduce(functools.partial(_arithmetic("add"), e), others, _numbers(e, first)[0])


def _truncate(e: Lowering, x: Operand) -> Value:
    return e.convert(e.tensor(x, FLOAT), "i64")


def _of_number(name: str) -> Callable[[Lowering, Operand], Value]:
    return lambda e, x: e.unary(name, *_numbers(e, x))


def _comparison(direction: str) -> Callable[[Lowering, Operand, Operand], Value]:
    return lambda e, x, y: e.compare(direction, *_numbers(e, x, y))


def _bitwise(name: str) -> Callable[[Lowering, Operand, Operand], Value]:
    """Of integers bit by bit, of truths as logic."""

    def write(e: Lowering, x: Operand, y: Operand) -> Value:
        are_truths = all(isinstance(v, bool) or (isinstance(v, Value) and v.type == TRUTH) for v in (x, y))
        type_ = TRUTH if are_truths else INTEGER
        return e.binary(name, e.tensor(x, type_), e.tensor(y, type_))

    return write


def _choose(e: Lowering, predicate: Operand, x: Operand, y: Operand) -> Value:
    return e.select(e.tensor(predicate, TRUTH), *_numbers(e, x, y))


def _divide(e: Lowering, x: Operand, y: Operand) -> Value:
    return e.binary("divide", e.tensor(x, FLOAT), e.tensor(y, FLOAT))


def _modulo(e: Lowering, x: Operand, y: Operand) -> Value:
    """The remainder with the sign of the divisor."""
    dividend, divisor = _numbers(e, x, y)
    zero = e.constant(0, dividend.type)
    remainder = e.binary("remainder", dividend, divisor)
    is_other = e.compare("NE", e.compare("LT", remainder, zero), e.compare("LT", divisor, zero))
    moved = e.binary("and", is_other, e.compare("NE", remainder, zero))
    return e.select(moved, e.binary("add", remainder, divisor), remainder)


def _floor_divide(e: Lowering, x: Operand, y: Operand) -> Value:
    dividend, divisor = _numbers(e, x, y)
    quotient = e.binary("divide", e.binary("subtract", dividend, _modulo(e, x, y)), divisor)
    return quotient if quotient.type.is_integer else e.unary("round_nearest_even", quotient)


def _power(e: Lowering, x: Operand, y: Operand) -> Value:
    if not isinstance(y, Value) and y == 0.5:
        return e.unary("sqrt", e.tensor(x, FLOAT))
    return _arithmetic("power")(e, x, y)


def _is_integer(e: Lowering, x: Operand) -> Value:
    number = e.tensor(x, FLOAT)
    return e.compare("EQ", e.binary("subtract", number, e.unary("floor", number)), e.constant(0, FLOAT))


def _to_float(e: Lowering, x: Operand) -> Value:
    return e.tensor(x, FLOAT)


SCALAR_OPS: dict[Any, Callable[..., Value]] = {
    operator.add: _arithmetic("add"),
    operator.sub: _arithmetic("subtract"),
    operator.mul: _arithmetic("multiply"),
    operator.truediv: _divide,
    operator.floordiv: _floor_divide,
    operator.mod: _modulo,
    operator.pow: _power,
    operator.neg: _of_number("negate"),
    operator.abs: _of_number("abs"),
    operator.eq: _comparison("EQ"),
    operator.ne: _comparison("NE"),
    operator.lt: _comparison("LT"),
    operator.le: _comparison("LE"),
    operator.gt: _comparison("GT"),
    operator.ge: _comparison("GE"),
    operator.and_: _bitwise("and"),
    operator.or_: _bitwise("or"),
    operator.xor: _bitwise("xor"),
    operator.lshift: _bitwise("shift_left"),
    operator.rshift: _bitwise("shift_right_arithmetic"),
    torch.sym_ite: _choose,
    torch.sym_not: lambda e, x: e.unary("not", x),
    METHOD_TO_OPERATOR["is_integer"]: _is_integer,
    round: _round,
    torch.sym_sum: _sum,
    math.floor: _whole("floor"),
    math.ceil: _whole("ceil"),
    math.trunc: _truncate,
    torch.sym_min: _arithmetic("minimum"),
    torch.sym_max: _arithmetic("maximum"),
    torch.sym_float: _to_float,
    sym_sqrt: _function("sqrt"),
}
