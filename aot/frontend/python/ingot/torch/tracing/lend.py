"""Stand-ins for state while a function is traced."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from ingot.torch.base.errors import SlotsMade, TraceError
from ingot.torch.base.function_modes import FunctionMode
from ingot.torch.base.torch_internals import SET_DATA, copy_hooks, depends_on, pytree, set_data
from ingot.torch.base.torch_internals.optimizers import UNSCALES
from ingot.torch.optimizers.hyperparameters import Hyperparameter
from ingot.torch.python_state.repetition import Carried
from ingot.torch.python_state.snapshot import Leaf
from ingot.torch.tracing.others import seen
from ingot.torch.tracing.state import State, parameters_of

# One tensor after the other: what a program repeats, it plans better than lists of tensors.
SINGLE_TENSOR = {"foreach": False, "fused": False}
# Their own counters ask for the step's number in Python, to choose a formula; these have one for tensors.
COUNTS_IN_TENSORS = (torch.optim.RAdam, torch.optim.ASGD)


# What most arguments of functions are that are no tensors.
PLAIN = {type(None), bool, int, float, str, torch.dtype, torch.device, torch.Size}

STEPPED = "_opt_called"  # an optimizer's attribute, where a scheduler asks for it

Reader = Callable[[], torch.Tensor]


class Slots(collections.UserDict[torch.Tensor, dict[str, Any]]):
    """An optimizer's own state, whose keys are parameters, seen with stand-ins as its keys."""

    def __init__(self, held: dict[torch.Tensor, dict[str, Any]], stand_ins: Mapping[torch.Tensor, torch.Tensor]):
        super().__init__()
        self.data = held
        self._stand_ins = stand_ins
        self._parameters = {stand_in: parameter for parameter, stand_in in stand_ins.items()}

    def __contains__(self, key: object) -> bool:
        return isinstance(key, torch.Tensor) and self._parameters.get(key, key) in self.data

    def __getitem__(self, key: torch.Tensor) -> dict[str, Any]:
        return self.data[self._parameters.get(key, key)]

    def __setitem__(self, key: torch.Tensor, slots: dict[str, Any]) -> None:
        self.data[self._parameters.get(key, key)] = slots

    def __delitem__(self, key: torch.Tensor) -> None:
        del self.data[self._parameters.get(key, key)]

    def __iter__(self) -> Iterator[torch.Tensor]:
        return (self._stand_ins.get(parameter, parameter) for parameter in self.data)


@contextmanager
def lent(
    state: State, stand_ins: Mapping[str, torch.Tensor], numbers: Mapping[str, Any], changeable: list[Hyperparameter]
) -> Iterator[Callable[[], dict[str, torch.Tensor]]]:
    """Puts stand-ins in the place of all state and of changeable numbers, and takes them out afterwards.

    Gives a function that reads what stands in their places now: a slot may hold another tensor than before.
    """
    by_id = {id(tensor): stand_ins[name] for name, tensor in state.tensors.items()}
    with ExitStack() as undo:
        readers: dict[str, Reader] = {}
        for _, module, key in state.module_places():
            readers.setdefault(state.name_of(getattr(module, key)), functools.partial(getattr, module, key))
        readers |= {name: functools.partial(by_id.__getitem__, id(tensor)) for name, tensor in state.scales.items()}
        undo.enter_context(seen(state, by_id, {}))
        groups = {id(group): group for o in state.optimizers.values() for group in o.param_groups}  # which some share
        for optimizer in state.optimizers.values():
            readers = _lend_optimizer(state, optimizer, by_id, undo) | readers
        for group in groups.values():
            group["params"] = [by_id[id(p)] for p in group["params"]]
        known = {optimizer: _held(optimizer) for optimizer in state.optimizers.values()}
        for name, tensor in state.tensors.items():
            copy_hooks(tensor, stand_ins[name])
        for hyperparameter in changeable:
            hyperparameter.set(numbers[hyperparameter.name])

        def read_all() -> dict[str, torch.Tensor]:
            for optimizer, slots in known.items():
                _refuse_other_slots(optimizer, slots)
            for hyperparameter in changeable:
                _refuse_new_number(hyperparameter, numbers[hyperparameter.name])
            return {name: read() for name, read in readers.items()}

        yield read_all


def _lend_optimizer(
    state: State, optimizer: torch.optim.Optimizer, by_id: Mapping[int, torch.Tensor], undo: ExitStack
) -> dict[str, Reader]:
    """Fills the optimizer's own groups and records, which the function may hold, with stand-ins."""
    readers: dict[str, Reader] = {}
    slots = Slots(optimizer.state, {p: by_id[id(p)] for p in parameters_of(optimizer)})
    undo.callback(setattr, optimizer, "state", optimizer.state)
    undo.callback(_refill, optimizer.state, dict(optimizer.state))
    for parameter in parameters_of(optimizer):
        readers[state.name_of(parameter)] = functools.partial(by_id.__getitem__, id(parameter))
        record = optimizer.state[parameter]
        undo.callback(_refill, record, dict(record))
        for slot, value in record.items():
            if isinstance(value, torch.Tensor):
                record[slot] = by_id[id(value)]
                readers[state.name_of(value)] = functools.partial(lambda p, slot: slots[p][slot], parameter, slot)
    optimizer.state = slots
    if getattr(optimizer, UNSCALES, False):
        undo.callback(setattr, optimizer, UNSCALES, True)
        setattr(optimizer, UNSCALES, False)
    undo.callback(_say_stepped, optimizer, getattr(optimizer, STEPPED, None))
    _say_stepped(optimizer, True)
    for group in optimizer.param_groups:
        undo.callback(_refill, group, dict(group))
        group.update(_settings(optimizer, group))
    return readers


def _say_stepped(optimizer: torch.optim.Optimizer, answer: bool | None) -> None:
    """Tells schedulers whether an optimizer has made a step: one that has made none does not know."""
    if answer is None:
        vars(optimizer).pop(STEPPED, None)
    else:
        setattr(optimizer, STEPPED, answer)


def _refill(record: dict[str, Any], was: dict[str, Any]) -> None:
    record.clear()
    record.update(was)


class Exchange(FunctionMode):
    """Stand-ins for state that a function has by other ways than a model or an optimizer: closures, lists, keys.

    And ``tensor.data = other``, which PyTorch does past what is traced.
    """

    def __init__(self, state: State, stand_ins: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._stand_ins = {id(tensor): stand_ins[name] for name, tensor in state.tensors.items()}

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        args = tuple(map(self._exchanged, args))
        if func == SET_DATA:
            return set_data(*args)
        return func(*args, **{name: self._exchanged(value) for name, value in kwargs.items()} if kwargs else {})

    def _exchanged(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is list or kind is tuple:
            return kind(map(self._exchanged, value))
        if isinstance(value, torch.Tensor):
            return self._stand_ins.get(id(value), value)
        return pytree.tree_map_only(torch.Tensor, lambda t: self._stand_ins.get(id(t), t), value)


def _held(optimizer: torch.optim.Optimizer) -> dict[torch.Tensor, set[str]]:
    """Which slots there are for a parameter."""
    return {
        p: {slot for slot, value in held.items() if isinstance(value, torch.Tensor)}
        for p, held in optimizer.state.items()
    }


def _refuse_other_slots(optimizer: torch.optim.Optimizer, known: Mapping[torch.Tensor, set[str]]) -> None:
    now = _held(optimizer)
    for parameter in {**known, **now}:
        before, after = known.get(parameter, set()), now.get(parameter, set())
        for slot in after - before:
            raise SlotsMade(
                f"{type(optimizer).__name__} makes {slot!r} of its first gradients",
                fix="take one step in PyTorch before tracing, so that it exists",
            )
        for slot in before - after:
            raise TraceError(
                f"{type(optimizer).__name__} takes {slot!r} away", fix="keep it: its state has fixed names"
            )


def _refuse_new_number(hyperparameter: Hyperparameter, before: Any) -> None:
    """Refuses a number that the function made of the one before, as ``group["lr"] *= 0.99`` does."""

    def held() -> Any:
        return hyperparameter.held(hyperparameter.optimizer.param_groups)

    after = held()
    if isinstance(after, torch.SymFloat) and after is not before and depends_on(after, before):
        raise Carried(
            f"the function changes {hyperparameter.name!r} for the next call, which would start from its input again",
            "what it holds",
            Leaf.of(held, {}),
            f"give the program a scheduler, or set the input {hyperparameter.name!r} for each step",
            {hyperparameter.place: float},
        )


def _settings(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> dict[str, bool]:
    settings = {key: value for key, value in SINGLE_TENSOR.items() if key in group}
    if isinstance(optimizer, COUNTS_IN_TENSORS):
        settings["capturable"] = True
    return settings
