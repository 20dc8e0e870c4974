"""Functions that are one code over the same values, as an inner function is that is defined again in each epoch."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any

from ingot.torch.python_state.held import Variable
from ingot.torch.python_state.snapshot import PLAIN


class Comparison:
    """Whether a function does what another does, for as long as the variables that it closes over keep their values."""

    def __init__(self, function: Any, other: Any) -> None:
        self._variables: dict[int, tuple[Variable, Any]] = {}  # by the identity of the cell
        self._others: set[int] = set()
        self.is_same = self._is_same(function, other)

    def holds(self) -> bool:
        """Whether the function's variables have the values that they had."""
        return all(variable() is value for variable, value in self._variables.values())

    def has(self, place: tuple[int, Any]) -> bool:
        """Whether a place is a variable of the other function, that this one has itself."""
        return place[0] in self._others

    def _is_same(self, value: Any, other: Any) -> bool:
        if value is other:
            return True
        if type(value) is not type(other):
            return False
        if isinstance(value, types.FunctionType):
            return self._is_same_function(value, other)
        if isinstance(value, types.MethodType):
            return value.__self__ is other.__self__ and self._is_same(value.__func__, other.__func__)
        if isinstance(value, functools.partial):
            mine, theirs = ((p.func, *p.args, *_items(p.keywords)) for p in (value, other))
            return self._are_same(mine, theirs)
        if type(value) is tuple:
            return self._are_same(value, other)
        return isinstance(value, PLAIN) and repr(value) == repr(other)

    def _is_same_function(self, function: types.FunctionType, other: types.FunctionType) -> bool:
        if function.__code__ != other.__code__ or function.__globals__ is not other.__globals__:
            return False
        parts, others = (
            (*(f.__defaults__ or ()), *_items(f.__kwdefaults__ or {}), *_items(vars(f))) for f in (function, other)
        )
        cells = zip(function.__closure__ or (), other.__closure__ or (), strict=True)
        return self._are_same(parts, others) and all(self._is_same_variable(*pair) for pair in cells)

    def _is_same_variable(self, cell: types.CellType, other: types.CellType) -> bool:
        if cell is other or id(cell) in self._variables:  # also of a function that calls itself
            return True
        variable = Variable(cell)
        self._variables[id(cell)] = variable, variable()
        self._others.add(id(other))
        return self._is_same(variable(), Variable(other)())

    def _are_same(self, values: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
        return len(values) == len(others) and all(self._is_same(*pair) for pair in zip(values, others, strict=True))


def _items(mapping: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*mapping, *mapping.values())
