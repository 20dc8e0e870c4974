"""Programs of a step that is decorated again, as inside the function of an epoch: found, and not traced again."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from ingot.torch.python_state.reach import OWN_ATTRIBUTE
from ingot.torch.running.random_keys import RandomKeys
from ingot.torch.running.same_code import Comparison

MOST_CODES = 8
MOST_RUNS = 8


class Programs:
    """The programs of one code with the same models, optimizers and options; and what their steps share."""

    def __init__(self, code: Any, options: tuple[Any, ...], seed: int | None) -> None:
        self.random = RandomKeys(seed)
        self._said: set[str] = set()  # warnings that were given
        self._code, self._options = code, options
        self._traced: list[tuple[Callable[..., Any], Any]] = []

    def is_first(self, warning: str) -> bool:
        """Whether a warning was not given yet; from now on it was."""
        is_first = warning not in self._said
        self._said.add(warning)
        return is_first

    def are_of(self, code: Any, options: tuple[Any, ...]) -> bool:
        """Whether a step is of the same code, and its options are the same objects or equal ones."""
        pairs = zip(self._options, options, strict=True)
        return bool(self._code == code) and all(mine is other or _are_equal(mine, other) for mine, other in pairs)

    def add(self, function: Callable[..., Any], run: Any) -> None:
        """Keeps the run of a program for steps that are decorated later, and the latest of them."""
        self._traced = [*self._traced[1 - MOST_RUNS :], (function, run)]

    def drop(self, run: Any) -> None:
        """Forgets a run."""
        self._traced = [(function, other) for function, other in self._traced if other is not run]

    @property
    def runs(self) -> list[Any]:
        """The runs that are kept."""
        return [run for _, run in self._traced]

    def of_same(self, function: Callable[..., Any]) -> Iterator[tuple[Any, Comparison]]:
        """The runs of earlier functions that do what this one does."""
        for other, run in self._traced:
            same = Comparison(function, other)
            if same.is_same and not any(map(same.has, run.places)):
                yield run, same


def programs_of(
    function: Callable[..., Any], model: Any, optimizer: Any, options: tuple[Any, ...], seed: int | None
) -> Programs:
    """The programs of a function's code, which live as long as the first optimizer does, or else the first model."""
    code = _code_of(function)
    first = next(_parts_of(optimizer), None) or next(_parts_of(model), None)
    if first is None or code is None:
        return Programs(code, options, seed)
    held = vars(first).get(OWN_ATTRIBUTE)
    if not isinstance(held, Held):
        held = vars(first)[OWN_ATTRIBUTE] = Held()
    return held.of(code, options, seed)


def _parts_of(given: Any) -> Iterator[Any]:
    """The models or optimizers that a step is given: one, several by name, or none."""
    return iter(given.values() if isinstance(given, Mapping) else () if given is None else (given,))


class Held:
    """The programs of the steps that were compiled with an optimizer or a model, by their codes."""

    def __init__(self) -> None:
        self._programs: list[Programs] = []

    def __deepcopy__(self, _: Any) -> Held:
        """Copies of the model have programs of their own."""
        return Held()

    def __reduce__(self) -> tuple[Any, ...]:
        """A saved model has none, and is loaded where this package is not."""
        return collections.OrderedDict, ()

    def of(self, code: Any, options: tuple[Any, ...], seed: int | None) -> Programs:
        """Those of a code: new ones, if it has none."""
        for programs in self._programs:
            if programs.are_of(code, options):
                return programs
        self._programs = [*self._programs[1 - MOST_CODES :], made := Programs(code, options, seed)]
        return made


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return [*one] == [*other] and all(a is b for a, b in zip(one.values(), other.values(), strict=True))
    return not isinstance(one, (torch.nn.Module, torch.optim.Optimizer)) and type(one) is type(other) and one == other


def _code_of(function: Any) -> types.CodeType | None:
    return getattr(getattr(function, "__func__", function), "__code__", None)
