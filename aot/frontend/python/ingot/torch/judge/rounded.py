"""What rounding does: values are moved by about a unit in their last place."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

# By how much values are moved, as a part of them; other types are exact.
UNITS = {torch.float64: 2.0**-40, torch.float32: 2.0**-23, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}

_ONE = torch.ones((), dtype=torch.float64)
POOL = 1 << 20  # normally distributed numbers, which serve again and again: to draw them took a third of a moved run


def normal(shape: torch.Size, random: torch.Generator) -> torch.Tensor:
    """Numbers of a normal distribution, in f64: a part of a pool that begins at a random place, or copies of it."""
    count, pool = shape.numel(), _pool()
    if count > POOL:
        return pool.repeat(-(-count // POOL))[:count].view(shape)
    start = int(torch.randint(max(POOL - count, 1), (), generator=random))
    return pool[start : start + count].view(shape)


def in_pieces(change: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
    """Applies an elementwise function to a tensor; to a large one in pieces, so that temporary memory is reused."""
    if tensor.numel() <= POOL or not tensor.is_contiguous():
        return change(tensor)
    made = torch.empty_like(tensor)
    for piece, there in zip(tensor.view(-1).split(POOL), made.view(-1).split(POOL), strict=True):
        there.copy_(change(piece))
    return made


@functools.cache
def _pool() -> torch.Tensor:
    return torch.randn(POOL, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def moved(
    tensor: torch.Tensor,
    random: torch.Generator,
    terms: float = 1,
    *,
    units: float = 1,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """A tensor whose values are moved at random by some units of a `dtype`, its own if none is said, if it is rounded.

    So many `terms` are added up of it, in f32 where it is narrower. Each addition rounds all terms before it alike:
    that is as if each of them were moved by the root of their number.
    """
    dtype = dtype or tensor.dtype
    if dtype not in UNITS:
        return tensor
    unit = UNITS[dtype] + min(UNITS[dtype], UNITS[torch.float32]) * (math.sqrt(terms) - 1)

    def change(piece: torch.Tensor) -> torch.Tensor:
        return torch.add(_ONE, normal(piece.shape, random), alpha=units * unit).mul_(piece).to(tensor.dtype)

    return in_pieces(change, tensor)


def is_view(func: Any) -> bool:
    """Whether an op gives or changes memory of its operands."""
    schema = getattr(func, "_schema", None)
    return schema is not None and any(value.alias_info for value in (*schema.arguments, *schema.returns))
