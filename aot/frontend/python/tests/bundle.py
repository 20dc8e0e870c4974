"""Programs of PyTorch, compiled and run by the `ingot` tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tool import Compiled


class Bundle(Compiled[torch.Tensor]):
    """A saved and compiled program in a folder."""

    def write(self, tensors: dict[str, torch.Tensor], file: Path) -> None:
        save_file({k: v.contiguous() for k, v in tensors.items()}, file)

    def read(self, file: Path) -> dict[str, torch.Tensor]:
        return load_file(file)

    def from_numpy(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array)


def distance(a: torch.Tensor, reference: torch.Tensor) -> float:
    """Relative L2 distance; absolute where the reference is zero."""
    a, reference = a.double(), reference.double()
    norm = reference.norm().item()
    return (a - reference).norm().item() / (norm if norm > 0 else 1)
