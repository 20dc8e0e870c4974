"""Random numbers: draws that leave results as they are, seeds, and trainings that are gone on with."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, minimizer, mlp, sgd


def batch_is_shuffled_inside(step: Step) -> None:
    """The order of rows does not matter to the loss."""
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        order = torch.randperm(len(x))
        return F.cross_entropy(model(x[order]), y[order])

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i, rows in enumerate((6, 6, 4, 6, 4, 5)):
        train_step(XS[i, :rows], YS[i, :rows])


def everything_or_nothing_is_dropped(step: Step) -> None:
    model = mlp()
    model.insert(2, nn.Dropout(0.0))
    train_step = classifier(step, model, sgd(model))
    for i, rate in enumerate((0.0, 1.0, 0.0, 1.0, 1.0, 0.0)):
        model[2].p = rate
        train_step(XS[i], YS[i])


def with_dropout(step: Step, rate: float) -> tuple[nn.Module, Any, Any]:
    """A model with much dropout, its optimizer and its step."""
    model = mlp()
    model.insert(2, nn.Dropout(rate))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    return model, optimizer, classifier(step, model, optimizer)


def same_seeds_give_same_losses(step: Step) -> list[Any]:
    runs = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        _, _, train_step = with_dropout(step, 0.5)
        torch.manual_seed(seed)
        runs.append(torch.stack([train_step(XS[i % 2], YS[i % 2]).detach() for i in range(6)]))
    return [bool((runs[0] == runs[1]).all()), bool((runs[0] == runs[2]).any()), len(set(runs[0].tolist()))]


def draws_differ_from_call_to_call(step: Step) -> list[Any]:
    """Two draws of one call, and those of several calls, are others; uniform numbers are in their bounds."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, count: int) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss, torch.rand(count), torch.rand(count), torch.randint(5, (count,)), torch.randn(count)

    drawn: list[torch.Tensor] = []
    for i, count in enumerate((4, 4, 7, 4, 7, 4)):
        drawn += train_step(XS[i], YS[i], count)[1:]
    uniform = torch.cat(drawn[0::4] + drawn[1::4])
    whole = torch.cat(drawn[2::4])
    return [len(uniform.unique()), bool(((uniform >= 0) & (uniform < 1)).all()), bool((whole.abs() < 5).all())]


def a_generator_draws(step: Step) -> list[Any]:
    model = mlp()
    noise = torch.Generator()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(x + 0.1 * torch.randn(x.shape, generator=noise)), y)

    losses = []
    train_step = minimizer(step, model, torch.optim.SGD(model.parameters(), 0.0), loss_of)
    for i in range(6):
        if i % 3 == 0:
            noise.manual_seed(9)
        losses.append(train_step(XS[0], YS[0]).item())
    return [losses[:3] == losses[3:], len(set(losses))]


def training_goes_on_from_a_checkpoint(step: Step) -> list[bool]:
    """A new model, optimizer and step go on from what was saved, and end with the same bits."""
    model, optimizer, train_step = with_dropout(step, 0.5)
    for i in range(3):
        train_step(XS[i], YS[i])
    saved = copy.deepcopy([model.state_dict(), optimizer.state_dict(), torch.get_rng_state()])
    first = torch.stack([train_step(XS[i], YS[i]).detach() for i in range(3, 6)])
    other, other_optimizer, other_step = with_dropout(step, 0.5)
    other.load_state_dict(saved[0])
    other_optimizer.load_state_dict(saved[1])
    torch.set_rng_state(saved[2])
    second = torch.stack([other_step(XS[i], YS[i]).detach() for i in range(3, 6)])
    ends = zip(model.state_dict().values(), other.state_dict().values(), strict=True)
    return [bool((first == second).all()), all(bool((a == b).all()) for a, b in ends)]
