"""Python's own arithmetic with numbers that a program computes: learning rates, step counters, bias corrections.

Each is an f64 or i64 scalar, as in Python.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch

from ingot.stablehlo import TensorType, Value
from ingot.torch.lowering import Lowering, Operand

FLOAT, INTEGER = TensorType("f64"), TensorType("i64")


def _arithmetic(name: str) -> Callable[[Lowering, Operand, Operand], Value]:
    def write(e: Lowering, x: Operand, y: Operand) -> Value:
        whole = all(isinstance(v, int) or (isinstance(v, Value) and v.type.is_integer) for v in (x, y))
        type_ = INTEGER if whole and name != "divide" else FLOAT
        return e.binary(name, e.tensor(x, type_), e.tensor(y, type_))

    return write


def _function(name: str) -> Callable[[Lowering, Operand], Value]:
    return lambda e, x: e.unary(name, e.tensor(x, FLOAT))


def _negate(e: Lowering, x: Value) -> Value:
    return e.unary("negate", x)


def _power(e: Lowering, x: Operand, y: Operand) -> Value:
    if not isinstance(y, Value) and y == 0.5:
        return e.unary("sqrt", e.tensor(x, FLOAT))
    return _arithmetic("power")(e, x, y)


def _to_float(e: Lowering, x: Operand) -> Value:
    return e.tensor(x, FLOAT)


SCALAR_OPS: dict[Any, Callable[..., Value]] = {
    operator.add: _arithmetic("add"),
    operator.sub: _arithmetic("subtract"),
    operator.mul: _arithmetic("multiply"),
    operator.truediv: _arithmetic("divide"),
    operator.pow: _power,
    operator.neg: _negate,
    torch.sym_min: _arithmetic("minimum"),
    torch.sym_max: _arithmetic("maximum"),
    torch.sym_float: _to_float,
    torch._sym_sqrt: _function("sqrt"),
    math.sqrt: _function("sqrt"),
    math.exp: _function("exponential"),
    math.log: _function("log"),
}
