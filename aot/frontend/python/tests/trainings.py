"""Small trainings for tests of what a user's function does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from bundle import Bundle, distance
from torch import nn

import ingot.torch

Step = Callable[[torch.Tensor], Any]


class Training(NamedTuple):
    """What a program is made of, and the function of a batch [6, 3]."""

    model: nn.Module | Mapping[str, nn.Module]
    optimizer: torch.optim.Optimizer | Mapping[str, torch.optim.Optimizer] | None
    step: Step


def linear() -> tuple[nn.Linear, torch.optim.Optimizer]:
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def usual_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


class Classifier:
    """A training whose step is a method."""

    model: nn.Module
    optimizer: torch.optim.Optimizer

    def step(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss


def agrees(training: Training, folder: Path, steps: int) -> None:
    """Traces, then compares a bundle's steps with PyTorch's; asserts that tracing changed nothing."""
    xs = torch.randn(steps, 6, 3)
    program = ingot.torch.Program(training.model, training.optimizer)
    before = {name: tensor.detach().clone() for name, tensor in program.state.tensors.items()}
    program.add("train_step", training.step, (xs[0],))
    traced = program.state.tensors
    assert all(torch.equal(tensor, traced[name]) for name, tensor in before.items())
    log, final = Bundle(program, folder).train({"x": xs})
    for row, x in zip(log, xs, strict=True):
        outputs = training.step(x)
        for name, value in (outputs if isinstance(outputs, dict) else {"loss": outputs}).items():
            assert row[name] == pytest.approx(value.item() if isinstance(value, torch.Tensor) else value, rel=1e-5)
    far = {name: distance(final[name], tensor) for name, tensor in program.state.tensors.items()}
    assert max(far.values()) < 1e-5, far
