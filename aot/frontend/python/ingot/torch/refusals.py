"""What PyTorch decides in Python by tensors' values, or keeps in Python from call to call: refused before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.errors import TraceError
from ingot.torch.places import user_place

# A method, for each class that has its own: what is wrong with it, and what to do.
REFUSED: dict[tuple[type, str], tuple[str, str]] = {
    (torch.optim.LBFGS, "step"): (
        "LBFGS looks at losses in Python to choose how far it goes",
        "take an optimizer whose steps are all alike, such as Adam",
    ),
    (torch.amp.GradScaler, "scale"): (
        "GradScaler looks at gradients in Python, and skips steps where they are not finite",
        "GradScaler(enabled=False), with autocast to bfloat16, whose range is that of float32",
    ),
    (LRScheduler, "step"): (
        "the scheduler is not the program's, which would forget that it stepped",
        "Program(model, optimizer, scheduler, total_steps=...)",
    ),
}


@contextmanager
def refused() -> Iterator[None]:
    """Makes what cannot be traced raise TraceError."""
    with ExitStack() as undo:
        for (base, name), (what, fix) in REFUSED.items():
            for owner in _with_subclasses(base):
                if name in vars(owner):
                    undo.enter_context(patch.object(owner, name, _refusing(vars(owner)[name], what, fix)))
        yield


def _refusing(method: Callable[..., Any], what: str, fix: str) -> Callable[..., Any]:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "_enabled", True):
            raise TraceError(what, user_place(), fix)
        return method(self, *args, **kwargs)

    return refuse


def _with_subclasses(base: type) -> Iterator[type]:
    yield base
    derived: type
    for derived in base.__subclasses__():
        yield from _with_subclasses(derived)
