"""Checks the models, optimizers and schedulers that a user gives; each error says what to give instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler

KINDS = {"model": torch.nn.Module, "optimizer": torch.optim.Optimizer, "scheduler": LRScheduler}
EXAMPLES = {"model": '{"generator": g, "critic": c}', "optimizer": '{"g": g, "c": c}', "scheduler": '{"g": g, "c": c}'}


def check_parts(model: Any, optimizer: Any, scheduler: Any) -> None:
    """Raises TypeError for what is no module, optimizer or scheduler, nor a mapping of them."""
    given = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    if isinstance(model, torch.optim.Optimizer) and isinstance(optimizer, torch.nn.Module):
        raise TypeError("model and optimizer are swapped: give (model, optimizer)")
    for name, value in given.items():
        kind = KINDS[name]
        if value is None and name != "model":
            continue
        parts = value.values() if isinstance(value, Mapping) else [value]
        if other := next((part for part in parts if not isinstance(part, kind)), None):
            raise TypeError(f"{name} is {_called(value, other)}, and is to be {_wanted(name, value)}")
        if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
            raise TypeError(f"{name} is a mapping whose keys are not strings, which are the names of its parts")


def _called(value: Any, other: Any) -> str:
    kind = "a function" if callable(value) and hasattr(value, "__code__") else f"a {type(value).__name__}"
    return kind if value is other else f"{kind} with a {type(other).__name__}"


def _wanted(name: str, value: Any) -> str:
    wanted = f"a {KINDS[name].__module__.partition('.')[0]} {KINDS[name].__name__}"
    if isinstance(value, list | tuple | set):
        return f"{wanted}, or a mapping of several: {EXAMPLES[name]}"
    return wanted
