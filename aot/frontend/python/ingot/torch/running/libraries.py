"""The libraries that a trace runs: their files, and what programs have put in the place of their functions."""

from __future__ import annotations

import functools
import os
import sys
import time
import types
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingot._engine import digest
from ingot.torch.python_state.reach import is_users_module
from ingot.torch.running.described import PURE, Undescribed

ALWAYS = frozenset({"torch", "numpy", "ingot"})
# What of a module's functions, and of what stands for them, says what they do; of classes, it is what they hold.
PARTS: dict[type, tuple[str, ...]] = {
    types.FunctionType: ("__code__", "__closure__", "__defaults__"),
    types.CodeType: ("co_filename", "co_firstlineno", "co_qualname", "co_code"),
    types.BuiltinFunctionType: ("__module__", "__qualname__"),
    functools._lru_cache_wrapper: ("__wrapped__",),
    property: ("fget", "fset", "fdel"),
    **dict.fromkeys((staticmethod, classmethod), ("__func__",)),
}

Stamp = tuple[int, ...]


def packages_of(reached: Iterable[Any]) -> set[str]:
    """The libraries of functions and classes, and those that they import, by the names of their packages."""
    named = {_module_of(value) for value in reached} | {type(value).__module__ for value in reached}
    found = set(ALWAYS)
    waiting = {name.partition(".")[0] for name in named if name}
    loaded: dict[str, list[types.ModuleType]] = {}
    for name, module in sys.modules.copy().items():
        if isinstance(module, types.ModuleType):
            loaded.setdefault(name.partition(".")[0], []).append(module)
    while waiting:
        package = waiting.pop()
        if package in found or package in sys.stdlib_module_names or _is_users_package(package):
            continue
        found.add(package)
        values = [value for module in loaded.get(package, ()) for value in vars(module).copy().values()]
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
    for name, module in sys.modules.copy().items():
        if name.partition(".")[0] in packages and isinstance(module, types.ModuleType):
            yield name, module


def _is_users_package(name: str) -> bool:
    module = sys.modules.get(name)
    return module is not None and is_users_module(module)


def _module_of(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return str(value.__module__ or "")
    return ""


def _digest(module: types.ModuleType) -> str:
    """Of Python, PyTorch and this package no values, which count and keep."""
    name = module.__name__
    return digest(vars(module), name, name.partition(".")[0] not in ALWAYS | PURE, PARTS)
