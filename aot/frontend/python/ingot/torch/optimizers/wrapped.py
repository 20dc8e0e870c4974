"""Optimizers that others wrap, as SAM and Lookahead do: their state is part of a step's too."""

from __future__ import annotations

from collections.abc import Mapping

import torch

Optimizers = Mapping[str, torch.optim.Optimizer]


def with_wrapped(optimizer: torch.optim.Optimizer | Optimizers | None) -> dict[str, torch.optim.Optimizer]:
    """Optimizers by name, and after each those that it holds as attributes with the same parameter groups."""
    given = {"optimizer": optimizer} if isinstance(optimizer, torch.optim.Optimizer) else optimizer or {}
    found: dict[str, torch.optim.Optimizer] = {}
    for name, outer in given.items():
        waiting = {name: outer}
        while waiting:
            name, outer = waiting.popitem()
            found[name] = outer
            known = {*map(id, found.values()), *map(id, given.values())}
            waiting |= {f"{name}.{key}": x for key, x in vars(outer).items() if _wraps(outer, x) and id(x) not in known}
    return found


def _wraps(outer: torch.optim.Optimizer, value: object) -> bool:
    groups = {id(group) for group in outer.param_groups}
    return isinstance(value, torch.optim.Optimizer) and not groups.isdisjoint(map(id, value.param_groups))
