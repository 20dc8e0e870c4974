"""Bounds of the numbers that Python computes: of each from those of its operands; None where nothing is known."""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import sym_sqrt
from ingot.torch.numbers.tensor_bounds import Bounds, Number, of_tensor

Rule = Callable[..., Bounds | None]

BITS = 63  # of an integer's absolute value
MOST_BITS = 256  # numbers beyond are all alike
ENDLESS = 1 << MOST_BITS


def join(one: Bounds, other: Bounds) -> Bounds:
    """The least bounds that hold two."""
    return min(one[0], other[0]), max(one[1], other[1])


def holds(outer: Bounds, inner: Bounds) -> bool:
    """Whether all within some bounds is within others."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def bounds_of(node: torch.fx.Node, known: Mapping[torch.fx.Node, Bounds | None]) -> Bounds | None:
    """Of what a node gives; of a tensor's integers, of all of them."""
    made = node.meta.get("val")
    operands = [_operand(operand, known) for operand in node.args]
    if node.target in SAME:
        found = operands[0]
    elif isinstance(made, torch.Tensor) and node.target not in RULES:
        found = of_tensor(node, made, lambda operand: _operand(operand, known))
    elif node.target is torch.sym_sum:
        terms = [_operand(term, known) for term in node.args[0]]
        found = _sum(terms)
    elif node.target in RULES and all(operand is not None for operand in operands):
        try:
            found = RULES[node.target](*operands)
        except (ArithmeticError, ValueError):
            found = None
    else:
        found = None
    return (-ENDLESS, ENDLESS) if found is None and isinstance(made, torch.SymInt) else found


def raised_by(node: torch.fx.Node, known: Mapping[torch.fx.Node, Bounds | None]) -> str:
    """What Python may raise for a node's operands, of which programs give some number; nothing for unknown ones."""
    operands = [_operand(operand, known) for operand in node.args]
    if None in operands or not operands:
        return ""
    x, y = operands[0], operands[-1]
    assert x is not None and y is not None
    if node.target in DIVISIONS:
        return "ZeroDivisionError" if y[0] <= 0 <= y[1] else ""
    if node.target is operator.pow:
        is_root = any(isinstance(end, float) and not end.is_integer() for end in y)
        zero = "ZeroDivisionError" if x[0] <= 0 <= x[1] and y[0] < 0 else ""
        return "complex numbers" if x[0] < 0 and is_root else zero
    low, high, error = DOMAINS.get(node.target, (-math.inf, math.inf, ""))
    is_of_tensors = any(user.target is not ITEM for user in node.users)
    return error if not is_of_tensors and not holds((low, high), x) else ""


def _operand(operand: Any, known: Mapping[torch.fx.Node, Bounds | None]) -> Bounds | None:
    if isinstance(operand, torch.fx.Node):
        return known.get(operand)
    return (operand, operand) if isinstance(operand, int | float) else None


def _corners(function: Callable[[Number, Number], Number]) -> Rule:
    """Of what rises or falls in each operand."""

    def rule(x: Bounds, y: Bounds) -> Bounds | None:
        values = [function(a, b) for a, b in itertools.product(x, y)]
        return None if any(value != value for value in values) else (min(values), max(values))

    return rule


def _rising(function: Callable[[Number], Number]) -> Rule:
    return lambda x: (function(x[0]), function(x[1]))


def _sum(terms: list[Bounds | None]) -> Bounds | None:
    if any(term is None for term in terms):
        return None
    return sum(term[0] for term in terms if term), sum(term[1] for term in terms if term)


def _by_divisor(function: Callable[[Number, Number], Number]) -> Rule:
    """Of quotients: divisors next to 0 give the largest."""

    def rule(x: Bounds, y: Bounds) -> Bounds | None:
        is_whole = all(isinstance(end, int) for end in (*x, *y))
        if y[0] <= 0 <= y[1] and not is_whole:
            return None
        divisors = [*(end for end in y if end), *(one for one in (-1, 1) if y[0] <= one <= y[1])]
        values = [function(a, b) for a, b in itertools.product(x, divisors)]
        return (min(values), max(values)) if values else None

    return rule


def _modulo(x: Bounds, y: Bounds) -> Bounds | None:
    if not all(isinstance(end, int) for end in (*x, *y)):
        return min(y[0], 0.0), max(y[1], 0.0)
    if x[0] >= 0 and x[1] < y[0]:
        return x
    return min(y[0] + 1, 0), max(y[1] - 1, 0)


def _power(x: Bounds, y: Bounds) -> Bounds | None:
    if not all(isinstance(end, int) for end in (*x, *y)):
        return _corners(_float_power)(x, y) if x[0] > 0 else None
    largest, most = max(abs(x[0]), abs(x[1])), max(y[1], 0)
    if largest > 1 and int(largest).bit_length() * most > 2 * MOST_BITS:
        high: Number = ENDLESS
    else:
        high = largest**most if largest > 1 else largest
    least = x[0] ** y[0] if x[0] >= 1 and y[0] >= 0 and high < ENDLESS else 0
    return (-high if x[0] < 0 else least), max(high, 1)


def _float_power(x: Number, y: Number) -> Number:
    try:
        return math.pow(x, y)
    except OverflowError:
        return math.inf


def _whole(x: Bounds, *_: Any) -> Bounds:
    """Of floats made whole."""
    low, high = (math.copysign(ENDLESS, end) if abs(end) > ENDLESS else end for end in x)
    return math.floor(low), math.ceil(high)


def _shifted(value: Number, count: Number) -> int:
    return int(value) << int(min(max(count, 0), MOST_BITS))


def _bits(x: Bounds, y: Bounds) -> int:
    return int(max(map(abs, (*x, *y)))).bit_length()


def _and(x: Bounds, y: Bounds) -> Bounds:
    positive = [bounds[1] for bounds in (x, y) if bounds[0] >= 0]
    return (0, min(positive)) if positive else (-(1 << _bits(x, y)), max(x[1], y[1], 0))


def _or(x: Bounds, y: Bounds) -> Bounds:
    most = (1 << _bits(x, y)) - 1
    return (0 if min(x[0], y[0]) >= 0 else -most - 1), most


def _comparing(surely: Callable[[Bounds, Bounds], bool], never: Callable[[Bounds, Bounds], bool]) -> Rule:
    return lambda x, y: (1, 1) if surely(x, y) else (0, 0) if never(x, y) else (0, 1)


def _are_one(x: Bounds, y: Bounds) -> bool:
    return x[0] == x[1] == y[0] == y[1]


def _are_apart(x: Bounds, y: Bounds) -> bool:
    return x[1] < y[0] or y[1] < x[0]


def _absolute(x: Bounds) -> Bounds:
    ends = abs(x[0]), abs(x[1])
    return (0 if x[0] <= 0 <= x[1] else min(ends)), max(ends)


ITEM = torch.ops.aten._local_scalar_dense.default
DIVISIONS = {operator.truediv, operator.floordiv, operator.mod}
LEAST, MOST = 5e-324, 709.78  # of which f64 has logarithms and powers
# Functions of `math` as a program has them: the numbers that they take, and what they raise for others.
DOMAINS: dict[Any, tuple[float, float, str]] = {
    torch.ops.aten.sqrt.default: (0.0, math.inf, "ValueError"),
    **{getattr(torch.ops.aten, f"log{base}").default: (LEAST, math.inf, "ValueError") for base in ("", "2", "10")},
    torch.ops.aten.exp.default: (-math.inf, MOST, "OverflowError"),
}
SAME = {ITEM, torch.ops.aten.scalar_tensor.default, torch.ops.aten.lift_fresh_copy.default}
WHOLE_OF_FLOATS = (math.floor, math.ceil, math.trunc, builtins.round)
RULES: dict[Any, Rule] = {
    operator.add: _corners(operator.add),
    operator.sub: _corners(operator.sub),
    operator.mul: _corners(operator.mul),
    operator.truediv: _by_divisor(operator.truediv),
    operator.floordiv: _by_divisor(operator.floordiv),
    operator.mod: _modulo,
    operator.pow: _power,
    operator.neg: lambda x: (-x[1], -x[0]),
    operator.abs: _absolute,
    operator.lshift: _corners(_shifted),
    operator.rshift: _corners(lambda a, b: int(a) >> int(min(max(b, 0), MOST_BITS))),
    operator.and_: _and,
    operator.or_: _or,
    operator.xor: _or,
    operator.eq: _comparing(_are_one, _are_apart),
    operator.ne: _comparing(_are_apart, _are_one),
    operator.lt: _comparing(lambda x, y: x[1] < y[0], lambda x, y: x[0] >= y[1]),
    operator.le: _comparing(lambda x, y: x[1] <= y[0], lambda x, y: x[0] > y[1]),
    operator.gt: _comparing(lambda x, y: x[0] > y[1], lambda x, y: x[1] <= y[0]),
    operator.ge: _comparing(lambda x, y: x[0] >= y[1], lambda x, y: x[1] < y[0]),
    torch.sym_not: lambda x: (1 - x[1], 1 - x[0]),
    torch.sym_min: lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    torch.sym_max: lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    torch.sym_float: _rising(float),
    **dict.fromkeys((sym_sqrt, torch.ops.aten.sqrt.default), _rising(math.sqrt)),
    torch.sym_sum: lambda *terms: None,
    **dict.fromkeys(WHOLE_OF_FLOATS, _whole),
}
