"""The device ``ingot`` of PyTorch."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ingot.torch.base.torch_internals.devices import set_engine, set_up_device
from ingot.torch.base.torch_internals.ops import OpOverload, all_op_names, has_kernel
from ingot.torch.lazy import autocast
from ingot.torch.lazy.composed import DIFFERENTIATED
from ingot.torch.lazy.host import copy_into
from ingot.torch.lazy.ops import way
from ingot.torch.lazy.raised import Engine, Guard
from ingot.torch.lazy.tensor import DEVICE


class Module:
    """What ``torch.ingot`` is: PyTorch asks it about the device."""

    def is_available(self) -> bool:
        """There is always a processor."""
        return True

    def is_initialized(self) -> bool:
        """Nothing is to be prepared."""
        return True

    def device_count(self) -> int:
        """One."""
        return 1

    def current_device(self) -> int:
        """The only one."""
        return 0

    def manual_seed_all(self, seed: int) -> None:
        """Random numbers are those of PyTorch's generator for the processor, which has the seed already."""

    def get_rng_state(self, device: int = 0) -> torch.Tensor:
        """The state of that generator."""
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: int = 0) -> None:
        """Puts that generator into a state."""
        torch.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """What torch.autocast may compute in."""
        return autocast.DTYPES

    def _is_in_bad_fork(self) -> bool:
        return False


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
    set_up_device(DEVICE, Module(), device_guard=Guard())
    set_engine(Engine())
    library = torch.library.Library("aten", "IMPL")
    for op in _factories():
        library.impl(op, functools.partial(_make, op), "PrivateUse1")
    library.impl("_copy_from", _copy_from, "PrivateUse1")
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
    return way(op)(op, args, kwargs)


def _copy_from(source: torch.Tensor, tensor: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    return copy_into(tensor, source)
