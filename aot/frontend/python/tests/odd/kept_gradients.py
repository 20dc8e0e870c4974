"""Gradients that are kept from call to call, read and written between."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def every_second_call_accumulates(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    calls = 0

    @step(model, optimizer, keep_gradients=True)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        loss = F.cross_entropy(model(x), y) / 2
        loss.backward()
        calls += 1
        if calls % 2 == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
        return loss

    for i in range(7):
        train_step(XS[i], YS[i])
    assert calls == 7


def accumulator(step: Step, model: nn.Module) -> Callable[..., torch.Tensor]:
    """A step that clears no gradients."""
    optimizer = torch.optim.SGD(model.parameters(), 0.05)

    @step(model, optimizer, keep_gradients=True)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def gradients_change_places(step: Step) -> None:
    model = mlp().append(nn.Linear(3, 3)).append(nn.Linear(3, 3))
    train_step = accumulator(step, model)
    for i in range(6):
        train_step(XS[i], YS[i])
        one, other = model[5].weight, model[6].weight
        if i in (1, 2):
            one.grad, other.grad = other.grad, one.grad
        if i == 4:
            one.grad, other.grad = None, one.grad


def one_gradient_is_of_two(step: Step) -> None:
    model = mlp().append(nn.Linear(3, 3)).append(nn.Linear(3, 3))
    train_step = accumulator(step, model)
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 3:
            model[5].weight.grad = model[6].weight.grad


def gradients_are_read_between(step: Step) -> list[torch.Tensor]:
    model = mlp()
    train_step = classifier(step, model, sgd(model), keep_gradients=True)
    norms = []
    for i in range(6):
        train_step(XS[i], YS[i])
        norms.append(torch.stack([each.grad.norm() for each in model.parameters()]))
        if i == 3:
            model[0].weight.grad.fill_(7.0)
    return norms
