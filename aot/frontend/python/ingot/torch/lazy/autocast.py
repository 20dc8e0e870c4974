"""``torch.autocast("ingot")``: each op computes in the type in which it does with ``torch.autocast("cpu")``."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ingot.torch.base.torch_internals.devices import dispatch_keys, without_keys
from ingot.torch.base.torch_internals.ops import OpOverload, all_op_names, has_kernel, overload_of
from ingot.torch.lazy.tape import found, mapped
from ingot.torch.lazy.tensor import DEVICE, LazyTensor

KEY = "AutocastPrivateUse1"
KEYS = dispatch_keys(KEY)
DTYPES = [torch.bfloat16, torch.float16]  # the first one is the default
NARROW = {  # of the ops that PyTorch has a rule for; all others but those of WIDEST compute in float32
    *("linear", "matmul", "mm", "bmm", "addmm", "addbmm", "baddbmm", "_addmm_activation", "linalg_vecdot", "prelu"),
    *("conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    *("_convolution", "mkldnn_rnn_layer", "scaled_dot_product_attention", "_native_multi_head_attention"),
}
WIDEST = {"cat", "stack", "index_copy"}  # compute in the widest type of their operands


def registered() -> list[torch.library.Library]:
    """Makes PyTorch ask here for the ops that it has rules for, while autocast is on; the others are as ever."""
    ruled, others = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, KEY)
    for name in all_op_names():
        op = overload_of(name) if has_kernel(name, "AutocastCPU") else None
        if op is not None:
            ruled.impl(op, functools.partial(_call, op), KEY)
    torch.set_autocast_dtype(DEVICE, DTYPES[0])
    return [ruled, others]


def _call(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    dtype = torch.get_autocast_dtype(DEVICE)
    cast = {x.dtype for x in found((args, kwargs)) if _is_cast(x)}
    if op._opname not in NARROW and (op._opname not in WIDEST or cast != {dtype}):
        dtype = torch.float32
    with without_keys(KEYS):
        args, kwargs = mapped((args, kwargs), lambda x: x.to(dtype) if _is_cast(x) else x)
        return op(*args, **kwargs)


def _is_cast(x: torch.Tensor) -> bool:
    return isinstance(x, LazyTensor) and x.is_floating_point() and x.dtype != torch.float64
