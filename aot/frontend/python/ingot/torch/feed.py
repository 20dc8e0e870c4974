"""What a program reads and gives as memory: prepared once, so that a call only fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ingot.arrays import BEYOND_NUMPY, Port, torch_tensor
from ingot.session import Entry
from ingot.torch.hyperparameters import Hyperparameter
from ingot.torch.state import stored

Source = Callable[[Sequence[torch.Tensor]], Any]  # an input's memory, of a call's tensors


class Feed:
    """An entry point as a function of tensors of the types that it was traced with."""

    def __init__(self, entry: Entry, names: Sequence[str], numbers: Mapping[str, Hyperparameter]) -> None:
        """`names` are of the tensors; `numbers` are read where optimizers have them."""
        self._entry = entry
        self._sources = [
            _number(numbers[port.name]) if port.name in numbers else _tensor(port, names.index(port.name))
            for port in entry.inputs
        ]

    def __call__(self, tensors: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
        """Runs once."""
        blocks = self._entry.run(tuple([source(tensors) for source in self._sources]))
        return {port.name: torch_tensor(block, port) for port, block in zip(self._entry.outputs, blocks, strict=True)}


def _tensor(port: Port, place: int) -> Source:
    carrier = BEYOND_NUMPY.get(port.element_name)
    seen_as = getattr(torch, carrier) if carrier else None

    def source(tensors: Sequence[torch.Tensor]) -> Any:
        tensor = tensors[place]
        if tensor.requires_grad:
            tensor = tensor.detach()
        tensor = stored(tensor).contiguous()
        return (tensor.view(seen_as) if seen_as else tensor).numpy()

    return source


def _number(number: Hyperparameter) -> Source:
    memory = np.empty((), np.float64)

    def source(_: Sequence[torch.Tensor]) -> Any:
        memory[()] = number.get(number.optimizer.param_groups)
        return memory

    return source
