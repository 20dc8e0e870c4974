"""Functions that a step calls, by the names by which it finds them: who replaces one changes what the step does.

The user's code is read, and that of the functions that it finds in libraries. PyTorch's private functions are not.
"""

from __future__ import annotations

import dis
import functools
import gc
import inspect
import os
import sys
import types
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from ingot._engine import ANYTHING, Watch
from ingot.torch.base.files import GENERATED, OWN_FILES, STANDARD_LIBRARY, TORCH, is_users
from ingot.torch.python_state.held import ABSENT
from ingot.torch.python_state.named import COMPUTED_NAMES
from ingot.torch.python_state.reach import ON_HEAP, codes, imported_names, is_users_class, passed_on, users_functions

TORCHS_TOOLS = (
    "compiler",
    "distributed",
    "fx",
    "jit",
    "overrides.py",
    "profiler",
    os.path.join("autograd", "profiler"),
)
TORCHS_OWN = ("_jit", "overrides")  # modules of functions that ask what tensors are
PRIVATE = ("_", "has_torch_function")  # begin names
METHODS = (property, functools.cached_property, classmethod, staticmethod)
MAIN = ("forward", "step")  # methods of libraries' objects that calls come to, also where none is seen to run
PARTS = ("__code__", "__defaults__", "__kwdefaults__")  # of a function
IMMUTABLE = 1 << 8  # a flag of classes
MOST_APART = 8  # names of one mapping are looked up one by one; of more, all of a smaller mapping is compared


class Found(NamedTuple):
    """What a mapping holds under a name, and how a message calls it."""

    mapping: dict[str, Any]
    name: str
    value: Any
    path: str


class Functions:
    """What is found by the names in a step's code."""

    def __init__(self, reached: Sequence[Any]) -> None:
        """`reached` is what the user's function can reach."""
        self._followed: set[types.CodeType] = set()
        self._found: dict[tuple[int, str], Found] = {}
        self._classes: dict[type, dict[str, Any]] = {}
        functions = [value for value in reached if isinstance(value, types.FunctionType)]
        own = users_functions(functions)
        self._parts = [(function, name, getattr(function, name)) for function in own for name in PARTS]
        self._types = [(value, "__class__", type(value)) for value in reached if _is_of_class(value)]
        names = {name: None for function in own for code in codes(function.__code__) for name in code.co_names}
        for function in functions:
            if is_users(function.__code__.co_filename):
                self._add_own(function)
            else:
                self._follow(function)
        for value in reached:
            self._add_of_module(value, None if COMPUTED_NAMES & {*names} else [*names])
            self._add_classes(type(value))
            self._add_classes(value)
        self._add_class(torch.Tensor)
        self._arm()

    def hold(self) -> bool:
        """Whether each is still what it was."""
        if self._watch.holds():
            return True
        if self._changed():
            return False
        self._arm()  # something else has changed
        return True

    def change(self) -> str:
        """Which is another; nothing where all are as they were."""
        changed = self._changed()
        return f"`{changed}` is another function than it was" if changed else ""

    def _add_own(self, function: types.FunctionType) -> None:
        """What a function of the user's finds."""
        every = [*codes(function.__code__)]
        names = [name for code in every for name in code.co_names]
        for code in every:
            self._add_named(code, function.__globals__)
            for module in map(sys.modules.get, imported_names(code)):
                self._add_of_module(module, names)
            if COMPUTED_NAMES & {*code.co_names}:
                for module in map(function.__globals__.get, passed_on(code)):
                    self._add_of_module(module, None)

    def _add_named(self, code: types.CodeType, variables: dict[str, Any]) -> None:
        """What code finds by names of variables, and of attributes of modules among them."""
        is_own = is_users(code.co_filename)
        for name, *attributes in chains(code):
            value = variables.get(name, ABSENT)
            if is_own and not isinstance(value, types.ModuleType):
                continue  # it is watched as what the function reaches
            if is_own or _is_public(value, name):
                self._add(variables, name, f"{variables.get('__name__')}.{name}")
            for attribute in attributes:
                if not isinstance(value, types.ModuleType):
                    break
                module, value = value, vars(value).get(attribute, ABSENT)
                if is_own or _is_public(value, attribute):
                    self._add(vars(module), attribute, f"{module.__name__}.{attribute}")

    def _add_of_module(self, module: Any, names: Sequence[str] | None) -> None:
        """What a module, and modules in it, have by some names; all that it has itself where these are not known."""
        if not isinstance(module, types.ModuleType):
            return
        for name in vars(module) if names is None else names:
            self._add(vars(module), name, f"{module.__name__}.{name}")
            inner = vars(module).get(name)
            if names and isinstance(inner, types.ModuleType):
                self._add_of_module(inner, [other for other in names if other != name])

    def _add(self, mapping: dict[str, Any], name: str, path: str) -> None:
        value = mapping.get(name, ABSENT)
        if isinstance(value, types.ModuleType) or callable(value):
            self._found.setdefault((id(mapping), name), Found(mapping, name, value, path))
            self._follow(value)
            self._add_classes(value)

    def _add_classes(self, value: Any) -> None:
        """A class and its bases; nothing for other values."""
        for base in value.__mro__ if isinstance(value, type) else ():
            self._add_class(base)

    def _add_class(self, class_: type) -> None:
        """All methods of a class that can be given others."""
        flags = class_.__flags__
        is_fixed = flags & IMMUTABLE or not flags & ON_HEAP
        if class_ in self._classes or is_fixed or class_.__module__.partition(".")[0] in sys.stdlib_module_names:
            return
        self._classes[class_] = _methods(class_)
        for name in MAIN if not is_users_class(class_) else ():
            self._follow(inspect.unwrap(main) if (main := vars(class_).get(name)) else None)

    def _follow(self, function: Any) -> None:
        """What a function of a library finds."""
        if isinstance(function, types.FunctionType) and function.__code__ not in self._followed:
            self._followed.add(function.__code__)
            if _is_looked_at(function.__code__):
                self._add_named(function.__code__, function.__globals__)

    def _changed(self) -> str:
        for mapping, name, value, path in self._found.values():
            if not _is_same(mapping.get(name, ABSENT), value):
                return path
        for class_, methods in self._classes.items():
            now = _methods(class_)
            for name in {**methods, **now}:
                if not _is_same(now.get(name), methods.get(name)):
                    return f"{_path_of(class_)}.{name}"
        for function, name, part in self._parts:
            if getattr(function, name) is not part:
                return _path_of(function)
        return next((_path_of(kind) for value, _, kind in self._types if type(value) is not kind), "")

    def _arm(self) -> None:
        """Watches what is there now, all of it where that is faster than to look many names up."""
        by_mapping: dict[int, list[Found]] = {}
        for found in self._found.values():
            by_mapping.setdefault(id(found.mapping), []).append(found)
        whole = [some for some in by_mapping.values() if len(some[0].mapping) <= MOST_APART * len(some)]
        apart = [some for some in by_mapping.values() if len(some[0].mapping) > MOST_APART * len(some)]
        mappings = [(some[0].mapping, {found.name for found in some}) for some in whole]
        mappings += [(_held_by(class_), {*methods}) for class_, methods in self._classes.items()]
        contents = [
            tuple(part for key, value in held.items() for part in (key, value if key in names else ANYTHING))
            for held, names in mappings
        ]
        entries = tuple((found.mapping, found.name, found.value) for some in apart for found in some)
        attributes = (*self._types, *self._parts)
        self._watch = Watch(tuple(held for held, _ in mappings), tuple(contents), entries, attributes)


@functools.cache
def chains(code: types.CodeType) -> list[list[str]]:
    """The variables outside of a function that code names, each with the attributes that are read of it at once."""
    found: list[list[str]] = []
    is_open = False
    for op in dis.get_instructions(code):
        if "GLOBAL" in op.opname or op.opname == "LOAD_NAME":
            found.append([op.argval])
            is_open = True
        elif is_open and op.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            found[-1].append(op.argval)
        else:
            is_open = False
    return [list(chain) for chain in dict.fromkeys(map(tuple, found))]


@functools.cache
def _is_looked_at(code: types.CodeType) -> bool:
    """Whether code is a library's, and neither Python's nor this package's nor what PyTorch keeps for itself."""
    file = code.co_filename
    if is_users(file) or file.startswith((OWN_FILES, *GENERATED)):
        return False
    if file.startswith(TORCH):
        inner = file.removeprefix(TORCH)
        is_private = inner.startswith("_") and inner != "_tensor.py"
        return not is_private and not inner.startswith(TORCHS_TOOLS) and f"{os.sep}_" not in inner
    return "-packages" in file or not file.startswith(STANDARD_LIBRARY)


def _is_of_class(value: Any) -> bool:
    """Whether an object is one whose class decides what is called."""
    return isinstance(value, (torch.nn.Module, torch.optim.Optimizer)) or is_users_class(type(value))


def _is_public(value: Any, name: str) -> bool:
    """Whether what code of a library finds by a name is a function that others may replace."""
    if isinstance(value, (types.ModuleType, type)) or not callable(value) or name.startswith(PRIVATE):
        return False
    module = str(getattr(value, "__module__", None) or "")
    top, _, inner = module.partition(".")
    return top not in sys.stdlib_module_names and not (top == "torch" and inner.startswith(TORCHS_OWN))


def _path_of(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _held_by(class_: type) -> dict[str, Any]:
    """The attributes of a class, in the dict that holds them."""
    return next(part for part in gc.get_referents(vars(class_)) if isinstance(part, dict))


def _methods(class_: type) -> dict[str, Any]:
    return {name: value for name, value in vars(class_).items() if callable(value) or isinstance(value, METHODS)}


def _is_same(now: Any, before: Any) -> bool:
    """Whether a function is what it was, or what stands for it while another thread traces."""
    if now is before:
        return True
    inner = getattr(now, "fget", None) or getattr(now, "__func__", now)
    code = getattr(inner, "__code__", None)
    return isinstance(code, types.CodeType) and code.co_filename.startswith(OWN_FILES)
