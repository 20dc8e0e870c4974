"""Modes and hooks around calls, which see or change what PyTorch does."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from odd import XS, YS, Step, classifier, mlp, sgd


def operations_are_counted(step: Step) -> list[int]:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    counts = []
    for i in range(6):
        if i % 2:
            with FlopCounterMode(display=False) as counter:
                train_step(XS[i], YS[i])
            counts.append(counter.get_total_flops())
        else:
            train_step(XS[i], YS[i])
    return counts


def activations_are_rounded_around(step: Step) -> None:
    """Hooks around some calls save activations with less precision."""
    model = mlp()
    train_step = classifier(step, model, sgd(model))

    def pack(x: torch.Tensor) -> torch.Tensor:
        return x.bfloat16() if x.shape == (6, 8) else x

    def unpack(x: torch.Tensor) -> torch.Tensor:
        return x.float() if x.dtype == torch.bfloat16 else x

    for i in range(6):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack) if i in (2, 3) else contextlib.nullcontext():
            train_step(XS[i], YS[i])


class Scaled(TorchFunctionMode):
    """Doubles what every linear layer gives."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        return out * 2 if function is F.linear else out


def mode_of_the_caller_changes_functions(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i in (2, 3):
            with Scaled():
                train_step(XS[i], YS[i])
        else:
            train_step(XS[i], YS[i])
