"""The part of Python's state that a call can read and write: the attributes of objects that code names.

The user's objects may have others. Those belong to other code, which may change them at any time in any thread.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.python_state.held import Entry, Held
from ingot.torch.python_state.named import NONE, PLAIN_BASES, Named, library_bases, named_in
from ingot.torch.python_state.reach import OWN_MODULES, users_functions
from ingot.torch.python_state.snapshot import CONTAINERS, STATEFUL, Follows, Snapshot

BY_KEY = {"__getattr__", "__getitem__"}
MODULE_ATTRIBUTES = {*dir(torch.nn.Module()), *vars(torch.nn.Module())}  # which PyTorch itself reads of modules
READING = {"get_lr", "state_dict"}  # methods of schedulers that read what they hold


class NamedAttributes:
    """The attributes that code names. What is reached through others alone is left out."""

    def __init__(
        self, take: Callable[[Follows | None], Snapshot], known: dict[bool, Named], *, libraries_write: bool
    ) -> None:
        """`take` gives what is reached where holders are followed; `known` is what was found before, to begin with.

        With `libraries_write`, objects of libraries' classes are followed whole, as ``scheduler.step()`` needs.
        """
        self._take, self._libraries_write = take, libraries_write
        self.names, self._called = known.get(libraries_write) or known.get(False, NONE)  # the fewest, to begin with
        self._functions: set[int] | None = None  # those that were reached, by identity; others are made later
        while True:  # what is called, and what it names, until that leads to nothing else
            self.snapshot = take(self.follows)
            if (named := named_in(self.snapshot)) == (self.names, self._called):
                self._functions = {*map(id, users_functions(self.snapshot.reached()))}
                known[libraries_write] = named
                return
            self.names, self._called = named

    @functools.cached_property
    def whole(self) -> Snapshot:
        """All that is reached, also through attributes that code does not name."""
        return self._take(None)

    def follows(self, holder: Any, held: Held) -> bool:
        """Whether code can read what an object of the user's holds, or a function."""
        if self._called is not None and users_functions([holder]) and not self._is_called(id(holder)):
            return False
        read = held.read
        if not isinstance(read, Entry) or not is_object(holder) or read.container is not vars(holder):
            return True
        names = self.names_of(holder)
        return names is None or read.key in names

    def _is_called(self, function: int) -> bool:
        assert self._called is not None
        return function in self._called or (self._functions is not None and function not in self._functions)

    def names_of(self, value: Any) -> AbstractSet[str] | None:
        """The attributes that code can read of an object of the user's; None where it can read all of them."""
        if self.names is None or self.is_whole(value):
            return None
        return self.names | MODULE_ATTRIBUTES if isinstance(value, torch.nn.Module) else self.names

    def is_whole(self, value: Any) -> bool:
        """Whether code that names no attribute may read it: of a scheduler, whose rates alone are asked for, none."""
        if self._libraries_write:
            return isinstance(value, torch.nn.Module) or not _is_plain(type(value))
        if isinstance(value, LRScheduler) and self.names is not None and not (READING & self.names):
            return False
        return _is_whole(type(value))


def is_object(value: Any) -> bool:
    """Whether it is an object with attributes that is not compared in another way."""
    if isinstance(value, torch.nn.Module):
        return _is_plain(type(value))
    others = (*STATEFUL, *CONTAINERS, torch.optim.Optimizer, types.FunctionType, types.MethodType)
    is_followed = not isinstance(value, others) and not type(value).__module__.startswith(OWN_MODULES)
    return is_followed and isinstance(getattr(value, "__dict__", None), dict)


def _is_whole(class_: type) -> bool:
    """Whether a library's code, or this package's, reads its objects' attributes, which the user's does not name."""
    others = library_bases(class_)
    is_librarys = class_ in others and class_ is not object
    return is_librarys or any(BY_KEY & {*vars(base)} for base in others if base not in PLAIN_BASES)


def _is_plain(class_: type) -> bool:
    """Whether no library's code but that of PyTorch's own plain classes reads its objects' attributes."""
    return all(base in PLAIN_BASES for base in library_bases(class_))
