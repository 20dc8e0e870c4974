"""Puts back what objects held before: a function that is traced leaves nothing behind in Python."""

from __future__ import annotations

import array
import builtins
import collections
import ctypes
import functools
import io
import itertools
import mmap
import random
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ingot.torch.base.files import is_users
from ingot.torch.python_state.draws import put_back
from ingot.torch.python_state.held import ABSENT, Element, Written
from ingot.torch.python_state.reach import ABC, C_VALUES, codes, reduced, registered_with
from ingot.torch.python_state.snapshot import BYTES, Snapshot, place_in_file

Undo = Callable[[], None]
MOST_RESTORED = 1 << 20  # elements of an array
# Iterators that can go back.
ITERATORS = (*map(type, map(iter, ([], (), "", b"", bytearray(), range(0)))), type(reversed([])), itertools.chain)


@contextmanager
def restored(snapshot: Snapshot) -> Iterator[None]:
    """What was reached, and what it holds, is as before afterwards."""
    put_back = putting_back(snapshot)
    try:
        yield
    finally:
        put_back()


def putting_back(snapshot: Snapshot) -> Undo:
    """What puts back all that was reached as it is now, as often as it is called."""
    undo = [undo for value in snapshot.reached() for undo in _undos(value, snapshot)]
    places = [leaf.read for leaf in snapshot.leaves.values() if isinstance(leaf.read, Written)]
    undo += [functools.partial(_write, place, place()) for place in places]

    def put_back() -> None:
        for one in undo:
            one()

    return put_back


def _undos(value: Any, snapshot: Snapshot) -> Iterator[Undo]:
    for types_, read, write in WRITTEN:
        if isinstance(value, types_):
            yield functools.partial(write, value, read(value))
            break
    if isinstance(value, types.FunctionType):
        yield from _of_variables(value)
    elif isinstance(value, type):
        yield from _of_class(value)
    elif isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, types.ModuleType):
        yield _of_attributes(value, snapshot)
    if isinstance(value, torch.nn.Module):
        for held in (value._parameters, value._buffers, value._modules):
            yield functools.partial(_refill, held, dict(held))
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, slot):
                yield functools.partial(_set, value, slot, getattr(value, slot))


def _of_attributes(value: Any, snapshot: Snapshot) -> Undo:
    """Puts back the attributes that were followed; others may have been set by other threads meanwhile."""
    held, was = value.__dict__, dict(value.__dict__)

    def put_back() -> None:
        for name in [name for name in [*held] if name not in was and snapshot.follows_attribute(value, name)]:
            del held[name]
        for name, before in was.items():
            if held.get(name, ABSENT) is not before and snapshot.follows_attribute(value, name):
                held[name] = before

    return put_back


def _refill(mapping: Any, was: dict[Any, Any]) -> None:
    if [*map(id, mapping), *map(id, mapping.values())] != [*map(id, was), *map(id, was.values())]:
        mapping.clear()
        mapping.update(was)


def _refill_sequence(sequence: Any, was: list[Any]) -> None:
    if [*map(id, sequence)] != [*map(id, was)]:
        sequence.clear()
        sequence.extend(was)


def _refill_set(elements: set[Any], was: set[Any]) -> None:
    elements.clear()
    elements.update(was)


def _refill_array(array: np.ndarray[Any, Any], was: np.ndarray[Any, Any] | None) -> None:
    if was is not None and array.flags.writeable:
        array[...] = was


def _write(place: Written, was: Any) -> None:
    if place() is not was and was is not ABSENT and not isinstance(place, Element):
        place.write(was)


def _set(value: Any, name: str, was: Any) -> None:
    if getattr(value, name, ABSENT) is not was:
        setattr(value, name, was)


def _of_variables(function: Any) -> Iterator[Undo]:
    yield functools.partial(_refill, function.__dict__, dict(function.__dict__))
    for cell in function.__closure__ or ():
        try:
            was = cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue
        yield functools.partial(_set, cell, "cell_contents", was)
    named = {name for code in codes(function.__code__) for name in code.co_names}
    if is_users(function.__code__.co_filename):
        for name in named - {*function.__globals__, *vars(builtins)}:
            yield functools.partial(function.__globals__.pop, name, None)
    for name, was in [*function.__globals__.items()]:
        if name in named:
            yield functools.partial(function.__globals__.__setitem__, name, was)


def _of_class(class_: type) -> Iterator[Undo]:
    yield functools.partial(_register_again, class_, registered_with(class_))
    for name, was in [*vars(class_).items()]:
        if not name.startswith("__"):
            yield functools.partial(_set_in_class, class_, name, was)


def _register_again(class_: Any, was: tuple[type, ...]) -> None:
    if registered_with(class_) != was:
        ABC._reset_registry(class_)
        ABC._reset_caches(class_)
        for other in was:
            class_.register(other)


def _set_in_class(class_: type, name: str, was: Any) -> None:
    if vars(class_).get(name, ABSENT) is not was:
        setattr(class_, name, was)


def _refill_memory(value: Any, was: bytes) -> None:
    ctypes.memmove(ctypes.addressof(value), was, len(was))


def _refill_bytes(value: Any, was: bytes) -> None:
    if bytes(value) == was:
        return
    if isinstance(value, array.array):
        value[:] = array.array(value.typecode, was)
    elif isinstance(value, memoryview):
        value.cast("B")[:] = was
    else:
        value[:] = was


def _clear_new(cached: Any, size: int) -> None:
    if cached.cache_info().currsize != size:
        cached.cache_clear()


def _place_of(iterator: Any) -> Any:
    return (*reduced(iterator), None, None)[1]


def _go_back(iterator: Any, was: Any) -> None:
    if was is not None and _place_of(iterator) != was:
        iterator.__setstate__(was)


def _place_in_cycle(cycle: Any) -> Any:
    """What it goes through, and where; and a copy of what it went through before."""
    (inner,), (gone, is_again) = reduced(cycle)
    return inner, _place_of(inner), ([*gone], is_again)


def _go_back_in_cycle(cycle: Any, was: Any) -> None:
    inner, place, before = was
    (now,), (gone, _) = reduced(cycle)
    if now is inner:
        _go_back(inner, place)
        cycle.__setstate__(before)
    elif place is not None:  # all is gone through, and it goes through what it kept
        cycle.__setstate__(([*gone], True))
        for _ in range(place):
            next(cycle)


# What is read of objects of a type before, and how it is written back.
WRITTEN: tuple[tuple[Any, Callable[[Any], Any], Callable[[Any, Any], None]], ...] = (
    ((dict, collections.UserDict), dict, _refill),
    ((list, collections.deque), list, _refill_sequence),
    (set, set, _refill_set),
    (np.ndarray, lambda a: a.copy() if a.size <= MOST_RESTORED else None, _refill_array),
    (random.SystemRandom, lambda r: None, lambda r, was: None),
    (random.Random, lambda r: r.getstate(), lambda r, was: put_back(r, r.setstate, was)),
    (np.random.RandomState, lambda r: r.get_state(), lambda r, was: put_back(r, r.set_state, was)),
    (np.random.Generator, lambda r: r.bit_generator.state, lambda r, was: setattr(r.bit_generator, "state", was)),
    (io.IOBase, place_in_file, lambda f, was: None if was is None else f.seek(was)),
    (C_VALUES, bytes, _refill_memory),
    ((*BYTES, mmap.mmap), bytes, _refill_bytes),
    (itertools.cycle, _place_in_cycle, _go_back_in_cycle),
    (ITERATORS, _place_of, _go_back),
    (functools._lru_cache_wrapper, lambda f: f.cache_info().currsize, _clear_new),
    (torch.Generator, lambda g: g.get_state(), lambda g, was: g.set_state(was)),
)
