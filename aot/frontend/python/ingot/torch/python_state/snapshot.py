"""What Python holds that a function can reach: its values by path, to be compared between calls and put back."""

from __future__ import annotations

import array
import collections
import csv
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import hmac
import io
import itertools
import logging
import mmap
import os
import pathlib
import pickle
import queue
import random
import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.torch_internals import without_functions
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.base.torch_internals.ops import OpOverload, OpOverloadPacket
from ingot.torch.python_state.draws import GENERATORS
from ingot.torch.python_state.held import ABSENT, Absent, Entry, Held, Holder, Itself, Written
from ingot.torch.python_state.reach import (
    C_VALUES,
    Edges,
    Names,
    edges,
    has_own_attributes,
    is_own_iterator,
    reduced,
)
from ingot.torch.python_state.unshown import is_hidden, is_unread

PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes, range, slice, enum.Enum, Absent),
    *(np.number, np.bool_, np.character, np.datetime64, torch.device, torch.dtype, OpOverload, OpOverloadPacket),
    *(decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta, pathlib.PurePath),
)
CONTAINERS = (dict, list, set)
MAPPINGS = (dict, collections.UserDict)
SIZED = (dict, list, set, collections.deque, collections.UserDict)
Follows = Callable[[Any, Held], bool]  # of a holder, and what it holds
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
MOST_READ_BYTES = 1 << 20  # of an array or a mapped file; reading 1 MiB takes 0.1 to 1 ms
MOST_ELEMENTS = 1000  # of plain values; longer sequences of them are compared as one


@dataclass(frozen=True)
class Shown:
    """A value as it is compared with another, and as a message shows it."""

    compared: Any
    text: str = field(compare=False)

    @property
    def is_computed(self) -> bool:
        """Whether it is what a program computes."""
        return self.compared is FakeTensor

    @property
    def kind(self) -> Any:
        """The type of a plain value."""
        return self.compared[0] if isinstance(self.compared, tuple) else None


COMPUTED = Shown(FakeTensor, "what is computed")


@dataclass(frozen=True)
class Leaf:
    """A value that something held, and how it is read again."""

    shown: Shown
    read: Callable[[], Any]
    names: Names
    holder: Holder | None = None

    @staticmethod
    def of(read: Callable[[], Any], names: Names) -> Leaf:
        """The value that is read now."""
        return Leaf(shown(read(), names), read, names)

    @property
    def tensor_id(self) -> int | None:
        """Which tensor that is no state was read, where it was one."""
        return kind if isinstance(kind := self.shown.kind, int) else None

    def now(self) -> tuple[Shown, int]:
        """The value as it is now, and which object it is where that matters."""
        with without_functions():
            value = self.read()
            return shown(value, self.names), 0 if isinstance(value, PLAIN) else id(value)


class Snapshot:
    """Every value that is reached from some roots, by path; and tensors among them that are no state.

    Tensors and numbers that a program computes are alike, as are numbers that it carries, by their places: which of
    them is read is seen in the program itself.
    """

    def __init__(
        self, roots: Iterable[Held], names: Names, carried: Container[Any] = (), follows: Follows | None = None
    ) -> None:
        """What a holder holds is left out where it does not `follow`."""
        self.leaves: dict[str, Leaf] = {}
        self.computed: dict[int, tuple[str, Any]] = {}
        self.symbols: list[tuple[Callable[[], Any], Any]] = []  # numbers that a program computes, and how they are read
        self._names, self._carried, self._follows = names, carried, follows
        self._seen: dict[int, tuple[Any, str]] = {}  # what lives cannot be taken for something else
        self._met: collections.Counter[str] = collections.Counter()
        self._holder: Holder | None = None
        stack: list[tuple[Edges, Holder | None]] = [(iter((*roots, *_draws())), None)]
        with without_functions():
            while stack:
                followed, self._holder = stack[-1]
                held = next(followed, None)
                if held is None:
                    stack.pop()
                elif follows and self._holder and not follows(self._holder.value, held):
                    continue
                elif (inner := self._enter(held)) is not None:
                    stack.append((inner, Holder(held.value, held.read, self._holder)))

    def _enter(self, held: Held) -> Edges | None:
        """Takes a value in; gives what it holds, where it is met for the first time."""
        path, value, read = held
        if id(value) in self._seen:
            self._note(path, Shown(first := self._seen[id(value)][1], f"`{first}`"), read)
            return None
        is_carried = isinstance(read, Written) and read.place in self._carried
        self._note(path, COMPUTED if is_carried else shown(value, self._names), read)
        if isinstance(value, (torch.Tensor, *SYMBOLIC)):
            self._note_tensor(path, value, read)
            if _has_attributes(value):
                self._seen[id(value)] = value, path
                return edges(value, path, self._names)
        elif not isinstance(value, PLAIN) or has_own_attributes(value):
            self._seen[id(value)] = value, path
            if isinstance(value, SIZED):
                self._note(f"len({path})", shown(len(value), self._names), lambda: len(value))
            if isinstance(value, MAPPINGS) and len(value) > 1:
                read_order = functools.partial(order_of, value, self._names)
                self._note(f"the order of {path}", shown(read_order(), {}), read_order)
            is_followed = not isinstance(value, STATEFUL) or isinstance(value, FOLLOWED_TOO)
            if is_followed and not (isinstance(value, SIZED) and _is_long(value)):
                return edges(value, path, self._names)
        return None

    def _note_tensor(self, path: str, value: Any, read: Callable[[], Any]) -> None:
        if id(value) not in self._names:
            self.computed.setdefault(id(value), (path, value))
        if isinstance(value, SYMBOLIC):
            self.symbols.append((read, value))
        else:
            flag = "requires_grad"
            self._note(f"{path}.{flag}", shown(value.requires_grad, {}), lambda: getattr(read(), flag, ABSENT))

    def _note(self, path: str, value: Shown, read: Callable[[], Any]) -> None:
        """Things of one name, such as variables of several functions, are counted."""
        self._met[path] += 1
        key = path if self._met[path] == 1 else f"{path} ({self._met[path]})"
        self.leaves[key] = Leaf(value, read, self._names, self._holder)

    def differences(self, later: Snapshot) -> list[str]:
        """The paths whose values are others later, in the order in which they are reached."""
        return [path for path in {**self.leaves, **later.leaves} if self.at(path) != later.at(path)]

    def at(self, path: str) -> Shown:
        """The value at a path."""
        leaf = self.leaves.get(path)
        return leaf.shown if leaf else Shown(ABSENT, repr(ABSENT))

    def is_carried(self, path: str) -> bool:
        """Whether what is at a path is a number that the program carries."""
        read = self.leaves[path].read
        return isinstance(read, Written) and read.place in self._carried

    def reached(self) -> list[Any]:
        """The objects that hold values, each once."""
        return [value for value, _ in self._seen.values()]

    def follows_attribute(self, value: Any, name: str) -> bool:
        """Whether what an object has, or may come to have, by a name was followed."""
        return not self._follows or self._follows(value, Held(name, None, Entry(vars(value), name)))

    def held(self) -> list[tuple[str, Any]]:
        """The same by the paths at which they are met first."""
        return [(path, value) for value, path in self._seen.values()]


def _text_of(kind: str, state: Any) -> str:
    is_place = isinstance(state, int) or (isinstance(state, tuple) and len(state) == 2)
    return f"{kind} at {state}" if is_place else kind


def _has_attributes(value: Any) -> bool:
    """Whether the user gave a tensor attributes of its own."""
    return type(value) in (torch.Tensor, torch.nn.Parameter) and bool(vars(value))


def shown(value: Any, names: Names) -> Shown:
    """A value as it is compared."""
    kind = f"a {type(value).__name__}"
    if isinstance(value, torch.Tensor) and id(value) in names:
        return Shown(names[id(value)], f"the tensor {names[id(value)]!r}")
    if isinstance(value, (FakeTensor, *SYMBOLIC)):
        return COMPUTED
    if isinstance(value, torch.Tensor):
        return Shown((id(value), value._version), f"a tensor of version {value._version}")
    if isinstance(value, PLAIN):
        return Shown((type(value), repr(value)), repr(value))
    if isinstance(value, SIZED):
        return Shown((type(value), repr(value) if _is_long(value) else ""), kind)
    state = _state_of(value)
    text = next((text(value) for types_, text in TEXTS if isinstance(value, types_)), _text_of(kind, state))
    return Shown((type(value), state), text)


def order_of(mapping: Any, names: Names) -> str:
    """The keys of a mapping in their order, those without a text of their own by which objects they are."""
    return ", ".join(_key_of(key, names) for key in [*mapping])


def _key_of(key: Any, names: Names) -> str:
    if isinstance(key, torch.Tensor):
        return names.get(id(key), "a tensor")
    return repr(key) if isinstance(key, PLAIN) else f"{type(key).__name__} {id(key)}"


def _is_long(values: Any) -> bool:
    """Whether values are compared as one."""
    every = [*(values.values() if isinstance(values, MAPPINGS) else values)]
    return len(values) > MOST_ELEMENTS and all(isinstance(value, PLAIN) for value in every)


SCANNER: Any = type(vars(re.Pattern)["scanner"](re.compile(""), ""))
HMAC: Any = hmac.new(b"", digestmod="sha256")
HASHES = (type(hashlib.sha256()), hashlib.blake2b, hashlib.blake2s, type(HMAC._hmac))
BYTES = (bytearray, array.array, memoryview)  # whose elements can be written


def _unseen(what: str) -> Callable[[Any], Any]:
    def refuse(_: Any) -> Any:
        raise TraceError(f"{what}, and Python does not show how far it is", fix="make it anew in each call")

    return refuse


# How the state of what draws random numbers, of locks, arrays and files is read; a large array that is a file's is not.
STATES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (random.SystemRandom, lambda r: None),  # what it draws is refused
    (random.Random, lambda r: r.getstate()),
    (np.random.Generator, lambda r: pickle.dumps(r.bit_generator.state)),
    (np.random.RandomState, lambda r: pickle.dumps(r.get_state())),
    (torch.Generator, lambda r: None),  # a program draws by itself
    (type(threading.Lock()), lambda lock: lock.locked()),
    (type(threading.RLock()), repr),
    ((*BYTES, mmap.mmap, *C_VALUES), bytes),
    (queue.SimpleQueue, lambda q: q.qsize()),
    (HASHES, lambda h: h.digest()),
    (sqlite3.Connection, lambda c: (c.total_changes, _changes_of_others(c))),
    (type(csv.reader(())), lambda r: r.line_num),
    (np.nditer, lambda i: _next_of(i)),
    (np.flatiter, lambda i: (i.index, zlib.crc32(i.base.tobytes()))),
    ((io.BytesIO, io.StringIO), lambda f: f.closed or (f.tell(), f.getvalue())),
    (io.IOBase, lambda f: (place_in_file(f), _changes_in_file(f))),
    (itertools.count, repr),
    (
        logging.Logger,
        lambda log: (log.level, log.getEffectiveLevel(), log.disabled, log.propagate, [*map(id, log.handlers)]),
    ),
    (SCANNER, _unseen("the function reads on with a scanner of `re`")),
    (np.void, lambda v: repr(v.tolist()) if v.dtype.hasobject else v.tobytes()),
    (np.memmap, lambda a: (a.shape, 0 if is_long_file(a) else zlib.crc32(a.tobytes()))),
    (np.ndarray, lambda a: (a.shape, repr(a.tolist()) if a.dtype.hasobject else zlib.crc32(a.tobytes()))),
)
TEXTS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (itertools.count, repr),
    (np.ndarray, np.array_repr),
    (io.IOBase, lambda f: f"a file at {place_in_file(f)}"),
    ((*BYTES[:2], *C_VALUES), repr),
    ((memoryview, mmap.mmap), lambda m: repr(bytes(m)[:64])),
    (type(threading.RLock()), repr),
    (HASHES, lambda h: h.hexdigest()),
)
SHARED = tuple(type_ for type_, _ in STATES[:7])  # the user may draw from them, or lock them, elsewhere
STATEFUL = tuple(type_ for type_, _ in STATES)
FOLLOWED_TOO = (np.ndarray, *C_VALUES)  # which may hold objects beside


def _next_of(iterator: np.nditer) -> int | None:
    """Which element is next; none at the end. Its own index is 0 both before the first and after it."""
    ahead = iterator.copy()
    return None if ahead.finished or next(ahead, None) is None else ahead.iterindex


def _changes_of_others(connection: sqlite3.Connection) -> Any:
    """A number that is another after other connections have changed the database."""
    try:
        cursor = connection.cursor()
        cursor.row_factory = None
        return cursor.execute("PRAGMA data_version").fetchone()
    except sqlite3.Error:  # of another thread, which may not ask
        return None


def is_long_file(value: Any) -> bool:
    """Whether it is an array in a file that takes too long to read in each call."""
    return isinstance(value, np.memmap) and value.nbytes > MOST_READ_BYTES


def large_arrays(snapshot: Snapshot) -> dict[str, int]:
    """The bytes of NumPy's arrays that take long to compare, by their paths."""
    arrays = {path: value for path, value in snapshot.held() if isinstance(value, np.ndarray)}
    return {path: a.nbytes for path, a in arrays.items() if a.nbytes > MOST_READ_BYTES and not is_long_file(a)}


def shows_all(snapshot: Snapshot) -> bool:
    """Whether nothing that was reached can change without being another in the next snapshot."""
    return not any(map(_may_change_unseen, snapshot.reached()))


def _may_change_unseen(value: Any) -> bool:
    if isinstance(value, io.IOBase):
        return not value.closed and value.readable() and place_in_file(value) is None
    if is_own_iterator(value):
        return not reduced(value)
    return is_long_file(value) or (not isinstance(value, (*PLAIN, *STATEFUL)) and is_hidden(value))


def unread(snapshot: Snapshot) -> list[str]:
    """The paths of values that hold what is not compared, unless an object that has them is compared with it."""
    others = ((path, value) for path, value in snapshot.held() if not isinstance(value, PLAIN))
    holding = [path for path, value in others if is_long_file(value) or is_unread(value)]
    return [path for path in holding if f"{path.rpartition('.')[0]}'s content" not in snapshot.leaves]


def place_in_file(file: Any) -> int | None:
    """How far a file is; None where that cannot be seen."""
    try:
        return int(file.tell()) if not file.closed and file.seekable() else None
    except OSError:  # a file that is iterated over
        return None


def _changes_in_file(file: Any) -> Any:
    """What is another after somebody else has written to a file that is only read."""
    try:
        status = None if file.closed or file.writable() else os.fstat(file.fileno())
    except (OSError, ValueError):  # it is no file of the system's
        return None
    return status and (status.st_size, status.st_mtime_ns)


def _state_of(value: Any) -> Any:
    return next((read(value) for type_, read in STATES if isinstance(value, type_)), None)


def _draws() -> Iterator[Held]:
    """What Python and NumPy draw from where nothing else is said."""
    return (Held(path, generator, Itself(generator)) for path, generator in GENERATORS.items())
