"""A function's call, and the one that follows it, on stand-ins for state and arguments."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import Places
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import (
    hooks_of,
    hooks_of_all,
    pytree,
    traced_nodes,
    traced_tensors,
    without_functions,
)
from ingot.torch.base.torch_internals.fake_tensors import FakeTensorMode
from ingot.torch.base.torch_internals.modes import RUN_BACKWARD
from ingot.torch.base.torch_internals.ops import neg_view
from ingot.torch.numbers.choices import Choices
from ingot.torch.numbers.keys import one_key
from ingot.torch.optimizers.hyperparameters import Hyperparameter
from ingot.torch.optimizers.loss_scaling import selected_steps
from ingot.torch.optimizers.schedules import Schedule
from ingot.torch.python_state.aliases import refuse_arrays
from ingot.torch.python_state.attributes import Attributes, OfArguments, attributes_of
from ingot.torch.python_state.carried import Lent
from ingot.torch.python_state.held import Entry, Held
from ingot.torch.python_state.named import Named as Names
from ingot.torch.python_state.named_attributes import NamedAttributes
from ingot.torch.python_state.outside import Looks
from ingot.torch.python_state.repetition import Repetition, Watch, refuse_shared_memory
from ingot.torch.python_state.snapshot import Snapshot, shows_all
from ingot.torch.tracing.gradients import gradients, left_gradients, start_with
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.lend import Exchange, lent
from ingot.torch.tracing.returned import SharedMemory, shared_by
from ingot.torch.tracing.selected import Selected, refusal
from ingot.torch.tracing.state import State, counter_name

run_backward = getattr(torch.autograd, RUN_BACKWARD)

Tensors = list[torch.Tensor]
Named = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """What is traced: a function, and the state and numbers that it may change."""

    function: Callable[..., Any]
    example_args: Sequence[Any]
    state: State
    changeable: list[Hyperparameter]
    schedules: Mapping[str, Schedule]
    is_guarded: bool = False  # in this process, where optimizers' numbers are looked at before each call
    said: set[str] = field(default_factory=set)  # warnings, each of which is given once
    are_checked: bool = False  # values, where the function raises otherwise
    read: Collection[tuple[int, Any]] = ()  # the places of numbers that change between calls
    missing: frozenset[str] = frozenset()  # parameters that have no gradient before the call, of those that are kept
    names: dict[bool, Names] = field(default_factory=dict)  # that code names, as they were found last

    def roots(self) -> list[Held]:
        """Where everything that the function can reach in Python is reached from."""
        is_object = not isinstance(self.function, types.FunctionType | types.MethodType | functools.partial)
        return [*_roots({"self" if is_object else "": self.function}), *owners(self.state), *_roots(hooks_of_all())]

    def named_attributes(self) -> NamedAttributes:
        """What a call can read and write of it."""
        return NamedAttributes(
            lambda follows: Snapshot(self.roots(), {}, follows=follows), self.names, libraries_write=True
        )

    def places(self) -> Snapshot:
        """Everything in Python by its path, from models and optimizers where they hold it."""
        function, *others = self.roots()
        return Snapshot([*others, function], self.state.path_names)


def owners(state: State) -> list[Held]:
    """The models, optimizers and schedulers of a state, and the hooks and attributes of its tensors."""
    return _roots(
        {
            **{name or "model": model for name, model in state.models.items()},
            **state.optimizers,
            **state.schedulers,
            **{f"{name}'s hooks": hooks_of(tensor) for name, tensor in state.tensors.items()},
            **attributes_of(state.tensors),
        }
    )


def _roots(values: dict[str, Any]) -> list[Held]:
    return [Held(path, value, Entry(values, path)) for path, value in values.items()]


def _examples(subject: Subject) -> tuple[Tensors, Tensors, Tensors]:
    """State, changeable numbers, and the tensors of the example arguments."""
    return (
        [*subject.state.tensors.values()],
        [torch.tensor(h.default, dtype=torch.float64) for h in subject.changeable],
        [x.detach() for x in pytree.tree_leaves(tuple(subject.example_args)) if isinstance(x, torch.Tensor)],
    )


def _apart(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of its own that lies in memory, and is read, as another does."""
    apart = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    apart = neg_view(apart) if tensor.is_neg() else apart
    return apart.conj() if tensor.is_conj() else apart


def examples(subject: Subject) -> Tensors:
    """What the placeholders of a trace stand for."""
    state, numbers, given = _examples(subject)
    return [*state, *numbers, *given, *given]


class Calls:
    """Two calls of a function in a row, or one where it shows enough, to be traced; the results of the first."""

    def __init__(
        self,
        subject: Subject,
        named: NamedAttributes,
        fakes: FakeTensorMode,
        places: Places,
        choices: Choices,
        looks: Looks,
        watch: Watch | None,
    ) -> None:
        self.subject, self._named = subject, named
        self.repetition = Repetition()
        self.outputs: Any = None
        self.is_guarded = False
        self.gradients: list[str] = []  # of which parameters the first call leaves them, where they are not kept
        self.used_gradients: list[str] = []  # which of them it adds to or reads before it clears them
        self.needed_gradients: list[str] = []  # those to be kept where calls follow in this process
        self.kept_gradients = KeptGradients()
        self.argument_gradients: list[int] = []  # which arguments' tensors it leaves gradients, where they require them
        self.computes_gradients = False
        self.shared: dict[int, SharedMemory] = {}  # by identities of outputs
        self.numbers: dict[int, torch.Tensor] = {}  # of outputs, those that are Python's numbers, by identity
        self._choices, self._looks = choices, looks
        self._fakes = fakes
        self._places = places
        self._watch = watch or (lambda _: nullcontext())
        self._leaves, self._spec = pytree.tree_flatten(tuple(subject.example_args))
        if any(isinstance(leaf, np.ndarray) for leaf in self._leaves):
            raise TraceError("an example argument is a NumPy array", fix="give a tensor: torch.from_numpy(array)")
        refuse_parameters(self._leaves, subject.state.tensors)
        self._positions = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)]
        self.asked = OfArguments([self._leaves[i] for i in self._positions])

    def arguments(self) -> tuple[Tensors, Tensors, Tensors, Tensors]:
        """State, changeable numbers, and the tensors of the example arguments, without values; the last of each call.

        So a tensor that the first call was given, and left somewhere, is not taken for what the second is given.
        """

        def fake(tensor: torch.Tensor) -> torch.Tensor:
            return self._fakes.from_tensor(tensor, static_shapes=True)

        state, numbers, given = _examples(self.subject)
        return [*map(fake, state)], [*map(fake, numbers)], [*map(fake, given)], [fake(_apart(x)) for x in given]

    def __call__(self, state_in: Tensors, numbers_in: Tensors, inputs: Tensors, next_inputs: Tensors) -> Tensors:
        """The calls; the outputs of each, the state after it, and what was chosen by."""
        subject, state = self.subject, self.subject.state
        numbers = {
            h.name: self._number(t, h.default, is_zero_at_times=h.key == "lr" or not subject.is_guarded)
            for h, t in zip(subject.changeable, numbers_in, strict=True)
        }
        stand_ins = dict(zip(state.tensors, state_in, strict=True))
        given, given_next = ({f"input {i}": x for i, x in enumerate(tensors)} for tensors in (inputs, next_inputs))
        results: Tensors = []
        with (
            one_key(state.tensors, stand_ins),
            lent(state, stand_ins, numbers, subject.changeable) as read,
            self._places,
            ExitStack() as running,
        ):
            given_gradients = running.enter_context(gradients(state, stand_ins, subject.missing, subject.is_guarded))
            running.enter_context(Exchange(state, stand_ins))  # before gradients see what is read: they know stand-ins
            running.enter_context(selected_steps(self._choices.choose))
            attributes = Attributes(state.tensors, stand_ins)
            for name, schedule in subject.schedules.items():
                start = stand_ins[counter_name(name)]
                running.enter_context(schedule.lent(start, self._number))
            counters = {counter_name(name) for name in subject.schedules}  # alike, whether they were counted up or not
            names = {id(tensor): name for name, tensor in stand_ins.items() if name not in counters}
            for number in state.numbers.values():
                running.callback(number.set, number.get())
            carried = {number.place for number in state.numbers.values()}
            follows = self._named.follows
            before = Snapshot(subject.roots(), names, carried, follows)
            self._places.paths = before.computed
            refuse_arrays(before.held(), state.tensors)
            self.repetition.mark(before, stand_ins | given | self._scheduled())
            with self._watch(before):
                found = stand_ins
                for call in range(2):
                    numbers_lent = Lent(state.numbers, found)
                    changing = [name for name, number in state.numbers.items() if number.place in subject.read]
                    self._choices.begin(numbers_lent.symbols.values(), map(numbers_lent.symbols.__getitem__, changing))
                    self._places.begin_call()
                    self._fakes.epoch += 1  # a tensor gives the same symbol again within an epoch
                    outputs = self._call((inputs, next_inputs)[call])
                    used = _used(state.tensors)
                    left = [*attributes.left(), *(f"an argument's {name}" for name in self.asked.left)]
                    found = read() | given_gradients.read() | self._counters() | numbers_lent.read()
                    results += [t.detach() for t in pytree.tree_leaves(outputs) if isinstance(t, torch.Tensor)]
                    results += [found[name].detach() for name in state.tensors]
                    results += self._choices.predicates
                    results += (held := self._choices.held())
                    self.is_guarded = bool(held)
                    scheduled = self._scheduled()
                    own = [*numbers.values(), *scheduled.values()]
                    left_by_call = Snapshot(subject.roots(), names, carried, follows)
                    self.repetition.mark(left_by_call, found | given_next | scheduled, own)
                    if call == 0:
                        self.outputs = outputs
                        self.repetition.unset += left
                        self.gradients, self.used_gradients = left_gradients(state, stand_ins), given_gradients.used()
                        self.needed_gradients = given_gradients.needed()
                        self.kept_gradients = given_gradients.kept()
                        self.argument_gradients = [
                            i for i, x in enumerate(inputs) if x.requires_grad and x.grad is not None
                        ]
                        self.shared = shared_by(outputs, stand_ins, inputs)
                        refuse_shared_memory({name: found[name] for name in state.tensors}, used)
                        known = (*stand_ins.values(), *found.values(), *numbers_in, *inputs, *next_inputs, *results)
                        if not left and self._would_repeat(
                            before, left_by_call, [*known, *pytree.tree_leaves(outputs)]
                        ):
                            break
                        start_with(stand_ins, found, subject.missing)
        self._places.refuse_repeated_draws()
        return results

    def _would_repeat(self, before: Snapshot, after: Snapshot, known: Sequence[Any]) -> bool:
        """Whether a second call would do what the first did, of a program that is compared with PyTorch here.

        It would where the first left Python as it was, and of tensors only those that are known and their gradients,
        and where it asked for nothing that Python does not show.
        """
        subject, choices = self.subject, self._choices
        if not subject.is_guarded:
            return False
        if subject.schedules or subject.state.numbers or choices.made or choices.answers or self._looks.places:
            return False
        if before.differences(after) or not shows_all(after) or not self._places.draws_on():
            return False
        with without_functions():
            leaves = [value for value in known if isinstance(value, torch.Tensor) and value.is_leaf]
            ids = {*map(id, known), *(id(leaf.grad) for leaf in leaves)}
        return all(id(tensor) in ids for tensor in traced_tensors())

    def _call(self, inputs: Tensors) -> Any:
        flat = list(self._leaves)
        for i, value in zip(self._positions, inputs, strict=True):
            flat[i] = value
        for i, value in zip(self._positions, inputs, strict=True):
            if self._leaves[i].requires_grad:
                value.requires_grad_()
        with self.asked.noted(inputs), replaced(torch.autograd, RUN_BACKWARD, self._run_backward):
            returned = _as_called(self.subject.function)(*pytree.tree_unflatten(flat, self._spec))
        if selected := [leaf for leaf in pytree.tree_leaves(returned) if isinstance(leaf, Selected)]:
            raise refusal("who gets it", *selected)
        return pytree.tree_map_only((torch.SymFloat, torch.SymInt, torch.SymBool), self._scalar, returned)

    def _scalar(self, number: Any) -> torch.Tensor:
        """A number that is returned, which is one of Python's after the call."""
        dtypes = {torch.SymFloat: torch.float64, torch.SymInt: torch.int64, torch.SymBool: torch.bool}
        scalar = torch.scalar_tensor(number, dtype=dtypes[type(number)])
        self.numbers[id(scalar)] = scalar
        return scalar

    def _run_backward(self, *args: Any, **kwargs: Any) -> Any:
        self.computes_gradients = True
        return run_backward(*args, **kwargs)

    def _counters(self) -> Named:
        return {counter_name(name): s.scheduler.last_epoch for name, s in self.subject.schedules.items()}

    def _scheduled(self) -> Named:
        moved = [number for schedule in self.subject.schedules.values() for number in schedule.moved]
        return {number.name: number.held(number.optimizer.param_groups) for number in moved}

    def _number(self, tensor: torch.Tensor, value: float, is_zero_at_times: bool = False) -> Any:
        """A changeable number for Python: arithmetic with it is traced, comparisons answer as for its value."""
        number = tensor.item()
        shape_env = self._fakes.shape_env
        assert shape_env is not None
        shape_env.set_real_tensor_prop_unbacked_vals(number.node.expr, value)
        self._choices.take(number, is_zero_at_times)
        return number


def _used(state: Named) -> set[str]:
    """The tensors of the state that have been read or written, as they were before the first call."""
    placeholders = [node for node in traced_nodes() if node.op == "placeholder"]
    return {name for name, node in zip(state, placeholders, strict=False) if node.users}


def refuse_parameters(arguments: Sequence[Any], state: Named) -> None:
    """Raises TraceError for an argument that is a parameter, whose gradient a step would have of the argument."""
    names = {id(tensor): name for name, tensor in state.items() if tensor.requires_grad}
    if found := [names[id(argument)] for argument in arguments if id(argument) in names]:
        raise TraceError(f"an argument is the parameter {found[0]!r}", fix="read the parameter in the function")


def _as_called(function: Callable[..., Any]) -> Callable[..., Any]:
    """A scheduler's method as it has it when it is called: its `step` is another while it is traced."""
    owner = function.__self__ if inspect.ismethod(function) else None
    return getattr(owner, function.__name__) if isinstance(owner, LRScheduler) else function
