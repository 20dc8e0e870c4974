"""The key of a trace on disk: versions, PyTorch's settings, the user's source files, and what the function reaches.

It is what a trace is made of, not all that it can depend on: a trace that is found is compared with PyTorch for a step.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import re
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend

from ingot.torch.base.files import OWN_FILES, is_users
from ingot.torch.base.torch_internals import pytree, running_modes, without_functions
from ingot.torch.python_state.aliases import refuse_arrays
from ingot.torch.python_state.held import ABSENT, Holder
from ingot.torch.python_state.named_attributes import NamedAttributes
from ingot.torch.python_state.reach import codes, is_users_class, users_functions
from ingot.torch.python_state.snapshot import PLAIN, SHARED, Follows, Leaf, Snapshot
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.left_out import NotTaken

FOLDER_END = "-packages"  # ends the paths of folders in which packages are installed
PACKAGE_ENDS = (".dist-info", ".egg-info")  # end the names of a package's data there, which have its version
# Prefixes of the environment variables that PyTorch reads, without those that TorchInductor sets itself.
READ_BY_TORCH = ("TORCH", "PYTORCH", "ATEN", "C10", "CUDA", "MKL", "OMP", "KMP", "DNNL", "ONEDNN", "INGOT_TORCH")
SET_BY_TORCH = "TORCHINDUCTOR"
SHOWN = (torch.layout, torch.memory_format, SDPBackend, re.Pattern)  # objects that their texts show whole
OF_PROCESS = (logging.Logger, *SHARED)  # objects whose state belongs to a process, and not to a trace
RANDOM_ATTRIBUTES = ("._original_object_hash",)  # end the paths of numbers that libraries draw for each object
CONSTANT_BYTES_MAX = 64 << 20  # hashing more takes as long as tracing


class NoKey(Exception):
    """A trace cannot be kept; says what it depends on that has no text."""

    def __init__(self, what: str) -> None:
        super().__init__(f"it depends on {what}")


class TraceKey:
    """The key as text, one line for each part; and the values by which a trace that is found is connected."""

    def __init__(self, subject: Subject, arguments: Sequence[Any]) -> None:
        """Raises NoKey if a tensor, or a value of the user's own class, has no text."""
        self._memory: dict[int, int] = {}  # number of the first tensor in a memory, by its address
        self._bytes = 0

        def take(follows: Follows | None) -> Snapshot:
            return Snapshot(subject.roots(), subject.state.path_names, follows=follows)

        try:
            with without_functions():
                self.snapshot = NamedAttributes(take, subject.names, libraries_write=False).snapshot
                refuse_arrays(self.snapshot.held(), subject.state.tensors)
                self.text = "\n".join(self._lines(subject, arguments))
        except NoKey:
            raise
        except Exception as error:  # of the user's objects, which are asked for attributes and texts
            raise NoKey(repr(error)) from error

    def _lines(self, subject: Subject, arguments: Sequence[Any]) -> Iterator[str]:
        reached = self.snapshot.reached()
        yield from _versions()
        yield from _settings()
        yield from _variables(users_functions(reached))
        yield from _source_files()
        for name, tensor in subject.state.tensors.items():
            yield f"{name}: {self._form(tensor)}"
        leaves, spec = pytree.tree_flatten(tuple(arguments))
        yield str(spec)
        for leaf in leaves:
            yield self._argument(leaf, subject.state.path_names)
        for path, held in self.snapshot.leaves.items():
            if not path.endswith(RANDOM_ATTRIBUTES) and not _is_of_environment(held.holder):
                yield f"{path}: {self._value(held)}"
        yield from map(_object, reached)

    def _argument(self, value: Any, names: dict[int, str]) -> str:
        if isinstance(value, torch.Tensor):
            return f"{names.get(id(value), '')} {self._form(value)} {value.is_neg()} {value.is_conj()}"
        return _plain(value)

    def _value(self, leaf: Leaf) -> str:
        compared = leaf.shown.compared
        if isinstance(compared, str):  # the name of a tensor of the state, or where it is met before
            return f"= {compared}"
        if not isinstance(compared, tuple):
            return "nothing" if compared is ABSENT else _refuse(compared)
        kind, state = compared
        if isinstance(kind, int):
            return self._constant(leaf.read())
        return _name(kind) if issubclass(kind, OF_PROCESS) else f"{_name(kind)} {state}"

    def _constant(self, tensor: torch.Tensor) -> str:
        """A tensor whose values may become constants of the program."""
        form = self._form(tensor)
        self._bytes += tensor.nbytes
        if tensor.grad_fn is not None or self._bytes > CONSTANT_BYTES_MAX:
            _refuse(tensor)
        plain = torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor.detach()
        memory = plain.resolve_neg().contiguous().view(-1).view(torch.uint8) if plain.numel() else plain
        return f"{form} {hashlib.sha256(memory.clone().numpy()).hexdigest()}"

    def _form(self, tensor: torch.Tensor) -> str:
        """All of a tensor but its values."""
        is_plain = tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
        if not is_plain or type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            _refuse(tensor)
        memory = self._memory.setdefault(tensor.untyped_storage()._cdata, len(self._memory))
        attributes = {name: _plain(value) for name, value in sorted(vars(tensor).items())}
        gradient = tensor.grad if tensor.is_leaf or tensor.retains_grad else None  # else PyTorch warns
        grad = None if gradient is None else (gradient.dtype, gradient.stride())
        place = memory, tensor.storage_offset(), tensor.stride()
        form = f"{_name(type(tensor))} {tensor.dtype} {tuple(tensor.shape)}"
        return f"{form} {place} {tensor.requires_grad} {grad} {attributes}"


@functools.cache
def _versions() -> tuple[str, ...]:
    """The versions of Python and of the installed packages, and when files of this one changed."""
    folders = [path for path in sys.path if path.endswith(FOLDER_END) and os.path.isdir(path)]
    packages = {name for folder in folders for name in os.listdir(folder) if name.endswith(PACKAGE_ENDS)}
    changed_ns = max(file.stat().st_mtime_ns for file in Path(OWN_FILES).rglob("*.py"))
    return sys.version, sys.byteorder, torch.__version__, torch.version.git_version, *sorted(packages), str(changed_ns)


def _settings() -> Iterator[str]:
    """What PyTorch is set to, for all functions."""
    if running_modes():
        raise NoKey("a mode of PyTorch's that runs")
    deterministic = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    yield str([torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(), *deterministic])
    yield str([torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled()])
    yield str([torch.is_anomaly_enabled(), torch.get_float32_matmul_precision(), torch.get_num_threads()])


def _variables(functions: Sequence[types.FunctionType]) -> Iterator[str]:
    """The environment, as far as PyTorch reads it or functions have a variable's name as a text."""
    texts = {text for f in functions for code in codes(f.__code__) for text in code.co_consts if type(text) is str}
    for name, value in sorted(os.environ.items()):
        if name in texts or (name.startswith(READ_BY_TORCH) and not name.startswith(SET_BY_TORCH)):
            yield f"{name}={value}"


def _is_of_environment(holder: Holder | None) -> bool:
    """Whether what is held is part of ``os.environ``."""
    return holder is not None and (isinstance(holder.value, os._Environ) or _is_of_environment(holder.outer))


def _source_files() -> Iterator[str]:
    """The user's modules that are loaded, with the hashes of their files.

    Modules of code that TorchInductor writes are in its own package, or in none that is loaded.
    """
    modules = sys.modules.copy()
    for name, module in sorted(modules.items()):
        file, package = _file_of(module), modules.get(name.partition(".")[0])
        if file and package and is_users(file) and is_users(_file_of(package)):
            with suppress(OSError):
                yield f"{name} {hashlib.sha256(Path(file).read_bytes()).hexdigest()}"


def _file_of(module: types.ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else ""


def _code(code: types.CodeType) -> str:
    """All that a code object does, and the lines where it stands."""
    constants = [
        _code(c) if isinstance(c, types.CodeType) else sorted(map(repr, c)) if isinstance(c, frozenset) else repr(c)
        for c in code.co_consts
    ]
    where = code.co_qualname, code.co_linetable, code.co_exceptiontable
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return repr((code.co_code, constants, *where, *names, *counts))


def _object(value: Any) -> str:
    """An object without what it holds, which is reached by itself."""
    if isinstance(value, types.FunctionType):
        return f"{value.__module__} {value.__qualname__} {_code(value.__code__)}"
    if isinstance(value, type) and is_users_class(value):
        return f"{_name(value)} {[*map(_name, value.__mro__)]} {[*vars(value)]}"
    text = repr(value) if isinstance(value, SHOWN) else getattr(value, "__qualname__", "")
    return f"{_name(type(value))} {text}"


def _plain(value: Any) -> str:
    return f"{_name(type(value))} {value!r}" if isinstance(value, (*PLAIN, NotTaken)) else _refuse(value)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _refuse(value: Any) -> str:
    raise NoKey(f"a {type(value).__name__}")
