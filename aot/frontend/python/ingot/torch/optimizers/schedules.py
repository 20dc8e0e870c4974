"""Learning-rate schedulers as tables: what a scheduler's own steps give, looked up by its counter in the program."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.optimizers.hyperparameters import Hyperparameter

Schedulers: TypeAlias = Mapping[str, LRScheduler]
HORIZON = 10_000  # rows of a table without an end: after as many steps the function is traced again
MOST_PER_CALL = 100  # steps that a scheduler makes in one call


class Schedule:
    """The numbers that a scheduler moves, a row for each value of its counter.

    The counter of the first row is the scheduler's own as the table is made, that of the last one `total_steps`; then
    its numbers stay. Without `total_steps` there are HORIZON rows more, or as many as the scheduler can make steps.
    """

    def __init__(self, scheduler: LRScheduler, numbers: list[Hyperparameter], total_steps: int | None):
        self.scheduler = scheduler
        self.first = counter(scheduler)
        mine = [number for number in numbers if number.optimizer is scheduler.optimizer]
        steps = HORIZON if total_steps is None else total_steps - self.first
        rows = _rows(scheduler, mine, steps, is_open=total_steps is None)
        self._last = math.inf if total_steps is not None or len(rows) <= steps else self.first + steps - MOST_PER_CALL
        self.moved = [n for i, n in enumerate(mine) if n.key == "lr" or any(row[i] != rows[0][i] for row in rows)]
        self.rows = [[row[mine.index(number)] for number in self.moved] for row in rows]
        while len(self.rows) > 1 and self.rows[-1] == self.rows[-2]:
            self.rows.pop()
        self.is_stepped = False

    @property
    def is_over(self) -> bool:
        """Whether a call may need rows after the last one."""
        return counter(self.scheduler) > self._last

    @property
    def has_begun(self) -> bool:
        """Whether the scheduler is at a row of the table: not where it was put back."""
        return counter(self.scheduler) >= self.first

    @contextmanager
    def lent(self, start: torch.Tensor, number: Callable[[torch.Tensor, float, bool], Any]) -> Iterator[None]:
        """While a function is traced: the scheduler counts in a tensor from `start`, and looks its numbers up.

        `number` makes one for Python of a tensor, of a value that it has, and of whether it is 0 in some steps alone.
        """
        scheduler: Any = self.scheduler
        before = dict(vars(scheduler))
        table = torch.tensor(self.rows, dtype=torch.float64)

        def look_up() -> None:
            row = (scheduler.last_epoch - self.first).clamp(0, len(self.rows) - 1)
            values = table.index_select(0, row.reshape(1))
            for i, (moved, column) in enumerate(zip(self.moved, zip(*self.rows, strict=True), strict=True)):
                moved.set(number(values[0, i], max(column, key=abs), 0 in column and any(column)))
            scheduler._last_lr = [group["lr"] for group in scheduler.optimizer.param_groups]

        def step(epoch: float | None = None) -> None:
            if epoch is not None:
                fix = "call step(), which goes to the next"
                raise TraceError("scheduler.step(epoch) goes to an epoch of its own", user_place(), fix)
            scheduler.last_epoch = scheduler.last_epoch + 1
            self.is_stepped = True
            look_up()

        scheduler.last_epoch = start
        scheduler.step = step
        look_up()
        try:
            yield
        finally:
            vars(scheduler).clear()
            vars(scheduler).update(before)


def counter(scheduler: LRScheduler) -> int:
    """How many steps a scheduler has made: its ``last_epoch``; chained ones count alike."""
    chained = getattr(scheduler, "_schedulers", None)
    return counter(chained[0]) if chained and not hasattr(scheduler, "last_epoch") else int(scheduler.last_epoch)


def advance(scheduler: LRScheduler, to: int) -> None:
    """Steps a scheduler until its counter is `to`, so that it, and its optimizer's numbers, are as after training."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the optimizer made no steps: it did, elsewhere
        while counter(scheduler) < to:
            scheduler.step()


def schedules_of(
    schedulers: Schedulers, numbers: list[Hyperparameter], total_steps: int | None, is_open: bool
) -> dict[str, Schedule]:
    """The tables of schedulers; where they are `open`, they need no end.

    Raises ValueError for one that cannot be a table, that has no or another's optimizer, or whose steps are over.
    """
    optimizers = [number.optimizer for number in numbers]
    owned: dict[int, str] = {}
    for name, scheduler in schedulers.items():
        if counter(scheduler) >= (total_steps or 0) and not (is_open and total_steps is None):
            raise ValueError(
                f"total_steps is how many steps of {name} there will be in all; it has made {counter(scheduler)}, and "
                f"total_steps is {total_steps}"
            )
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name}: ReduceLROnPlateau decides in Python by the values of a metric; without it, `lr` is an input "
                "of the program, which the host may set at each step"
            )
        if all(scheduler.optimizer is not optimizer for optimizer in optimizers):
            raise ValueError(f"{name}: the {type(scheduler).__name__}'s optimizer is not one of the program's")
        other = owned.setdefault(id(scheduler.optimizer), name)
        if other != name:
            raise ValueError(f"{other} and {name} are of one optimizer; make them one with ChainedScheduler")
    return {name: Schedule(scheduler, numbers, total_steps) for name, scheduler in schedulers.items()}


def _rows(scheduler: LRScheduler, numbers: list[Hyperparameter], steps: int, is_open: bool) -> list[list[float]]:
    """What a copy of the scheduler makes of an optimizer's numbers step by step, and what they are before.

    An `open` table ends where the scheduler makes no more steps.
    """
    optimizer = copy.copy(scheduler.optimizer)
    optimizer.param_groups = [
        {key: value if key == "params" else copy.deepcopy(value) for key, value in group.items()}
        for group in optimizer.param_groups
    ]
    runner = copy.deepcopy(scheduler, {id(scheduler.optimizer): optimizer})
    rows = [[number.get(optimizer.param_groups) for number in numbers]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the optimizer makes no steps
        for _ in range(steps):
            try:
                runner.step()
            except ValueError:
                if not is_open:
                    raise
                break
            rows.append([number.get(optimizer.param_groups) for number in numbers])
    return rows
