"""Counts the calls of a step that run in PyTorch, and warns of them."""

from __future__ import annotations

import collections
import warnings
from typing import Any

from ingot.torch.base.errors import Raised, TraceError
from ingot.torch.python_state.repetition import Carried
from ingot.torch.run import Options
from ingot.torch.running.redecorated import Programs
from ingot.torch.runs import MOST_PROGRAMS

MOST_FIRSTS = 3  # calls with one key that run in PyTorch before all of that key do


class LeftCalls:
    """The calls of one step that ran in PyTorch. After a few with one key, all of that key do, without a trace."""

    def __init__(self, name: str, options: Options, programs: Programs) -> None:
        self._name, self._options, self._programs = name, options, programs
        self._first: Any = None  # the key of the last call, if it ran in PyTorch to make objects that later calls use
        self._counts: collections.Counter[Any] = collections.Counter()  # by the key of a call
        self._refusals = 0
        self._causes: collections.Counter[str] = collections.Counter()

    def __bool__(self) -> bool:
        """Whether there were any."""
        return bool(self._counts)

    def are_all(self, key: Any) -> bool:
        """Whether every call with this key runs in PyTorch."""
        return self._counts[key] == MOST_FIRSTS or self._refusals == MOST_PROGRAMS

    def end(self) -> None:
        """Resets the first call, as a program ran."""
        self._first = None

    def lines(self) -> list[str]:
        """How many there were and why, for `explain`."""
        return [f"  calls in PyTorch: {count}, as {why}" for why, count in self._causes.items()]

    def add_first(self, key: Any, error: Carried) -> None:
        """Counts a call that makes objects for later calls; raises the error if it is no such call."""
        if not error.is_of_first or self._first == key or self._options.on_change == "error":
            raise error
        self._first = key  # later calls may repeat each other
        self._counts[key] += 1
        self._causes[error.what] += 1
        if self._programs.is_first("first"):
            warnings.warn(f"{self._name}: this call is PyTorch's: {error.what}", stacklevel=5)

    def add_refused(self, key: Any, error: TraceError) -> None:
        """Counts a call that cannot be traced, or that raises."""
        self._counts[key] += 1
        self._refusals += 1
        self._causes[str(error)] += 1
        if self._programs.is_first(f"refused {error.what}"):
            what = f"traced, it raises {error}" if isinstance(error, Raised) else error
            warnings.warn(f"{self._name}: this call is PyTorch's: {what}", stacklevel=5)
