"""What rounding does to PyTorch: each op's results are moved by about a unit in their last place."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

# By how much values are moved, as a part of them; other types are exact.
UNITS = {torch.float64: 2.0**-40, torch.float32: 2.0**-23, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}


def moved(tensor: torch.Tensor, random: torch.Generator, terms: float = 1) -> torch.Tensor:
    """A tensor whose values are moved at random, if they are of a type that is rounded.

    So many `terms` are added up of it, in f32 where it is narrower. Each addition rounds all terms before it alike:
    that is as if each of them were moved by the root of their number.
    """
    if tensor.dtype not in UNITS:
        return tensor
    unit = UNITS[tensor.dtype] + min(UNITS[tensor.dtype], UNITS[torch.float32]) * (math.sqrt(terms) - 1)
    return (tensor * (1 + unit * torch.randn(tensor.shape, generator=random))).to(tensor.dtype)


class Rounded(TorchDispatchMode):  # type: ignore[misc]  # torch is not checked
    """Ops whose results are moved; whole numbers, which are exact, and what lies in other tensors' memory stay."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if any(value.alias_info for value in (*func._schema.arguments, *func._schema.returns)):
            return made
        return pytree.tree_map_only(torch.Tensor, self._moved, made)

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in UNITS or tensor.layout != torch.strided:
            return tensor
        return tensor.copy_(torch.where(tensor == tensor.round(), tensor, moved(tensor, self._random)))
