"""PyTorch's private names of devices that are made in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._utils import _rebuild_device_tensor_from_cpu_tensor as rebuild_tensor
from torch._utils import _rebuild_parameter as rebuild_parameter
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend as set_up_device

__all__ = ["rebuild_parameter", "rebuild_tensor", "set_up_device"]

DeviceGuard: Any = torch._C._acc.DeviceGuard
ImperativeEngine: Any = torch._C._ImperativeEngine
CpuGenerator: Any = torch._C.Generator  # whatever torch.Generator is
PRIVATE_DEVICE: Any = torch._C._autograd.DeviceType.PrivateUse1


def dispatch_keys(name: str) -> Any:
    """The set of one key of dispatch."""
    return torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name))


def without_keys(keys: Any) -> Any:
    """Ops are dispatched past some keys."""
    return torch._C._ExcludeDispatchKeyGuard(keys)


def kernel_of(op: str, key: str) -> Any:
    """The kernel of an op, given by its full name, for a dispatch key; its ``call_boxed(keys, ...)`` runs it."""
    return torch.library.get_kernel(op, key)


def set_accelerator(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Gives PyTorch other functions of its accelerator, by their names without the prefix."""
    for name, function in functions.items():
        setattr(torch._C, f"_accelerator_{name}", function)


def set_engine(engine: Any) -> None:
    """Gives PyTorch another engine of autograd."""
    torch.autograd.Variable._execution_engine = engine
