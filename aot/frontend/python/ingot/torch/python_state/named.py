"""The names in the user's code that a call can come to: what it can read of objects, which may hold more.

Methods of the user's classes that nothing calls by their names, such as the loop around the calls, are left out.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import itertools
import operator
import string
from collections.abc import Iterable
from types import CodeType
from typing import Any

import torch

from ingot.torch.python_state.held import ClassAttribute
from ingot.torch.python_state.reach import LAST_RATES, codes, is_users_class, users_functions
from ingot.torch.python_state.snapshot import Snapshot

COMPUTED_NAMES = {
    *("getattr", "vars", "__dict__", "__getattribute__", "attrgetter", "methodcaller", "getmembers", "getattr_static"),
    *("asdict", "astuple", "dump", "dumps", "__reduce__", "__reduce_ex__", "__getstate__", "dir"),  # they read all
    "vformat",
}
GETTERS = (operator.attrgetter, operator.methodcaller)
COMPUTED = "a name that is computed"
FORMATTING = {"format", "format_map"}  # by texts that name attributes
RATES = "get_last_lr"  # a scheduler's method that reads LAST_RATES alone
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
    if any(_reads_all(value) for value in reached):
        return None
    names = {name for value in reached if isinstance(value, GETTERS) for name in _got_by(value)}
    while True:
        ready = [key for key in own if key not in waiting or waiting[key] & (names | CALLED)]
        if not ready:
            if RATES in names:
                names.add(LAST_RATES)
            return None if names & COMPUTED_NAMES or COMPUTED in names else names
        for key in ready:
            names.update(name for code in codes(own.pop(key).__code__) for name in _named_by(code))


def _reads_all(value: Any) -> bool:
    """Whether it is a function that reads attributes by names that are computed, held under another name."""
    is_pythons = callable(value) and not isinstance(value, (torch.nn.Module, torch.Tensor))
    return is_pythons and getattr(value, "__name__", "") in COMPUTED_NAMES | {"hasattr"}


@functools.cache
def _named_by(code: CodeType) -> frozenset[str]:
    """The names in code, and those of attributes in texts: of what it formats, and where it asks for one."""
    names = {*code.co_names}
    ops = [op for op in dis.get_instructions(code) if op.opname not in ("CACHE", "PRECALL")]
    pairs = [*itertools.pairwise(ops)]
    if FORMATTING & names:
        texts = [text for text, op in pairs if op.opname in ("LOAD_METHOD", "LOAD_ATTR") and op.argval in FORMATTING]
        names.update(*(_formatted_by(op.argval) if op.opname == "LOAD_CONST" else {COMPUTED} for op in texts))
    if "hasattr" in names:
        texts = [text for text, call in pairs if call.opname == "CALL" and call.arg == 2 and _is_text(text)]
        asking = [op for op in ops if op.opname.startswith("LOAD") and op.argval == "hasattr"]
        names.update([text.argval for text in texts] if len(texts) >= len(asking) else [COMPUTED])
    return frozenset(names)


def _is_text(op: dis.Instruction) -> bool:
    return op.opname == "LOAD_CONST" and isinstance(op.argval, str)


def _formatted_by(text: Any) -> set[str]:
    """The attributes that a text names by which is formatted."""
    with contextlib.suppress(TypeError, ValueError):  # none that is formatted
        fields = [field for _, field, _, _ in string.Formatter().parse(text) if field]
        return {name for field in fields for name in field.replace("[", ".").split(".")[1:]}
    return {COMPUTED}


def _got_by(getter: Any) -> list[str]:
    """The names of what an `attrgetter` or `methodcaller` reads."""
    made, given = getter.__reduce__()
    given = (*made.args, *given) if isinstance(made, functools.partial) else given
    return [name for path in given if isinstance(path, str) for name in path.split(".")]


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
