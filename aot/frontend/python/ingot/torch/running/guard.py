"""What Python holds that a traced function can reach: a program repeats the function only while it stays as it was."""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import torch

from ingot.torch.base.keywords import FLOATS
from ingot.torch.base.torch_internals import HOOKS, HOOKS_MADE, without_functions
from ingot.torch.optimizers.hyperparameters import Hyperparameter
from ingot.torch.python_state.ambient import told_by
from ingot.torch.python_state.held import Entry, Itself, Written
from ingot.torch.python_state.named_attributes import NamedAttributes, is_object
from ingot.torch.python_state.reach import edges
from ingot.torch.python_state.replaced import Functions
from ingot.torch.python_state.snapshot import (
    CONTAINERS,
    PLAIN,
    SHARED,
    STATES,
    Follows,
    Snapshot,
)
from ingot.torch.python_state.watched import Read, Watched, all_same
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.captures import Capture
from ingot.torch.tracing.constants import caches_of, written_among

DRAWS = {"random", "numpy.random"}  # the paths of those of Python and NumPy
DRAWN = STATES[:4]  # what is drawn from, in Python and in NumPy
SHOWING = {"getstate", "get_state", "bit_generator"}  # by which code looks at these
IMMUTABLE = (tuple, frozenset)
TRAINED = "requires_grad"
FLAGS = operator.attrgetter(TRAINED, *HOOKS)  # of a tensor


class Guard:
    """The values of everything that a function can reach, as they were when it was traced.

    What it takes as inputs may change: numbers of its optimizers, captured tensors, and all tensors of its state.
    Tensors that it makes anew in each call, such as the weights of ``weight_norm``, may become others of the same form.
    """

    def __init__(
        self,
        subject: Subject,
        constants: list[torch.Tensor],
        captures: list[Capture],
        made_anew: Sequence[str],
    ) -> None:
        """`made_anew` are paths."""
        self._subject, self._constants = subject, constants
        numbers = subject.state.numbers.values()
        self._carried = {place for number in numbers for place in (number.place, number.entry)}
        self._carried |= {place for capture in captures for place in capture.places}
        self._named = NamedAttributes(self._taken, subject.names, libraries_write=False)
        self._snapshot = self._named.whole
        remade = [*self._remade(made_anew)]
        self._carried |= {read.place for read in remade}
        movable = {number.place for number in self._movable()}
        self._moving = {path for path, leaf in self._snapshot.leaves.items() if _place(leaf.read) in movable}
        self._tensors = [*subject.state.tensors.values()]
        settings = [group for o in subject.state.optimizers.values() for group in o.param_groups]
        apart = {id(value) for value in (*settings, *subject.state.schedulers.values())}
        self._read = read = self._named.snapshot
        reached = [value for value in read.reached() if id(value) not in apart]
        objects = [value for value in reached if is_object(value)]
        held = [part for value in reached for part in _containers(value)]
        held += [hooks for tensor in self._tensors for name in HOOKS if (hooks := getattr(tensor, name)) is not None]
        held += [attributes for tensor in self._tensors if (attributes := vars(tensor))]
        copies = [container.copy() for container in held]
        carried = self._carried_entries(held, copies)
        reads = [read for value in reached for read in self._reads(value)] + told_by(reached)
        reads += [functools.partial(_form, tensor) for _, tensor in read.computed.values()]
        others = {*self._snapshot.computed, *map(id, self._tensors)} - {id(read()) for read in remade}
        reads += [functools.partial(_form_of, read, others) for read in remade]
        flags = [*((tensor, TRAINED) for tensor in self._tensors), HOOKS_MADE]
        others_are_equal = all_same([*reads, functools.partial(_flags_of, self._tensors)])

        def are_equal() -> bool:
            for copy, container, key in carried:
                copy[key] = container[key]
            return all(map(_are_alike, held, copies)) and others_are_equal()

        parts = [part for group in settings for part in (group, group["params"])]
        movable = {number.place for number in self._movable() if number.index is None}
        # Optimizers leave out what these would do where they are 0: also what becomes of their slots.
        self._not_zero = [number for number in subject.changeable if number.key != "lr"]
        self._in_lists = [number for number in self._not_zero if not _is_immutable(number)]
        nonzero = {number.place for number in self._not_zero} & movable
        fixed = all_same(map(self._fixed, settings))
        self._watched = [
            Watched(are_equal, held, reads, flags, free=self._carried),
            Watched(
                lambda: fixed() and all(map(_value, self._not_zero)),
                parts,
                free=self._carried | movable,
                nonzero=nonzero,
            ),
        ]
        if objects:
            named = all_same(map(self._named_in, objects))
            self._watched.append(Watched(named, map(vars, objects), free=self._carried))
        self._numbers = [*subject.state.numbers.values()]
        self._written = written_among(constants)
        self._caches_hold = caches_of(self._snapshot.reached(), constants)
        self.functions = Functions(self._snapshot.reached())

    def holds(self) -> bool:
        """Whether all is as it was."""
        try:
            for number in self._numbers:
                if not number.is_held:
                    return False
            for watched in self._watched:
                if not watched.holds():
                    return False
            for listed in self._in_lists:
                if not _value(listed):
                    return False
            if self._constants and not (self._written() is None and self._caches_hold()):
                return False
            return self.functions.hold()
        except (LookupError, RuntimeError, ValueError):  # what was there is gone, or does not compare as one
            return False

    @property
    def snapshot(self) -> Snapshot:
        """The values that are compared, as they were."""
        return self._read

    def change(self) -> str:
        """What is not as it was, with both values; what is no value of its own has no name."""
        now = self._taken(self._named.follows)
        paths = [path for path in self._read.differences(now) if self._matters(path, now)]
        if not paths:
            for number in self._not_zero:
                if not _value(number):
                    return f"`{number.name}` is 0, and was {number.default}"
            if not self._caches_hold():
                return "a function's cache, of which tensors are constants, was cleared"
            if (written := self._written()) is not None:
                path = self._snapshot.computed.get(id(written), ("a tensor", None))[0]
                return f"`{path}` has other values than it had"
            if replaced := self.functions.change():
                return replaced
            return "a setting of a tensor or an optimizer"
        return f"`{paths[0]}` is {now.at(paths[0]).text}, and was {self._read.at(paths[0]).text}"

    def numbers(self) -> dict[tuple[int, Any], type]:
        """Where Python holds numbers that are others than they were, and of which kinds they are."""
        now = self._taken(self._named.follows)
        found: dict[tuple[int, Any], type] = {}
        for path in self._read.differences(now):
            read = now.leaves[path].read if path in now.leaves else None
            kinds = {self._read.at(path).kind, now.at(path).kind}
            if kinds <= {int, *FLOATS} and isinstance(read, Written) and self._matters(path, now):
                found[read.place] = int if kinds == {int} else float
        return found

    def _matters(self, path: str, now: Snapshot) -> bool:
        """Whether a value is fixed in the program; of tensors that it does not read only the identity is."""
        before, after = self._read.at(path).compared, now.at(path).compared
        if isinstance(before, tuple) and isinstance(after, tuple) and before[0] == after[0]:
            is_tensor = isinstance(before[0], int)
            if is_tensor and before[0] not in map(id, self._constants):
                return False
        leaf = self._read.leaves.get(path)
        if leaf and self._is_carried(leaf.read):
            return False
        return path not in self._moving and path not in DRAWS

    def _taken(self, follows: Follows | None) -> Snapshot:
        names = {id(t): name for name, t in self._subject.state.tensors.items()}
        return Snapshot(self._subject.roots(), names, follows=follows)

    def _reads(self, value: Any) -> list[Read]:
        """How the values of an object are read one by one, where no container or named attribute holds them."""
        is_shown = bool(self._named.names and SHOWING & self._named.names)
        for type_, read in (*(DRAWN if is_shown else ()), *STATES[len(SHARED) :]):
            if isinstance(value, type_):
                return [functools.partial(read, value)]
        if isinstance(value, (*IMMUTABLE, *SHARED, set)):
            return []
        if isinstance(value, collections.deque):
            return [functools.partial(tuple, value)]
        compared = {*map(id, _containers(value)), *([id(vars(value))] if is_object(value) else [])}
        held = [held.read for held in edges(value, "", {}) if not isinstance(held.read, Itself)]
        ordered = (
            [functools.partial(tuple, value)] if isinstance(value, collections.OrderedDict) and len(value) > 1 else []
        )
        return ordered + [read for read in held if not self._is_carried(read) and _holder(read) not in compared]

    def _named_in(self, value: Any) -> Read:
        """Reads what the user's code can read of an object."""
        carried = {key for container, key in self._carried if container == id(vars(value))}
        return functools.partial(_attributes, vars(value), self._named.names_of(value), carried)

    def _remade(self, paths: Sequence[str]) -> Iterator[Written]:
        """The places at some paths that hold tensors which the program does not read."""
        constants = {*map(id, self._constants)}
        for path in paths:
            read = leaf.read if (leaf := self._snapshot.leaves.get(path)) else None
            if isinstance(read, Written) and isinstance(read(), torch.Tensor) and id(read()) not in constants:
                yield read

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

    def _fixed(self, group: dict[str, Any]) -> Read:
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


def _place(read: Any) -> tuple[int, Any] | None:
    return read.place if isinstance(read, Written) else None


def _value(number: Hyperparameter) -> Any:
    return number.held(number.optimizer.param_groups)


def _is_immutable(number: Hyperparameter) -> bool:
    """Whether it is replaced in its group wherever it changes."""
    group = number.optimizer.param_groups[number.group]
    return number.index is None or (type(group[number.key]) is tuple and isinstance(_value(number), PLAIN))


def _are_alike(container: Any, other: Any) -> bool:
    """Whether two containers hold the same, in the same order."""
    return bool(container == other) and (not isinstance(container, dict) or [*container] == [*other])


def _containers(value: Any) -> list[Any]:
    """What holds the values of an object, to be compared at once."""
    if isinstance(value, torch.nn.Module):
        own = [] if is_object(value) else [vars(value)]
        return [*own, value._parameters, value._buffers, value._modules]
    if isinstance(value, torch.optim.Optimizer):
        return [vars(value)]
    if isinstance(value, collections.UserDict):
        return [value.data]
    return [value] if isinstance(value, CONTAINERS) else []


def _holder(read: Any) -> int:
    """The container of an entry that is read, by identity."""
    return id(read.container) if isinstance(read, Entry) else 0


def _flags_of(tensors: Sequence[torch.Tensor]) -> list[Any]:
    """Tensors' own settings."""
    with without_functions():
        return [*map(FLAGS, tensors)]


def _form(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What Python sees of a tensor without its values."""
    with without_functions():
        return tuple(tensor.shape), tensor.dtype, tensor.stride()


def _form_of(read: Read, others: AbstractSet[int]) -> tuple[Any, ...]:
    """The type, shape and strides of a tensor that is read, and whether it is one of `others`, by identity."""
    value = read()
    return type(value), id(value) in others, *(_form(value) if isinstance(value, torch.Tensor) else ())


def _attributes(held: dict[str, Any], named: AbstractSet[str] | None, carried: set[Any]) -> dict[str, Any]:
    """What code of the user's can read of an object: attributes that it does not name may change, and carried ones."""
    return {name: value for name, value in held.items() if name not in carried and (named is None or name in named)}
