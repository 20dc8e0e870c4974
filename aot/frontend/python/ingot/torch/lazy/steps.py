"""The ends of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from ingot.torch.lazy.recorder import begin


def mark_step() -> None:
    """Runs what lazy tensors recorded, for all that are in use, while Python goes on; who asks for a value waits.

    Raises the error of the run before, where nobody asked for its values.
    """
    begin()


def optimizer_step(optimizer: torch.optim.Optimizer, closure: Callable[[], Any] | None = None) -> Any:
    """``optimizer.step()``, then ``mark_step()``; gives what the optimizer's step gives.

    Raises RuntimeError among several processes, over which it does not reduce gradients.
    """
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        what = f"ingot.torch.optimizer_step does not reduce gradients over the {dist.get_world_size()} processes"
        raise RuntimeError(f"{what}: reduce them, dist.all_reduce(p.grad), then optimizer.step() and mark_step()")
    result = optimizer.step() if closure is None else optimizer.step(closure)
    mark_step()
    return result
