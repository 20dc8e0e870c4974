"""The libraries that a trace runs: their files, and what programs have put in the place of their functions."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
import types
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from ingot.torch.described import PURE, Undescribed
from ingot.torch.reach import is_users

ALWAYS = frozenset({"torch", "numpy", "ingot"})
PLAIN = (bool, int, float, str, bytes, type(None))
CONTAINERS = (dict, list, tuple, set, frozenset)
VALUES = (*PLAIN, *CONTAINERS)
TYPES = frozenset(PLAIN)
MOST_NAMED = 24  # characters of a setting; longer texts are messages, paths, and names that a process gives itself
DEEP = 2  # functions in closures of functions

Stamp = tuple[int, ...]


def packages_of(reached: Iterable[Any]) -> set[str]:
    """The libraries of functions and classes, and those that they import, by the names of their packages."""
    named = {_module_of(value) for value in reached} | {type(value).__module__ for value in reached}
    found = set(ALWAYS)
    waiting = {name.partition(".")[0] for name in named if name}
    loaded: dict[str, list[types.ModuleType]] = {}
    for name, module in [*sys.modules.items()]:
        if isinstance(module, types.ModuleType):
            loaded.setdefault(name.partition(".")[0], []).append(module)
    while waiting:
        package = waiting.pop()
        if package in found or package in sys.stdlib_module_names or _is_users_package(package):
            continue
        found.add(package)
        values = [value for module in loaded.get(package, ()) for value in vars(module).values()]
        waiting |= {name.partition(".")[0] for value in values if (name := _module_of(value))}
    return found


def stamps(packages: set[str]) -> dict[str, tuple[str, Stamp]]:
    """The file of each module of some packages, and what tells it from others of its name."""
    found = {}
    for name, module in _modules(packages):
        file = getattr(module, "__file__", None)
        if file:
            found[name] = (file, stamp(file))
    return found


def stamp(file: str) -> Stamp:
    """What changes with a file; zeros where there is none."""
    with suppress(OSError):
        status = os.stat(file)
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return (0,)


def refuse_newer(files: Iterable[Stamp], start: float) -> None:
    """Raises Undescribed where files were written later: what was read of them may have been others."""
    if any(max(file[2:], default=0) / 1e9 >= start for file in files):
        raise Undescribed("a library whose files are newer than what was loaded")


@functools.cache
def process_start() -> float:
    """When this process started, in seconds since 1970; raises Undescribed where that is not known."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, ValueError, AttributeError) as error:
        raise Undescribed("when this process started") from error
    return boot + ticks / os.sysconf("SC_CLK_TCK")


def contents(packages: set[str]) -> dict[str, str]:
    """What the modules of some packages, and Python's own, hold under each name: who replaces a function changes it."""
    return {name: _digest(module) for name, module in _modules(packages | PURE | {"random", "os", "time"})}


def contents_of(names: Iterable[str]) -> dict[str, str]:
    """The same of modules, those of them that are loaded."""
    return {name: _digest(sys.modules[name]) for name in names if name in sys.modules}


def _modules(packages: set[str]) -> Iterator[tuple[str, types.ModuleType]]:
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in packages and isinstance(module, types.ModuleType):
            yield name, module


def _is_users_package(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    return name == "__main__" or (file is not None and is_users(file))


def _module_of(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return str(value.__module__ or "")
    return ""


def _digest(module: types.ModuleType) -> str:
    name = module.__name__
    entries = _entries(vars(module), name, 0)
    return hashlib.blake2b("\n".join(entries).encode(errors="replace"), digest_size=12).hexdigest()


def _entries(held: Mapping[str, Any], module: str, depth: int) -> list[str]:
    """What a module or a class holds; of Python, PyTorch and this package no values, which count and keep."""
    found = []
    has_values = module.partition(".")[0] not in ALWAYS | PURE
    for key, value in [*held.items()]:
        kind = type(value)
        describe = ENTRIES.get(kind) or (_class if issubclass(kind, type) else None)
        if describe:
            found.append(f"{key} {describe(value, module, depth)}")
        elif has_values and kind in VALUES and not (kind is str and len(value) > MOST_NAMED):
            found.append(f"{key} {_value(value, module, 0)}")
    return sorted(found)


def _value(value: Any, module: str, depth: int) -> str:
    """A plain value, or what a container has of them and of functions and classes; lists are made of sets, too."""
    if not isinstance(value, CONTAINERS) or depth == DEEP:
        return repr(value) if type(value) in PLAIN else _entry(value, module, 1)
    if isinstance(value, dict):
        pairs = [*value.items()]
        if TYPES.issuperset(map(type, chain.from_iterable(pairs))):
            return f"{sorted(map(repr, pairs))}"
        return f"{sorted([(_value(k, module, DEEP), _value(v, module, depth + 1)) for k, v in pairs])}"
    elements = [*value]
    are_plain = TYPES.issuperset(map(type, elements))
    values = [*map(repr, elements)] if are_plain else [_value(v, module, depth + 1) for v in elements]
    return f"{values if isinstance(value, tuple) else sorted(values)}"


def _entry(value: Any, module: str, depth: int) -> str:
    describe = ENTRIES.get(type(value))
    return describe(value, module, depth) if describe else type(value).__name__


def _function(function: Any, module: str, depth: int) -> str:
    """Where a function is written, what it does, and the functions that it closes over."""
    code = function.__code__
    text = f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname} {zlib.crc32(code.co_code)}"
    if function.__closure__ and depth < DEEP:
        for cell in function.__closure__:
            with suppress(ValueError):  # it has no value yet
                text += f" {_entry(cell.cell_contents, module, depth + 1)}"
    if function.__defaults__:
        text += f" {[value for value in function.__defaults__ if type(value) in PLAIN]}"
    return text


def _class(class_: type, module: str, depth: int) -> str:
    """The name of a class, and, where it is the module's own, what it holds."""
    name = f"{class_.__module__}.{class_.__qualname__}"
    if class_.__module__ != module or depth:
        return name
    return f"{name} {_entries(vars(class_), module, 1)}"


def _property(value: Any, module: str, depth: int) -> str:
    return f"{[_entry(f, module, depth) for f in (value.fget, value.fset, value.fdel)]}"


ENTRIES: dict[type, Callable[[Any, str, int], str]] = {
    types.FunctionType: _function,
    type: _class,
    property: _property,
    types.BuiltinFunctionType: lambda value, *_: f"{value.__module__}.{value.__qualname__}",
    functools._lru_cache_wrapper: lambda value, *at: f"cached {_entry(value.__wrapped__, *at)}",
    **dict.fromkeys((staticmethod, classmethod), lambda value, *at: _entry(value.__func__, *at)),
}
