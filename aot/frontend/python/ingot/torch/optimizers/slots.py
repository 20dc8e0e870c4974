"""Optimizers' slots: made before tracing, with the values that the first step would give them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable
from typing import Any

import torch


def create_slots(optimizer: torch.optim.Optimizer) -> None:
    """Creates the state of every parameter that requires a gradient; parameters and gradients stay as they are.

    Every optimizer of torch.optim prepares its lists in ``_init_group``, which creates what is missing; it skips
    parameters without a gradient, so each is given one for as long as it takes.
    """
    init_group = getattr(optimizer, "_init_group", None)
    if init_group is None:
        return
    lists = len(inspect.signature(init_group).parameters) - 1
    for group in optimizer.param_groups:
        waiting = [p for p in group["params"] if p.requires_grad and not optimizer.state.get(p)]
        before = [(p, p.grad) for p in waiting]
        try:
            for parameter in waiting:
                parameter.grad = torch.zeros_like(parameter)
            init_group({**group, "params": waiting}, *([] for _ in range(lists)))
        finally:
            for parameter, grad in before:
                parameter.grad = grad
        if needs_momentum_buffer(optimizer, group):
            for parameter in waiting:
                optimizer.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)


def parameters_with_slots(optimizers: Iterable[torch.optim.Optimizer]) -> set[tuple[int, int]]:
    """Of which parameters optimizers hold state: optimizer and parameter by their identities."""
    return {(id(optimizer), id(parameter)) for optimizer in optimizers for parameter in optimizer.state}


def drop_slots(
    optimizers: Iterable[torch.optim.Optimizer],
    known: Container[tuple[int, int]],
    is_used: Callable[[Any], bool] = lambda _: False,
) -> None:
    """Leaves out the state of parameters that are not `known` and of which no slot is used.

    PyTorch makes none for a parameter that never gets a gradient.
    """
    for optimizer in optimizers:
        for parameter, slots in [*optimizer.state.items()]:
            if (id(optimizer), id(parameter)) not in known and not any(map(is_used, slots.values())):
                del optimizer.state[parameter]


def needs_momentum_buffer(optimizer: torch.optim.Optimizer, group: dict[str, object]) -> bool:
    """Whether SGD's buffer may start as zeros.

    SGD's first step stores the gradient itself; with zeros, and dampening 0, the recurrence gives the same.
    """
    return isinstance(optimizer, torch.optim.SGD) and bool(group["momentum"]) and not group["dampening"]
