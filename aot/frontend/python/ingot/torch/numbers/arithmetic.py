"""Python's functions of numbers, which a program computes where their operands are numbers of the program's."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import numbers
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.base.replacements import calling_frame, is_tracer, replaced
from ingot.torch.numbers.choices import Choices
from ingot.torch.numbers.keys import type_of

HANDLED = ZeroDivisionError.__name__
# Methods that divide, and which of their operands is the divisor.
DIVIDING = {f"__{r}{name}__": not r for r in ("", "r") for name in ("truediv", "floordiv", "mod")}
DIVMOD = divmod
COMPUTED = torch.SymInt | torch.SymFloat
PYTHONS: dict[type, Any] = {torch.SymInt: 0, torch.SymFloat: 0.0, torch.SymBool: False}  # a number of the same type

# Functions of `math`, and what computes them of f64 scalars.
OF_MATH: dict[str, Callable[..., torch.Tensor]] = {
    name: getattr(torch, name)
    for name in (
        *("sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "atan2", "hypot", "erf", "isfinite", "isnan", "isinf"),
    )
} | {"fabs": torch.abs}

IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
OF_NUMPY = {getattr(np, IN_NUMPY.get(name, name)): op for name, op in OF_MATH.items() if name != "erf"}


@contextmanager
def computed_arithmetic(choices: Choices, variables: Iterable[dict[str, Any]]) -> Iterator[None]:
    """Python's functions take numbers of the program's: those of `math` and NumPy, `min`, `max` and `divmod`.

    And `isinstance`, `type` and `id`, where they are looked up among `variables` first: the user's modules.
    """
    with ExitStack() as undo:
        for name, op in OF_MATH.items():
            undo.enter_context(replaced(math, name, _of_math(getattr(math, name), op, choices)))
        for name, combine in (("min", torch.sym_min), ("max", torch.sym_max)):
            undo.enter_context(replaced(builtins, name, _extreme(getattr(builtins, name), combine)))
        undo.enter_context(replaced(builtins, "divmod", _divided))
        for symbolic in (torch.SymInt, torch.SymFloat):
            undo.enter_context(replaced(symbolic, "__array_ufunc__", _of_numpy(choices), original=_of_objects))
        for symbolic, name in itertools.product(PYTHONS, ("__eq__", "__ne__")):
            undo.enter_context(replaced(symbolic, name, _comparing(getattr(symbolic, name))))
        for symbolic, name in itertools.product((torch.SymInt, torch.SymFloat), DIVIDING):
            undo.enter_context(replaced(symbolic, name, _dividing(getattr(symbolic, name), DIVIDING[name])))
        for names, (name, asking) in itertools.product(variables, ASKING.items()):
            if name not in names:
                undo.enter_context(replaced(names, name, asking, original=getattr(builtins, name)))
        yield


class _TypeAsking(type):
    """Answers ``type(number)`` as for Python's numbers; in all else it is `type` itself."""

    def __call__(cls, *given: Any, **more: Any) -> Any:
        is_asked = len(given) == 1 and is_tracer()
        return type_of(PYTHONS.get(type(given[0]), given[0])) if is_asked else type(*given, **more)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type)


class _Type(type, metaclass=_TypeAsking):
    pass


def _is_of(value: Any, types: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return isinstance(value, types) or _is_derived(type_of(value), types)
    return isinstance(PYTHONS.get(type(value), value), types) or isinstance(value, types)


def _is_derived(kind: type, types: Any) -> bool:
    """Whether a class of tensors is, or derives from, one of some."""
    every = types if isinstance(types, tuple) else (types,)
    return any(_is_derived(kind, other) if isinstance(other, tuple) else other in kind.__mro__ for other in every)


def _identity(value: Any) -> int:
    """Of a tensor that of what it stands in for."""
    return hash(value) if isinstance(value, torch.Tensor) else id(value)


ASKING = {"isinstance": _is_of, "type": _Type, "id": _identity}


def _of_math(function: Callable[..., float], op: Callable[..., torch.Tensor], choices: Choices) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*operands: Any) -> Any:
        is_computed = any(isinstance(operand, COMPUTED) for operand in operands)
        return _computed(op, operands, choices) if is_computed else function(*operands)

    return call


def _of_numpy(choices: Choices) -> Callable[..., Any]:
    """Computes NumPy's functions of the program's numbers: ``__array_ufunc__`` of these."""

    def call(number: Any, function: Any, method: str, *operands: Any, **options: Any) -> Any:
        are_numbers = all(isinstance(operand, COMPUTED | int | float | np.number) for operand in operands)
        if function not in OF_NUMPY or method != "__call__" or options or not are_numbers:
            return _of_objects(number, function, method, *operands, **options)
        return _computed(OF_NUMPY[function], operands, choices)

    return call


def _of_objects(_: Any, function: Any, method: str, *operands: Any, **options: Any) -> Any:
    """Lets NumPy call the operators of numbers that it does not know."""
    objects = (np.array(x, dtype=object) if isinstance(x, COMPUTED) else x for x in operands)
    return getattr(function, method)(*objects, **options)


def _computed(op: Callable[..., torch.Tensor], operands: tuple[Any, ...], choices: Choices) -> Any:
    """A number of f64 that an op makes of numbers."""
    number = op(*(torch.scalar_tensor(operand, dtype=torch.float64) for operand in operands)).item()
    choices.derive(number, operands)
    return number


def _comparing(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """``==`` and ``!=`` also with numbers of other types, which Python would take for something else altogether."""

    @functools.wraps(method)
    def compare(number: Any, other: Any) -> Any:
        if isinstance(other, np.generic):
            other = other.item()
        elif isinstance(other, int | float) and type(other) not in (bool, int, float):
            other = int(other) if isinstance(other, int) else float(other)
        answer = method(number, other)
        if answer is NotImplemented and isinstance(other, numbers.Number):
            what = f"a number that the program computes is compared with a {type(other).__name__}"
            raise TraceError(what, user_place(), "compare it with an int or a float")
        return answer

    return compare


def _dividing(method: Callable[[Any, Any], Any], divisor: int) -> Callable[[Any, Any], Any]:
    """A quotient that asks whether it divides by 0, where the function says what becomes of it then."""

    @functools.wraps(method)
    def divide(*operands: Any) -> Any:
        by = operands[divisor]
        if isinstance(by, COMPUTED) and HANDLED in calling_frame().f_code.co_names and by == 0:
            raise ZeroDivisionError("division by zero")
        return method(*operands)

    return divide


def _divided(*operands: Any) -> Any:
    """``divmod(n, k)``."""
    is_computed = len(operands) == 2 and any(isinstance(operand, COMPUTED) for operand in operands)
    return (operands[0] // operands[1], operands[0] % operands[1]) if is_computed else DIVMOD(*operands)


def _extreme(function: Callable[..., Any], combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*operands: Any, **options: Any) -> Any:
        if len(operands) == 1 and isinstance(operands[0], Iterator):
            operands = (tuple(operands[0]),)
        given = operands[0] if len(operands) == 1 and isinstance(operands[0], tuple | list) else operands
        if options or not any(isinstance(operand, COMPUTED) for operand in given):
            return function(*operands, **options)
        return functools.reduce(combine, given)

    return call
