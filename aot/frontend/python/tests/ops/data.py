"""Arguments of the ops' cases: f64, and the same each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

RANDOM = torch.Generator().manual_seed(0)
F64 = torch.float64

# What a case is called -> the function and its arguments; of tensors, those of f64 get gradients.
Cases = dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def normal(*shape: int) -> torch.Tensor:
    """Normal numbers."""
    return torch.randn(shape, generator=RANDOM, dtype=F64)


def between(low: float, high: float, *shape: int) -> torch.Tensor:
    """Numbers in a range."""
    return low + (high - low) * torch.rand(shape, generator=RANDOM, dtype=F64)


def whole(high: int, *shape: int) -> torch.Tensor:
    """Whole numbers from 0 on."""
    return torch.randint(0, high, shape, generator=RANDOM)


def truths(*shape: int) -> torch.Tensor:
    """Truth values."""
    return torch.rand(shape, generator=RANDOM) < 0.5


def mixed(*shape: int) -> torch.Tensor:
    """Complex numbers."""
    return torch.complex(normal(*shape), normal(*shape))
