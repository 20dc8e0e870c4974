"""Whole trainings of PyTorch, and the same by a bundle, for the judge in ingot/judge.py."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from bundle import Bundle, distance
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import ingot.torch
from ingot.judge import ONE_ULP, SHAKES, Agreement, Run, judge
from ingot.torch.judge.wide import Wide
from ingot.torch.tracing.state import State


@dataclass
class Training:
    """A model, its optimizer and the user's function of a batch; every tensor of `batches` has the step in front.

    `rates`, f64 of [steps], is what a host's schedule makes the learning rate before each step. Under autocast a model
    is not made in f64: its reference is PyTorch's own run with each op in f64 beside it.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: Callable[..., torch.Tensor]
    batches: tuple[torch.Tensor, ...]
    rates: torch.Tensor | None = None
    has_f64: bool = True

    def set_rate(self, step: int) -> None:
        """Does what the schedule says before a step."""
        if self.rates is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = self.rates[step].item()


# Without the pass that leaves out roundings to bf16 where the next op reads f32: PyTorch rounds.
ROUNDING = ("--skip", "widen_results")

# Makes a training anew, the same each time, in f32 (or f64, from the same first values).
Make = Callable[[torch.dtype], Training]


def classifier_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_of: Callable[..., torch.Tensor], clip: float | None = None
) -> Callable[..., torch.Tensor]:
    """The usual training function: gradients, perhaps clipped to a norm, and a step of the optimizer."""

    def train_step(*batch: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model, *batch)
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss

    return train_step


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """What tensors are made of that a model makes itself."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def run_eager(make: Make, dtype: torch.dtype, shake: int | None = None, wide: Wide | None = None) -> Run:
    """PyTorch's own steps; `shake` is the seed of what moves every f32 value before each of them.

    With `wide` what each op gives in f64.

    Attention is made of plain ops, as in programs: PyTorch's kernel rounds to bf16 before it divides by a sum.
    """
    training = make(dtype)
    state = State({"": training.model}, {"optimizer": training.optimizer})
    random = torch.Generator().manual_seed(shake or 0)
    losses = []
    with default_dtype(dtype), sdpa_kernel(SDPBackend.MATH), wide or nullcontext():
        for step in range(len(training.batches[0])):
            batch = [rows[step] for rows in training.batches]
            if shake is not None:
                batch = [shaken(tensor, random) for tensor in batch]
                with torch.no_grad():
                    for name, tensor in state.tensors.items():
                        if not name.endswith(".step"):
                            tensor.copy_(shaken(tensor, random))
            training.set_rate(step)
            losses.append(training.step(*batch).item())  # of f64 where that is asked for
    last = State({"": training.model}, {"optimizer": training.optimizer})
    values = wide.of if wide else torch.Tensor.clone
    return losses, {name: values(tensor.detach()) for name, tensor in last.tensors.items()}


def shaken(tensor: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """F32 values moved by about one unit in the last place; others as they are."""
    if tensor.dtype != torch.float32:
        return tensor
    return tensor * (1 + ONE_ULP * torch.randn(tensor.shape, generator=random))


def traced(training: Training) -> ingot.torch.Program:
    """The training as a program, with the entry ``train_step``."""
    first = tuple(rows[0] for rows in training.batches)
    before = copy.deepcopy(training.model.state_dict())
    program = ingot.torch.Program(training.model, training.optimizer)
    program.add("train_step", training.step, first)
    for name, value in training.model.state_dict().items():
        assert torch.equal(value, before[name]), f"tracing changed {name}"
    return program


def run_bundle(make: Make, folder: Path) -> Run:
    """The same steps, traced, compiled and run by ingot, in f32."""
    training = make(torch.float32)
    program = traced(training)
    bundle = Bundle(program, folder, *(() if training.has_f64 else ROUNDING))
    log, final = bundle.train(rows_by_input(training, program))
    return [row["loss"] for row in log], final


def rows_by_input(training: Training, program: ingot.torch.Program) -> dict[str, torch.Tensor]:
    """What `ingot train` reads, called as the inputs."""
    inputs = [i["name"] for i in program.inputs["train_step"]]
    rows = dict(zip(inputs, training.batches, strict=False))
    return rows if training.rates is None else rows | {"lr": training.rates}


def agreement(make: Make, folder: Path) -> Agreement:
    """Runs PyTorch in f64, in f32, in shaken f32, and the bundle."""
    has_f64 = make(torch.float32).has_f64
    reference = run_eager(make, torch.float64) if has_f64 else run_eager(make, torch.float32, wide=Wide())
    runs = [run_eager(make, torch.float32, seed) for seed in (None, *range(SHAKES))]
    mine = run_bundle(make, folder)
    return judge(reference, runs, mine, distance)
