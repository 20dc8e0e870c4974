"""Optimizers and averages that count in Python, or replace what they hold."""

from __future__ import annotations

import copy
import functools
import math
from typing import Any

import torch
from torch import nn
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()


class Prepared(torch.optim.Optimizer):
    """An optimizer whose slots exist before its first step."""

    def __init__(self, parameters: Any, **settings: Any):
        super().__init__(parameters, {"lr": 0.05, **settings})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p].update(self.first(p))

    def first(self, p: torch.Tensor) -> dict[str, Any]:
        return {"mean": torch.zeros_like(p), "square": torch.zeros_like(p)}

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            self.begin(group)
            for p in group["params"]:
                self.update(p, self.state[p], group)

    def begin(self, group: dict[str, Any]) -> None: ...

    def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None: ...


def trained_by(optimizer: type[torch.optim.Optimizer], **settings: Any) -> Training:
    model = nn.Linear(3, 2)
    return Training(
        model, made := optimizer(model.parameters(), **settings), functools.partial(usual_step, model, made)
    )


def adam(p: torch.Tensor, slots: dict[str, Any], lr: float, t: float) -> None:
    slots["mean"].lerp_(p.grad, 0.1)
    slots["square"].mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
    mean, square = slots["mean"] / (1 - 0.9**t), slots["square"] / (1 - 0.99**t)
    p.sub_(lr * mean / (square.sqrt() + 1e-8))


@case()
def counts_in_its_group() -> Training:
    class Adam(Prepared):
        def begin(self, group: dict[str, Any]) -> None:
            group["t"] += 1

        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            adam(p, slots, group["lr"], group["t"])

    return trained_by(Adam, t=0)


@case()
def counts_in_its_state() -> Training:
    class Adam(Prepared):
        def first(self, p: torch.Tensor) -> dict[str, Any]:
            return super().first(p) | {"step": 0}

        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            slots["step"] += 1
            adam(p, slots, group["lr"], slots["step"])

    return trained_by(Adam)


@case()
def counts_in_itself() -> Training:
    class Adam(Prepared):
        _count = 0

        def begin(self, group: dict[str, Any]) -> None:
            self._count += 1

        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            adam(p, slots, group["lr"], self._count)

    return trained_by(Adam)


@case()
def like_adafactor() -> Training:
    class Adafactor(Prepared):
        def first(self, p: torch.Tensor) -> dict[str, Any]:
            return {"step": 0, "square": torch.zeros_like(p)}

        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            slots["step"] += 1
            decay = 1.0 - math.pow(slots["step"], -0.8)
            slots["square"].mul_(decay).add_(p.grad**2 + 1e-30, alpha=1 - decay)
            update = slots["square"].rsqrt() * p.grad
            update.div_((update.norm() / update.numel() ** 0.5).clamp(min=1.0))
            p.sub_(min(1e-2, 1 / math.sqrt(slots["step"])) * update)

    return trained_by(Adafactor)


@case()
def looks_ahead() -> Training:
    class Lookahead(Prepared):
        def first(self, p: torch.Tensor) -> dict[str, Any]:
            return {"slow": p.detach().clone()}

        def begin(self, group: dict[str, Any]) -> None:
            group["count"] += 1

        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            p.sub_(0.1 * p.grad)
            if group["count"] % 3 == 0:
                slots["slow"].lerp_(p, 0.5)
                p.copy_(slots["slow"])

    return trained_by(Lookahead, count=0)


class Around(torch.optim.Optimizer):
    """Has another's groups, and takes weights back every third time; it leaves out what its class would make."""

    def __init__(self, inner: torch.optim.Optimizer) -> None:
        self.inner, self.param_groups = inner, inner.param_groups
        self.state = {p: {"slow": p.detach().clone()} for group in self.param_groups for p in group["params"]}
        self.param_groups[0]["count"] = 0

    def step(self, closure: Any = None) -> None:
        self.inner.step(closure)
        group = self.param_groups[0]
        group["count"] += 1
        for p in group["params"] if group["count"] % 3 == 0 else ():
            p.data.copy_(self.state[p]["slow"].lerp_(p.data, 0.5))

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.inner.zero_grad(set_to_none)


def wrapped(are_both: bool) -> Training:
    model = nn.Linear(3, 2)
    inner = torch.optim.Adam(model.parameters(), 0.1)
    outer = Around(inner)
    step = functools.partial(usual_step, model, outer)
    return Training(model, {"outer": outer, "inner": inner} if are_both else outer, step)


@case()
def wraps_another_optimizer() -> Training:
    return wrapped(are_both=True)


@case()
def wraps_an_optimizer_that_is_not_given() -> Training:
    """Which is found by the groups that both have."""
    training = wrapped(are_both=False)
    model, optimizer = training.model, training.optimizer
    assert isinstance(model, nn.Module) and isinstance(optimizer, Around)
    usual_step(model, optimizer, torch.ones(6, 3))
    return training


@case()
def lowers_its_rate() -> Training:
    class Decaying(Prepared):
        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            p.sub_(group["lr"] * p.grad)

    model = nn.Linear(3, 2)
    optimizer = Decaying(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        optimizer.param_groups[0]["lr"] *= 0.9
        return loss

    return Training(model, optimizer, step)


@case()
def sets_the_rate_by_a_counter_in_a_captured_group() -> Training:
    model, optimizer = linear()
    group, calls = optimizer.param_groups[0], [0]

    def step(x: torch.Tensor) -> torch.Tensor:
        calls[0] += 1
        group["lr"] = 0.1 / calls[0]
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case()
def replaces_its_slots() -> Training:
    class Adam(Prepared):
        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            self.state[p]["mean"] = 0.9 * slots["mean"] + 0.1 * p.grad
            self.state[p]["square"] = 0.99 * slots["square"] + 0.01 * p.grad**2
            p.sub_(group["lr"] * slots["mean"] / (slots["square"].sqrt() + 1e-3))

    return trained_by(Adam)


@case()
def replaces_its_records() -> Training:
    class Momentum(Prepared):
        def update(self, p: torch.Tensor, slots: dict[str, Any], group: dict[str, Any]) -> None:
            self.state[p] = {"mean": 0.9 * slots["mean"] + p.grad, "square": slots["square"]}
            p.sub_(group["lr"] * self.state[p]["mean"])

    return trained_by(Momentum)


@case()
def finds_slots_by_captured_parameters() -> Training:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for parameter in model.parameters():
        optimizer.state[parameter]["anchor"] = parameter.detach().clone()
    parameters = list(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        with torch.no_grad():
            for parameter in parameters:
                optimizer.state[parameter]["anchor"].lerp_(parameter, 0.5)
                parameter.lerp_(optimizer.state[parameter]["anchor"], 0.1)
        return loss

    return Training(model, optimizer, step)


@case()
def averages_by_a_counter() -> Training:
    class Average:
        def __init__(self, model: nn.Module):
            self.model, self.updates = copy.deepcopy(model), 0

        @torch.no_grad()
        def update(self, model: nn.Module) -> None:
            self.updates += 1
            decay = min(0.99, (1 + self.updates) / (10 + self.updates))
            for mine, theirs in zip(self.model.parameters(), model.parameters(), strict=True):
                mine.lerp_(theirs, 1 - decay)

    model, optimizer = linear()
    average = Average(model)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        average.update(model)
        return loss

    return Training({"model": model, "average": average.model}, optimizer, step)


@case()
def takes_turns() -> Training:
    first, second = nn.Linear(3, 3), nn.Linear(3, 2)
    model = nn.Sequential(first, second)
    optimizers = {
        "one": torch.optim.SGD(first.parameters(), lr=0.1),
        "two": torch.optim.SGD(second.parameters(), lr=0.1),
    }
    turns = [0]

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer = optimizers["one" if turns[0] % 2 == 0 else "two"]
        turns[0] += 1
        model.zero_grad()
        return usual_step(model, optimizer, x)

    return Training(model, optimizers, step)


@case(r"`first\.weight\.requires_grad` from False to True")
def toggles_what_is_trained() -> Training:
    first, second = nn.Linear(3, 3), nn.Linear(3, 2)
    model = nn.Sequential(first, second)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        for parameter in first.parameters():
            parameter.requires_grad_(not parameter.requires_grad)  # here
        return loss

    return Training(model, optimizer, step)


@case()
def trains_two_parts_by_requires_grad() -> Training:
    first, second = nn.Linear(3, 3), nn.Linear(3, 2)
    models = {"first": first, "second": second}
    optimizers = {
        "one": torch.optim.SGD(first.parameters(), lr=0.1),
        "two": torch.optim.SGD(second.parameters(), lr=0.1),
    }

    def step(x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(())
        for mine, other, optimizer in ((first, second, optimizers["one"]), (second, first, optimizers["two"])):
            mine.requires_grad_(True)
            other.requires_grad_(False)
            optimizer.zero_grad()
            loss = second(torch.tanh(first(x))).square().mean()
            loss.backward()
            optimizer.step()
            total = total + loss.detach()
        first.requires_grad_(True)
        return total

    return Training(models, optimizers, step)
