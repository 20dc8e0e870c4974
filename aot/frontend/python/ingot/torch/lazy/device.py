"""The device ``ingot``: PyTorch is told of it, and steps are ended."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

import ingot.torch.lazy.ops  # noqa: F401  (says how ops are done)
from ingot.torch.base.torch_internals.devices import kernel_of, set_accelerator, set_engine, set_up_device
from ingot.torch.base.torch_internals.ops import OpOverload, all_op_names, has_kernel, overload_of
from ingot.torch.lazy import autocast
from ingot.torch.lazy.composed import DIFFERENTIATED
from ingot.torch.lazy.files import set_up_files
from ingot.torch.lazy.generators import Generator
from ingot.torch.lazy.host import copy_into
from ingot.torch.lazy.module import OF_ACCELERATOR, Module
from ingot.torch.lazy.raised import Engine, Guard
from ingot.torch.lazy.recorder import RECORDER, alone
from ingot.torch.lazy.tensor import DEVICE, LazyTensor


def device() -> torch.device:
    """PyTorch's device whose tensors record: ops on them are compiled together, and run when somebody looks.

    Printing, ``item()``, ``cpu()``, ``mark_step()`` and ``optimizer_step()`` look. In the thread that asks for it,
    backward runs in that thread: those that PyTorch has for devices are made once, maybe before there was this one.
    """
    _registered()
    torch.autograd.set_multithreading_enabled(False)
    return torch.device(DEVICE, 0)


def mark_step() -> None:
    """Runs what lazy tensors recorded, for all that are in use, while Python goes on; who asks for a value waits.

    Raises the error of the run before, where nobody asked for its values.
    """
    RECORDER.begin()


def optimizer_step(optimizer: torch.optim.Optimizer, closure: Callable[[], Any] | None = None) -> Any:
    """``optimizer.step()``, then ``mark_step()``; gives what the optimizer's step gives.

    Raises RuntimeError among several processes, over which it does not reduce gradients.
    """
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        what = f"ingot.torch.optimizer_step does not reduce gradients over the {dist.get_world_size()} processes"
        raise RuntimeError(f"{what}: reduce them, dist.all_reduce(p.grad), then optimizer.step() and mark_step()")
    result = optimizer.step() if closure is None else optimizer.step(closure)
    mark_step()
    return result


@functools.cache
def _registered() -> list[torch.library.Library]:
    """Makes PyTorch know the device, and the ops that it calls before there is a tensor of the device."""
    set_up_device(DEVICE, Module(), device_guard=Guard())
    set_engine(Engine())
    set_accelerator(OF_ACCELERATOR)
    torch.Generator = Generator
    torch.to_dlpack = torch.utils.dlpack.to_dlpack = functools.partial(_to_dlpack, torch.to_dlpack)
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


def _factories() -> Iterator[OpOverload]:
    """The ops that make tensors of nothing but numbers."""
    for name in all_op_names():
        op = overload_of(name) if name.startswith("aten::") and has_kernel(name) else None
        types = {argument.name: str(argument.type) for argument in op._schema.arguments} if op else {}
        if "device" in types and not any("Tensor" in type_ for type_ in types.values()):
            yield op


def _make(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    with alone():
        return LazyTensor.ways[op](args, kwargs)


def _is_pinned(otherwise: Any, keys: Any, tensor: torch.Tensor, device: torch.device | None = None) -> bool:
    """The processor's memory is the device's, so there is no other that copies would be faster from."""
    if device is None or device.type == DEVICE:
        return True
    return bool(otherwise.call_boxed(keys, tensor, device))


def _to_dlpack(original: Callable[..., Any], tensor: torch.Tensor) -> Any:
    """``torch.to_dlpack``, which does not call the ``__dlpack__()`` that refuses tensors of the device."""
    return tensor.__dlpack__() if isinstance(tensor, LazyTensor) else original(tensor)


def _copy_from(source: torch.Tensor, tensor: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    with alone():
        return copy_into(tensor, source)
