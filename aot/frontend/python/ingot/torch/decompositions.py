"""Which ATen ops are taken apart before they are written: all that PyTorch can and that have no row in the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, decomposition_table, get_decompositions

from ingot.torch.lowering import TABLE, overload_name

Decompositions = dict[Any, Callable[..., Any]]


@cache
def decompositions() -> Decompositions:
    """PyTorch's own decompositions, by overload."""
    every = {**decomposition_table, **core_aten_decompositions()}
    return {op: decomposition for op, decomposition in every.items() if overload_name(op) not in TABLE}


@cache
def first_decompositions() -> Decompositions:
    """Those of ops whose schema does not say that they write their arguments: normalisation's running statistics."""
    found: Decompositions = get_decompositions([torch.ops.aten.native_batch_norm])
    return found
