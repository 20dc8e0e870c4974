"""Numbers that Python counts and carries from call to call, which are state of a program."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import torch

from ingot.torch.judge.bounded import Bounded
from ingot.torch.optimizers.schedules import advance, counter
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.state import counter_name


class PythonNumbers:
    """Those that a step writes in Python, and the counters of schedulers that it steps."""

    def __init__(
        self, subject: Subject, computed: Bounded, tensors: Mapping[str, torch.Tensor], in_memory: Container[str]
    ) -> None:
        """`computed` knows what fits a program's 64 bits; the tensors are the state's, of which a program has some."""
        self._numbers, self.computed = subject.state.numbers, computed
        self._carried = [(number, tensors[name]) for name, number in self._numbers.items() if name in in_memory]
        self._schedules = [*subject.schedules.values()]
        counters = ((schedule.scheduler, counter_name(name)) for name, schedule in subject.schedules.items())
        self._counters = [(scheduler, tensors[name]) for scheduler, name in counters]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._carried or self._counters)

    @property
    def places(self) -> list[tuple[int, Any]]:
        """Where Python holds them."""
        return [number.place for number in self._numbers.values()]

    def take(self) -> bool:
        """Makes state of them; False where the program cannot compute with what they are now."""
        if self._carried:
            values = self.values()
            if not self.computed.hold(values):
                return False
            for number, tensor in self._carried:
                tensor.fill_(values[number.name])
        for scheduler, count in self._counters:
            count.fill_(counter(scheduler))
        return True

    def leave(self) -> None:
        """Leaves in Python what a step made of them."""
        for scheduler, count in self._counters:
            advance(scheduler, int(count))
        for number, tensor in self._carried:
            if (value := tensor.item()) != (before := number.get()) or type(value) is not type(before):
                number.set(value)

    def values(self) -> dict[str, Any]:
        """What Python carries, as it is now."""
        return {name: number.get() for name, number in self._numbers.items()}

    @property
    def are_over(self) -> bool:
        """Whether the program has no more rates of a scheduler."""
        return any(schedule.is_over for schedule in self._schedules)

    def are_in_tables(self) -> bool:
        """Whether the program has the rates of its schedulers where these are now."""
        return all(schedule.has_begun and not schedule.is_over for schedule in self._schedules)

    def change(self) -> str:
        """Which scheduler was put back, and to where."""
        for schedule in self._schedules:
            if not schedule.has_begun:
                return f"the {type(schedule.scheduler).__name__} was put back to step {counter(schedule.scheduler)}"
        return ""
