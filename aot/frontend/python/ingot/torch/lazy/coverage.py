"""Which ops are recorded, and which are PyTorch's to run."""

from __future__ import annotations

import functools

import torch

import ingot.torch.text.aten  # noqa: F401  (fills the table)
from ingot.torch.base.torch_internals.ops import OpOverload, has_kernel
from ingot.torch.text.decompositions import decompositions
from ingot.torch.text.lowering import TABLE, overload_name


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
