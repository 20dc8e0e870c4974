"""Which ATen ops are taken apart before they are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

aten = torch.ops.aten

# Beyond core ATen.
ALSO = (
    aten.lerp,
    aten.lerp_,
    aten.addcdiv,
    aten.addcmul,
    aten.addmm,
    aten.hardtanh_backward,
)
# Written as they are.
WHOLE: tuple[Any, ...] = ()


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's own decompositions by overload: core ATen's and more."""
    table = {**core_aten_decompositions(), **get_decompositions(ALSO)}
    for op in WHOLE:
        table.pop(op, None)
    return table
