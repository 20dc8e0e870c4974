"""Optimizers of PyTorch's own where a number that is an input is 0, and was not when they were traced.

They leave out what it would do. Of a weight decay that is nothing. A momentum of 0 leaves its slots as they are, where
a product with 0 would not: a program computes both, and takes the one that the number says.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

OPTIMIZER_FILES = os.path.dirname(torch.optim.__file__) + os.sep
MOMENTUM = "momentum"

Update = Callable[..., None]


def is_own_optimizer(frame: FrameType) -> bool:
    """Whether a frame is of an optimizer of PyTorch's own."""
    return frame.f_code.co_filename.startswith(OPTIMIZER_FILES)


def right_at_zero(update: Update, is_input: Callable[[Any], bool]) -> Update:
    """An update of lists of tensors that is right whether its momentum is 0 or not, where that is an input."""

    @functools.wraps(update)
    def updated(*lists: Any, **settings: Any) -> None:
        momentum = settings.get(MOMENTUM)
        if not is_input(momentum):
            update(*lists, **settings)
            return
        tensors = [element for one in lists for element in one]
        versions = [_version(element) for element in tensors]
        apart = [[t.clone() if isinstance(t, torch.Tensor) else t for t in one] for one in lists]
        update(*apart, **{**settings, MOMENTUM: 0.0})
        update(*lists, **settings)
        is_used = torch.scalar_tensor(momentum, dtype=torch.float64).ne(0)
        others = [element for one in apart for element in one]
        for tensor, other, version in zip(tensors, others, versions, strict=True):
            if _version(tensor) != version:
                tensor.copy_(torch.where(is_used, tensor, other))

    return updated


def _version(element: Any) -> int:
    return element._version if isinstance(element, torch.Tensor) else 0
