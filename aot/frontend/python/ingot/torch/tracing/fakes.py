"""Tensors without values, in which functions are traced."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from torch.fx.experimental.symbolic_shapes import ShapeEnv

from ingot.torch.base.places import user_frame
from ingot.torch.base.torch_internals.fake_tensors import FakeTensorMode


class Symbols(ShapeEnv):  # type: ignore[misc]  # torch is not checked
    """The numbers that a function computes while it is traced.

    PyTorch asks for the user's line that makes each. To tell which lines are its own it would import its exporter,
    for as long as it takes to trace a small model.
    """

    def _get_user_frame(self) -> FrameType:
        here = sys._getframe(1)
        return user_frame(here) or here

    def _log_create_unbacked_symbol(self, *_: Any, **__: Any) -> None:
        """Logs nothing: where PyTorch's logs are structured, it would list folders of its sources, which are noted."""


def fakes(**settings: Any) -> FakeTensorMode:
    """In which tensors have no values."""
    return FakeTensorMode(shape_env=Symbols(**settings), static_shapes=True, allow_non_fake_inputs=True)
