"""Calls of a step that are left to PyTorch, and what is said of them."""

from __future__ import annotations

import collections
import warnings
from typing import Any

from ingot.torch.base.errors import Raised, TraceError
from ingot.torch.python_state.repetition import Carried
from ingot.torch.run import Options
from ingot.torch.running.redecorated import Programs
from ingot.torch.runs import MOST_PROGRAMS

MOST_FIRSTS = 3  # calls that are PyTorch's for what they make or raise, before all of their shapes are


class LeftCalls:
    """Counts them: after some, all calls like them are PyTorch's, and nothing is traced for them any more."""

    def __init__(self, name: str, options: Options, programs: Programs) -> None:
        self._name, self._options, self._programs = name, options, programs
        self._first: Any = None  # the key of the last call, where that was PyTorch's as it makes what later ones find
        self._counts: collections.Counter[Any] = collections.Counter()  # by the key of a call
        self._refusals = 0

    def __bool__(self) -> bool:
        """Whether there were any."""
        return bool(self._counts)

    def are_all(self, key: Any) -> bool:
        """Whether all calls are PyTorch's that are like this one."""
        return self._counts[key] == MOST_FIRSTS or self._refusals == MOST_PROGRAMS

    def end(self) -> None:
        """Notes that a program ran: the next call that makes what later ones find is another first one."""
        self._first = None

    def add_first(self, key: Any, error: Carried) -> None:
        """Takes a call that makes what later ones find; raises the error where it is no such call."""
        if not error.is_of_first or self._first == key or self._options.on_change == "error":
            raise error
        self._first = key  # from what it changes on, calls may be alike
        self._counts[key] += 1
        if self._programs.is_first("first"):
            warnings.warn(f"{self._name}: this call is PyTorch's: {error.what}", stacklevel=5)

    def add_refused(self, key: Any, error: TraceError) -> None:
        """Takes a call that cannot be traced after others were, or that raises."""
        self._counts[key] += 1
        self._refusals += 1
        if self._programs.is_first(f"refused {error.what}"):
            what = f"traced, it raises {error}" if isinstance(error, Raised) else error
            warnings.warn(f"{self._name}: this call is PyTorch's: {what}", stacklevel=5)
