"""Modes that see which functions of PyTorch's are called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ingot.torch.base.files import GENERATED, OWN_FILES, TORCH
from ingot.torch.base.torch_internals.ops import TensorBase

NOT_USERS = (TORCH, OWN_FILES, *GENERATED)
ASKING = torch.overrides.handle_torch_function.__code__  # asks modes, for what calls it


class FunctionMode(TorchFunctionMode):  # type: ignore[misc]  # torch is not checked
    """A mode that is asked for PyTorch's own functions, also where the user has put others in their place.

    What is put there may call PyTorch's own, which asks by the name that it has: what has that name would run again.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What PyTorch calls in the place of a function."""
        return self._called(_asked_for(func), types, args, kwargs or {})

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Runs in the place of a function."""
        raise NotImplementedError


class Replacing(FunctionMode):
    """Calls other functions in the place of some, by whatever name those are called."""

    def __init__(self, by_original: Mapping[Any, Callable[..., Any]]):
        super().__init__()
        self._by_original = by_original

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._by_original.get(func, func)(*args, **kwargs)


def _asked_for(function: Any) -> Any:
    """The function of PyTorch's for which a mode is asked by the name that `function` has now."""
    if type(function) is not FunctionType or function.__code__.co_filename.startswith(NOT_USERS):
        return function
    name = next((name for name, method in vars(torch.Tensor).items() if method is function), "")
    if method := getattr(TensorBase, name, None):
        return method
    frame = sys._getframe(2)  # of what calls the mode
    if frame.f_code is ASKING and frame.f_back and not frame.f_back.f_code.co_freevars:
        return FunctionType(frame.f_back.f_code, frame.f_back.f_globals)
    return function
