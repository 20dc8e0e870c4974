"""Orthogonal polynomials of a degree that is a tensor too, by their recurrences: as many steps as the greatest degree.

Source: Abramowitz, Stegun, "Handbook of mathematical functions", 1964: 22.7, 22.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ingot.stablehlo import Value
from ingot.torch.text.lowering import Lowering, Operand, aten, rounded_once

Factor = Callable[[Lowering, Value, Value], Value]  # of x and the degree


@dataclass(frozen=True)
class Family:
    """p_0 = 1, p_1 = slope x + start, p_(k+1) = ((of x) p_k - (of the one before) p_(k-1)) / divisor."""

    slope: float
    start: float
    of_last: Factor
    of_before: Factor
    is_divided: bool = False  # by k + 1


def _twice(e: Lowering, x: Value, k: Value) -> Value:
    return e.binary("add", x, x)


def _one(e: Lowering, x: Value, k: Value) -> Value:
    return e.constant(1, x.type)


def _degree(e: Lowering, x: Value, k: Value) -> Value:
    return k


def _twice_degree(e: Lowering, x: Value, k: Value) -> Value:
    return e.binary("add", k, k)


def _itself(e: Lowering, x: Value, k: Value) -> Value:
    return x


def _of_laguerre(e: Lowering, x: Value, k: Value) -> Value:
    return e.binary("subtract", e.binary("add", e.binary("add", k, k), _one(e, x, k)), x)


def _of_legendre(e: Lowering, x: Value, k: Value) -> Value:
    return e.binary("multiply", e.binary("add", e.binary("add", k, k), _one(e, x, k)), x)


FAMILIES = {
    "chebyshev_polynomial_t": Family(1, 0, _twice, _one),
    "chebyshev_polynomial_u": Family(2, 0, _twice, _one),
    "chebyshev_polynomial_v": Family(2, -1, _twice, _one),
    "chebyshev_polynomial_w": Family(2, 1, _twice, _one),
    "hermite_polynomial_h": Family(2, 0, _twice, _twice_degree),
    "hermite_polynomial_he": Family(1, 0, _itself, _degree),
    "laguerre_polynomial_l": Family(-1, 1, _of_laguerre, _degree, is_divided=True),
    "legendre_polynomial_p": Family(1, 0, _of_legendre, _degree, is_divided=True),
}
SHIFTED = "shifted_"  # families of 2 x - 1
OVERLOADS = ("default", "n_scalar", "x_scalar")
DEGREE_MAX = 2**24 - 1  # up to which f32 counts


def polynomial(e: Lowering, family: Family, x: Value, n: Value) -> Value:
    """The polynomials of degrees n, which are cut to whole ones, at x; 0 of negative degrees, NaN above DEGREE_MAX."""
    one, zero = e.constant(1, x.type), e.constant(0, x.type)
    most = e.constant(DEGREE_MAX, x.type)
    cut = e.select(e.compare("LE", n, e.constant(-1, x.type)), n, e.unary("abs", n))
    degree = e.unary("floor", e.binary("minimum", cut, most))
    first = e.binary("add", e.binary("multiply", x, e.constant(family.slope, x.type)), e.constant(family.start, x.type))
    result = e.select(e.compare("LT", degree, one), one, first)
    result = e.select(e.compare("LT", degree, zero), zero, result)

    def goes_on(carried: list[Value]) -> list[Value]:
        k = carried[0]
        return [e.reduce("or", e.compare("GT", degree, k), list(range(x.type.rank)))]

    def step(carried: list[Value]) -> list[Value]:
        k, before, last, _ = carried
        following = e.binary("add", k, one)
        made = e.binary(
            "subtract",
            e.binary("multiply", family.of_last(e, x, k), last),
            e.binary("multiply", family.of_before(e, x, k), before),
        )
        made = e.binary("divide", made, following) if family.is_divided else made
        return [following, last, made, e.select(e.compare("EQ", degree, following), made, carried[3])]

    result = e.while_loop([one, one, first, result], goes_on, step)[3]
    return e.select(e.compare("LE", n, most), result, e.constant(math.nan, x.type))


def _rule(family: Family, is_shifted: bool, meaning: str) -> Callable[[Lowering, Operand, Operand], Value]:
    @rounded_once
    def rule(e: Lowering, x: Operand, n: Operand) -> Value:
        x, n = e.like_result(x, n)
        if is_shifted:
            x = e.binary("subtract", e.binary("add", x, x), e.constant(1, x.type))
        return polynomial(e, family, x, n)

    rule.__doc__ = meaning
    return rule


for _name, _family in FAMILIES.items():
    for _prefix in ("", SHIFTED) if _name.startswith("chebyshev") else ("",):
        _of = " of 2 x - 1" if _prefix else ""
        _meaning = f"{_name.split('_')[0].capitalize()}'s polynomials {_name.rpartition('_')[2].capitalize()}{_of}."
        _overloads = [f"special_{_prefix}{_name}.{overload}" for overload in OVERLOADS]
        aten(*_overloads)(_rule(_family, bool(_prefix), _meaning))
