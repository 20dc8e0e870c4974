"""Optimizers that make state in their first step: it is found by a step in PyTorch, of which nothing else stays."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import torch

from ingot.torch.base.errors import FirstStepDiffers
from ingot.torch.base.torch_internals import pytree
from ingot.torch.judge.eager import undone
from ingot.torch.tracing.calls import Subject

Slots = dict[torch.Tensor, dict[str, Any]]


class Record(dict[str, Any]):
    """What an optimizer holds for a parameter; keeps the first value of each slot."""

    def __init__(self, slots: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.first: dict[str, Any] = {}
        self.update(slots or {})

    def __setitem__(self, slot: str, value: Any) -> None:
        self.first.setdefault(slot, _copied(value))
        super().__setitem__(slot, value)

    def setdefault(self, slot: str, value: Any = None) -> Any:
        """What is there, or else the value."""
        if slot not in self:
            self[slot] = value
        return self[slot]

    def update(self, *mappings: Any, **slots: Any) -> None:
        """Puts values in, one by one."""
        for slot, value in dict(*mappings, **slots).items():
            self[slot] = value


class Records(collections.defaultdict[torch.Tensor, Record]):
    """An optimizer's state, of records."""

    def __init__(self, held: Slots) -> None:
        super().__init__(Record)
        for parameter, slots in held.items():
            self[parameter] = slots

    def __missing__(self, parameter: torch.Tensor) -> Record:
        self[parameter] = {}  # which makes another object of it
        return self[parameter]

    def __setitem__(self, parameter: torch.Tensor, slots: dict[str, Any]) -> None:
        before = self.get(parameter)
        record = Record(slots)
        record.first = {**record.first, **(before.first if before is not None else {})}
        super().__setitem__(parameter, record)


def lack_state(subject: Subject) -> bool:
    """Whether an optimizer holds nothing yet for a parameter that it trains."""
    optimizers = subject.state.optimizers.values()
    return any(p.requires_grad and not o.state.get(p) for o in optimizers for p in _parameters(o))


def warm_up(subject: Subject) -> bool:
    """Gives optimizers the state that they make in their first step, with the values that it starts from.

    Says whether they make any. Raises TraceError where a step from that state is another than the first.
    """
    made, first = _stepped(subject)
    if not any(slots for _, records in made for slots in records.values()):
        return False
    _give(made)
    _, second = _stepped(subject)
    _give(made)
    if not all(map(torch.equal, first, second)):
        for optimizer, records in made:
            for parameter in records:
                optimizer.state.pop(parameter, None)
        names = ", ".join({type(optimizer).__name__: None for optimizer, records in made if records})
        what = f"the first step of {names} is another than those that follow, as it has no state yet"
        raise FirstStepDiffers(what, fix="take one step in PyTorch before tracing")
    return True


def _give(made: list[tuple[torch.optim.Optimizer, Slots]]) -> None:
    """Gives optimizers copies of slots, which a step may change in place."""
    for optimizer, records in made:
        for parameter, slots in records.items():
            optimizer.state[parameter].update({slot: _copied(value) for slot, value in slots.items()})


def _stepped(subject: Subject) -> tuple[list[tuple[torch.optim.Optimizer, Slots]], list[torch.Tensor]]:
    """Calls a function once, and undoes it; gives what optimizers made, and all tensors after the call."""
    optimizers = list(subject.state.optimizers.values())
    fresh = [{p for p in _parameters(optimizer) if not optimizer.state.get(p)} for optimizer in optimizers]
    with undone(subject), torch.random.fork_rng(devices=[]):
        held = [Records(optimizer.state) for optimizer in optimizers]
        before = [optimizer.state for optimizer in optimizers]
        for optimizer, records in zip(optimizers, held, strict=True):
            optimizer.state = records
        try:
            subject.function(*pytree.tree_map_only(torch.Tensor, _apart, tuple(subject.example_args)))
            tensors = [tensor.detach().clone() for tensor in subject.state.tensors.values()]
            tensors += [v.detach().clone() for records in held for record in records.values() for v in _tensors(record)]
        finally:
            for optimizer, state in zip(optimizers, before, strict=True):
                optimizer.state = state
    made = [
        (optimizer, {p: record.first for p, record in records.items() if p in new})
        for optimizer, records, new in zip(optimizers, held, fresh, strict=True)
    ]
    return made, tensors


def _apart(argument: torch.Tensor) -> torch.Tensor:
    """An argument whose gradient goes nowhere."""
    return argument.detach().requires_grad_() if argument.requires_grad else argument


def _tensors(record: Record) -> Iterator[torch.Tensor]:
    return (torch.as_tensor(v) for _, v in sorted(record.items()) if isinstance(v, torch.Tensor | int | float))


def _parameters(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    return (parameter for group in optimizer.param_groups for parameter in group["params"])


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value
