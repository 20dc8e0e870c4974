"""Counters that a function reaches by ways which its code does not name, and that decide only after some calls."""

from __future__ import annotations

import abc
import array
import builtins
import collections
import contextvars
import csv
import ctypes
import enum
import hashlib
import importlib
import io
import itertools
import mmap
import operator
import os
import queue
import sqlite3
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn
from trainings import Training, linear, usual_step

from carried import elsewhere
from carried.case import table

CASES, case = table()
CONTEXT = contextvars.ContextVar("calls", default=0)
LOCAL = threading.local()
CALLS = 0


class Counter:
    def __init__(self) -> None:
        self.calls = 0


def late(count: Callable[[], float]) -> Training:
    """Two calls alone, as they are traced, do not tell that a later one does something else."""
    model, optimizer = linear()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * 2 if count() > 3 else x))


def counting(counter: Any) -> Callable[[], int]:
    def count() -> int:
        counter.calls += 1
        return counter.calls

    return count


@case()
def counts_in_a_context() -> Training:
    CONTEXT.set(0)

    def count() -> int:
        CONTEXT.set(CONTEXT.get() + 1)
        return CONTEXT.get()

    return late(count)


@case()
def counts_in_a_thread() -> Training:
    LOCAL.calls = 0
    return late(counting(LOCAL))


@case()
def counts_by_the_name_of_a_global() -> Training:
    globals()["CALLS"] = 0

    def count() -> int:
        globals()["CALLS"] += 1
        return globals()["CALLS"]

    return late(count)


@case()
def counts_in_a_module_that_it_imports() -> Training:
    elsewhere.calls = 0

    def count() -> int:
        from carried import elsewhere as there

        there.calls += 1
        return there.calls

    return late(count)


@case()
def counts_in_a_module_by_its_name() -> Training:
    elsewhere.calls = 0

    def count() -> int:
        sys.modules["carried.elsewhere"].calls += 1
        return sys.modules["carried.elsewhere"].calls

    return late(count)


@case()
def counts_in_a_library() -> Training:
    torch.calls = 0

    def count() -> int:
        torch.calls += 1
        return torch.calls

    return late(count)


@case()
def counts_in_a_class_of_a_library() -> Training:
    nn.Linear.calls = 0

    def count() -> int:
        nn.Linear.calls += 1
        return nn.Linear.calls

    return late(count)


@case()
def counts_among_builtins() -> Training:
    builtins.calls = 0

    def count() -> int:
        builtins.calls += 1
        return calls  # noqa: F821

    return late(count)


@case()
def counts_behind_a_weak_reference() -> Training:
    elsewhere.kept = Counter()
    reference = weakref.ref(elsewhere.kept)

    def count() -> int:
        reference().calls += 1
        return reference().calls

    return late(count)


@case()
def counts_in_a_key() -> Training:
    counters = {Counter(): "the only one"}
    return late(lambda: max(counting(counter)() for counter in counters))


@case()
def counts_behind_a_proxy() -> Training:
    counters = types.MappingProxyType({"it": SimpleNamespace(calls=0)})
    return late(lambda: counting(counters["it"])())


@case()
def counts_in_a_class_of_classes() -> Training:
    class Meta(type):
        calls = 0

    class Counter(metaclass=Meta):
        pass

    return late(lambda: counting(type(Counter))())


@case()
def counts_in_a_hook_of_all_modules() -> Training:
    model, optimizer = linear()
    counter = SimpleNamespace(calls=0)

    def hook(module: nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
        return output * 2 if module is model and counting(counter)() > 3 else output

    nn.modules.module.register_module_forward_hook(hook)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


@case(r"`os\.environ.*` from b'1' to b'2'")
def counts_in_the_environment() -> Training:
    os.environ["CALLS_OF_A_STEP"] = "0"

    def count() -> int:
        os.environ["CALLS_OF_A_STEP"] = str(int(os.environ["CALLS_OF_A_STEP"]) + 1)  # here
        return int(os.environ["CALLS_OF_A_STEP"])

    return late(count)


@case(r"`number` from c_int\(1\) to c_int\(2\)")
def counts_in_a_number_of_c() -> Training:
    number = ctypes.c_int(0)

    def count() -> int:
        number.value += 1  # here
        return number.value

    return late(count)


@case(r"`file` from a file at 1 to a file at 2")
def counts_in_a_file() -> Training:
    file = io.StringIO()

    def count() -> int:
        file.write(".")  # here
        return file.tell()

    return late(count)


SCALES = (1.0, 1.0, 1.0, 5.0, 6.0, 7.0)


def in_a_loop() -> Iterator[float]:
    yield from SCALES


def squared() -> Iterator[float]:
    for scale in SCALES:
        yield scale**2


ITERATORS: dict[str, Callable[[], Iterator[float]]] = {
    "accumulate": lambda: itertools.accumulate(SCALES, max),
    "takewhile": lambda: itertools.takewhile(lambda scale: scale < 9, SCALES),
    "starmap": lambda: itertools.starmap(max, [(scale, 0.0) for scale in SCALES]),
    "zip_longest": lambda: (scale for (scale,) in itertools.zip_longest(SCALES)),
    "tee": lambda: itertools.tee(SCALES)[0],
    "product": lambda: map(max, itertools.product(SCALES, [0.0])),
    "pairwise": lambda: map(max, itertools.pairwise((1.0, *SCALES))),
    "values": lambda: iter(dict(enumerate(SCALES)).values()),
    "called": lambda: iter(iter(SCALES).__next__, None),
    "text": lambda: map(float, "111567"),
    "file": lambda: map(float, io.StringIO("1\n1\n1\n5\n6\n7\n")),
    "delegating": in_a_loop,
    "looping": squared,
}


def taking(make: Callable[[], Iterator[float]]) -> Callable[[], Training]:
    def training() -> Training:
        numbers = make()
        return late(lambda: next(numbers))

    return training


for name, make in ITERATORS.items():
    taking_from = taking(make)
    taking_from.__name__ = f"takes_from_an_iterator_{name}"
    case(r"the second call changes `(len\()?numbers")(taking_from)


@case(r"`pop\.__self__.*` from|`len\(pop\.__self__\)` from")
def takes_by_a_method_of_a_list() -> Training:
    pop = [*reversed(SCALES)].pop
    return late(lambda: pop())  # here


@case()
def counts_in_a_module_that_importlib_finds() -> Training:
    elsewhere.calls = 0
    return late(lambda: counting(importlib.import_module("carried.elsewhere"))())


@case()
def counts_in_an_attribute_of_a_tensor() -> Training:
    model, optimizer = linear()
    model.table = torch.ones(1)
    model.table.calls = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x * 2 if counting(model.table)() > 3 else x * model.table)

    return Training(model, optimizer, step)


class Phase(enum.IntEnum):
    FOURTH = 4


@case()
def compares_with_a_member_of_an_enumeration() -> Training:
    count = counting(Counter())
    return late(lambda: 4 if count() == Phase.FOURTH else 0)


@case()
def asks_whether_a_comparison_is_true() -> Training:
    count = counting(Counter())
    return late(lambda: 4 if (count() > 3) is True else 0)


@case()
def asks_for_the_class_of_a_number() -> Training:
    count = counting(Counter())
    return late(lambda: 4 if count().__class__ is int else 0)


@case(r"`is` asks which object a number is")
def asks_whether_a_number_is_another() -> Training:
    count = counting(Counter())
    four = Phase.FOURTH.value
    return late(lambda: 4 if count() is four else 0)  # here


@case(r"`is` asks which object a number is")
def asks_by_a_function_whether_a_number_is_another() -> Training:
    count = counting(Counter())
    return late(lambda: 4 if operator.is_not(count(), 4) else 0)  # here


@case(r"`numbers` is array\('d', \[5\.0\]\) or array\('d', \[1\.0\]\) after a call")
def writes_an_array_late() -> Training:
    numbers = array.array("d", [1.0])
    view, count = memoryview(numbers), counting(Counter())

    def scale() -> float:
        if count() > 3:
            numbers[0] = 5.0
        return sum(view)

    return late(scale)


def turning(numbers: dict[str, float], turn: Callable[[dict[str, float], str], object]) -> Training:
    """Looks at the first entry of a mapping, and moves it to the end."""

    def scale() -> float:
        first = next(iter(numbers))
        turn(numbers, first)  # here
        return numbers[first]

    return late(scale)


SCALED = dict(zip("abcd", (1.0, 1.0, 1.0, 5.0), strict=True))


@case(r"`the order of numbers` from")
def turns_a_mapping() -> Training:
    return turning({**SCALED}, lambda numbers, key: numbers.update({key: numbers.pop(key)}))


@case(r"`the order of numbers` from")
def turns_an_ordered_mapping() -> Training:
    return turning(collections.OrderedDict(SCALED), lambda numbers, key: numbers.move_to_end(key))


def rows_of_a_database() -> Callable[[], float]:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table calls (number)")

    def count() -> float:
        database.execute("insert into calls values (1)")
        return database.execute("select count(*) from calls").fetchone()[0]

    return count


def rows_of_a_text() -> Callable[[], float]:
    reader = csv.reader(io.StringIO("1\n1\n1\n5\n6\n7\n"))
    return lambda: float(next(reader)[0])


def rows_of_a_queue() -> Callable[[], float]:
    waiting: queue.SimpleQueue[float] = queue.SimpleQueue()
    for scale in SCALES:
        waiting.put(scale)
    return lambda: waiting.get()


def bytes_of_memory() -> Callable[[], float]:
    memory = mmap.mmap(-1, 8)

    def count() -> float:
        memory[0] += 1
        return memory[0]

    return count


def elements_of_an_array() -> Callable[[], float]:
    elements = np.array(SCALES).flat
    return lambda: float(next(elements))


def elements_of_arrays() -> Callable[[], float]:
    elements = np.nditer(np.array(SCALES))
    return lambda: float(next(elements))


def sums_of_bytes() -> Callable[[], float]:
    hashed = hashlib.sha256()

    def count() -> float:
        hashed.update(b".")
        return hashed.digest()[0] / 64

    return count


def holders_of_a_lock() -> Callable[[], float]:
    lock = threading.RLock()

    def count() -> float:
        lock.acquire()
        return 5 if "count=4" in repr(lock) else 1

    return count


OPAQUE = (
    *(rows_of_a_database, rows_of_a_text, rows_of_a_queue, bytes_of_memory, elements_of_an_array, elements_of_arrays),
    *(sums_of_bytes, holders_of_a_lock),
)


def counting_by(make: Callable[[], Callable[[], float]]) -> Callable[[], Training]:
    return lambda: late(make())


for made in OPAQUE:
    counts_by = counting_by(made)
    counts_by.__name__ = f"counts_by_{made.__name__}"
    case(r"the second call (changes `(database|reader|waiting|memory|elements|lock|hashed)` from|does something)")(
        counts_by
    )


class Kind(abc.ABC):  # noqa: B024
    """What is registered while a function runs."""


class Other:
    """A class of no kind."""


@case("the second call does something else than the first")
def registers_a_class() -> Training:
    model, optimizer = linear()
    other = Other()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x * 2 if isinstance(other, Kind) else x)
        Kind.register(Other)
        return loss

    return Training(model, optimizer, step)
