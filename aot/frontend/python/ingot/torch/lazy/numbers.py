"""Numbers among the arguments of some ops are inputs of a tape, so that another learning rate compiles nothing.

Numbers of all other ops, as exponents and bounds, belong to the program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import Layout, layout_of

NUMBERS = frozenset({int, float})  # types of such arguments
COMPUTED_IN = {torch.float32, torch.float64, torch.int32, torch.int64}


@functools.lru_cache(100_000)
def number_layout(op: OpOverload, x: Layout, y: Layout | type) -> Layout | None:
    """The layout of an op's numbers as tensors, in the type that it computes in with its first two operands.

    None where programs do not compute in it as PyTorch does with a number: then the numbers belong to the op.
    """
    other = y.bare() if isinstance(y, Layout) else y()
    dtype = x.dtype if op._opname.startswith("fill") else torch.result_type(x.bare(), other)
    return layout_of(torch.empty((), dtype=dtype, device="meta")) if dtype in COMPUTED_IN else None


@functools.lru_cache(1000)
def number_data(value: float | str, dtype: torch.dtype) -> torch.Tensor:
    """A number as a tensor; 0 is given as text, which tells 0.0 from -0.0."""
    return torch.tensor(float(value) if isinstance(value, str) else value, dtype=dtype)


def form_of(op: OpOverload) -> Callable[..., Any] | None:
    """A function of an op and its arguments with numbers as tensors; None where numbers belong to the op."""
    is_out = any(argument.is_out for argument in op._schema.arguments)
    return None if is_out else RULES.get(op._opname.removesuffix("_"))


def _sum(op: OpOverload, x: Any, y: Any, alpha: Any = None) -> Any:
    return op.overloadpacket.Tensor(x, y if alpha is None else _scaled(y, alpha))


def _reversed_difference(_: OpOverload, x: Any, y: Any, alpha: Any = None) -> Any:
    return y - (x if alpha is None else _scaled(x, alpha))


def _product(op: OpOverload, x: Any, y: Any, **rounding: Any) -> Any:
    return getattr(op.overloadpacket, "Tensor_mode" if rounding else "Tensor")(x, y, **rounding)


def _sum_of_products(op: OpOverload, x: Any, a: Any, b: Any, *, value: Any) -> Any:
    return op(x, _scaled(a, value), b)


def _scaled(x: Any, factor: Any) -> Any:
    """A product in the type of the factor, in which the op computes."""
    return x.to(factor.dtype) * factor


def _with_tensors(op: OpOverload, *args: Any) -> Any:
    return op.overloadpacket.Tensor(*args)


RULES: dict[str, Callable[..., Any]] = {
    "add": _sum,
    "sub": _sum,
    "rsub": _reversed_difference,
    "mul": _product,
    "div": _product,
    "addcmul": _sum_of_products,
    "addcdiv": _sum_of_products,
    "lerp": _with_tensors,
    "fill": _with_tensors,
}
