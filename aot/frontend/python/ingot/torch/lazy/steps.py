"""The ends of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.lazy.recorder import run


def mark_step() -> None:
    """Runs what lazy tensors recorded, for all that are in use."""
    run()


def optimizer_step(optimizer: torch.optim.Optimizer, closure: Callable[[], Any] | None = None) -> Any:
    """``optimizer.step()``, then ``mark_step()``; gives what the optimizer's step gives."""
    result = optimizer.step() if closure is None else optimizer.step(closure)
    mark_step()
    return result
