"""Odd programs: each calls a training step some times, and changes something between or inside the calls.

A program takes `step`, the decorator of training steps: ``ingot.torch.step``, or one that leaves the function as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Step = Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]

XS = torch.randn(8, 6, 4, generator=torch.Generator().manual_seed(1))
YS = torch.randint(3, (8, 6), generator=torch.Generator().manual_seed(2))


def mlp() -> nn.Sequential:
    """A model of three linear layers with the same values in every run."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))


def sgd(model: nn.Module, rate: float = 0.1) -> torch.optim.SGD:
    """Stochastic gradient descent with momentum."""
    return torch.optim.SGD(model.parameters(), rate, momentum=0.9)


def classifier(step: Step, model: nn.Module, optimizer: torch.optim.Optimizer, **options: Any) -> Callable[..., Any]:
    """A step of a classifier as everybody writes it."""

    @step(model, optimizer, **options)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def minimizer(
    step: Step, model: Any, optimizer: torch.optim.Optimizer, loss_of: Callable[..., torch.Tensor], **options: Any
) -> Callable[..., Any]:
    """A step that minimizes what a function gives for its arguments."""

    @step(model, optimizer, **options)
    def train_step(*args: Any, **kwargs: Any) -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(*args, **kwargs)
        loss.backward()
        optimizer.step()
        return loss

    return train_step
