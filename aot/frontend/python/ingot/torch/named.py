"""The names in the user's code that a call can come to: what it can read of objects, which may hold more.

Methods of the user's classes that nothing calls by their names, such as the loop around the calls, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from ingot.torch.held import ClassAttribute
from ingot.torch.reach import codes, is_users_class, users_functions
from ingot.torch.snapshot import Snapshot

COMPUTED_NAMES = {"getattr", "vars", "__dict__", "__getattribute__", "attrgetter", "methodcaller"}
CALLED = {"forward", "step"}  # methods that libraries call
MAKING = {"__init__", "__new__", "__post_init__"}
PLAIN_BASES = (object, torch.nn.Module, torch.optim.Optimizer)  # libraries' classes that call no others


def names_in(snapshot: Snapshot) -> set[str] | None:
    """The names in code that a call can come to, among what a snapshot reached; None where it computes names."""
    reached = snapshot.reached()
    own = {id(function): function for function in users_functions(reached)}
    waiting: dict[int, set[str]] = {}
    for class_ in (value for value in reached if isinstance(value, type)):
        for called, method in _methods(class_):
            waiting.setdefault(id(method), set()).update(called)
    reads = [leaf.read for leaf in snapshot.leaves.values()]
    for held_elsewhere in (read() for read in reads if not isinstance(read, ClassAttribute)):
        waiting.pop(id(held_elsewhere), None)  # it may be called by any name
    names: set[str] = set()
    while True:
        ready = [key for key in own if key not in waiting or waiting[key] & (names | CALLED)]
        if not ready:
            return None if names & COMPUTED_NAMES else names
        for key in ready:
            names.update(name for code in codes(own.pop(key).__code__) for name in code.co_names)


def _methods(class_: type) -> Iterable[tuple[set[str], Any]]:
    """The methods of a class that is the user's alone, each with names by one of which it is called.

    Those that Python may call at any time are left out. Objects are made by the name of their class.
    """
    if not is_users_class(class_) or any(not is_users_class(b) and b not in PLAIN_BASES for b in class_.__mro__):
        return
    for name, value in vars(class_).items():
        if name in MAKING:
            yield {class_.__name__, "__class__", "type", "cls"}, value
        elif not (name.startswith("__") and name.endswith("__")):
            yield {name}, getattr(value, "__func__", getattr(value, "fget", value))
