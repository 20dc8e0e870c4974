"""How far a value is from another, and how far rounding may take it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch

from ingot.judge import TOLERANCE_FACTOR

# The relative error of rounding a result once to its type.
FLOORS = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float64: 2.0**-38}
FLOOR = 2.0**-23
UNITS_OF_ONE = 8  # by which a single number may be off
PIECE = 1 << 20  # elements that are compared at a time, in memory that serves again
LEAST = float(torch.finfo(torch.float32).tiny)  # less than that may be kept or be 0


def distance(value: torch.Tensor, exact: torch.Tensor, own: torch.Tensor) -> float:
    """The distance of a value from the exact one, as the root of the sum of squares; infinite for another shape.

    Where PyTorch's `own` value is no finite number, and the exact one is none or overflows, a program's may be none.
    """
    if value.shape != exact.shape:
        return math.inf
    pieces = zip(_pieces(value), _pieces(exact), _pieces(own.expand_as(exact)), strict=True)
    return _joined(_distance(*piece) for piece in pieces)


def size(exact: torch.Tensor) -> float:
    """The root of the sum of squares of all that is a number."""
    return _joined(float(torch.nan_to_num(piece.double(), 0.0, 0.0, 0.0).norm()) for piece in _pieces(exact))


def allowance(size: float, count: int, dtype: torch.dtype, noise: Sequence[float]) -> float:
    """How far a program's value may be from the exact one, where rounding takes others as far as `noise`.

    The exact one is of some `size` and so many elements. Few of them tell little of noise, as one may be exact by
    chance: they may be off by some units.
    """
    root = math.sqrt(max(count, 1))
    floor = FLOORS.get(dtype, FLOOR) * size * (1 + UNITS_OF_ONE / root) + LEAST * root
    return TOLERANCE_FACTOR * max((x for x in noise if math.isfinite(x)), default=0.0) + floor


def _pieces(tensor: torch.Tensor) -> list[torch.Tensor]:
    return list(tensor.reshape(-1).split(PIECE))


def _distance(value: torch.Tensor, exact: torch.Tensor, own: torch.Tensor) -> float:
    value, exact = value.double(), exact.double()
    far = float((value - exact).norm())
    if math.isfinite(far):
        return far
    lost = ~exact.isfinite() & ~own.isfinite()
    if bool((lost & value.isfinite()).any()):
        return math.inf
    compared = exact.isfinite() & (own.isfinite() | value.isfinite())
    return float((value - exact)[compared].norm())


def _joined(roots: Iterable[float]) -> float:
    """The root of the sum of squares, from those of parts; infinite where one is none."""
    found = math.hypot(*roots)
    return found if math.isfinite(found) else math.inf
