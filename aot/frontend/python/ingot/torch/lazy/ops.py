"""How each op on lazy tensors is done: it is recorded, made of others, or run by PyTorch on the processor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

import ingot.torch.text.aten  # noqa: F401  (fills the table)
from ingot.torch.base.torch_internals.ops import OpOverload, has_kernel, is_empty
from ingot.torch.lazy.composed import COMPOSED
from ingot.torch.lazy.host import converted, copy_into, draw, empty, number, record_or_run, run_by_torch, same
from ingot.torch.lazy.plans import Args, Kwargs, placed
from ingot.torch.lazy.record import Recorded, aten, record, recorded, strided
from ingot.torch.lazy.resize import fit_outputs, resize, set_to
from ingot.torch.lazy.tensor import LazyTensor, on_device
from ingot.torch.text.decompositions import decompositions
from ingot.torch.text.lowering import TABLE, overload_name

Way: TypeAlias = Callable[[Args, Kwargs], Any]


def _batch_norm(x: torch.Tensor, *args: Any) -> Any:
    """Batch normalization; the saved statistics are empty in evaluation, as on the processor and not on meta."""
    results = record_or_run(aten._native_batch_norm_legit.default, (x, *args), {})
    return results if args[4] else (results[0], x.new_empty(0), x.new_empty(0))


def _refuse_to_pin(tensor: torch.Tensor, device: Any = None) -> None:
    raise RuntimeError(f"a tensor of {tensor.device} cannot be pinned, only one of the processor; use x.cpu() before")


SPECIAL: dict[OpOverload, Callable[..., Any]] = {
    aten.detach.default: same,
    aten.alias.default: same,
    aten.lift_fresh.default: lambda tensor: tensor,
    aten._local_scalar_dense.default: number,
    aten.is_pinned.default: lambda tensor, device=None: False,
    aten._pin_memory.default: _refuse_to_pin,
    aten._to_copy.default: converted,
    aten.copy_.default: copy_into,
    aten.scalar_tensor.default: lambda value, **kwargs: on_device(torch.scalar_tensor(value, **placed(kwargs, "cpu"))),
    aten.as_strided.default: strided,
    aten.resize_.default: resize,
    aten.resize_as_.default: lambda tensor, other, **options: resize(tensor, other.shape, **options),
    aten.set_.default: lambda tensor: tensor.become(on_device(torch.empty(0, dtype=tensor.dtype))),
    aten.set_.source_Tensor: set_to,
    aten.set_.source_Tensor_storage_offset: set_to,
    aten.set_.source_Storage: set_to,
    aten.set_.source_Storage_storage_offset: set_to,
    aten._has_compatible_shallow_copy_type.default: lambda tensor, other: False,
    aten.is_same_size.default: lambda tensor, other: tensor.shape == other.shape,
    aten._native_batch_norm_legit.default: _batch_norm,
    **COMPOSED,
}
# Ops whose shapes PyTorch does not tell without values, or tells wrongly.
OF_UNKNOWN_SHAPE = {aten.multilabel_margin_loss_forward.default, aten.repeat_interleave.Tensor}


class Ways(dict[OpOverload, Way]):
    """How each op is done, once it is asked for."""

    def __missing__(self, op: OpOverload) -> Way:
        self[op] = way = _way(op)
        return way


def _way(op: OpOverload) -> Way:
    """How an op is done."""
    if op in SPECIAL:
        special = SPECIAL[op]
        return lambda args, kwargs: special(*args, **kwargs)
    if has_kernel(op.name(), "CompositeImplicitAutograd"):  # with ``inference_mode()`` PyTorch leaves it to the device
        return lambda args, kwargs: op.decompose(*args, **kwargs)
    pure = _pure_form(op)
    if is_empty(op):
        call = Recorded(op, empty).call
    elif op._opname.startswith("_foreach_"):
        return functools.partial(_each, op, pure)
    elif torch.Tag.nondeterministic_seeded in op.tags:
        return functools.partial(draw, op)
    elif torch.Tag.inplace_view in op.tags:
        call = functools.partial(_turned, pure)
    elif op in OF_UNKNOWN_SHAPE or not any(overload_name(x) in TABLE or x in decompositions() for x in (op, pure)):
        return functools.partial(run_by_torch, op)
    elif any(argument.is_out for argument in op._schema.arguments):
        call = functools.partial(_recorded_into, op)
    else:
        call = recorded(op).call

    def way(args: Args, kwargs: Kwargs) -> Any:
        try:
            return call(args, kwargs)
        except NotImplementedError:
            return run_by_torch(op, args, kwargs)

    return way


def _pure_form(op: OpOverload) -> OpOverload:
    """The op that makes what an op writes: ``add`` of ``add_``; of others, the op itself."""
    packet = getattr(torch.ops.aten, op._opname.removesuffix("_"), None)
    names = (op._overloadname, op._overloadname.removesuffix("out").removesuffix("_") or "default", "int")
    forms = [getattr(packet, name) for name in names if packet and name in packet.overloads()]
    return next((form for form in forms if not form._schema.is_mutable), op)


def _recorded_into(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    fit_outputs(op, args, kwargs)
    return record(op, args, kwargs)


def _turned(pure: OpOverload, args: Args, kwargs: Kwargs) -> LazyTensor:
    """An op that makes its operand another view, as ``t_()``: the view is recorded, and the tensor becomes it."""
    tensor: LazyTensor = args[0]
    return tensor.become(record(pure, args, kwargs))


def _each(op: OpOverload, pure: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """An op of lists: the op of each tensor, one after the other."""
    made = decompositions()[pure](*args, **kwargs)
    if pure is op:
        return made
    for tensor, new in zip(args[0], made, strict=True):
        tensor.copy_(new)
    return None


LazyTensor.ways = Ways()
