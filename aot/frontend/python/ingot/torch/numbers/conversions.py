"""Python's ``float(x)`` and ``int(x)`` of numbers that a program computes.

Both give numbers of Python's own, whatever they are given. So functions that call them are given code that calls what
stands here, while they are traced; where they are named otherwise, as types, they stay what they are.
"""

from __future__ import annotations

import dis
import inspect
import math
import operator
import types
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.nn.utils import clip_grad

from ingot.torch.base.files import FRAMEWORK_FILES
from ingot.torch.base.replacements import replaced

LOAD, CALLED = "LOAD_GLOBAL", 1  # an instruction, and the bit of its operand which says that what it loads is called
FEW = 128  # names, the numbers of which fit into the operand


def _float(*given: Any) -> Any:
    """``float(x)``; of a tensor that is an f64 without value, as of its ``item()``."""
    number = _item(given[0]) if len(given) == 1 else None
    if isinstance(number, torch.SymBool):
        return 1.0 if number else 0.0
    return torch.sym_float(number) if isinstance(number, torch.SymInt | torch.SymFloat) else float(*given)


def _int(*given: Any, **base: Any) -> Any:
    """``int(x)``, towards 0."""
    number = given[0] if len(given) == 1 else None
    if isinstance(number, torch.SymBool):
        return 1 if number else 0
    if isinstance(number, torch.SymFloat):
        return math.trunc(number)
    return number if isinstance(number, torch.SymInt) else int(*given, **base)


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_complex() else value


CONVERSIONS = {"float": _float, "int": _int}
PYTHONS = {"float": float, "int": int}
CLIPPING = {inspect.unwrap(f) for f in vars(clip_grad).values() if isinstance(f, types.FunctionType)}


@contextmanager
def computed_conversions(reached: Iterable[Any]) -> Iterator[None]:
    """Functions among what is reached convert numbers of the program's; of PyTorch's those that clip gradients do."""
    with ExitStack() as undo:
        for function in (*reached, *CLIPPING):
            is_own = isinstance(function, types.FunctionType)
            if is_own and (function in CLIPPING or not function.__code__.co_filename.startswith(FRAMEWORK_FILES)):
                names = {name for name in CONVERSIONS if name not in function.__globals__}
                code = _converting(function.__code__, names)
                if code is not function.__code__:
                    for name in names:
                        called, convert = _called(name), CONVERSIONS[name]
                        undo.enter_context(replaced(function.__globals__, called, convert, original=PYTHONS[name]))
                    undo.enter_context(replaced(function, "__code__", code))
        yield


def _called(name: str) -> str:
    """The name of a variable that no code can write."""
    return f"<{name}>"


def _converting(code: types.CodeType, names: set[str]) -> types.CodeType:
    """The same code, where functions of some names are called by others; the code itself where there are none."""
    inner = [_converting(x, names) if isinstance(x, types.CodeType) else x for x in code.co_consts]
    text, variables = bytearray(code.co_code), [*code.co_names]
    is_extended = False
    for load in dis.get_instructions(code):
        is_called = load.opname == LOAD and (load.arg or 0) & CALLED and load.argval in names
        if is_called and len(variables) < FEW and not is_extended:
            if _called(load.argval) not in variables:
                variables.append(_called(load.argval))
            text[load.offset + 1] = variables.index(_called(load.argval)) << 1 | CALLED
        is_extended = load.opname == "EXTENDED_ARG"
    if bytes(text) == code.co_code and all(map(operator.is_, inner, code.co_consts)):
        return code
    return code.replace(co_code=bytes(text), co_names=tuple(variables), co_consts=tuple(inner))
