"""What functions read of objects that Python does not look into, and of the process: each call has it as it is."""

from __future__ import annotations

import contextvars
import ctypes
import datetime
import decimal
import enum
import gc
import hashlib
import locale
import logging
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import warnings
import weakref
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from reading import losses_of
from torch import nn

import ingot.torch
from ingot.torch.python_state.held import ABSENT
from ingot.torch.python_state.unshown import Content, content_of, is_unread

Made = tuple[Callable[[], float], Callable[[int], Any]]  # what is read, and what changes it before some call


def element(_: Path) -> Made:
    root = ElementTree.fromstring("<a><b v='1'/></a>")
    return lambda: float(root[0].get("v") or 0), lambda i: root[0].set("v", str(i))


def tree_of_points(_: Path) -> Made:
    spatial = pytest.importorskip("scipy.spatial")
    points = np.array([[0.0, 0.0], [9.0, 0.0]])
    tree = spatial.cKDTree(points, copy_data=False)
    return lambda: float(tree.query([0.0, 1.0])[0]), lambda i: points.__setitem__((0, 1), 1.0 + i)


def context_of_decimals(_: Path) -> Made:
    context = decimal.Context(prec=20)
    third = decimal.Decimal(1) / 3
    return lambda: float(context.plus(third)), lambda i: setattr(context, "prec", i // 2)


def record(_: Path) -> Made:
    held = np.zeros(2, [("v", "f8")])[0]
    held["v"] = 1.0
    return lambda: float(held["v"]), lambda i: held.__setitem__("v", float(i))


def object_in_an_array(_: Path) -> Made:
    held = Number(1)
    array = np.array([held, None], object)
    return lambda: array[0].size, lambda i: setattr(held, "size", float(i))


def pointed_to(_: Path) -> Made:
    class Of(ctypes.Structure):
        _fields_ = (("at", ctypes.POINTER(ctypes.c_double)),)

    number = ctypes.c_double(1.0)
    held = Of(ctypes.pointer(number))
    return lambda: held.at[0], lambda i: setattr(number, "value", float(i))


class Number(int):
    size = 1.0


class Kind(enum.Enum):
    ONE = 1


class Day(datetime.date):
    size = 1.0


def attribute_of_a_number(_: Path) -> Made:
    number, day = Number(1), Day(2020, 1, 1)
    number.size, day.size, Kind.ONE.size = 1.0, 1.0, 1.0  # type: ignore[attr-defined]
    others = [number, day, Kind.ONE]
    return lambda: number.size + day.size + Kind.ONE.size, lambda i: setattr(others[i // 2], "size", float(i))  # type: ignore[attr-defined]


def database_of_others(folder: Path) -> Made:
    mine, other = (sqlite3.connect(folder / "held", isolation_level=None) for _ in range(2))
    mine.execute("create table held (v real)")
    mine.execute("insert into held values (1)")
    return lambda: mine.execute("select v from held").fetchone()[0], lambda i: other.execute(f"update held set v = {i}")


def file_that_others_write(folder: Path) -> Made:
    (folder / "held").write_text("1")
    file = (folder / "held").open()
    return lambda: float((file.seek(0), file.read())[1]), lambda i: (folder / "held").write_text(f"{i}.5")


def sum_of_bytes(_: Path) -> Made:
    sums = hashlib.blake2b()
    return lambda: sums.digest()[0] / 100 + 1, lambda i: sums.update(b"more")


def viewed(_: Path) -> Made:
    numbers = {"a": 1.0}
    values = numbers.values()
    return lambda: sum(values), lambda i: numbers.__setitem__(f"b{i}", 1.0)


def context(_: Path) -> Made:
    variable = contextvars.ContextVar("variable", default=1.0)
    copied = contextvars.copy_context()
    return lambda: copied.run(variable.get), lambda i: copied.run(variable.set, float(i))


def is_collecting(_: Path) -> Made:
    return lambda: 1.0 + gc.isenabled(), lambda i: gc.disable() if i == 2 else gc.enable()


def seed_that_is_looked_at(_: Path) -> Made:
    draws = random.Random(0)
    return lambda: draws.getstate()[1][-1] / 624, lambda i: draws.random()


def seed_of_all(_: Path) -> Made:
    np.random.seed(0)
    return lambda: float(np.random.get_state()[1][0] % 7 + 1), lambda i: np.random.seed(i)  # type: ignore[index,call-overload]


def environment(_: Path) -> Made:
    os.environ["OF_TEST"] = "1"
    return lambda: float(os.getenv("OF_TEST", "0")), lambda i: os.environ.__setitem__("OF_TEST", str(i))


def zone(_: Path) -> Made:
    def move(hours: int) -> None:
        os.environ["TZ"] = f"Etc/GMT-{hours}"
        time.tzset()

    move(1)
    return lambda: 1.0 + time.localtime(0).tm_hour, lambda i: move(6 - i if i == 2 else 1)


def level_of_the_root(_: Path) -> Made:
    logging.getLogger().setLevel(10)
    return lambda: logging.getLogger().level / 10, lambda i: logging.getLogger().setLevel(10 * i if i == 2 else 10)


def warning(_: Path) -> Made:
    def is_error() -> float:
        try:
            warnings.warn("of a test", stacklevel=1)
        except UserWarning:
            return 2.0
        return 1.0

    return is_error, lambda i: warnings.filterwarnings("error" if i == 2 else "ignore", message="of a test")


def handler(_: Path) -> Made:
    def change(i: int) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN if i == 2 else signal.SIG_DFL)

    return lambda: 1.0 + (signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN), change


def name_of_the_thread(_: Path) -> Made:
    thread = threading.current_thread()
    before = thread.name
    return lambda: len(threading.current_thread().name) / 10, lambda i: setattr(
        thread, "name", "T" if i == 2 else before
    )


def places_that_are_set(_: Path) -> Made:
    locale.setlocale(locale.LC_CTYPE, "C")
    return (
        lambda: float(len(locale.setlocale(locale.LC_CTYPE))),
        lambda i: locale.setlocale(locale.LC_CTYPE, "C.UTF-8" if i == 2 else "C"),
    )


def imported(_: Path) -> Made:
    sys.modules.pop("of_test_absent", None)

    def change(i: int) -> None:
        if i == 2:
            sys.modules["of_test_absent"] = os
        else:
            del sys.modules["of_test_absent"]

    return lambda: 1.0 + ("of_test_absent" in sys.modules), change


MADE = [
    *(element, tree_of_points, context_of_decimals, record, object_in_an_array, pointed_to, attribute_of_a_number),
    *(database_of_others, file_that_others_write, sum_of_bytes, viewed, context, is_collecting, seed_that_is_looked_at),
    *(seed_of_all, environment, zone, level_of_the_root, warning, handler, name_of_the_thread, places_that_are_set),
    imported,
]


@pytest.fixture(autouse=True)
def own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    for name in ("TZ", "OF_TEST"):
        monkeypatch.setenv(name, "0")
    level, draws, place = logging.getLogger().level, np.random.get_state(), locale.setlocale(locale.LC_CTYPE)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(traced again|while the function is traced|of a test)")
        yield
    logging.getLogger().setLevel(level)
    np.random.set_state(draws)
    locale.setlocale(locale.LC_CTYPE, place)
    monkeypatch.delenv("TZ")
    time.tzset()


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_each_call_has_what_is_there(make: Callable[[Path], Made], tmp_path: Path) -> None:
    def losses(compiled: bool) -> list[torch.Tensor]:
        folder = tmp_path / str(compiled)
        folder.mkdir()
        return losses_of(*make(folder), compiled, rate=0.01, verify=False)

    torch.testing.assert_close(losses(True), losses(False))


def test_content_is_of_what_is_not_shown() -> None:
    root = ElementTree.fromstring("<a/>")
    content = content_of(root)
    assert content is not None
    before = content()
    assert content() == before
    root.set("v", "1")
    assert content() != before
    for shown in ({}, [1], "a", 1, Kind.ONE, object(), nn.Linear(1, 1), torch.zeros(1), np.zeros(1), weakref.WeakSet()):
        assert content_of(shown) is None


class Table:
    """As one of a library that is written in another language: its class says what is saved."""

    def __init__(self, handle: Any) -> None:
        self.handle, self.rows = handle, [1]

    def __getstate__(self) -> Any:
        return self.rows


def test_objects_that_cannot_be_saved_are_those_of_what_holds_them(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    safetensors.save_file({"x": np.zeros(1)}, tmp_path / "held")
    with pytest.importorskip("safetensors").safe_open(tmp_path / "held", "np") as handle:
        assert is_unread(handle) and content_of(handle) is None
        table = Table(handle)
        content = content_of(table)
        assert content is not None
        before = content()
        table.rows.append(2)
        assert content() not in (before, ABSENT)
    assert content_of(Table(None)) is None
    assert Content(Table(torch.zeros(1)))() is not ABSENT and Content([torch.zeros(1)])() is ABSENT


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    model = nn.Linear(1, 1)
    np.zeros(1 << 18).tofile(tmp_path / "numbers")
    numbers = np.memmap(tmp_path / "numbers", np.float64, "r")
    step = ingot.torch.compile(lambda x: model(x) + float(numbers[7]), model, verify=False)
    with pytest.warns(UserWarning, match="does not show what `numbers` holds"):
        step(torch.ones(1, 1))
