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
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import torch

from ingot.torch.python_state.held import ClassAttribute
from ingot.torch.python_state.reach import LAST_RATES, codes, is_users_class, users_functions
from ingot.torch.python_state.snapshot import Snapshot

COMPUTED_NAMES = {
    *("setattr", "delattr", "__setattr__", "__delattr__"),
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
MAKERS = {"__class__", "type", "cls"}  # by which code makes objects of a class that it does not name
SHOWING = {"__str__", "__repr__", "__format__"}
SHOWN = "a text of an object"
SHOWERS = {"str", "repr", "ascii", "format", "format_map", "print", "pformat", "substitute", "safe_substitute", SHOWN}
EXPRESSION = ("LOAD_", "FORMAT_", "BUILD_", "BINARY_", "CALL", "CONVERT_", "PUSH_NULL", "KW_NAMES")  # ops of one
GENERATED = {"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__"}  # by dataclasses; these make no objects
MODULES = "torch.nn."  # whose classes' methods nobody calls but their own code and the user's
PLAIN_BASES = (object, torch.nn.Module, torch.optim.Optimizer)  # libraries' classes that call no others


class Named(NamedTuple):
    """The names in the code that a call can come to, and the user's functions in it; None where it computes names."""

    names: set[str] | None
    called: frozenset[int] | None  # by identity


def named_in(snapshot: Snapshot) -> Named:
    """What a call can come to among what a snapshot reached."""
    reached = snapshot.reached()
    own = {id(function): function for function in users_functions(reached)}
    functions, waiting = {*own}, dict[int, set[str]]()
    classes = [value for value in reached if isinstance(value, type)]
    bases = {base for class_ in classes if is_users_class(class_) for base in library_bases(class_)}
    own_places = set[int]()  # where decorated methods hold what they wrap
    for class_ in classes:
        for calling, method in _methods(class_):
            waiting.setdefault(id(method), set()).update(calling)
            own_places.update(map(id, _places_in(method)))
    reads = [leaf.read for leaf in snapshot.leaves.values() if not isinstance(leaf.read, ClassAttribute)]
    for held_elsewhere in (read() for read in reads if id(getattr(read, "container", None)) not in own_places):
        waiting.pop(id(held_elsewhere), None)  # it may be called by any name
    if any(_reads_all(value) for value in reached):
        return ALL
    names = {name for value in reached if isinstance(value, GETTERS) for name in _got_by(value)}
    while True:
        called = _called_by(names | CALLED, bases)
        ready = [key for key in own if key not in waiting or waiting[key] & called]
        if not ready:
            if RATES in names:
                names.add(LAST_RATES)
            is_all = names & COMPUTED_NAMES or COMPUTED in names
            return ALL if is_all else Named(names, frozenset(functions - own.keys()))
        for key in ready:
            names.update(name for code in codes(own.pop(key).__code__) for name in _named_by(code))


NONE = Named(set(), frozenset())
ALL = Named(None, None)


def _reads_all(value: Any) -> bool:
    """Whether it is a function that reads attributes by names that are computed, held under another name."""
    is_pythons = callable(value) and not isinstance(value, (torch.nn.Module, torch.Tensor))
    return is_pythons and getattr(value, "__name__", "") in COMPUTED_NAMES | {"hasattr"}


@functools.cache
def _named_by(code: CodeType) -> frozenset[str]:
    """The names in code, and those of attributes in texts: of what it formats, and where it asks for one."""
    names = {*code.co_names}
    if code.co_filename == "<string>" and code.co_name in GENERATED:
        names -= MAKERS
    ops = [op for op in dis.get_instructions(code) if op.opname not in ("CACHE", "PRECALL")]
    pairs = [*itertools.pairwise(ops)]
    if any(op.opname in ("LOAD_GLOBAL", "LOAD_NAME") and op.argval in ("eval", "exec") for op in ops):
        names.add(COMPUTED)
    if any(_is_formatting(op) and not _is_raised(ops[i + 1 :]) for i, op in enumerate(ops)):
        names.add(SHOWN)
    if FORMATTING & names:
        texts = [text for text, op in pairs if op.opname in ("LOAD_METHOD", "LOAD_ATTR") and op.argval in FORMATTING]
        names.update(*(_formatted_by(op.argval) if op.opname == "LOAD_CONST" else {COMPUTED} for op in texts))
    if "hasattr" in names:
        texts = [text for text, call in pairs if call.opname == "CALL" and call.arg == 2 and _is_text(text)]
        asking = [op for op in ops if op.opname.startswith("LOAD") and op.argval == "hasattr"]
        names.update([text.argval for text in texts] if len(texts) >= len(asking) else [COMPUTED])
    return frozenset(names)


def _is_formatting(op: dis.Instruction) -> bool:
    return op.opname.startswith("FORMAT_") or op.argrepr in ("%", "%=")


def _is_raised(ops: Iterable[dis.Instruction]) -> bool:
    """Whether what was computed before is raised, as the text of an error is."""
    rest = (op.opname for op in ops if not op.opname.startswith(EXPRESSION))
    return next(rest, "") == "RAISE_VARARGS"


def library_bases(class_: type) -> list[type]:
    """The classes of libraries, and of Python, that a class derives from or is."""
    return [base for base in class_.__mro__ if not is_users_class(base)]


def _is_of_modules(base: type) -> bool:
    return base in PLAIN_BASES or base.__module__.startswith(MODULES)


def _called_by(names: set[str], bases: Iterable[type]) -> set[str]:
    """The names, and those in the methods of libraries' classes that are called by them: ``eval`` calls ``train``."""
    found, new = set(names), set(names)
    while new:
        methods = [(base, vars(base).get(name)) for base in bases for name in new]
        named = [_named_by_library(base, method) for base, method in methods if isinstance(method, FunctionType)]
        new = set().union(*named) - found
        found |= new
    return found


def _named_by_library(base: type, method: FunctionType) -> set[str]:
    names = {name for code in codes(method.__code__) for name in code.co_names}
    return names - MAKERS if base in PLAIN_BASES else names  # those make no objects


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
    """The methods of a class, and the functions that decorators wrapped in them, each with names that call it."""
    for names, method in _named_methods(class_):
        while method is not None:
            yield names, method
            method = getattr(method, "__wrapped__", None)


def _places_in(method: Any) -> Iterable[Any]:
    """Where a decorated method holds what it wraps."""
    if isinstance(method, FunctionType) and hasattr(method, "__wrapped__"):
        yield from (vars(method), *(method.__closure__ or ()))


def _named_methods(class_: type) -> Iterable[tuple[set[str], Any]]:
    """The methods of a class of the user's or of modules, each with names by one of which it is called.

    Those that Python may call at any time are left out. Objects are made by the name of their class; their texts are
    asked for where code formats.
    """
    if not is_users_class(class_) or not all(map(_is_of_modules, library_bases(class_))):
        return
    for name, value in vars(class_).items():
        if name in MAKING:
            yield {class_.__name__, *MAKERS}, value
        elif name in SHOWING:
            yield SHOWERS, value
        elif not (name.startswith("__") and name.endswith("__")):
            yield {name}, getattr(value, "__func__", getattr(value, "fget", value))
