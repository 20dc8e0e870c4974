"""What an op on lazy tensors does: it is recorded, or it is the processor's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from ingot.torch.base.torch_internals.ops import OpOverload, is_empty
from ingot.torch.lazy.composed import COMPOSED
from ingot.torch.lazy.coverage import has_row, is_composite, pure_form
from ingot.torch.lazy.host import converted, copy_into, draw, empty, number, record_or_run, run_by_torch, same
from ingot.torch.lazy.numbers import RULES
from ingot.torch.lazy.plans import Args, Kwargs, placed
from ingot.torch.lazy.record import aten, record, strided, turned
from ingot.torch.lazy.resize import emptied, fit_outputs, resize, resize_as, set_to
from ingot.torch.lazy.tensor import LazyTensor, on_device
from ingot.torch.text.decompositions import decompositions

Way: TypeAlias = Callable[[OpOverload, Args, Kwargs], Any]

SPECIAL: dict[OpOverload, Callable[..., Any]] = {
    aten.detach.default: same,
    aten.alias.default: same,
    aten.lift_fresh.default: lambda tensor: tensor,
    aten._local_scalar_dense.default: number,
    aten.is_pinned.default: lambda tensor, device=None: False,
    aten._pin_memory.default: lambda tensor, device=None: _refuse_to_pin(tensor),
    aten._to_copy.default: converted,
    aten.copy_.default: copy_into,
    aten.scalar_tensor.default: lambda value, **kwargs: on_device(torch.scalar_tensor(value, **placed(kwargs, "cpu"))),
    aten.as_strided.default: strided,
    aten.resize_.default: resize,
    aten.resize_as_.default: resize_as,
    aten.set_.default: emptied,
    aten.set_.source_Tensor: set_to,
    aten.set_.source_Tensor_storage_offset: set_to,
    aten.set_.source_Storage: set_to,
    aten.set_.source_Storage_storage_offset: set_to,
    aten._has_compatible_shallow_copy_type.default: lambda tensor, other: False,
    aten.is_same_size.default: lambda tensor, other: tensor.shape == other.shape,
    aten._native_batch_norm_legit.default: lambda *args: _batch_norm(*args),
    **COMPOSED,
}
# Ops whose shapes PyTorch does not tell without values, or tells wrongly.
OF_UNKNOWN_SHAPE = {aten.multilabel_margin_loss_forward.default, aten.repeat_interleave.Tensor}


@functools.cache
def way(op: OpOverload) -> Way:
    """How an op is done."""
    if op in SPECIAL:
        return lambda op, args, kwargs: SPECIAL[op](*args, **kwargs)
    if is_composite(op):
        return lambda op, args, kwargs: op.decompose(*args, **kwargs)
    if is_empty(op):
        return empty
    if op._opname.startswith("_foreach_"):
        return _each
    if torch.Tag.nondeterministic_seeded in op.tags:
        return draw
    if torch.Tag.inplace_view in op.tags:
        return _turned
    if op in OF_UNKNOWN_SHAPE or not has_row(op):
        return run_by_torch
    if any(argument.is_out for argument in op._schema.arguments):
        return _recorded_into
    return _recorded_with_numbers if op._opname.removesuffix("_") in RULES else record_or_run


def _turned(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    try:
        return turned(op, args, kwargs)
    except NotImplementedError:
        return run_by_torch(op, args, kwargs)


def _recorded_with_numbers(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    try:
        return record(*(RULES[op._opname.removesuffix("_")](op, *args, **kwargs) or (op, args, kwargs)))
    except NotImplementedError:
        return run_by_torch(op, args, kwargs)


def _recorded_into(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    try:
        fit_outputs(op, args, kwargs)
    except NotImplementedError:  # shapes depend on values
        return run_by_torch(op, args, kwargs)
    return record_or_run(op, args, kwargs)


def _batch_norm(x: torch.Tensor, *args: Any) -> Any:
    """Batch normalization; the saved statistics are empty in evaluation, as on the processor and not on meta."""
    results = record_or_run(aten._native_batch_norm_legit.default, (x, *args), {})
    return results if args[4] else (results[0], x.new_empty(0), x.new_empty(0))


def _refuse_to_pin(tensor: torch.Tensor) -> None:
    raise RuntimeError(f"a tensor of {tensor.device} cannot be pinned, only one of the processor; use x.cpu() before")


def _each(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """An op of lists: the op of each tensor, one after the other."""
    pure = pure_form(op)
    made = decompositions()[pure](*args, **kwargs)
    if pure is op:
        return made
    for tensor, new in zip(args[0], made, strict=True):
        tensor.copy_(new)
    return None


LazyTensor.way = staticmethod(way)
