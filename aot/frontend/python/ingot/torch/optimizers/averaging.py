"""AveragedModel, which looks in Python whether it has averaged anything yet: the same with torch.where."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.optim.swa_utils import AveragedModel, get_swa_multi_avg_fn

from ingot.torch.base.replacements import replaced

Average = Callable[[list[torch.Tensor], list[torch.Tensor], torch.Tensor], None]


def traceable_averages() -> AbstractContextManager[Any]:
    """Lets ``update_parameters`` be traced."""
    return replaced(AveragedModel, "update_parameters", update_parameters)


def update_parameters(self: Any, model: torch.nn.Module) -> None:
    """What ``AveragedModel.update_parameters`` does: the first time copies, later averages."""
    with torch.no_grad():
        _update(self, model)


def _update(self: Any, model: torch.nn.Module) -> None:
    mine, theirs = ([*module.parameters()] for module in (self.module, model))
    buffers = zip(self.module.buffers(), model.buffers(), strict=True)
    if self.use_buffers:
        for averaged, current in buffers:
            mine.append(averaged)
            theirs.append(current)
    else:
        for averaged, current in buffers:
            averaged.copy_(current)
    averages = [tensor.clone() for tensor in mine]
    _average(self)(averages, theirs, self.n_averaged)
    for averaged, average, current in zip(mine, averages, theirs, strict=True):
        averaged.copy_(torch.where(self.n_averaged == 0, current, average))
    self.n_averaged += 1


def _average(self: Any) -> Average:
    """How lists of tensors are averaged in place."""
    if self.multi_avg_fn is not None or self.avg_fn is None:
        return self.multi_avg_fn or get_swa_multi_avg_fn()  # type: ignore[no-any-return]

    def one_by_one(averages: list[torch.Tensor], currents: list[torch.Tensor], count: torch.Tensor) -> None:
        for average, current in zip(averages, currents, strict=True):
            average.copy_(self.avg_fn(average, current, count))

    return one_by_one
