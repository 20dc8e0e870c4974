"""The programs that one step has, of which each call takes the one that fits it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

from ingot.torch.account import Account
from ingot.torch.python_state.repetition import Kinds
from ingot.torch.run import Run
from ingot.torch.running.redecorated import Programs
from ingot.torch.running.same_code import Comparison

MOST_PROGRAMS = 8


class Runs:
    """The runs of one function, and those of earlier functions of the same code over the same values."""

    def __init__(self, function: Callable[..., Any], programs: Programs, threads: int = 1) -> None:
        self._function, self._programs = function, programs
        if threads > 1:
            THREADED.add(self)
        self._runs: list[Run] = []
        self.same: list[Comparison] = []  # with the functions of runs that were found, which last as long as they hold
        self.latest: Run | None = None
        self.have_run = False  # whether any run was added

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def are_full(self) -> bool:
        """Whether there are as many as there may be."""
        return len(self._runs) >= MOST_PROGRAMS

    @property
    def keys(self) -> list[Any]:
        """What is fixed in each of them."""
        return [run.key for run in self._runs]

    @property
    def accounts(self) -> list[Account]:
        """What making each of them took."""
        return [run.account for run in self._runs]

    def drop_others(self) -> None:
        """Drops all where an earlier function is no longer the same as this one."""
        if not all(same.holds() for same in self.same):
            self._drop_all()

    def _drop_all(self) -> None:
        self._runs, self.same, self.latest, self.have_run = [], [], None, False

    def drop_in_child(self) -> None:
        """Drops all in a forked process, which lacks their threads."""
        for run in self._programs.runs:
            self._programs.drop(run)
        self._drop_all()

    def drop(self, run: Run) -> None:
        """Drops a run that differs from PyTorch."""
        self._runs = [known for known in self._runs if known is not run]
        self._programs.drop(run)
        self.latest = None

    def drop_ended(self) -> None:
        """Drops those whose models or optimizers took other memory."""
        self._runs = [run for run in self._runs if not run.is_over]

    def fitting(self, key: Any, departed: list[Run]) -> Run | None:
        """A run that there is, which fits a call and has not `departed` from it."""
        known = next((r for r in self._runs if r not in departed and r.key == key and r.holds()), None)
        return known or self._found_of_same(key, departed)

    def add(self, run: Run) -> None:
        """Takes in a run, if it is new."""
        self.have_run = True
        if all(run is not known for known in self._runs):
            self._runs.append(run)
            self._programs.add(self._function, run)

    def change(self, key: Any) -> str:
        """What Python holds that is another than in the last program with a call's key; "" if there is none."""
        alike = self._alike(key)
        return alike.change() if alike else ""

    def changed_numbers(self, key: Any) -> Kinds:
        """Numbers of Python's that changed, by their places."""
        alike = self._alike(key)
        return alike.guard.numbers() if alike else {}

    def _alike(self, key: Any) -> Run | None:
        """The last run of arguments like a call's."""
        return next((run for run in reversed(self._runs) if run.key == key), None)

    def _found_of_same(self, key: Any, departed: list[Run]) -> Run | None:
        run: Run
        for run, same in self._programs.of_same(self._function):
            if run not in self._runs and run not in departed and run.key == key and run.holds():
                self._runs.append(run)
                self.same.append(same)
                return run
        return None


THREADED: weakref.WeakSet[Runs] = weakref.WeakSet()


def _drop_in_child() -> None:
    for runs in [*THREADED]:
        runs.drop_in_child()


os.register_at_fork(after_in_child=_drop_in_child)
