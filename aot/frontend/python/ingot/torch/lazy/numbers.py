"""Numbers that Python changes from step to step, as learning rates and bias corrections, are inputs of a tape.

So a step is compiled once for all of them. Other numbers, as exponents and bounds, belong to the op.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import Layout, layout_of
from ingot.torch.lazy.plans import Args, Kwargs
from ingot.torch.lazy.record import record
from ingot.torch.lazy.tape import Number
from ingot.torch.lazy.tensor import LazyTensor

aten = torch.ops.aten
Call = tuple[OpOverload, Args, Kwargs]
COMPUTED_IN = {torch.float32, torch.float64, torch.int32, torch.int64}


def _input(value: Any, *operands: Any) -> Number | None:
    """A number as an operand, in the type that an op computes in with it; None where it is not one."""
    if type(value) not in (int, float) or not isinstance(operands[0], LazyTensor):
        return None
    form = _number_form(*map(_kind, operands))
    return None if form is None else Number(form, _data(value or repr(value), form.dtype))


def _kind(operand: Any) -> Layout | type:
    """What the type of a result depends on."""
    if isinstance(operand, LazyTensor):
        return operand.form
    return layout_of(operand) if isinstance(operand, torch.Tensor) else type(operand)


@functools.lru_cache(100_000)
def _number_form(*operands: Layout | type) -> Layout | None:
    """The layout of a number of the type that an op computes in with some layouts and types of numbers."""
    typed = [x.bare() if isinstance(x, Layout) else x() for x in operands]
    dtype = torch.result_type(*typed) if len(typed) == 2 else typed[0].dtype
    return layout_of(torch.empty((), dtype=dtype, device="meta")) if dtype in COMPUTED_IN else None


@functools.lru_cache(1000)
def _data(value: float | str, dtype: torch.dtype) -> torch.Tensor:
    """A number, of 0 its text, which tells 0.0 from -0.0, as a tensor."""
    return torch.tensor(float(value) if isinstance(value, str) else value, dtype=dtype)


def _of_tensors(op: OpOverload) -> OpOverload:
    """The overload of an op that takes tensors."""
    return op.overloadpacket.Tensor


def _sum(op: OpOverload, x: Any, y: Any, alpha: Any = 1) -> Call | None:
    if not isinstance(y, torch.Tensor):
        number = _input(y * alpha, x, y)
        return None if number is None else (_of_tensors(op), (x, number), {})
    factor = None if alpha == 1 else _input(alpha, x, y)
    return None if factor is None else (op, (x, record(aten.mul.Tensor, (y, factor), {})), {})


def _reversed_difference(op: OpOverload, x: Any, y: Any, alpha: Any = 1) -> Call | None:
    number = _input(y, x, y) if alpha == 1 else None
    return None if number is None else (aten.sub.Tensor, (number, x), {})


def _product(op: OpOverload, x: Any, y: Any, **rounding: Any) -> Call | None:
    number = _input(y, x, y)
    form = getattr(op.overloadpacket, "Tensor_mode" if rounding else "Tensor")
    return None if number is None else (form, (x, number), rounding)


def _sum_of_products(op: OpOverload, x: Any, a: Any, b: Any, *, value: Any = 1) -> Call | None:
    factor = None if value == 1 else _input(value, x, a)
    return None if factor is None else (op, (x, record(aten.mul.Tensor, (a, factor), {}), b), {})


def _between(op: OpOverload, x: Any, end: Any, weight: Any) -> Call | None:
    number = _input(weight, x)
    return None if number is None else (_of_tensors(op), (x, end, number), {})


def _filled(op: OpOverload, x: Any, value: Any) -> Call | None:
    number = _input(value, x)
    return None if number is None else (_of_tensors(op), (x, number), {})


RULES: dict[str, Callable[..., Call | None]] = {
    "add": _sum,
    "sub": _sum,
    "rsub": _reversed_difference,
    "mul": _product,
    "div": _product,
    "addcmul": _sum_of_products,
    "addcdiv": _sum_of_products,
    "lerp": _between,
    "fill": _filled,
}
