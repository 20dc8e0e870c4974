"""What an f32 bundle may be off: three times what shaking every f32 input by a unit in the last place does to PyTorch.

A floor of a few f32 roundings stands for what no shaking shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from agreement import shaken
from bundle import distance

from ingot.judge import ONE_ULP, SHAKES, TOLERANCE_FACTOR

FLOOR = 4 * ONE_ULP

Tensors = Mapping[str, torch.Tensor]
Alter = Callable[[torch.Tensor], torch.Tensor]


def f32_bounds(run: Callable[[Alter], Tensors], reference: Tensors) -> dict[str, float]:
    """How far each output of `run` may be from the f64 reference; `run` passes every f32 input through its argument."""
    random = torch.Generator().manual_seed(0)

    def shake(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point() or not tensor.numel():
            return tensor
        return shaken(tensor, random).clamp(tensor.min(), tensor.max())  # probabilities stay such

    runs = [run(lambda tensor: tensor), *(run(shake) for _ in range(SHAKES))]
    return {
        name: TOLERANCE_FACTOR * max(distance(outputs[name], reference[name]) for outputs in runs) + FLOOR
        for name in runs[0]
    }


def in_dtype(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers in another precision; whole numbers and truth values as they are."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor
