"""What Python holds that a traced function can reach: a program repeats the function only while it stays as it was."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from itertools import chain
from typing import Any

import torch

from ingot._engine import hold_same
from ingot.torch.calls import Subject
from ingot.torch.held import Written
from ingot.torch.hyperparameters import Hyperparameter
from ingot.torch.reach import codes, edges, is_users
from ingot.torch.snapshot import PLAIN, STATES, Snapshot
from ingot.torch.torch_internals import without_functions

DRAWN_FROM = tuple(type_ for type_, _ in STATES[:4])  # the user may draw from them elsewhere
IMMUTABLE = (tuple, frozenset)
CONTAINERS = (dict, list, set)
BY_VALUE = (*CONTAINERS, tuple, *PLAIN)
FLAGS = operator.attrgetter("requires_grad", "_backward_hooks")  # of a tensor
COMPUTED_NAMES = {"getattr", "vars", "__dict__", "__getattribute__", "attrgetter"}


class Guard:
    """The values of everything that a function can reach, as they were when it was traced.

    What it takes as inputs may change: numbers of its optimizers, and all tensors of its state.
    """

    def __init__(self, subject: Subject, constants: list[torch.Tensor]) -> None:
        self._subject, self._constants = subject, constants
        self._carried = {number.place for number in subject.state.numbers.values()}
        self._snapshot = self._taken()
        self._reads: list[tuple[Callable[[], Any], Any]] = []
        self._tensors = [*subject.state.tensors.values()]
        held: list[Any] = [tensor._backward_hooks for tensor in self._tensors if tensor._backward_hooks]
        settings = [group for o in subject.state.optimizers.values() for group in o.param_groups]
        readers = [self._fixed(group) for group in settings]
        settings_read = [(read, read()) for read in readers]
        apart = {id(value) for value in (*settings, *subject.state.schedulers.values())}
        self._named = _names_in(self._snapshot.reached())
        for value in self._snapshot.reached():
            if id(value) not in apart and not isinstance(value, DRAWN_FROM):
                held += self._containers(value)
        copies = [container.copy() for container in held]
        self._moved = self._carried_entries(held, copies)
        self._held = (
            _Containers(held, lambda: all(map(operator.eq, held, copies))),
            _Containers(
                [part for group in settings for part in (group, group["params"])],
                lambda: all(_same(read(), value) for read, value in settings_read),
            ),
        )
        self._flags, self._versions = self._now()

    def holds(self) -> bool:
        """Whether all is as it was."""
        try:
            for copy, container, key in self._moved:
                copy[key] = container[key]
            return (
                all(number.is_held for number in self._subject.state.numbers.values())
                and all([held.hold_same() for held in self._held])
                and (self._flags, self._versions) == self._now()
                and all(_same(read(), value) for read, value in self._reads)
            )
        except (LookupError, RuntimeError, ValueError):  # what was there is gone, or does not compare as one
            return False

    def change(self) -> str:
        """What is not as it was, with both values; what is no value of its own has no name."""
        now = self._taken()
        paths = [path for path in self._snapshot.differences(now) if self._matters(path, now)]
        if not paths:
            return "a setting of a tensor or an optimizer"
        return f"`{paths[0]}` is {now.at(paths[0]).text}, and was {self._snapshot.at(paths[0]).text}"

    def _matters(self, path: str, now: Snapshot) -> bool:
        """Whether a value is fixed in the program; of tensors that it does not read only the identity is."""
        before, after = self._snapshot.at(path).compared, now.at(path).compared
        if isinstance(before, tuple) and isinstance(after, tuple) and before[0] == after[0]:
            is_tensor = isinstance(before[0], int)
            if is_tensor and before[0] not in map(id, self._constants):
                return False
        leaf = self._snapshot.leaves.get(path)
        if leaf and self._is_carried(leaf.read):
            return False
        return not any(f"['{number.key}']" in path for number in self._movable()) and "random" not in path

    def _taken(self) -> Snapshot:
        return Snapshot(self._subject.roots(), {id(t): name for name, t in self._subject.state.tensors.items()})

    def _containers(self, value: Any) -> list[Any]:
        """What holds the values of an object, to be compared at once; notes those that are read one by one."""
        for type_, read in STATES[4:]:
            if isinstance(value, type_):
                self._reads.append((functools.partial(read, value), read(value)))
                return []
        if isinstance(value, torch.nn.Module):
            return [vars(value), value._parameters, value._buffers, value._modules]
        if isinstance(value, CONTAINERS):
            return [value]
        if isinstance(value, torch.optim.Optimizer):
            return [vars(value)]
        if isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, types.FunctionType):
            carried = {key for container, key in self._carried if container == id(vars(value))}
            read_named = functools.partial(_attributes, vars(value), self._named, carried)
            self._reads.append((read_named, read_named()))
            return []
        if not isinstance(value, IMMUTABLE):
            inner = edges(value, "", {})
            self._reads += [(held.read, held.value) for held in inner if not self._is_carried(held.read)]
        return []

    def _is_carried(self, read: Any) -> bool:
        """Whether a number of the program's state is read."""
        return isinstance(read, Written) and read.place in self._carried

    def _carried_entries(self, held: list[Any], copies: list[Any]) -> list[tuple[Any, Any, Any]]:
        """Copies whose entries are numbers of the program's state, and what they are copies of."""
        pairs = {id(live): (copy, live) for copy, live in zip(copies, held, strict=True)}
        return [(*pairs[container], key) for container, key in self._carried if container in pairs]

    def _movable(self) -> list[Hyperparameter]:
        moved = [number for schedule in self._subject.schedules.values() for number in schedule.moved]
        return [*self._subject.changeable, *moved]

    def _fixed(self, group: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        """Reads the settings of an optimizer's group that no input of the program is."""
        mine = [n for n in self._movable() if n.optimizer.param_groups[n.group] is group]
        whole = {number.key for number in mine if number.index is None}
        whole |= {key for container, key in self._carried if container == id(group)}
        parts = {(number.key, number.index) for number in mine}

        def read() -> dict[str, Any]:
            fixed = {key: value for key, value in group.items() if key not in whole}
            for key in {key for key, index in parts if index is not None}:
                fixed[key] = [value for i, value in enumerate(group[key]) if (key, i) not in parts]
            fixed["params"] = [*group["params"]]
            return fixed

        return read

    def _now(self) -> tuple[list[tuple[bool, Any]], list[int]]:
        """Tensors' own settings, and how often constants were written."""
        with without_functions():
            return [*map(FLAGS, self._tensors)], [tensor._version for tensor in self._constants]


def _names_in(reached: list[Any]) -> set[str] | None:
    """The names in the user's code among what is reached; None where it reads attributes by names that it computes."""
    functions = [value.__code__ for value in reached if isinstance(value, types.FunctionType)]
    own = [inner for code in functions if is_users(code.co_filename) for inner in codes(code)]
    named = {name for code in own for name in code.co_names}
    return None if named & COMPUTED_NAMES else named


class _Containers:
    """Containers that hold what they held: the same objects, which is seen fast, or equal ones."""

    def __init__(self, containers: list[Any], are_equal: Callable[[], bool]) -> None:
        self._containers, self._are_equal = tuple(containers), are_equal
        self._contents = tuple(map(_contents, containers))

    def hold_same(self) -> bool:
        """Whether they do."""
        if hold_same(self._containers, self._contents):
            return True
        if not self._are_equal():
            return False
        now = tuple(map(_contents, self._containers))
        changes = zip(chain(*now), chain(*self._contents), strict=True)
        if all(value is before or isinstance(value, PLAIN) for value, before in changes):
            self._contents = now  # what could change itself stays to be compared by value
        return True


def _contents(container: Any) -> tuple[Any, ...]:
    """What a container holds, as `hold_same` compares it."""
    return tuple(chain.from_iterable(dict.items(container)) if isinstance(container, dict) else container)


def _attributes(held: dict[str, Any], named: set[str] | None, carried: set[Any]) -> dict[str, Any]:
    """What code of the user's can read of an object: attributes that it does not name may change, and carried ones."""
    return {name: value for name, value in held.items() if name not in carried and (named is None or name in named)}


def _same(now: Any, before: Any) -> bool:
    if now is before:
        return True
    return type(now) is type(before) and isinstance(now, BY_VALUE) and bool(now == before)
