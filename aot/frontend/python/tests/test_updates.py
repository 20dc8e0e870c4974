"""Updates of parameters that are alike are traced once and copied: the text is that of tracing each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch
from ingot.torch.optimizers import updates
from ingot.torch.tracing import functional

OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "Adadelta": lambda p: torch.optim.Adadelta(p, weight_decay=0.01),
    "Adafactor": lambda p: torch.optim.Adafactor(p),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr_decay=0.1, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, amsgrad=True, weight_decay=0.01),
    "Adam of a rate in a tensor": lambda p: torch.optim.Adam(p, lr=torch.tensor(1e-3)),
    "Adamax": lambda p: torch.optim.Adamax(p, maximize=True),
    "Adam8bit": lambda p: ingot.torch.optim.Adam8bit(p, weight_decay=0.01),
    "AdamW": lambda p: torch.optim.AdamW(p),
    "ASGD": lambda p: torch.optim.ASGD(p),
    "NAdam": lambda p: torch.optim.NAdam(p, decoupled_weight_decay=True, weight_decay=0.01),
    "RAdam": lambda p: torch.optim.RAdam(p),
    "RMSprop": lambda p: torch.optim.RMSprop(p, momentum=0.9, centered=True),
    "Rprop": lambda p: torch.optim.Rprop(p),
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
}


class Alike(nn.Module):
    """Layers of one shape, and one whose gradient lies otherwise in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.transposed = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x @ self.transposed


def program_of(make: Callable[[Any], torch.optim.Optimizer], **options: Any) -> ingot.torch.Program:
    torch.manual_seed(0)
    model = Alike()
    optimizer = make(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer, **options)
    program.add("train_step", step, (torch.randn(2, 4),))
    return program


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_text_is_that_of_tracing_each(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = program_of(OPTIMIZERS[name]).texts["train_step"]
    monkeypatch.setattr(updates.Updates, "_key", lambda *_: None)
    monkeypatch.setattr(functional, "_key", lambda *_: None)
    assert copied == program_of(OPTIMIZERS[name]).texts["train_step"]


def test_updates_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[Any] = []
    trace = updates.Updates._trace
    monkeypatch.setattr(updates.Updates, "_trace", lambda *given: traced.append(given) or trace(*given))
    program_of(OPTIMIZERS["Adam"])
    assert len(traced) <= 2 * 3  # of two calls; a weight, a bias, a weight whose gradient is transposed


class Numbered(torch.optim.SGD):
    """Its parameters are told apart by what the caller reads of them before."""

    def step(self, closure: Any = None) -> Any:
        with torch.no_grad():
            for parameter in self.param_groups[0]["params"]:
                parameter.grad.mul_(parameter.flatten()[0].item())
        return super().step(closure)


def test_numbers_of_one_parameter_are_not_those_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = program_of(lambda p: Numbered(p, lr=0.1)).texts["train_step"]
    monkeypatch.setattr(updates.Updates, "_key", lambda *_: None)
    monkeypatch.setattr(functional, "_key", lambda *_: None)
    assert copied == program_of(lambda p: Numbered(p, lr=0.1)).texts["train_step"]
