"""A training whose loss reads a number in Python, which others change between calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import ingot.torch

Read = Callable[[], Any]
Change = Callable[[int], Any]  # before some call


def losses_of(read: Read, change: Change, compiled: bool, rate: float = 0.1, **options: Any) -> list[torch.Tensor]:
    """Six losses, with a change before the third and the fifth, and the parameters after them."""
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), rate)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x) * read()).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    run: Any = ingot.torch.compile(step, model, optimizer, **options) if compiled else step
    found = []
    for i in range(6):
        if i in (2, 4):
            change(i)
        found.append(run(torch.randn(5, 4)).clone())
    return [*found, *model.parameters()]
