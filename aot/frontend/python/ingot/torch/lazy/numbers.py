"""Numbers that Python changes from step to step, as learning rates and bias corrections, are inputs of a tape.

So a step is compiled once for all of them. Other numbers, as exponents and bounds, belong to the op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.record import Args, Kwargs, aten
from ingot.torch.lazy.tensor import LazyTensor, of_memory

Call = tuple[OpOverload, Args, Kwargs]
COMPUTED_IN = {torch.float32, torch.float64, torch.int32, torch.int64}


def numbers_apart(op: OpOverload, args: Args, kwargs: Kwargs) -> Call:
    """A call that means the same, with numbers as tensors where its op is in the table."""
    rule = RULES.get(op._opname.removesuffix("_"))
    return (rule and "out" not in kwargs and rule(op, *args, **kwargs)) or (op, args, kwargs)


def _input(number: Any, *operands: Any) -> LazyTensor | None:
    """A number as a tensor, in the type that an op computes in with it; None where it is not one."""
    if type(number) not in (int, float) or not isinstance(operands[0], LazyTensor):
        return None
    typed = [x.seen if isinstance(x, LazyTensor) else x for x in operands]
    dtype = torch.result_type(*typed) if len(typed) == 2 else typed[0].dtype
    if dtype not in COMPUTED_IN:
        return None
    return of_memory(torch.empty((), dtype=dtype, device="meta"), torch.tensor(number, dtype=dtype))


def _of_tensors(op: OpOverload) -> OpOverload:
    """The overload of an op that takes tensors."""
    return op.overloadpacket.Tensor


def _sum(op: OpOverload, x: Any, y: Any, alpha: Any = 1) -> Call | None:
    if not isinstance(y, torch.Tensor):
        number = _input(y * alpha, x, y)
        return None if number is None else (_of_tensors(op), (x, number), {})
    factor = None if alpha == 1 else _input(alpha, x, y)
    return None if factor is None else (op, (x, aten.mul.Tensor(y, factor)), {})


def _reversed_difference(op: OpOverload, x: Any, y: Any, alpha: Any = 1) -> Call | None:
    number = _input(y, x, y) if alpha == 1 else None
    return None if number is None else (aten.sub.Tensor, (number, x), {})


def _product(op: OpOverload, x: Any, y: Any, **rounding: Any) -> Call | None:
    number = _input(y, x, y)
    form = getattr(op.overloadpacket, "Tensor_mode" if rounding else "Tensor")
    return None if number is None else (form, (x, number), rounding)


def _sum_of_products(op: OpOverload, x: Any, a: Any, b: Any, *, value: Any = 1) -> Call | None:
    factor = None if value == 1 else _input(value, x, a)
    return None if factor is None else (op, (x, aten.mul.Tensor(a, factor), b), {})


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
