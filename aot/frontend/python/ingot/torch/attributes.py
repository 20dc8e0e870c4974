"""Attributes that programs set on tensors of their state: stand-ins have them while a function is traced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ingot.torch.errors import TraceError
from ingot.torch.snapshot import PLAIN

Tensors = Mapping[str, torch.Tensor]
FIX = "keep it in a dict by the tensor itself, held[p]"


class Attributes:
    """What stand-ins are lent of the tensors that they stand for: plain values, and tensors, which nothing may read."""

    def __init__(self, tensors: Tensors, stand_ins: Tensors) -> None:
        self._stand_ins = stand_ins
        self._lent: dict[str, dict[str, Any]] = {}
        self._own = {name: {*vars(stand_in)} for name, stand_in in stand_ins.items()}
        for name, tensor in tensors.items():
            held = {key: v for key, v in vars(tensor).items() if isinstance(v, (*PLAIN, torch.Tensor))}
            self._lent[name] = {key: value for key, value in held.items() if key not in self._own[name]}
            vars(stand_ins[name]).update(self._lent[name])

    def left(self) -> list[str]:
        """The paths of new ones, which no program sets; raises TraceError where one that there was is another."""
        new = []
        for name, stand_in in self._stand_ins.items():
            lent = self._lent.get(name, {})
            for key, value in vars(stand_in).items():
                if key in lent and value is not lent[key] and value != lent[key]:
                    what = f"the function changes `{name}.{key}`, an attribute of a tensor, from {lent[key]!r}"
                    raise TraceError(what, fix=FIX)
                if key not in lent and key not in self._own[name]:
                    new.append(f"{name}.{key}")
        return new
