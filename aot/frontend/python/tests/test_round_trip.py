"""PyTorch, then a bundle, then PyTorch again: one training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from agreement import Make, Training, classifier_step, rows_by_input, run_eager
from bundle import Bundle, distance
from torch import nn
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR

import ingot.torch
from ingot.judge import SHAKES, Run, judge
from ingot.torch.tracing.state import State

THIRD = 20


@dataclass
class Scheduled(Training):
    """A training whose function steps a scheduler."""

    scheduler: LRScheduler | None = None


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(x), y)


def batches(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(3 * THIRD, 16, 8)
    return x.to(dtype), (x[..., :5] + x[..., 3:]).argmax(-1)


def batch_norm_and_adam(dtype: torch.dtype) -> Scheduled:
    torch.manual_seed(0)
    layers = [nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 5)]
    model = nn.Sequential(*layers).to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return Scheduled(model, optimizer, classifier_step(model, optimizer, loss_of), batches(dtype))


def momentum_and_scheduler(dtype: torch.dtype) -> Scheduled:
    """The scheduler moves the learning rate and the momentum."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5)).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
    scheduler = OneCycleLR(optimizer, max_lr=0.2, total_steps=3 * THIRD)
    steps = classifier_step(model, optimizer, loss_of)

    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = steps(x, y)
        scheduler.step()
        return loss

    return Scheduled(model, optimizer, train_step, batches(dtype), scheduler=scheduler)


TRAININGS = {make.__name__: make for make in (batch_norm_and_adam, momentum_and_scheduler)}


def program_of(training: Scheduled) -> ingot.torch.Program:
    program = ingot.torch.Program(
        training.model, training.optimizer, training.scheduler, total_steps=3 * THIRD if training.scheduler else None
    )
    program.add("train_step", training.step, tuple(rows[0] for rows in training.batches))
    program.add("predict", training.model, (training.batches[0][0],), training=False)
    return program


def run_thirds(make: Make, folder: Path) -> Run:
    """The middle third of the steps in a bundle; the last one in a model, optimizer and scheduler made anew."""
    first, last = make(torch.float32), make(torch.float32)
    losses = [first.step(*(rows[i] for rows in first.batches)).item() for i in range(THIRD)]
    program = program_of(first)
    middle = {name: rows[THIRD : 2 * THIRD] for name, rows in rows_by_input(first, program).items()}
    log, _ = Bundle(program, folder).train(middle)
    losses += [row["loss"] for row in log]
    ingot.torch.load_state(last.model, last.optimizer, folder / "final.safetensors", last.scheduler)
    losses += [last.step(*(rows[i] for rows in last.batches)).item() for i in range(2 * THIRD, 3 * THIRD)]
    if last.scheduler:
        assert last.scheduler.last_epoch == 3 * THIRD
    return losses, State({"": last.model}, {"optimizer": last.optimizer}).tensors


@pytest.mark.parametrize("name", TRAININGS)
def test_the_curve_goes_on(name: str, tmp_path: Path) -> None:
    make = TRAININGS[name]
    reference = run_eager(make, torch.float64)
    runs = [run_eager(make, torch.float32, seed) for seed in (None, *range(SHAKES))]
    found = judge(reference, runs, run_thirds(make, tmp_path), distance)
    assert found.holds, found
    assert reference[0][-1] < 0.5 * reference[0][0]


@pytest.mark.parametrize("name", TRAININGS)
def test_state_keeps_its_bits(name: str, tmp_path: Path) -> None:
    """Through a bundle, which holds them while another entry point runs, and into another model."""
    first, other = TRAININGS[name](torch.float32), TRAININGS[name](torch.float32)
    for i in range(3):
        first.step(*(rows[i] for rows in first.batches))
    program = program_of(first)
    before = {tensor_name: tensor.detach().clone() for tensor_name, tensor in program.state.tensors.items()}
    Bundle(program, tmp_path).run({"input": first.batches[0][0]}, "predict")
    ingot.torch.load_state(other.model, other.optimizer, tmp_path / "last.safetensors", other.scheduler)
    loaded = program_of(other).state.tensors
    assert loaded.keys() == before.keys()
    assert all(torch.equal(loaded[tensor_name], tensor) for tensor_name, tensor in before.items())
    if first.scheduler:
        assert first.optimizer.param_groups[0]["momentum"] == other.optimizer.param_groups[0]["momentum"]
        assert first.scheduler.get_last_lr() == other.scheduler.get_last_lr()
