"""What an op on lazy tensors does: it is recorded, or it is the processor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload

from ingot.torch.decompositions import decompositions
from ingot.torch.lazy.composed import COMPOSED
from ingot.torch.lazy.coverage import has_row, is_composite, is_refused, pure_form
from ingot.torch.lazy.host import converted, copy_into, draw, empty, number, run_by_torch, same
from ingot.torch.lazy.numbers import numbers_apart
from ingot.torch.lazy.record import Args, Kwargs, aten, placed, record
from ingot.torch.lazy.tensor import LazyTensor, on_device

EMPTY = {"empty", "empty_strided", "empty_like", "empty_permuted", "new_empty", "new_empty_strided"}
UNSUPPORTED = {"resize_", "resize_as_", "set_"}
SPECIAL: dict[OpOverload, Callable[..., Any]] = {
    aten.detach.default: same,
    aten.alias.default: same,
    aten.lift_fresh.default: lambda tensor: tensor,
    aten._local_scalar_dense.default: number,
    aten._to_copy.default: converted,
    aten.copy_.default: copy_into,
    aten.scalar_tensor.default: lambda value, **kwargs: on_device(torch.scalar_tensor(value, **placed(kwargs, "cpu"))),
    aten._has_compatible_shallow_copy_type.default: lambda tensor, other: False,
    **COMPOSED,
}


def call(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Does an op."""
    if op in SPECIAL:
        return SPECIAL[op](*args, **kwargs)
    if is_composite(op):
        return op.decompose(*args, **kwargs)
    if op._opname in EMPTY:
        return empty(op, args, kwargs)
    if op._opname in UNSUPPORTED:
        raise NotImplementedError(f"{op._opname} of a tensor of {args[0].device} is not supported: make a new tensor")
    if op._opname.startswith("_foreach_"):
        return _each(op, args, kwargs)
    if torch.Tag.nondeterministic_seeded in op.tags:
        return draw(op, args, kwargs)
    if not has_row(op) or is_refused(op, args, kwargs):
        return run_by_torch(op, args, kwargs)
    try:
        return record(*numbers_apart(op, args, kwargs))
    except NotImplementedError:
        return run_by_torch(op, args, kwargs)


def _each(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """An op of lists: the op of each tensor, one after the other."""
    pure = pure_form(op)
    made = decompositions()[pure](*args, **kwargs)
    if pure is op:
        return made
    for tensor, new in zip(args[0], made, strict=True):
        tensor.copy_(new)
    return None


LazyTensor.dispatch = staticmethod(call)
