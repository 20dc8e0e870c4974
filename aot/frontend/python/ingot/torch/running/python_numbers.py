"""Python numbers that persist between calls: they are state of the program while it runs."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import torch

from ingot.torch.judge.bounded import Bounded
from ingot.torch.optimizers.schedules import advance, counter
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.state import counter_name


class PythonNumbers:
    """The Python numbers that a step writes, and the counters of the schedulers that it steps."""

    def __init__(
        self, subject: Subject, computed: Bounded, tensors: Mapping[str, torch.Tensor], in_memory: Container[str]
    ) -> None:
        """`computed` checks values against 64 bits. `tensors` is all state by name; a program has those `in_memory`."""
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
        """The container and key of each number in Python."""
        return [number.place for number in self._numbers.values()]

    def take(self) -> bool:
        """Copies the numbers into the state; returns False if the program cannot compute with their current values."""
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
        """Copies the numbers back from the state into Python."""
        for scheduler, count in self._counters:
            advance(scheduler, int(count))
        for number, tensor in self._carried:
            if (value := tensor.item()) != (before := number.get()) or type(value) is not type(before):
                number.set(value)

    def values(self) -> dict[str, Any]:
        """The current values in Python, by name."""
        return {name: number.get() for name, number in self._numbers.items()}

    @property
    def are_over(self) -> bool:
        """Whether a scheduler is past the last rate that the program has."""
        return any(schedule.is_over for schedule in self._schedules)

    def are_in_tables(self) -> bool:
        """Whether the program has the current rates of all its schedulers."""
        return all(schedule.has_begun and not schedule.is_over for schedule in self._schedules)

    def change(self) -> str:
        """A text that names a scheduler that was set back, and its step; empty if none was."""
        for schedule in self._schedules:
            if not schedule.has_begun:
                return f"the {type(schedule.scheduler).__name__} was put back to step {counter(schedule.scheduler)}"
        return ""
