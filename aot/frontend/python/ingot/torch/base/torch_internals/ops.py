"""PyTorch's private names of ops: their class, their kernels, what they are taken apart into."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch._decomp import decomposition_table, get_decompositions
from torch._decomp.decompositions import grid_sampler_2d
from torch._ops import OpOverload, OpOverloadPacket
from torch._prims_common import is_non_overlapping_and_dense_or_false

__all__ = [
    "OpOverload",
    "OpOverloadPacket",
    "decomposition_table",
    "get_decompositions",
    "grid_sampler_2d",
    "is_non_overlapping_and_dense_or_false",
]

# Modules whose functions are the operators of control flow.
COND, LOOP, CONTROL_FLOW = (
    import_module(f"torch._higher_order_ops.{name}") for name in ("cond", "while_loop", "utils")
)
CHOOSE_ATTENTION = "_sdpa_kernel"  # of torch.nn.attention: what says which kernels there may be
PACK, PAD = "_pack_padded_sequence", "_pad_packed_sequence"  # of torch, by which sequences are packed, and padded again
NN, VF = torch._C._nn, torch._VF  # where torch.nn.functional looks functions up
sym_sqrt: Any = torch._sym_sqrt
neg_view: Any = torch._neg_view
set_conj: Any = torch._C._set_conj
set_neg: Any = torch._C._set_neg
# Properties of tensors as PyTorch has them, whatever stands in their place.
BASE, VERSION = torch._C.TensorBase._base, torch._C.TensorBase._version
IS_SPARSE, LAYOUT = torch._C.TensorBase.is_sparse, torch._C.TensorBase.layout
TensorBase: Any = torch._C.TensorBase

EMPTY = {"empty", "empty_strided", "empty_like", "empty_permuted", "new_empty", "new_empty_strided"}


def is_empty(op: Any) -> bool:
    """Whether an op makes memory that holds anything: PyTorch's own code may fill it without a further op."""
    return isinstance(op, OpOverload) and op._opname in EMPTY


def all_op_names() -> list[str]:
    """The full names of all ops, as ``aten::add.Tensor``."""
    return torch._C._dispatch_get_all_op_names()  # type: ignore[no-any-return]


def overload_of(full_name: str) -> OpOverload | None:
    """An op by its full name; None where Python has no such op."""
    namespace, _, name = full_name.partition("::")
    packet, _, overload = name.partition(".")
    found = getattr(getattr(torch.ops, namespace), packet, None)
    return None if found is None else getattr(found, overload or "default")


def has_kernel(op: str, key: str | None = None) -> bool:
    """Whether an op, by its full name, has a kernel at all, or one for a key of dispatch."""
    if key is None:
        return bool(torch._C._dispatch_has_kernel(op))
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(op, key))


def core_decompositions() -> Any:
    """PyTorch's own decompositions into core ops, after autograd."""
    return torch._decomp._core_aten_decompositions_post_autograd()
