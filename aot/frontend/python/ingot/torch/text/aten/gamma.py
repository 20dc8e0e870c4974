"""Random numbers of the gamma and the Dirichlet distribution, by rejection.

Source: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
26, 2000: of shape a >= 1, d (1 + c z)^3 of a normal z, which is taken in more than 95 % of cases; of shapes below 1,
one of shape a + 1 times u^(1/a).
"""

from __future__ import annotations

import math
from typing import Any

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.random import gaussian, uniform
from ingot.torch.text.lowering import Lowering, aten

TURNS = 24  # after which the last proposal is taken: of one element in 10^31
COUNTER = TensorType("ui32")


def standard_gamma(e: Lowering, shape: Value) -> Value:
    """Numbers of the gamma distribution of shapes, f32 or f64, and rate 1; not below the least normal number."""
    type_ = shape.type
    one, least = e.constant(1, type_), e.constant(_least(type_.dtype), type_)
    is_small = e.compare("LT", shape, one)
    raised = e.select(is_small, e.binary("add", shape, one), shape)
    d = e.binary("subtract", raised, e.constant(1 / 3, type_))
    c = e.unary("rsqrt", e.binary("multiply", d, e.constant(9, type_)))
    e.random_state()  # before the loop, as it may make arguments

    def goes_on(carried: list[Value]) -> list[Value]:
        turn, _, is_taken = carried
        waits = e.reduce("or", e.unary("not", is_taken), list(range(is_taken.type.rank)))
        return [e.binary("and", waits, e.compare("LT", turn, e.constant(TURNS, COUNTER)))]

    def propose(carried: list[Value]) -> list[Value]:
        turn, known, is_taken = carried
        normal = gaussian(e, type_, turn)
        root = e.binary("add", one, e.binary("multiply", c, normal))
        cube = e.binary("multiply", root, e.binary("multiply", root, root))
        log = e.unary("log", e.binary("maximum", cube, least))
        bound = e.binary("multiply", d, e.binary("add", e.binary("subtract", one, cube), log))
        square = e.binary("multiply", e.binary("multiply", normal, normal), e.constant(0.5, type_))
        chance = e.unary("log_plus_one", e.unary("negate", uniform(e, type_, turn)))
        is_right = e.compare("LT", chance, e.binary("add", square, bound))
        is_right = e.binary("and", is_right, e.compare("GT", root, e.constant(0, type_)))
        next_turn = e.binary("add", turn, e.constant(1, COUNTER))
        return [next_turn, e.select(is_taken, known, cube), e.binary("or", is_taken, is_right)]

    starts = [e.constant(0, COUNTER), e.constant(0, type_), e.constant(False, type_.with_dtype("i1"))]
    _, cube, _ = e.while_loop(starts, goes_on, propose)
    made = e.binary("multiply", d, cube)
    power = e.binary("divide", e.unary("log_plus_one", e.unary("negate", uniform(e, type_))), shape)
    made = e.select(is_small, e.binary("multiply", made, e.unary("exponential", power)), made)
    made = e.select(e.compare("EQ", shape, e.constant(0, type_)), least, made)
    return e.binary("maximum", made, least)


@aten("_standard_gamma.default")
def sample_gamma(e: Lowering, shape: Value, generator: Any = None) -> Value:
    """Of the gamma distribution of a shape and rate 1: by Marsaglia and Tsang's rejection, of 24 proposals at most."""
    return e.convert(standard_gamma(e, e.convert(shape, _wide(shape.dtype))), e.result.dtype)


@aten("_sample_dirichlet.default")
def sample_dirichlet(e: Lowering, concentration: Value, generator: Any = None) -> Value:
    """Of the Dirichlet distribution along the last dimension: numbers of the gamma distribution over their sum."""
    made = standard_gamma(e, e.convert(concentration, _wide(concentration.dtype)))
    last = made.type.rank - 1
    total = e.broadcast_in_dim(e.reduce("add", made, [last]), made.shape, list(range(last)))
    share = e.binary("divide", made, total)
    largest = e.constant(1 - 2.0 ** -(53 if share.dtype == "f64" else 24), share.type)
    least = e.constant(_least(share.dtype), share.type)
    return e.convert(e.binary("maximum", e.binary("minimum", share, largest), least), e.result.dtype)


def _wide(dtype: str) -> str:
    return "f64" if dtype == "f64" else "f32"


def _least(dtype: str) -> float:
    """The least number of a type with all its bits."""
    return math.ldexp(1, -1022 if dtype == "f64" else -126)
