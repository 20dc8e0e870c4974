"""What a function can reach in Python: its closure, the globals that its code names, objects and their attributes.

Code of libraries is followed into its closures, which may hold the user's functions, and not into its globals.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import contextlib
import contextvars
import ctypes
import dis
import functools
import gc
import importlib.util
import itertools
import logging
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.base.files import OWN_FILES, is_users
from ingot.torch.base.per_thread import PerThread
from ingot.torch.python_state.held import (
    ABSENT,
    Attribute,
    ClassAttribute,
    Context,
    Defaulted,
    Element,
    ElementOfEntry,
    Entry,
    Held,
    Itself,
    Variable,
)
from ingot.torch.python_state.unshown import content_of

Names = Mapping[int, str]  # of tensors that are state, by identity
Edges = Iterator[Held]
POSITION = "its position"  # of a generator, as it is called in paths

# Of this package: programs, what runs in the place of functions, and bundles.
OWN_MODULES = (
    *("ingot.torch.program", "ingot.torch.compiled", "ingot.torch.tracer", "ingot.torch.run"),
    *("ingot.jax", "ingot.session", "ingot._engine"),
)
OWN_ATTRIBUTE = "_ingot_programs"  # of an optimizer or a model: the programs of steps that are decorated again
LAST_RATES = "_last_lr"  # an attribute of schedulers, which get_last_lr() gives
# Objects that belong to Python, or to PyTorch while it traces.
OPAQUE = (
    logging.Logger,
    threading.Thread,
    types.CodeType,
    types.FrameType,
    torch.Tensor,
    torch.dtype,
    torch.fx.Node,
    torch.utils.hooks.RemovableHandle,
)
# By these names code reads and writes variables that it does not name itself.
BY_TEXT = {"globals", "f_globals", "eval", "exec", "vars", "modules", "import_module", "__import__"}
C_VALUES: Any = (ctypes._SimpleCData, ctypes._Pointer, ctypes.Structure, ctypes.Union, ctypes.Array)
VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))
ON_HEAP = 1 << 9  # a flag of classes that a program defines
ABC_DATA: Any = type(vars(collections.abc.Mapping)["_abc_impl"])  # what an abstract class knows of others
ABC: Any = sys.modules["_abc"]  # shows it
VALUES = (bool, int, float, complex, str, dict, list, set, collections.deque, collections.UserDict, os._Environ)


def edges(value: Any, path: str, names: Names) -> Edges:
    """What a value holds itself; of a tensor the attributes that it was given."""
    if isinstance(value, torch.Tensor):
        yield from _attributes(vars(value), f"{path}.")
        return
    if isinstance(value, PerThread):
        value = value.own
    if is_own_iterator(value):
        yield from _iterator(value, path, names)
        return
    for types_, follow in FOLLOWED:
        if isinstance(value, types_):
            yield from follow(value, path, names)
            return
    if not isinstance(value, OPAQUE) and not type(value).__module__.startswith(OWN_MODULES):
        yield from _instance(value, path, names)


def of_function(function: Any, path: str, names: Names) -> Edges:
    """What a function holds: its variables by their own names, its attributes under its path."""
    code = function.__code__
    if code.co_filename.startswith(OWN_FILES):
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield from _one(name, Variable(cell))
    defaults = function.__defaults__ or ()
    parameters = code.co_varnames[: code.co_argcount][code.co_argcount - len(defaults) :]
    for name, value in zip(parameters, defaults, strict=True):
        yield Held(name, value, Itself(value))
    yield from _attributes(function.__kwdefaults__ or {}, "")
    yield from _attributes(vars(function), f"{path or function.__name__}.")
    if is_users(code.co_filename):
        for inner in codes(code):
            yield from _globals(function, inner)


def users_functions(reached: Iterable[Any]) -> list[types.FunctionType]:
    """The user's functions among what is reached."""
    functions = [value for value in reached if isinstance(value, types.FunctionType)]
    return [function for function in functions if is_users(function.__code__.co_filename)]


def modules_of(reached: Iterable[Any]) -> list[dict[str, Any]]:
    """The global variables of the user's functions among what is reached, of each module once."""
    return [*{id(f.__globals__): f.__globals__ for f in users_functions(reached)}.values()]


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code, and that of functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def _globals(function: Any, code: types.CodeType) -> Edges:
    """Globals that code names, also in texts; of modules, the attributes that it names."""
    variables = function.__globals__
    for name in global_names(code):
        value = variables.get(name, ABSENT)
        if isinstance(value, types.ModuleType):
            yield from _of_module(value, name, code.co_names)
            if name in passed_on(code):
                yield from _values_of(value, name)
        elif value is not ABSENT:
            yield Held(name, value, Entry(variables, name))
        elif isinstance(vars(builtins).get(name), VALUES):
            yield from _one(name, Entry(vars(builtins), name))
    for name in imported_names(code):
        with contextlib.suppress(ImportError):
            path = importlib.util.resolve_name(name, variables.get("__package__"))
            yield from _of_imported(path, code.co_names)
    if BY_TEXT & {*code.co_names}:
        texts = [text for text in code.co_consts if isinstance(text, str)]
        yield from itertools.chain.from_iterable(_one(text, Entry(variables, text)) for text in texts)
        for path in (variables.get("__name__"), *texts):
            yield from _of_imported(str(path), code.co_names)
        for text in texts:
            yield from _one(f"{text!r} in sys.modules", functools.partial(sys.modules.__contains__, text))
        for path in dict.fromkeys(text for text in texts if text in sys.modules):
            yield Held(f"sys.modules[{path!r}]", sys.modules[path], Entry(sys.modules, path))
            if isinstance(sys.modules[path], types.ModuleType):
                yield from _values_of(sys.modules[path], path)


@functools.cache
def global_names(code: types.CodeType) -> list[str]:
    """The names of globals that code reads or writes, without those of attributes."""
    ops = (op for op in dis.get_instructions(code) if "GLOBAL" in op.opname or op.opname.endswith("_NAME"))
    return [*dict.fromkeys(op.argval for op in ops if op.opname != "IMPORT_NAME")]


@functools.cache
def passed_on(code: types.CodeType) -> set[str]:
    """The globals that code takes as they are, not to read or write an attribute at once."""
    ops = [op for op in dis.get_instructions(code) if op.opname != "CACHE"]
    pairs = zip(ops, [*ops[1:], ops[-1]], strict=True)
    return {op.argval for op, after in pairs if "GLOBAL" in op.opname and not after.opname.endswith(("ATTR", "METHOD"))}


@functools.cache
def imported_names(code: types.CodeType) -> list[str]:
    """The names of modules that code imports where it runs, with dots before those that are relative."""
    found, ops = [], [*dis.get_instructions(code)]
    for i, op in enumerate(ops):
        if op.opname == "IMPORT_NAME":
            found.append("." * ops[i - 2].argval + op.argval)
    return found


def _of_imported(path: str, names: Sequence[str]) -> Edges:
    module = sys.modules.get(path)
    if module:
        yield from _of_module(module, path, names)


def _of_module(module: types.ModuleType, path: str, names: Sequence[str]) -> Edges:
    """The attributes of a module, and of modules in it, that are named; of a library's those that are plain values."""
    is_library = not is_users_module(module)
    for name in names:
        value, others = vars(module).get(name, ABSENT), [other for other in names if other != name]
        if isinstance(value, types.ModuleType):
            yield from _of_module(value, f"{path}.{name}", others)
        elif not is_library or (isinstance(value, VALUES) and value is not sys.modules):
            yield from _one(f"{path}.{name}", Entry(vars(module), name))
        elif isinstance(value, type):
            yield from _of_library_class(value, f"{path}.{name}", others)


def _values_of(module: types.ModuleType, path: str) -> Edges:
    """The plain values in a module of the user's, whoever reads them."""
    if is_users_module(module):
        for name, value in list(vars(module).items()):
            if isinstance(value, VALUES) and not name.startswith("__"):
                yield from _one(f"{path}.{name}", Entry(vars(module), name))


def _of_library_class(class_: type, path: str, names: Sequence[str]) -> Edges:
    for name in names:
        if isinstance(vars(class_).get(name), VALUES):
            yield from _one(f"{path}.{name}", ClassAttribute(class_, name))


def _one(path: str, read: Callable[[], Any]) -> Edges:
    value = read()
    if value is not ABSENT:
        yield Held(path, value, read)


def _method(method: types.MethodType, path: str, names: Names) -> Edges:
    yield Held(path or "self", method.__self__, Itself(method.__self__))
    yield Held(path, method.__func__, Itself(method.__func__))


def _partial(partial: functools.partial[Any], path: str, names: Names) -> Edges:
    code = getattr(partial.func, "__code__", None)
    parameters = code.co_varnames if code else ()
    for i, value in enumerate(partial.args):
        name = parameters[i] if i < len(parameters) else f"{path}.args[{i}]"
        yield Held(name, value, Itself(value))
    yield from _attributes(partial.keywords, "")
    yield Held(path, partial.func, lambda: partial.func)


def _items(mapping: Any, path: str, names: Names) -> Edges:
    for i, (key, value) in enumerate(list(mapping.items())):
        yield Held(f"{path}[{_key(key, names)}]", value, Entry(mapping, key))
        if not isinstance(key, (str, int, float, torch.Tensor)):
            yield Held(f"{path}'s key {i}", key, Itself(key))


def _attributes(held: dict[str, Any], before: str) -> Edges:
    for name, value in list(held.items()):
        if name != OWN_ATTRIBUTE:
            yield Held(f"{before}{name}", value, Entry(held, name))


def _key(key: Any, names: Names) -> str:
    if isinstance(key, torch.Tensor):
        return repr(names.get(id(key), "a tensor"))
    return repr(key) if isinstance(key, str | int | float | tuple | None) else f"a {type(key).__name__}"


def _sequence(sequence: Any, path: str, names: Names) -> Edges:
    for i, value in enumerate(list(sequence)):  # which other threads may change meanwhile
        yield Held(f"{path}[{i}]", value, Element(sequence, i))


def _set(elements: Any, path: str, names: Names) -> Edges:
    for i, value in enumerate(sorted(elements, key=repr)):
        yield Held(f"{path}'s element {i}", value, Itself(value))


def _module(module: torch.nn.Module, path: str, names: Names) -> Edges:
    """A module's own things as the user writes them: children, parameters and buffers are attributes."""
    for name, value in list(vars(module).items()):
        if name == "_modules":
            for key, child in value.items():
                read = Entry(value, key)
                yield Held(f"{path}[{key}]" if key.isdigit() else f"{path}.{key}", child, read)
        elif name in ("_parameters", "_buffers"):
            yield from _attributes(value, f"{path}.")
        else:
            yield Held(f"{path}.{name}", value, Entry(vars(module), name))
    yield from _defaults(module, path)
    yield from _class_of(module)


def _instance(value: Any, path: str, names: Names) -> Edges:
    if isinstance(value, dict | collections.UserDict):
        yield from _items(value, path, names)
    elif isinstance(value, list | collections.deque):
        yield from _sequence(value, path, names)
    if isinstance(value, collections.defaultdict):
        yield from _one(f"{path}.default_factory", Attribute(value, "default_factory"))
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and not isinstance(value, collections.UserDict):
        yield from _attributes(held, f"{path}.")
        yield from _defaults(value, path)
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            yield from _one(f"{path}.{slot}", Attribute(value, slot))
    if content := content_of(value):
        yield from _one(f"{path}'s content", content)
    yield from _class_of(value)


def _scheduler(scheduler: LRScheduler, path: str, names: Names) -> Edges:
    """The rates of a scheduler are in a new list after each of its steps."""
    rates = getattr(scheduler, LAST_RATES, ())
    for held in _instance(scheduler, path, names):
        if held.value is not rates:
            yield held
    for i, rate in enumerate(rates):
        yield Held(f"{path}.{LAST_RATES}[{i}]", rate, ElementOfEntry(vars(scheduler), LAST_RATES, i))


def _defaults(value: Any, path: str) -> Edges:
    """Numbers that an object has of its class, as it has not set them itself yet."""
    held, met = vars(value), {*vars(value)}
    for base in type(value).__mro__:
        for name, number in list(vars(base).items()) if is_users_class(base) else ():
            if name not in met and type(number) in (int, float):
                yield Held(f"{path}.{name}", number, Defaulted(held, name, number))
            met.add(name)


def has_own_attributes(value: Any) -> bool:
    """Whether an object of a user's class can have attributes beside what it is a subclass of."""
    return isinstance(getattr(value, "__dict__", None), dict) and is_users_class(type(value))


def _class_of(value: Any) -> Edges:
    for base in type(value).__mro__:
        if base.__module__ != "builtins" and is_users_class(base):
            yield Held(base.__name__, base, Itself(base))


def _class(class_: type, path: str, names: Names) -> Edges:
    """Attributes and methods of a user's class, and the class that it is of."""
    if not is_users_class(class_):
        return
    yield Held(f"type({path})", type(class_), lambda: type(class_))
    if isinstance(vars(class_).get("_abc_impl"), ABC_DATA):
        yield Held(f"what is registered with {path}", registered_with(class_), lambda: registered_with(class_))
    for name, value in list(vars(class_).items()):
        value = getattr(value, "__func__", getattr(value, "fget", value))
        if not (name.startswith("__") and name.endswith("__")) or isinstance(value, types.FunctionType):
            yield Held(f"{path}.{name}", value, ClassAttribute(class_, name))


def registered_with(class_: type) -> tuple[type, ...]:
    """The classes that an abstract class was told are its own."""
    known = ABC._get_dump(class_)[0] if isinstance(vars(class_).get("_abc_impl"), ABC_DATA) else ()
    found = [other for reference in known if (other := reference()) is not None]
    return tuple(sorted(found, key=lambda other: f"{other.__module__}.{other.__qualname__}"))


def is_users_class(class_: type) -> bool:
    """Whether a class is of a module that belongs neither to Python nor to a library that is installed."""
    name = str(class_.__module__)
    module = sys.modules.get(name) or sys.modules.get(name.partition(".")[0])
    if name == "builtins" or not module:  # also of a text that was run without the name of a module
        return bool(class_.__flags__ & ON_HEAP)
    return is_users_module(module)


def is_users_module(module: types.ModuleType) -> bool:
    """Whether a module belongs neither to Python nor to a library: also one without a file, as a notebook has."""
    if file := getattr(module, "__file__", None):
        return is_users(file)
    outermost = sys.modules.get(getattr(module, "__name__", "").partition(".")[0], module)
    is_typed = getattr(module, "__spec__", None) is None
    return is_typed if outermost is module else is_users_module(outermost)


def _generator(generator: types.GeneratorType[Any, Any, Any], path: str, names: Names) -> Edges:
    """How far a generator is, its variables, and the iterators that its loops go through."""

    def variables() -> dict[str, Any]:
        frame = generator.gi_frame
        return {POSITION: frame.f_lasti, **frame.f_locals} if frame else {}

    for name in variables():
        yield from _one(f"{path}: {name}", functools.partial(lambda name: variables().get(name, ABSENT), name))
    for i, inner in enumerate(filter(is_own_iterator, gc.get_referents(generator))):
        yield Held(f"{path}: its loop {i}", inner, Itself(inner))


def is_own_iterator(value: Any) -> bool:
    """Whether a value is an iterator of Python's own, such as those of lists and of `itertools`."""
    module = type(value).__module__
    is_builtin = module == "builtins" and isinstance(value, Iterator) and not isinstance(value, types.GeneratorType)
    return is_builtin or module == "itertools"


def reduced(iterator: Any) -> tuple[Any, ...]:
    """What an iterator of Python's own is made of, and how far it is; nothing where that cannot be read.

    A cycle's list of what was gone through is its own, and not to be changed: it is copied.
    """
    with warnings.catch_warnings(), contextlib.suppress(TypeError):  # from Python 3.12 on it is deprecated
        warnings.simplefilter("ignore")
        made_of, *place = iterator.__reduce__()[1:]
        if isinstance(iterator, itertools.cycle):
            place = [(tuple(place[0][0]), place[0][1])]
        return made_of, *place
    return ()


def _iterator(iterator: Any, path: str, names: Names) -> Edges:
    """What an iterator of Python's own is made of, and how far it is where that can be read."""

    def parts() -> tuple[Any, ...]:
        return reduced(iterator) or tuple(gc.get_referents(iterator))

    for i, part in enumerate(parts()):
        yield Held(f"{path}'s part {i}", part, functools.partial(lambda i: parts()[i], i))


def _of_builtin(method: Any, path: str, names: Names) -> Edges:
    """The object whose method is held by itself: ``append = losses.append``."""
    if not isinstance(method.__self__, types.ModuleType):
        yield Held(f"{path}.__self__", method.__self__, Itself(method.__self__))


def _objects(array: Any, path: str, names: Names) -> Edges:
    """The objects in an array of these."""
    for i, value in enumerate(array.ravel().tolist() if array.dtype.hasobject else ()):
        yield Held(f"{path}.flat[{i}]", value, Itself(value))


def _pointed_to(value: Any, path: str, names: Names) -> Edges:
    """What C's values point to, as far as it is Python's."""
    yield Held(f"{path}._objects", value._objects, lambda: value._objects)


def _view(view: Any, path: str, names: Names) -> Edges:
    """The dict whose keys, values or items are viewed."""
    (viewed,) = gc.get_referents(view)
    yield Held(f"{path}'s dict", viewed, Itself(viewed))


def _weak(reference: weakref.ref[Any], path: str, names: Names) -> Edges:
    yield Held(f"{path}()", reference(), reference)


def _context(variable: contextvars.ContextVar[Any], path: str, names: Names) -> Edges:
    read = Context(variable, "")
    yield Held(f"{path}.get()", read(), read)


def _of_context(context: contextvars.Context, path: str, names: Names) -> Edges:
    """The values that variables have in a context."""
    yield Held(f"len({path})", len(context), functools.partial(len, context))
    for variable, value in context.items():
        yield Held(f"{path}[{variable.name}]", value, functools.partial(context.get, variable, ABSENT))


Follow = Callable[[Any, str, Names], Edges]
FOLLOWED: tuple[tuple[Any, Follow], ...] = (
    (types.FunctionType, of_function),
    (types.MethodType, _method),
    (functools.partial, _partial),
    (torch.nn.Module, _module),
    (LRScheduler, _scheduler),
    (type, _class),
    ((set, frozenset), _set),
    (tuple, _sequence),
    (types.GeneratorType, _generator),
    ((types.BuiltinMethodType, types.MethodWrapperType), _of_builtin),
    (types.MappingProxyType, lambda proxy, path, names: _items(gc.get_referents(proxy)[0], path, names)),
    (VIEWS, _view),
    (weakref.ref, _weak),
    (np.ndarray, _objects),
    (C_VALUES, _pointed_to),
    (contextvars.ContextVar, _context),
    (contextvars.Context, _of_context),
    (types.ModuleType, lambda *_: iter(())),
)
