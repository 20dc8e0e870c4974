"""What ``torch.ingot`` and ``torch.accelerator`` say of the device."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import torch

from ingot.torch.lazy import autocast
from ingot.torch.lazy.memory import USAGE
from ingot.torch.lazy.recorder import run
from ingot.torch.lazy.tensor import DEVICE

Device: TypeAlias = torch.device | str | int | None


class CurrentDevice:
    """``with torch.ingot.device(0)``: there is one device, which stays the current one."""

    def __init__(self, device: Device = None) -> None:
        checked(device)

    def __enter__(self) -> CurrentDevice:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Module:
    """What ``torch.ingot`` is. The device is the processor, and its random numbers are those of PyTorch's generator."""

    device = CurrentDevice

    def is_available(self) -> bool:
        """There is always a processor."""
        return True

    def is_initialized(self) -> bool:
        """Nothing is to be prepared."""
        return True

    def init(self) -> None:
        """Nothing is to be prepared."""

    def device_count(self) -> int:
        """One."""
        return 1

    def current_device(self) -> int:
        """The only one."""
        return 0

    def set_device(self, device: Device) -> None:
        """Takes the only one."""
        checked(device)

    def get_device_name(self, device: Device = None) -> str:
        """The processor's."""
        checked(device)
        return platform.processor() or platform.machine()

    def synchronize(self, device: Device = None) -> None:
        """Runs what is recorded, and waits for it."""
        checked(device)
        run()

    @property
    def default_generators(self) -> tuple[torch.Generator]:
        """PyTorch's generator for the processor."""
        return (torch.default_generator,)

    def manual_seed(self, seed: int) -> None:
        """Seeds that generator."""
        torch.default_generator.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seeds that generator; ``torch.manual_seed`` calls this, too."""
        self.manual_seed(seed)

    def seed(self) -> int:
        """Seeds that generator by chance; gives the seed."""
        return int(torch.default_generator.seed())

    def initial_seed(self) -> int:
        """The seed of that generator."""
        return int(torch.default_generator.initial_seed())

    def get_rng_state(self, device: Device = None) -> torch.Tensor:
        """The state of that generator."""
        checked(device)
        return torch.get_rng_state()

    def get_rng_state_all(self) -> list[torch.Tensor]:
        """The state of that generator, in a list."""
        return [torch.get_rng_state()]

    def set_rng_state(self, state: torch.Tensor, device: Device = None) -> None:
        """Puts that generator into a state."""
        checked(device)
        torch.set_rng_state(state)

    def set_rng_state_all(self, states: Iterable[torch.Tensor]) -> None:
        """Puts that generator into a state, given in a list."""
        (state,) = states
        torch.set_rng_state(state)

    def memory_allocated(self, device: Device = None) -> int:
        """Bytes of the tensors whose values are known."""
        checked(device)
        return USAGE.now

    def max_memory_allocated(self, device: Device = None) -> int:
        """The most bytes of such tensors, and of what programs needed as they ran, since the last reset."""
        checked(device)
        return USAGE.peak

    memory_reserved, max_memory_reserved = memory_allocated, max_memory_allocated

    def reset_peak_memory_stats(self, device: Device = None) -> None:
        """``max_memory_allocated()`` counts from now on."""
        checked(device)
        USAGE.peak = USAGE.now

    def memory_stats(self, device: Device = None) -> dict[str, int]:
        """The counts under PyTorch's names."""
        checked(device)
        return {f"{kind}_bytes.all.{name}": n for kind, of in statistics().items() for name, n in of["all"].items()}

    def mem_get_info(self, device: Device = None) -> tuple[int, int]:
        """Bytes of the machine's memory: those that are free, and all."""
        checked(device)
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page

    def empty_cache(self) -> None:
        """Memory that is not in use is the system's already."""

    def is_bf16_supported(self) -> bool:
        """Programs compute in it."""
        return True

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """What torch.autocast may compute in."""
        return autocast.DTYPES

    def _is_in_bad_fork(self) -> bool:
        return False


def checked(device: Device) -> None:
    """Raises RuntimeError for another device than the only one."""
    named = device if device is None or isinstance(device, int) else torch.device(device)
    index, kind = (named.index, named.type) if isinstance(named, torch.device) else (named, DEVICE)
    if index not in (None, 0) or kind != DEVICE:
        raise RuntimeError(f"there is no device {device!r} here: the only one is {DEVICE}:0")


def statistics() -> dict[str, dict[str, dict[str, int]]]:
    """Bytes in use, in PyTorch's form."""
    counts = {"current": USAGE.now, "peak": USAGE.peak}
    return {"allocated": {"all": counts}, "reserved": {"all": counts}}


def of_accelerator(module: Module) -> dict[str, Callable[..., Any]]:
    """What PyTorch asks accelerators for, by name: it asks in C++ where there is no answer from Python."""
    return {
        "synchronizeDevice": module.synchronize,
        "isAllocatorInitialized": module.is_available,
        "emptyCache": module.empty_cache,
        "emptyHostCache": module.empty_cache,
        "getDeviceStats": lambda _: {f"{kind}_bytes": counts for kind, counts in statistics().items()},
        "resetAccumulatedStats": lambda _: None,
        "resetPeakStats": module.reset_peak_memory_stats,
        "getMemoryInfo": module.mem_get_info,
        "getDefaultGenerator": lambda _: torch.default_generator,
    }
