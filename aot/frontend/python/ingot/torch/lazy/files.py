"""``torch.load(map_location="ingot")`` and ``safetensors`` load tensors onto the device."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

from ingot.torch.lazy.resize import DeviceStorage
from ingot.torch.lazy.tensor import DEVICE


def set_up_files() -> None:
    """Makes ``torch.load`` and ``safetensors`` load onto the device."""
    torch.serialization.register_package(15, lambda _: None, _restored)  # before PyTorch's own for such devices
    _set_up_safetensors()


def _restored(storage: torch.UntypedStorage, location: str) -> DeviceStorage | None:
    """A file's bytes, where `location` is the device."""
    if location.partition(":")[0] != DEVICE:
        return None
    made = DeviceStorage(1)  # PyTorch knows storages of several tensors by their address
    made.host, made.memories = storage, {}
    return made


class Opened:
    """A file of tensors that are moved to the device."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Opened:
        self._file.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._file.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def get_tensor(self, name: str) -> torch.Tensor:
        """A tensor by its name."""
        return self._file.get_tensor(name).to(DEVICE)

    def get_tensors(self) -> dict[str, torch.Tensor]:
        """All tensors."""
        return {name: self.get_tensor(name) for name in self._file.keys()}  # noqa: SIM118  (it is no dict)


def _set_up_safetensors() -> None:
    """Makes ``safe_open``, ``load_file`` and ``load_model`` take the device: their own code has a list of devices."""
    if importlib.util.find_spec("safetensors") is None:
        return
    import safetensors.torch

    original = safetensors.safe_open

    def safe_open(filename: Any, framework: str, device: Any = "cpu", **options: Any) -> Any:
        if not isinstance(device, (str, torch.device)) or torch.device(device).type != DEVICE:
            return original(filename, framework, device, **options)
        return Opened(original(filename, framework, "cpu", **options))

    for module in (safetensors, safetensors.torch):
        module.safe_open = safe_open  # type: ignore[attr-defined]
