"""Steps with an enabled GradScaler: its scale, and steps that are skipped, are as in PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from trainings import Training, agrees

import ingot.torch

INFINITE = 1e18  # times a batch: then scaled gradients are not finite, and the loss is

Optimizer = torch.optim.Optimizer
Loop = tuple[nn.Module, Optimizer, torch.amp.GradScaler, Callable[[torch.Tensor], torch.Tensor]]


class Counting(torch.optim.Optimizer):
    """An optimizer that counts its steps in Python."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        super().__init__(parameters, {"lr": 0.1})
        self.count = 0

    @torch.no_grad()
    def step(self) -> None:
        self.count += 1
        for parameter in self.param_groups[0]["params"]:
            parameter -= self.param_groups[0]["lr"] / self.count * parameter.grad


OPTIMIZERS: dict[str, Callable[[list[torch.Tensor]], Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "Counting": Counting,
}


def loop(make: Callable[[list[torch.Tensor]], Optimizer], clips: bool) -> Loop:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = make([*model.parameters()])
    scaler = torch.amp.GradScaler("cpu", growth_interval=2)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        scaler.scale(loss).backward()
        if clips:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        return loss

    return model, optimizer, scaler, step


def batches(infinite: int) -> list[torch.Tensor]:
    return [torch.randn(6, 3) * (INFINITE if i == infinite else 1) for i in range(6)]


@pytest.mark.parametrize(("name", "clips"), [("SGD", True), ("Adam", False), ("AdamW", True), ("Counting", False)])
def test_a_step_is_skipped_where_a_gradient_is_not_finite(name: str, clips: bool) -> None:
    model, optimizer, scaler, function = loop(OPTIMIZERS[name], clips)
    other, other_optimizer, other_scaler, in_pytorch = loop(OPTIMIZERS[name], clips)
    step = ingot.torch.compile(function, model, optimizer, on_change="error")
    for i, x in enumerate(batches(infinite=2)):
        before = copy.deepcopy(model.state_dict())
        torch.testing.assert_close(step(x), in_pytorch(x).detach())
        assert scaler.get_scale() == other_scaler.get_scale() and scaler.state_dict() == other_scaler.state_dict()
        torch.testing.assert_close(model.state_dict(), other.state_dict())
        torch.testing.assert_close(optimizer.state_dict()["state"], other_optimizer.state_dict()["state"])
        assert torch.equal(model.weight, before["weight"]) == (i == 2)
    scaler.load_state_dict(other_scaler.state_dict() | {"scale": 8.0})
    assert step.programs == 1 and scaler.get_scale() == 8


def test_a_first_step_may_be_skipped_and_a_scheduler_not_step() -> None:
    model, optimizer, scaler, function = loop(OPTIMIZERS["SGD"], clips=False)
    other, other_optimizer, other_scaler, in_pytorch = loop(OPTIMIZERS["SGD"], clips=False)
    scheduler, other_scheduler = (torch.optim.lr_scheduler.StepLR(o, 2, 0.5) for o in (optimizer, other_optimizer))

    @ingot.torch.step(model, optimizer, scheduler, on_change="error")
    def step(x: torch.Tensor) -> torch.Tensor:
        before = scaler.get_scale()
        loss = function(x)
        if scaler.get_scale() >= before:
            scheduler.step()
        return loss

    for x in batches(infinite=0):
        before = other_scaler.get_scale()
        torch.testing.assert_close(step(x), in_pytorch(x).detach())
        if other_scaler.get_scale() >= before:
            other_scheduler.step()
        torch.testing.assert_close(model.state_dict(), other.state_dict())
        assert (scheduler.last_epoch, optimizer.param_groups[0]["lr"]) == (
            other_scheduler.last_epoch,
            other_optimizer.param_groups[0]["lr"],
        )


def test_a_file_has_the_scale(tmp_path: Path) -> None:
    model, optimizer, scaler, function = loop(OPTIMIZERS["SGD"], clips=False)

    def step(x: torch.Tensor) -> dict[str, torch.Tensor | float]:
        return {"loss": function(x), "scale": scaler.get_scale()}

    agrees(Training(model, optimizer, step), tmp_path, steps=4)
    assert scaler.get_scale() == 4 * 2**16
