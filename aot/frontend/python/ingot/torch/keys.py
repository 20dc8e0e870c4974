"""Tensors of the state as keys: while a function is traced their stand-ins find what is held by them, and they too."""

from __future__ import annotations

import dis
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import torch

from ingot.torch.checks import asking_frame


def one_key(tensors: Mapping[str, torch.Tensor], stand_ins: Mapping[str, torch.Tensor]) -> AbstractContextManager[Any]:
    """Gives tensors and their stand-ins one hash."""
    originals = {id(stand_ins[name]): id(tensor) for name, tensor in tensors.items()}

    def hashed(tensor: torch.Tensor) -> int:
        return originals.get(id(tensor), id(tensor))

    return patch.object(torch.Tensor, "__hash__", hashed)


def is_of_keys() -> bool:
    """Whether ``==`` is asked by a mapping or a set, not by an operator of the code that runs."""
    frame = asking_frame()
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] != "COMPARE_OP"
