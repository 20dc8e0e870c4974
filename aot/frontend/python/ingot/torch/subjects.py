"""What a program's functions are traced with: its state, and what of Python's is state too as tracing finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.base.errors import SlotsMade, TraceError, ValueAsked
from ingot.torch.optimizers.hyperparameters import hyperparameters
from ingot.torch.optimizers.loss_scaling import Scalers, with_scalers
from ingot.torch.optimizers.schedules import Schedule, schedules_of
from ingot.torch.optimizers.wrapped import with_wrapped
from ingot.torch.python_state.carried import Kind, Number, kinds_of_schedulers, numbers_at, numbers_of
from ingot.torch.python_state.repetition import Carried, Kinds
from ingot.torch.traced import Added
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.captures import Capture, captures_of, lift
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.others import seen_as_before
from ingot.torch.tracing.state import State
from ingot.torch.tracing.trace import Trace, located, refuse_other_ends, trace
from ingot.torch.warm_up import lack_state, warm_up

Model: TypeAlias = torch.nn.Module | Mapping[str, torch.nn.Module]
Optimizer: TypeAlias = torch.optim.Optimizer | Mapping[str, torch.optim.Optimizer] | None
Scheduler: TypeAlias = LRScheduler | Mapping[str, LRScheduler] | None


def state_of(model: Model, optimizer: Optimizer, scheduler: Scheduler, **options: Any) -> State:
    """The state of models, optimizers and schedulers as it is now."""
    models = {"": model} if isinstance(model, torch.nn.Module) else model
    schedulers = {"scheduler": scheduler} if isinstance(scheduler, LRScheduler) else scheduler
    return State(models, with_wrapped(optimizer), schedulers, **options)


class Subjects:
    """The parts that functions are traced with. It learns from each trace what else the program carries.

    Numbers that Python carries from call to call become state, as do the scales of loss scalers that a function
    reaches. Gradients that are None, and that it asks for, are known to be missing.
    """

    def __init__(
        self,
        parts: tuple[Model, Optimizer, Scheduler],
        keep_gradients: bool = False,
        total_steps: int | None = None,
        is_open: bool = False,
    ) -> None:
        """The arguments are those of `Program`."""
        self.parts, self._keep_gradients = parts, keep_gradients
        self.numbers: Mapping[str, Number] = {}  # what Python carries from call to call, and is state
        self._missing: frozenset[str] = frozenset()  # parameters whose gradients are None
        self._scalers: Scalers = {}
        self._searched: list[Callable[..., Any]] = []  # functions whose scalers, and numbers of schedulers, are known
        self._of_schedulers: Kinds = {}
        self.said: set[str] = set()  # where functions read what a program does not, which was said
        hyper = hyperparameters(self.state.optimizers)
        self.schedules: Mapping[str, Schedule] = schedules_of(self.state.schedulers, hyper, total_steps, is_open)
        self._hyperparameters = [number for number in hyper if number.is_input]
        self.reads_captures = True
        self.are_checked = True  # values, by programs with guards, where functions raise otherwise
        self.numbers_read: Kinds = {}  # that Python holds and programs with guards read

    @property
    def state(self) -> State:
        """The state as it is now."""
        return state_of(*self.parts, keep_gradients=self._keep_gradients, numbers=self.numbers, scalers=self._scalers)

    @property
    def learned(self) -> tuple[Any, ...]:
        """What was found beside the parts."""
        return self.numbers, self._missing, self._scalers

    def forget(self, learned: tuple[Any, ...]) -> None:
        """Goes back to what was learned before; loss scalers that are known stay so."""
        self.numbers, self._missing, _ = learned

    def of(self, added: Added) -> Subject:
        """What is traced, with the numbers that are carried, and the scalers that it reaches, as state."""
        subject = self._of(added)
        if added.function not in self._searched:
            self._searched.append(added.function)
            places = subject.places()
            self._of_schedulers |= kinds_of_schedulers(places, subject.state.schedulers.values())
            self._scalers = with_scalers(self._scalers, places.held())
            subject = self._of(added) if self._scalers else subject
        return subject

    def with_kinds(self, added: Added, kinds: Mapping[str, Kind]) -> Subject:
        """The same, with numbers of these kinds as state, by their paths."""
        self.numbers = numbers_of(kinds, self.of(added).places()) if kinds else {}
        return self.of(added)

    def ways(self, added: Added, others: Iterable[KeptGradients]) -> tuple[Subject, list[Trace]]:
        """The ways of a function; numbers that it carries from call to call become state.

        `others` are the gradients that other entry points leave.
        """
        others = [] if added.guards else [*others]  # with guards each call is seen to begin
        if added.guards:
            self._carry(self.of(added), {**self._of_schedulers, **self.numbers_read})
        refusal: tuple[Carried, Subject] | None = None
        is_cold = True
        while True:
            subject = self.of(added)
            try:
                ways = trace(subject, training=added.training, capture=added.capture, guards=added.guards)
                if self._carry(subject, {place: kind for way in ways for place, kind in way.computed.items()}):
                    continue
                if self._misses_others(subject, [way.kept_gradients for way in ways], others, added.guards):
                    continue
                refuse_other_ends(ways)
                return subject, ways
            except (Carried, SlotsMade, ValueAsked) as error:
                is_of_slots = not isinstance(error, Carried) or ".state[" in error.path
                if is_cold and is_of_slots and lack_state(subject):
                    is_cold = False
                    with seen_as_before(subject.state):
                        is_warm = warm_up(subject)
                    if is_warm:
                        continue
                if isinstance(error, Carried):
                    refusal = error, subject
                elif not refusal:
                    raise
                if not isinstance(error, Carried) or not self._carry(subject, error.kinds):
                    raise located(*refusal, training=added.training, capture=added.capture) from None
            except Exception as error:
                if refusal and not isinstance(error, TraceError):
                    raise located(*refusal, training=added.training, capture=added.capture) from error
                raise

    def lifted(self, ways: Sequence[Trace], subject: Subject) -> list[Capture]:
        """Makes inputs of constants that Python holds, but of those whose values it asked for."""
        asked = set().union(*(way.asked_constants for way in ways))
        constants = [constant for way in ways for constant in way.constants if id(constant) not in asked]
        captures = captures_of(constants, subject.places()) if constants and self.reads_captures else []
        for way in ways:
            lift(way.graph, captures)
        return captures

    def _of(self, added: Added) -> Subject:
        moved = [number for schedule in self.schedules.values() for number in schedule.moved]
        places = {number.place for number in self.numbers.values()}
        inputs = self._hyperparameters if added.training else []
        changeable = [number for number in inputs if number not in moved and number.place not in places]
        checked = added.guards and self.are_checked
        how = added.guards, self.said, checked, self.numbers_read, self._missing, added.names
        return Subject(added.function, added.example_args, self.state, changeable, self.schedules, *how)

    def _carry(self, subject: Subject, kinds: Kinds) -> bool:
        """Makes numbers state, if there are any at those places that are none yet."""
        known = {number.place for number in self.numbers.values()}
        new = {place: kind for place, kind in kinds.items() if place not in known}
        found = numbers_at(new, subject.places()) if new else {}
        self.numbers = {**self.numbers, **found}
        return bool(found)

    def _misses_others(
        self, subject: Subject, found: Sequence[KeptGradients], others: Sequence[KeptGradients], are_seen: bool
    ) -> bool:
        """Notes parameters whose gradients are None, of those that a function asks for; tells of changes.

        They are so as long as no entry point makes them, or, where each call is `seen` to begin, for this program.
        """
        before = self._missing
        asked = {name for kept in found for name in kept.asked if subject.state.trained[name].grad is None}
        made = {name for kept in (*found, *others) for name in kept.made}
        self._missing = self._missing | asked if are_seen else (self._missing | asked) - made
        return self._missing != before
