"""Optimizers that make their state in their first step: Lion, LAMB, SAM, SGD with dampening."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainings import Training, agrees, usual_step

import ingot.torch

STEPS = 6
XS = torch.randn(STEPS, 6, 3, generator=torch.Generator().manual_seed(0))


class Lazy(torch.optim.Optimizer):
    """An optimizer that makes what it holds for a parameter when it first updates it."""

    def __init__(self, parameters: Any, **settings: Any):
        super().__init__(parameters, {"lr": 0.05, **settings})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.update(p, self.state[p], group)

    def update(self, p: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None: ...


class Lion(Lazy):
    def update(self, p: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if len(state) == 0:
            state["exp_avg"] = torch.zeros_like(p)
        average = state["exp_avg"]
        p.add_(torch.sign(average * 0.9 + p.grad * 0.1), alpha=-group["lr"])
        average.mul_(0.99).add_(p.grad, alpha=0.01)


class Lamb(Lazy):
    def update(self, p: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, mean=torch.zeros_like(p), square=torch.zeros_like(p))
        state["step"] += 1
        state["mean"].lerp_(p.grad, 0.1)
        state["square"].mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
        mean = state["mean"] / (1 - 0.9 ** state["step"])
        update = mean / ((state["square"] / (1 - 0.99 ** state["step"])).sqrt() + 1e-6)
        trust = p.norm().clamp(0, 10) / update.norm().clamp(min=1e-6)
        p.sub_(group["lr"] * trust * update)


class Annealed(Lazy):
    """Its slots are set by default, and its noise falls by a counter."""

    def update(self, p: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        average = state.setdefault("average", torch.zeros_like(p))
        state.setdefault("count", 0)
        state["count"] += 1
        average.lerp_(p.grad, 1 / math.sqrt(state["count"]))
        p.sub_(group["lr"] * average)


def trained_by(make: Callable[..., torch.optim.Optimizer], **settings: Any) -> Training:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = make(model.parameters(), **settings)
    return Training(model, optimizer, functools.partial(usual_step, model, optimizer))


def sharpness_aware() -> Training:
    """Source: Foret et al., "Sharpness-Aware Minimization", 2021."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    held = Lazy(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        with torch.no_grad():
            norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            for p in model.parameters():
                held.state[p]["old"] = p.detach().clone()
                p.add_(p.grad * 0.05 / (norm + 1e-12))
        optimizer.zero_grad()
        model(x).square().mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(held.state[p]["old"])
        optimizer.step()
        return loss

    return Training(model, {"base": optimizer, "sam": held}, step)


MADE: dict[str, Callable[[], Training]] = {
    "lion": lambda: trained_by(Lion),
    "lamb": lambda: trained_by(Lamb),
    "annealed": lambda: trained_by(Annealed),
    "sharpness_aware": sharpness_aware,
}


@pytest.mark.parametrize("name", MADE)
def test_agrees(name: str, tmp_path: Path) -> None:
    agrees(MADE[name](), tmp_path, STEPS)


@pytest.mark.parametrize("name", MADE)
def test_starts_as_an_optimizer_does_that_was_never_traced(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a step made to find the state is not what training starts from."""
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    mine, theirs = MADE[name](), MADE[name]()
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in XS:
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-5)
    pairs = zip(mine.model.parameters(), theirs.model.parameters(), strict=True)
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in pairs)


def dampened() -> Training:
    return trained_by(torch.optim.SGD, lr=0.1, momentum=0.9, dampening=0.5)


def test_another_first_step_is_refused() -> None:
    training = dampened()
    with pytest.raises(ingot.torch.TraceError, match=r"the first step of SGD is another.*take one step in PyTorch"):
        ingot.torch.Program(training.model, training.optimizer).add("train_step", training.step, (XS[0],))
    assert not any(training.optimizer.state.values())


def test_in_this_process_another_first_step_is_pytorchs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    mine, theirs = dampened(), dampened()
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in XS:
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-5)
    assert step.programs == 1
