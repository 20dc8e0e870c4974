"""What ``torch.ingot`` and ``torch.accelerator`` say of the device."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from ingot.torch.lazy import autocast
from ingot.torch.lazy.memory import USAGE
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tensor import Device, checked


def _reset_peak() -> None:
    USAGE.peak = USAGE.now


def _statistics() -> dict[str, Any]:
    """Bytes in use, in PyTorch's form."""
    counts = {"all": {"current": USAGE.now, "peak": USAGE.peak}}
    return {"allocated_bytes": counts, "reserved_bytes": counts}


def _memory_stats() -> dict[str, int]:
    """The same, flat."""
    return {f"{kind}.all.{name}": count for kind, of in _statistics().items() for name, count in of["all"].items()}


def _machine_memory() -> tuple[int, int]:
    """Bytes of the machine's memory: those that are free, and all."""
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page


def _asked(function: Callable[[], Any]) -> staticmethod[[Device], Any]:
    """A function of ``torch.ingot`` that takes a device: the only one, or None."""

    def asked(device: Device = None) -> Any:
        checked(device)
        return function()

    return staticmethod(asked)


class Module:
    """The module ``torch.ingot``. The device is the processor; its random numbers come from PyTorch's generator."""

    device = _asked(nullcontext)  # it stays the current one
    device_count, current_device = staticmethod(lambda: 1), staticmethod(lambda: 0)
    is_available = is_initialized = is_bf16_supported = staticmethod(lambda: True)
    init = empty_cache = staticmethod(lambda: None)  # memory that is not in use is the system's already
    _is_in_bad_fork = staticmethod(lambda: False)
    set_device = _asked(lambda: None)
    get_device_name = _asked(lambda: platform.processor() or platform.machine())
    synchronize = _asked(RECORDER.run)
    get_amp_supported_dtype = staticmethod(lambda: autocast.DTYPES)

    memory_allocated = memory_reserved = _asked(lambda: USAGE.now)  # bytes of the tensors whose values are known
    max_memory_allocated = max_memory_reserved = _asked(lambda: USAGE.peak)  # with what programs needed as they ran
    reset_peak_memory_stats, memory_stats = _asked(_reset_peak), _asked(_memory_stats)
    mem_get_info = _asked(_machine_memory)

    default_generators = (torch.default_generator,)
    manual_seed = manual_seed_all = staticmethod(torch.default_generator.manual_seed)
    seed, initial_seed = staticmethod(torch.default_generator.seed), staticmethod(torch.default_generator.initial_seed)
    get_rng_state = _asked(torch.get_rng_state)
    get_rng_state_all = staticmethod(lambda: [torch.get_rng_state()])
    set_rng_state_all = staticmethod(lambda states: torch.set_rng_state(*states))

    def set_rng_state(self, state: torch.Tensor, device: Device = None) -> None:
        """Puts the generator into a state."""
        checked(device)
        torch.set_rng_state(state)


# Functions behind torch.accelerator, by the names of their C++ counterparts, which run where one is missing here.
OF_ACCELERATOR: dict[str, Callable[..., Any]] = {
    "synchronizeDevice": Module.synchronize,
    "isAllocatorInitialized": Module.is_available,
    "emptyCache": Module.empty_cache,
    "emptyHostCache": Module.empty_cache,
    "getDeviceStats": _asked(_statistics),
    "resetAccumulatedStats": _asked(lambda: None),
    "resetPeakStats": Module.reset_peak_memory_stats,
    "getMemoryInfo": Module.mem_get_info,
    "getDefaultGenerator": _asked(lambda: torch.default_generator),
}
