"""What a trace depends on in Python, as text: where two processes give the same, a function traces the same.

What cannot be shown to be the same in another process has no text: such a function is traced in each.
"""

from __future__ import annotations

import array
import builtins
import collections
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import itertools
import logging
import pathlib
import random
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend

from ingot.torch.base.files import is_users
from ingot.torch.base.torch_internals import pytree, running_modes, without_functions
from ingot.torch.python_state.aliases import refuse_arrays
from ingot.torch.python_state.held import ABSENT, Absent
from ingot.torch.python_state.reach import ABC_DATA, codes, global_names, imported_names, is_users_class
from ingot.torch.python_state.snapshot import PLAIN, SIZED, Leaf, Snapshot
from ingot.torch.python_state.unshown import has_unshown
from ingot.torch.tracing.calls import Subject

# Of Python's own modules, those whose functions give the same of the same operands. What code of the user's names of
# others may look at the machine, the clock or files.
PURE = {
    *("__future__", "_abc", "_collections", "_collections_abc", "_functools", "_operator", "_weakref", "abc", "array"),
    *("bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "decimal", "enum"),
    *("fractions", "functools", "heapq", "itertools", "json", "logging", "math", "numbers", "operator", "re"),
    *("statistics", "string", "struct", "textwrap", "types", "typing", "warnings", "weakref"),
}
# Functions of Python's own that depend on more than their operands, or run what is not seen.
IMPURE = {"__import__", "breakpoint", "compile", "eval", "exec", "globals", "hash", "id", "input", "locals", "open"}
EXACT = (
    *(type(None), bool, int, float, complex, str, bytes, range, slice, Absent, itertools.count),
    *(decimal.Decimal, fractions.Fraction, datetime.timedelta, pathlib.PurePosixPath, pathlib.PureWindowsPath),
)
SHOWN = (torch.dtype, torch.device, torch.layout, torch.memory_format, SDPBackend)
NAMED = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType)
DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType, types.ClassMethodDescriptorType)
RENAMED = {SDPBackend: "SDPBackend"}  # classes that are found by another name than their own
# Attributes of libraries' objects that are others in each process, and that no step reads: by what saving asks.
OF_PROCESS = {"transformers.generation.configuration_utils": "_original_object_hash"}
MOST_BYTES = 64 << 20  # of constants; to read more takes as long as to trace
LOCKS = (type(threading.Lock()), type(threading.RLock()))


class Undescribed(Exception):
    """Something of which two processes cannot be shown to hold the same; says what."""

    def __init__(self, what: str) -> None:
        super().__init__(f"it depends on {what}")


class Description:
    """All that a function's trace depends on; and the objects and constants by which it is found again."""

    def __init__(self, subject: Subject, arguments: Sequence[Any]) -> None:
        """Raises Undescribed where there is no text of something."""
        self._memory: dict[int, int] = {}  # memory -> the number of the first tensor in it
        self._bytes = 0
        try:
            with without_functions():
                self.snapshot = Snapshot(subject.roots(), subject.state.path_names)
                self._reached = {id(value) for value in self.snapshot.reached()}
                refuse_arrays(self.snapshot.held(), subject.state.tensors)
                self.text = "\n".join(self._lines(subject, arguments))
        except Undescribed:
            raise
        except Exception as error:  # of the user's objects, which are asked for attributes and texts
            raise Undescribed(repr(error)) from error

    def _lines(self, subject: Subject, arguments: Sequence[Any]) -> Iterator[str]:
        names = subject.state.path_names
        yield from map(str, modes())
        for name, tensor in subject.state.tensors.items():
            yield f"{name}: {self._type_of(tensor)}"
        leaves, spec = pytree.tree_flatten(tuple(arguments))
        yield str(spec)
        for leaf in leaves:
            yield self._argument(leaf, names)
        for path, held in self.snapshot.leaves.items():
            if not _is_of_process(path, held):
                yield f"{path}: {self._leaf(held)}"
        for value in self.snapshot.reached():
            self._refuse_unseen(type(value))
            yield _object(value)

    def _refuse_unseen(self, kind: type) -> None:
        """Raises Undescribed for objects of the user's classes whose methods are not reached."""
        if is_users_class(kind) and id(kind) not in self._reached:
            raise Undescribed(f"the class {kind.__qualname__}")

    def _argument(self, value: Any, names: dict[int, str]) -> str:
        if isinstance(value, torch.Tensor):
            return f"{names.get(id(value), '')} {self._type_of(value)} {value.is_neg()} {value.is_conj()}"
        return _plain(type(value), repr(value))

    def _leaf(self, leaf: Leaf) -> str:
        compared = leaf.shown.compared
        if isinstance(compared, str):  # the name of a tensor of the state, or where it is met before
            return f"= {compared}"
        if not isinstance(compared, tuple):
            return "nothing" if compared is ABSENT else _refuse(compared)
        kind, value = compared
        if isinstance(kind, int):
            return self._constant(leaf.read())
        self._refuse_unseen(kind)
        if issubclass(kind, PLAIN):
            return _plain(kind, value)
        return f"{class_name(kind)} {value if issubclass(kind, SIZED) else ''}"

    def _constant(self, tensor: torch.Tensor) -> str:
        """A tensor whose values may become constants of the program."""
        kind = self._type_of(tensor)
        self._bytes += tensor.nbytes
        if tensor.grad_fn is not None or self._bytes > MOST_BYTES:
            _refuse(tensor)
        plain = torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor.detach()
        memory = plain.resolve_neg().contiguous().view(-1).view(torch.uint8) if plain.numel() else plain
        return f"{kind} {hashlib.sha256(memory.clone().numpy()).hexdigest()}"

    def _type_of(self, tensor: torch.Tensor) -> str:
        """All of a tensor but its values."""
        is_plain = tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
        if not is_plain or type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            _refuse(tensor)
        memory = self._memory.setdefault(tensor.untyped_storage()._cdata, len(self._memory))
        attributes = {name: _plain(type(value), repr(value)) for name, value in sorted(vars(tensor).items())}
        gradient = tensor.grad if tensor.is_leaf or tensor.retains_grad else None  # else PyTorch warns
        grad = None if gradient is None else (gradient.dtype, gradient.stride())
        place = memory, tensor.storage_offset(), tensor.stride()
        kind = f"{class_name(type(tensor))} {tensor.dtype} {tuple(tensor.shape)}"
        return f"{kind} {place} {tensor.requires_grad} {grad} {attributes}"


def _is_of_process(path: str, held: Leaf) -> bool:
    """Whether a value tells nothing but which process this is."""
    holder = held.holder and type(held.holder.value).__module__
    return holder in OF_PROCESS and path.endswith(f".{OF_PROCESS[holder]}")


def modes() -> list[Any]:
    """What PyTorch is set to, for all functions."""
    if running_modes():
        raise Undescribed("a mode of PyTorch's that runs")
    deterministic = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    return [
        *(sys.version, torch.__version__, torch.version.git_version, sys.flags, sys.byteorder),
        *(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype()),
        *(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()),
        *(torch.is_anomaly_enabled(), torch.get_float32_matmul_precision(), torch.get_num_threads(), *deterministic),
    ]


def class_name(kind: type) -> str:
    """The name of a class, by which it is found, or by which a text of it is elsewhere."""
    name = f"{kind.__module__}.{RENAMED.get(kind, kind.__qualname__)}"
    if kind in RENAMED:
        return name
    if not is_users_class(kind) and not issubclass(kind, type):  # of which C's have no names
        found: Any = sys.modules.get(kind.__module__)
        for part in kind.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is not kind and kind.__module__ not in PURE:
            raise Undescribed(f"the class {name}, which is made where it is used")
    return name


def code_text(code: types.CodeType) -> str:
    """All that a code object does, and where it says that it stands."""
    constants = [
        code_text(c) if isinstance(c, types.CodeType) else sorted(map(repr, c)) if isinstance(c, frozenset) else repr(c)
        for c in code.co_consts
    ]
    where = code.co_filename, code.co_qualname, code.co_linetable, code.co_exceptiontable
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return repr((code.co_code, constants, *where, *names, *counts))


def _refuse(value: Any) -> str:
    raise Undescribed(f"a {type(value).__name__}")


def _plain(kind: type, text: str) -> str:
    """A value by its text, which must be that of its class."""
    if kind in EXACT or issubclass(kind, np.generic):
        return f"{kind.__name__} {text}"
    if issubclass(kind, enum.Enum):
        return f"{class_name(kind)} {text}"
    raise Undescribed(f"a {kind.__name__}")


def _object(value: Any) -> str:
    """An object without what it holds, which is reached by itself."""
    for types_, describe in OBJECTS:
        if isinstance(value, types_):
            return f"{type(value).__name__} {describe(value)}"
    kind: Any = type(value)
    if has_unshown(kind):
        raise Undescribed(f"a {kind.__name__}, which holds what Python does not see")
    if kind.__module__.partition(".")[0] in sys.stdlib_module_names - PURE:
        raise Undescribed(f"a {kind.__name__} of {kind.__module__}")
    return class_name(kind)


def _function(function: Any) -> str:
    if function.__globals__.get("__builtins__") not in (builtins, vars(builtins)):
        raise Undescribed(f"{function.__qualname__} has functions of its own in the place of Python's")
    if is_users(function.__code__.co_filename):
        for code in codes(function.__code__):
            _refuse_impure(function, code)
    elif not _is_pure(function):
        raise Undescribed(f"{function.__qualname__} of {function.__module__}")
    return f"{function.__module__} {function.__qualname__} {code_text(function.__code__)}"


def _refuse_impure(function: Any, code: types.CodeType) -> None:
    """Raises Undescribed where code names what does not depend on its operands alone."""
    variables = function.__globals__
    for name in global_names(code):
        value = variables.get(name, vars(builtins).get(name, ABSENT))
        if isinstance(value, types.ModuleType):
            _refuse_impure_module(value, code.co_names)
        elif name in IMPURE or not _is_pure(value):
            raise Undescribed(f"{function.__qualname__} names {name!r}")
    for name in imported_names(code):
        if not _is_pure_name(name):
            raise Undescribed(f"{function.__qualname__} imports {name!r}")


def _refuse_impure_module(module: types.ModuleType, names: Sequence[str]) -> None:
    if not _is_pure_name(module.__name__):
        raise Undescribed(f"the module {module.__name__} is named")
    others = {name: value for name in names if isinstance(value := vars(module).get(name), types.ModuleType)}
    for name, inner in others.items():
        _refuse_impure_module(inner, [other for other in names if other != name])


def _is_pure(value: Any) -> bool:
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return _is_pure_name(_module_of(value))
    return True


def _is_pure_name(module: str) -> bool:
    """Whether a module is none of Python's own, or one of the pure ones."""
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names or top in PURE


def _module_of(value: Any) -> str:
    """The module that a function or a method without Python code belongs to."""
    owner = getattr(value, "__objclass__", getattr(value, "__self__", None))
    if value.__module__ is None and owner is not None and not isinstance(owner, types.ModuleType):
        return str((owner if isinstance(owner, type) else type(owner)).__module__)
    return str(value.__module__ or getattr(owner, "__name__", "builtins"))


def _named(value: Any) -> str:
    module = _module_of(value) if hasattr(value, "__module__") else value.__objclass__.__module__
    if not _is_pure_name(module) or (module == "builtins" and value.__name__ in IMPURE):
        raise Undescribed(f"{value.__qualname__} of {module}")
    return f"{module}.{value.__qualname__}"


def _class(class_: type) -> str:
    if not is_users_class(class_):
        return class_name(class_)
    bases = [class_name(base) for base in class_.__mro__]
    properties = [value for value in vars(class_).values() if isinstance(value, property)]
    setters = [f for value in properties for f in (value.fset, value.fdel) if f is not None]
    annotations = repr(vars(class_).get("__annotations__"))
    return repr((bases, [*vars(class_)], [_function(f) for f in setters], annotations))


def _cache(function: Any) -> str:
    if function.cache_info().currsize:
        raise Undescribed(f"{function.__name__} keeps what it gave before")
    return repr(function.cache_parameters())


def _default(mapping: Any) -> str:
    factory = mapping.default_factory
    if factory not in (None, dict, list, set, int, float):
        raise Undescribed("a defaultdict with a function of its own")
    return f"{class_name(type(mapping))} {factory}"


def _drawing(source: Any) -> str:
    """What Python and NumPy draw from: a function that draws from it is refused when it is traced."""
    shared = random.random.__self__, np.random.rand.__self__  # type: ignore[attr-defined]
    return "shared" if any(source is other for other in shared) else _refuse(source)


def _array(value: np.ndarray[Any, Any]) -> str:
    if type(value) is not np.ndarray or value.dtype.hasobject or value.nbytes > MOST_BYTES:
        _refuse(value)
    return f"{value.dtype} {value.shape} {value.strides} {hashlib.sha256(value.tobytes()).hexdigest()}"


def _text(value: Any) -> str:
    return repr(value)


def _nothing(_: Any) -> str:
    return ""


# What is said of objects of a type, whose attributes and elements are reached by themselves.
OBJECTS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (types.FunctionType, _function),
    ((types.MethodType, weakref.ref, types.MappingProxyType, staticmethod, classmethod, property), _nothing),
    ((*LOCKS, torch.utils.hooks.RemovableHandle, ABC_DATA, torch.Tensor), _nothing),
    ((*NAMED, *DESCRIPTORS), _named),
    (types.ModuleType, lambda module: module.__name__),
    (type, _class),
    (functools._lru_cache_wrapper, _cache),
    (functools.partial, lambda partial: class_name(type(partial))),
    (types.CodeType, code_text),
    (logging.Logger, lambda logger: logger.name),
    (re.Pattern, lambda pattern: repr((pattern.pattern, pattern.flags))),
    (SHOWN, _text),
    ((random.Random, np.random.RandomState), _drawing),
    (np.ndarray, _array),
    ((bytearray, array.array), _text),
    ((torch.Generator, threading.Thread, types.FrameType, types.GeneratorType, Iterator), _refuse),
    (collections.defaultdict, _default),
)
