"""What libraries hold, as a number: another where they hold other things, and the same in each process."""

from __future__ import annotations

import builtins
import copy
import functools
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ingot._engine import digest
from ingot.torch.running.libraries import PARTS

NAME = "library"
SOURCE = """
import functools, math

def scaled(x, by=2.0, *more):
    return x * by

def closing(inner):
    def outer(x):
        return inner(x) + 1
    return outer

closed = closing(scaled)
cached = functools.lru_cache(scaled)
root = math.sqrt

class Layer:
    size = 3

    def run(self, x):
        return x

    @property
    def half(self):
        return self.size / 2

    @staticmethod
    def made():
        return Layer()

flag, rate, name, data, nothing = True, 0.5, "relu", b"ab", None
big, odd = 2**80, "\\ud800"
names = {"a": [1, 2, "c"], "b": (1, (2, 3)), 4: {5, 6}}
known = frozenset({"x", "y", "z"})
order = ["p", "q"]
pair = (1, 2)
functions = {"run": scaled, "layer": Layer}
"""


def library() -> dict[str, Any]:
    held: dict[str, Any] = {"__name__": NAME}
    exec(compile(SOURCE, "library.py", "exec"), held)
    del held["__builtins__"]
    return held


def number(held: dict[str, Any], has_values: bool = True) -> str:
    return digest(held, NAME, has_values, PARTS)


def double(x: float) -> float:
    return x * 2


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a function": lambda held: held.update(scaled=double),
    "a name": lambda held: held.update(more=double),
    "a name that is gone": lambda held: held.pop("root"),
    "a function of C's": lambda held: held.update(root=builtins.abs),
    "a default": lambda held: setattr(held["scaled"], "__defaults__", (3.0,)),
    "code": lambda held: setattr(held["scaled"], "__code__", double.__code__.replace(co_filename="library.py")),
    "what a function closes over": lambda held: setattr(held["closed"].__closure__[0], "cell_contents", double),
    "what is behind a cache": lambda held: held.update(cached=functools.lru_cache(double)),
    "a method": lambda held: setattr(held["Layer"], "run", double),
    "a property": lambda held: setattr(held["Layer"], "half", property(double)),
    "a static method": lambda held: setattr(held["Layer"], "made", staticmethod(double)),
    "a number of a class": lambda held: setattr(held["Layer"], "size", 4),
    "another class of the name": lambda held: held.update(Layer=type("Layer", (), {"__module__": NAME})),
    "a class of another module": lambda held: held.update(Layer=type("Layer", (), {"__module__": "other"})),
    "a flag": lambda held: held.update(flag=False),
    "a flag that is a number": lambda held: held.update(flag=1),
    "a float": lambda held: held.update(rate=0.25),
    "a text": lambda held: held.update(name="gelu"),
    "bytes": lambda held: held.update(data=b"ab\0"),
    "bytes that are a text": lambda held: held.update(data="ab"),
    "a number instead of nothing": lambda held: held.update(nothing=0),
    "a large number": lambda held: held.update(big=2**80 + 1),
    "a text that is not UTF-8": lambda held: held.update(odd="\ud801"),
    "an element deep inside": lambda held: held["names"]["a"].append(3),
    "a key": lambda held: held["names"].update(c=held["names"].pop("a")),
    "an element of a set": lambda held: held["names"][4].add(7),
    "the order of a tuple": lambda held: held.update(pair=(2, 1)),
    "a list instead of a tuple": lambda held: held.update(pair=[1, 2]),
    "an element twice": lambda held: held["order"].append("q"),
    "a function in a dict": lambda held: held["functions"].update(run=double),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes(change: Callable[[dict[str, Any]], Any]) -> None:
    held = library()
    change(held)
    assert number(held) != number(library())


ALIKE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "the order of names": lambda held: held.update(scaled=held.pop("scaled")),
    "the order of a list, which may be made of a set": lambda held: held["order"].reverse(),
    "a long text": lambda held: held.update(path="a text that is the path of something"),
    "an object of a class": lambda held: held.update(layer=held["Layer"]()),
    "copies": lambda held: held.update(names=copy.deepcopy(held["names"]), name="re" + held["name"][2:]),
}


@pytest.mark.parametrize("change", ALIKE.values(), ids=ALIKE)
def test_is_alike(change: Callable[[dict[str, Any]], Any]) -> None:
    held = library()
    change(held)
    assert number(held) == number(library())


def test_without_values_only_functions_and_classes_count() -> None:
    held = library()
    held.update(flag=False, rate=1.0, names={})
    assert number(held, False) == number(library(), False)
    held["scaled"] = double
    assert number(held, False) != number(library(), False)


def test_is_the_same_in_each_process() -> None:
    """Texts have other hashes in each, and sets another order."""
    here = os.path.dirname(__file__)
    code = f"import sys; sys.path.insert(0, {here!r}); import test_digest as t; print(t.number(t.library()))"
    seeds = (os.environ | {"PYTHONHASHSEED": seed} for seed in ("1", "2", "3"))
    printed = {subprocess.check_output([sys.executable, "-c", code], env=seed, text=True).strip() for seed in seeds}
    assert printed == {number(library())}


class Odd(type):
    @property
    def __module__(cls) -> str:
        raise RuntimeError("no module")


@contextmanager
def still_referenced(*objects: Any) -> Iterator[None]:
    """Takes and gives back as many references to some objects."""
    before = [*map(sys.getrefcount, objects)]
    yield
    assert [*map(sys.getrefcount, objects)] == before


def test_gives_back_what_it_took() -> None:
    held = library()
    held["odd class"] = Odd("Odd", (), {})
    counted = [value for value in held.values() if not isinstance(value, bool | None)]
    with still_referenced(held, *counted, held["scaled"].__code__, PARTS, types.FunctionType):
        for _ in range(5):
            number(held)


class Asked:
    def __getattr__(self, name: str) -> Any:
        raise SystemExit(name)


def test_asks_defaults_for_nothing() -> None:
    held = library()
    held["defaulted"] = types.FunctionType(double.__code__, {}, argdefs=(Asked(),))
    assert number(held) != number(library())


def test_takes_dicts_alone() -> None:
    with pytest.raises(TypeError, match="dict"):
        digest([], NAME, True, PARTS)
