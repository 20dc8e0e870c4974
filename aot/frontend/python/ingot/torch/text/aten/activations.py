"""Activations and those of their gradients that PyTorch does not take apart."""

from __future__ import annotations

import math

import numpy as np

from ingot.stablehlo import Value
from ingot.torch.text.aten.elementwise import scaled
from ingot.torch.text.lowering import Lowering, Operand, aten, rounded_once

# The factor in PyTorch's kernel is a float32 for every element type.
HARDSIGMOID_SLOPE = float(np.float32(1 / 6))


@aten("relu.default")
def relu(e: Lowering, x: Value) -> Value:
    """max(x, 0)."""
    return e.binary("maximum", x, e.constant(0, x.type))


@aten("gelu.default")
@rounded_once
def gelu(e: Lowering, x: Value, approximate: str = "none") -> Value:
    """x times the normal distribution function, or its approximation by tanh."""
    half = scaled(e, x, 0.5)
    if approximate == "tanh":
        cubed = e.binary("multiply", e.binary("multiply", x, x), x)
        inner = scaled(e, e.binary("add", x, scaled(e, cubed, 0.044715)), math.sqrt(2 / math.pi))
        curve = e.unary("tanh", inner)
    else:
        curve = e.unary("chlo.erf", scaled(e, x, math.sqrt(0.5)))
    return e.binary("multiply", half, e.binary("add", e.constant(1, x.type), curve))


@aten("leaky_relu.default")
@rounded_once
def leaky_relu(e: Lowering, x: Value, negative_slope: Operand = 0.01) -> Value:
    """X where positive, else a fraction of it."""
    return e.select(e.compare("GT", x, e.constant(0, x.type)), x, scaled(e, x, negative_slope))


@aten("elu.default")
@rounded_once
def elu(e: Lowering, x: Value, alpha: Operand = 1, scale: Operand = 1, input_scale: Operand = 1) -> Value:
    """scale * x where positive, else scale * alpha * (e^(input_scale x) - 1)."""
    below = scaled(e, e.unary("exponential_minus_one", scaled(e, x, input_scale)), alpha)
    return scaled(e, e.select(e.compare("GT", x, e.constant(0, x.type)), x, below), scale)


@aten("hardshrink_backward.default", "softshrink_backward.default")
def shrink_backward(e: Lowering, gradient: Value, x: Value, threshold: Operand) -> Value:
    """The gradient where |x| is above the threshold, else 0."""
    inside = e.compare("LE", e.unary("abs", x), e.tensor(threshold, x.type))
    return e.select(inside, e.constant(0, gradient.type), gradient)


@aten("hardsigmoid_backward.default")
@rounded_once
def hardsigmoid_backward(e: Lowering, gradient: Value, x: Value) -> Value:
    """A sixth of the gradient where |x| < 3, else 0."""
    inside = e.compare("LT", e.unary("abs", x), e.constant(3, x.type))
    return e.select(inside, scaled(e, gradient, HARDSIGMOID_SLOPE), e.constant(0, gradient.type))
