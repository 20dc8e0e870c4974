"""How far a value is from another, and how far rounding may take it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from ingot.judge import TOLERANCE_FACTOR

# The relative error of rounding a result once to its type.
FLOORS = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float64: 2.0**-38}
FLOOR = 2.0**-23
UNITS_OF_ONE = 8  # by which a single number may be off
LEAST = float(torch.finfo(torch.float32).tiny)  # less than that may be kept or be 0


def distance(value: torch.Tensor, exact: torch.Tensor, own: torch.Tensor) -> float:
    """The distance of a value from the exact one, as the root of the sum of squares; infinite for another shape.

    Where PyTorch's `own` value is no finite number, and the exact one is none or overflows, a program's may be none.
    """
    if value.shape != exact.shape:
        return math.inf
    value, exact = value.double(), exact.double()
    far = float((value - exact).norm())
    if math.isfinite(far):
        return far
    own = own.double().expand_as(exact)
    lost = ~exact.isfinite() & ~own.isfinite()
    if bool((lost & value.isfinite()).any()):
        return math.inf
    compared = exact.isfinite() & (own.isfinite() | value.isfinite())
    return _finite(float((value - exact)[compared].norm()))


def allowance(exact: torch.Tensor, dtype: torch.dtype, noise: Sequence[float]) -> float:
    """How far a program's value may be from the exact one, where rounding takes others as far as `noise`.

    Few elements tell little of noise, as one may be exact by chance: they may be off by some units.
    """
    size = _finite(float(torch.nan_to_num(exact.double(), 0.0, 0.0, 0.0).norm()))
    root = math.sqrt(max(exact.numel(), 1))
    floor = FLOORS.get(dtype, FLOOR) * size * (1 + UNITS_OF_ONE / root) + LEAST * root
    return TOLERANCE_FACTOR * max((x for x in noise if math.isfinite(x)), default=0.0) + floor


def _finite(number: float) -> float:
    return number if math.isfinite(number) else math.inf
