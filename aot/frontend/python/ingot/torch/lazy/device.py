"""The device ``ingot`` of PyTorch."""

from __future__ import annotations

import functools
from typing import Any

import torch

import ingot.torch.lazy.ops  # noqa: F401  (says how ops are done)
from ingot.torch.base.torch_internals.devices import kernel_of, set_accelerator, set_engine, set_up_device
from ingot.torch.base.torch_internals.ops import OpOverload, all_op_names, has_kernel
from ingot.torch.lazy import autocast
from ingot.torch.lazy.composed import DIFFERENTIATED
from ingot.torch.lazy.files import set_up_files
from ingot.torch.lazy.generators import Generator
from ingot.torch.lazy.host import copy_into
from ingot.torch.lazy.module import Module, of_accelerator
from ingot.torch.lazy.raised import Engine, Guard
from ingot.torch.lazy.recorder import alone
from ingot.torch.lazy.tensor import DEVICE, LazyTensor


def device() -> torch.device:
    """PyTorch's device whose tensors record: ops on them are compiled together, and run when somebody looks.

    Printing, ``item()``, ``cpu()``, ``mark_step()`` and ``optimizer_step()`` look. In the thread that asks for it,
    backward runs in that thread: those that PyTorch has for devices are made once, maybe before there was this one.
    """
    _registered()
    torch.autograd.set_multithreading_enabled(False)
    return torch.device(DEVICE, 0)


@functools.cache
def _registered() -> list[torch.library.Library]:
    """Makes PyTorch know the device, and the ops that it calls before there is a tensor of the device."""
    module = Module()
    set_up_device(DEVICE, module, device_guard=Guard())
    set_engine(Engine())
    set_accelerator(of_accelerator(module))
    torch.Generator = Generator
    set_up_files()
    library = torch.library.Library("aten", "IMPL")
    for op in _factories():
        library.impl(op, functools.partial(_make, op), "PrivateUse1")
    library.impl("_copy_from", _copy_from, "PrivateUse1")
    is_pinned = functools.partial(_is_pinned, kernel_of("aten::is_pinned", "CPU"))
    library.impl("is_pinned", is_pinned, "CPU", with_keyset=True)
    for op, made in DIFFERENTIATED.items():
        library.impl(op, made, "AutogradPrivateUse1")
    return [library, *autocast.registered()]


def _factories() -> list[OpOverload]:
    """The ops that make tensors of nothing but numbers."""
    found = []
    for full_name in all_op_names():
        namespace, _, name = full_name.partition("::")
        packet, _, overload = name.partition(".")
        if namespace == "aten" and has_kernel(full_name) and hasattr(torch.ops.aten, packet):
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            types = {argument.name: str(argument.type) for argument in op._schema.arguments}
            if "device" in types and not any("Tensor" in type_ for type_ in types.values()):
                found.append(op)
    return found


def _make(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    with alone():
        return LazyTensor.ways[op](args, kwargs)


def _is_pinned(otherwise: Any, keys: Any, tensor: torch.Tensor, device: torch.device | None = None) -> bool:
    """The processor's memory is the device's, so there is no other that copies would be faster from."""
    if device is None or device.type == DEVICE:
        return True
    return bool(otherwise.call_boxed(keys, tensor, device))


def _copy_from(source: torch.Tensor, tensor: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    with alone():
        return copy_into(tensor, source)
