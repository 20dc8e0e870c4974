"""Tensors that a program captures, as Python holds them in each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ingot.torch.base.torch_internals import likeness
from ingot.torch.tracing.captures import PREFIX, Capture


class Captured:
    """The tensors at some places, which may be written and replaced between calls, but by others like them."""

    def __init__(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self._reads = [capture.read for capture in captures]
        self._are_alike = likeness([capture.tensor for capture in captures])
        self.places = [place for capture in captures for place in capture.places]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._reads)

    def __call__(self) -> tuple[torch.Tensor, ...]:
        """The tensors as they are now."""
        return tuple([read() for read in self._reads])

    def hold(self) -> bool:
        """Whether they are of the types, shapes and layouts that the program was traced with."""
        return self._are_alike(*self())

    def change(self) -> str:
        """Which of them is not, and what it is."""
        for capture, now in zip(self._captures, self(), strict=True):
            if not likeness([capture.tensor])(now):
                path = capture.name.removeprefix(PREFIX)
                return f"`{path}` is {_shown(now)}, and was {_shown(capture.tensor)}"
        return ""


def _shown(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return repr(value)
    trained = ", which requires a gradient" if value.requires_grad else ""
    return f"{value.dtype} {tuple(value.shape)} by strides {value.stride()}{trained}"
