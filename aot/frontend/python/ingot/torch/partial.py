"""Parts of eager programs: a function or a module whose forward and backward are compiled, and nothing around it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

import ingot.torch.backend  # noqa: F401  (the backend has a name from here on)

Function = Callable[..., Any]


class Partial:
    """A function whose calls with tensors like the first call's run bundles, and others PyTorch."""

    def __init__(self, function: Function) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._name = getattr(function, "__name__", type(function).__name__)
        self._compiled = torch.compile(function, backend="ingot", dynamic=False, fullgraph=True)
        self._key: list[str] | None = None
        self._others: list[list[str]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs once; the first call compiles."""
        key = [_kind(leaf) for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if self._key in (None, key):
            result = self._compiled(*args, **kwargs)
            self._key = key
            return result
        if key not in self._others:
            self._others.append(key)
            what = f"{self._name} is compiled for {', '.join(self._key or [])}, and was given {', '.join(key)}"
            warnings.warn(f"{what}: PyTorch runs it; pad the tensors to one shape", stacklevel=2)
        return self.function(*args, **kwargs)


def partial(function: Function) -> Partial:
    """``@ingot.torch.partial``: compiles a function's, or a module's, forward and backward within an eager program.

    Parameters stay PyTorch's and get their gradients; what forward saves for backward is chosen by a minimum cut, and
    each call has its own. Tensors of other shapes or types than those of the first call are PyTorch's to compute with,
    which a warning says. There is no gradient of gradients.
    """
    return Partial(function)


def _kind(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
