"""The numbers in an optimizer's groups that a program takes as inputs, so that a host may change them between steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

# The group's key -> the inputs' names; a tuple in the group has one input for each of its numbers.
CHANGEABLE = {
    "lr": ("lr",),
    "betas": ("beta1", "beta2"),
    "momentum": ("momentum",),
    "weight_decay": ("weight_decay",),
}


@dataclass(frozen=True)
class Hyperparameter:
    """A number of one optimizer's group: an f64 scalar input whose default is the value at tracing.

    A number that is 0 at tracing, other than ``lr``, is no input: optimizers leave out what it would do. A scheduler
    may move it all the same.
    """

    name: str
    default: float
    optimizer: torch.optim.Optimizer
    group: int
    key: str
    index: int | None

    @property
    def is_input(self) -> bool:
        """Whether a host may change it."""
        return self.default != 0 or self.key == "lr"

    def held(self, groups: list[dict[str, Any]]) -> Any:
        """What an optimizer's groups have there: a number, or a tensor of one."""
        held = groups[self.group][self.key]
        return held if self.index is None else held[self.index]

    @property
    def place(self) -> tuple[int, Any]:
        """Where Python holds it."""
        group = self.optimizer.param_groups[self.group]
        return (id(group), self.key) if self.index is None else (id(group[self.key]), self.index)

    def get(self, groups: list[dict[str, Any]]) -> float:
        """The number in an optimizer's groups."""
        return float(self.held(groups))

    def set(self, value: Any) -> None:
        """Puts a number into the group."""
        group = self.optimizer.param_groups[self.group]
        if self.index is None:
            group[self.key] = value
        else:
            numbers = list(group[self.key])
            numbers[self.index] = value
            group[self.key] = tuple(numbers)


def hyperparameters(optimizers: Mapping[str, torch.optim.Optimizer]) -> list[Hyperparameter]:
    """What can be changed or moved, named ``lr``; where several groups or optimizers are, ``adam.group1.lr``."""
    found = []
    met: set[int] = set()  # a wrapper has the groups of the optimizer in it
    for optimizer_name, optimizer in optimizers.items():
        for i, group in enumerate(optimizer.param_groups):
            prefix = f"{optimizer_name}." if len(optimizers) > 1 else ""
            prefix += f"group{i}." if len(optimizer.param_groups) > 1 else ""
            for key, names in CHANGEABLE.items():
                if key not in group or id(group) in met:
                    continue
                held = group[key]
                values = held if isinstance(held, (tuple, list)) else (held,)
                for index, (name, value) in enumerate(zip(names, values, strict=False)):
                    at = index if isinstance(held, (tuple, list)) else None
                    found.append(Hyperparameter(prefix + name, float(value), optimizer, i, key, at))
            met.add(id(group))
    return found
