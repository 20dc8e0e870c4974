"""``torch.Generator(device="ingot")``: PyTorch makes generators of devices in C++ alone."""

from __future__ import annotations

from typing import Any

import torch

from ingot.torch.base.torch_internals.devices import CpuGenerator
from ingot.torch.lazy.tensor import DEVICE


class DeviceGenerator(CpuGenerator):  # type: ignore[misc]  # torch is not checked
    """Draws what PyTorch's generator for the processor draws with this seed."""

    def __new__(cls, *_: Any) -> DeviceGenerator:
        """A generator with PyTorch's default seed."""
        return super().__new__(cls, "cpu")  # type: ignore[no-any-return]

    @property
    def device(self) -> torch.device:
        """The device."""
        return torch.device(DEVICE, 0)

    def clone_state(self) -> DeviceGenerator:
        """Another one in the same state."""
        other = DeviceGenerator()
        other.set_state(self.get_state())
        return other

    graphsafe_get_state = clone_state

    def __reduce__(self) -> Any:
        _, _, state = super().__reduce__()
        return DeviceGenerator, (), state


class _Generators(type(CpuGenerator)):  # type: ignore[misc]
    """The type of ``torch.Generator``, which makes and knows generators of all devices."""

    def __call__(cls, device: Any = "cpu") -> Any:
        """Makes one."""
        return DeviceGenerator() if torch.device(device).type == DEVICE else CpuGenerator(device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, CpuGenerator)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, CpuGenerator)


class Generator(CpuGenerator, metaclass=_Generators):  # type: ignore[misc]
    """``torch.Generator``, also of this device."""
