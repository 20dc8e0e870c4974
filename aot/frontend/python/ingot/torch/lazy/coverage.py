"""Which ops are recorded, and which are PyTorch's to run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

import ingot.torch.text.aten  # noqa: F401  (fills the table)
from ingot.stablehlo import TensorType
from ingot.torch.base.errors import TraceError
from ingot.torch.base.torch_internals.ops import OpOverload, has_kernel
from ingot.torch.lazy.listing import Op
from ingot.torch.lazy.memory import Layout
from ingot.torch.lazy.tape import PLANS, Ref, frozen, mapped, ref
from ingot.torch.text.decompositions import decompositions
from ingot.torch.text.dtypes import dtype_name, type_of
from ingot.torch.text.lowering import TABLE, overload_name

# Ops as they were called, with the types of their tensors, that turned out to have no row.
REFUSED: dict[OpOverload, set[Any]] = {}


@functools.cache
def has_row(op: OpOverload) -> bool:
    """Whether an op, or the one that makes what it writes, has a row or is taken apart."""
    if torch.Tag.inplace_view in op.tags:
        return True
    return any(overload_name(form) in TABLE or form in decompositions() for form in (op, pure_form(op)))


@functools.cache
def is_composite(op: OpOverload) -> bool:
    """Whether PyTorch makes an op of others; with ``inference_mode()`` it leaves that to the device."""
    return bool(has_kernel(op.name(), "CompositeImplicitAutograd"))


@functools.cache
def pure_form(op: OpOverload) -> OpOverload:
    """The op that makes what an op writes: ``add`` of ``add_``; of others, the op itself."""
    packet = getattr(torch.ops.aten, op._opname.removesuffix("_"), None)
    names = (op._overloadname, op._overloadname.removesuffix("out").removesuffix("_") or "default", "int")
    forms = [getattr(packet, name) for name in names if packet and name in packet.overloads()]
    return next((form for form in forms if not form._schema.is_mutable), op)


def is_refused(op: OpOverload, args: Any, kwargs: Any) -> bool:
    """Whether a call of an op with such tensors turned out to have no row."""
    return op in REFUSED and _signature((args, kwargs), type_of, torch.Tensor) in REFUSED[op]


def refuse(op: Op, layouts: Sequence[Layout], lower: Callable[[Op, list[torch.Tensor], list[int]], Any]) -> bool:
    """Whether an op of a tape, alone, cannot be lowered; then it is noted."""
    tensors: list[torch.Tensor] = []

    def stand_in(value: Ref) -> Ref:
        layout = layouts[value.number]
        tensors.append(torch.empty(layout.shape, dtype=layout.dtype))
        return ref(len(tensors) - 1)

    args, kwargs = mapped((op.args, op.kwargs), stand_in, Ref)
    first = len(tensors)
    results = tuple(None if number is None else first + i for i, number in enumerate(op.results))
    made = [number for number in results if number is not None] or list(range(first))
    try:
        lower(replace(op, args=args, kwargs=kwargs, results=results), tensors, made)
    except TraceError:
        signature = _signature((op.args, op.kwargs), lambda r: _type(layouts[r.number]), Ref)
        REFUSED.setdefault(op.function, set()).add(signature)
        plans = PLANS.get(op.function, {})
        for key in [key for key, plan in plans.items() if plan is op.plan]:
            del plans[key]
        return True
    return False


def _type(layout: Layout) -> TensorType:
    return TensorType(dtype_name(layout.dtype), tuple(layout.shape))


def _signature(call: Any, type_: Callable[[Any], TensorType], of: type) -> Any:
    return frozen(mapped(call, type_, of))
