"""Stand-ins for state while a function is traced."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ingot.torch.errors import TraceError
from ingot.torch.hyperparameters import Hyperparameter
from ingot.torch.state import State, parameters_of

# One tensor after the other: what a program repeats, it plans better than lists of tensors.
SINGLE_TENSOR = {"foreach": False, "fused": False}
# Their own counters ask for the step's number in Python, to choose a formula; these have one for tensors.
COUNTS_IN_TENSORS = (torch.optim.RAdam, torch.optim.ASGD)


@contextmanager
def lent(
    state: State, stand_ins: Mapping[str, torch.Tensor], numbers: Mapping[str, Any], changeable: list[Hyperparameter]
) -> Iterator[Callable[[], dict[str, torch.Tensor]]]:
    """Puts stand-ins in the place of all state and of changeable numbers, and takes them out afterwards.

    Gives a function that reads what stands in their places now: a slot may hold another tensor than before.
    """
    names = {id(tensor): name for name, tensor in state.tensors.items()}
    readers: dict[str, Callable[[], torch.Tensor]] = {}
    known: dict[torch.optim.Optimizer, dict[torch.Tensor, set[str]]] = {}
    with ExitStack() as undo:
        for _, module, key in list(state.module_places()):
            original = getattr(module, key)
            undo.callback(setattr, module, key, original)
            setattr(module, key, stand_ins[names[id(original)]])
            readers.setdefault(names[id(original)], lambda m=module, k=key: getattr(m, k))  # type: ignore[misc]
        for optimizer in state.optimizers.values():
            slots: dict[torch.Tensor, dict[str, Any]] = collections.defaultdict(dict)
            for parameter in parameters_of(optimizer):
                name = names[id(parameter)]
                readers.setdefault(name, lambda n=name: stand_ins[n])  # type: ignore[misc]
                mine = slots[stand_ins[name]] = dict(optimizer.state[parameter])
                for slot, value in mine.items():
                    if isinstance(value, torch.Tensor):
                        mine[slot] = stand_ins[names[id(value)]]
                        readers[names[id(value)]] = lambda m=mine, s=slot: m[s]  # type: ignore[misc]
            undo.callback(setattr, optimizer, "state", optimizer.state)
            undo.callback(setattr, optimizer, "param_groups", optimizer.param_groups)
            optimizer.param_groups = [
                {**group, **_settings(optimizer, group), "params": [stand_ins[names[id(p)]] for p in group["params"]]}
                for group in optimizer.param_groups
            ]
            optimizer.state = slots
            known[optimizer] = {parameter: set(mine) for parameter, mine in slots.items()}
        for hyperparameter in changeable:
            hyperparameter.set(numbers[hyperparameter.name])

        def read_all() -> dict[str, torch.Tensor]:
            for optimizer in state.optimizers.values():
                _refuse_new_slots(optimizer, known[optimizer])
            for hyperparameter in changeable:
                _refuse_new_number(hyperparameter, numbers[hyperparameter.name])
            return {name: read() for name, read in readers.items()}

        yield read_all


class Exchange(TorchFunctionMode):  # type: ignore[misc]  # torch is not checked
    """Stand-ins for state that a function has by other ways than a model or an optimizer: closures, lists."""

    def __init__(self, state: State, stand_ins: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._stand_ins = {id(tensor): stand_ins[name] for name, tensor in state.tensors.items()}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map_only(torch.Tensor, self._stand_in, (args, kwargs or {}))
        return func(*args, **kwargs)

    def _stand_in(self, tensor: torch.Tensor) -> torch.Tensor:
        return self._stand_ins.get(id(tensor), tensor)


def _refuse_new_slots(optimizer: torch.optim.Optimizer, known: Mapping[torch.Tensor, set[str]]) -> None:
    for parameter, slots in optimizer.state.items():
        for slot, value in slots.items():
            if slot not in known.get(parameter, ()) and isinstance(value, torch.Tensor):
                raise TraceError(
                    f"{type(optimizer).__name__} makes {slot!r} of its first gradients",
                    fix="take one step in PyTorch before tracing, so that it exists",
                )


def _refuse_new_number(hyperparameter: Hyperparameter, before: Any) -> None:
    """Refuses a number that the function made of the one before, as ``group["lr"] *= 0.99`` does."""
    after = hyperparameter.held(hyperparameter.optimizer.param_groups)
    if after is before or not isinstance(after, torch.SymFloat):
        return
    if before.node.expr in after.node.expr.free_symbols:
        raise TraceError(
            f"the function changes {hyperparameter.name!r} for the next call, which would start from its input again",
            fix=f"give the program a scheduler, or set the input {hyperparameter.name!r} for each step",
        )


def _settings(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> dict[str, bool]:
    settings = {key: value for key, value in SINGLE_TENSOR.items() if key in group}
    if isinstance(optimizer, COUNTS_IN_TENSORS):
        settings["capturable"] = True
    return settings
