"""Habits of training scripts: what a program must repeat, or refuse by name."""

from __future__ import annotations

import copy
import dataclasses
import weakref
from typing import Any

import numpy as np
import torch
from torch import nn
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()


def two_layers() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


@case()
def steps_while_gradients_are_made() -> Training:
    """Each parameter has an optimizer of its own, which a hook finds by the parameter."""
    model = two_layers()
    optimizers = {p: torch.optim.SGD([p], lr=0.1, momentum=0.5) for p in model.parameters()}

    def hook(parameter: nn.Parameter) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(hook)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        return loss

    return Training(model, {f"of{i}": optimizer for i, optimizer in enumerate(optimizers.values())}, step)


class Average:
    """Averages of parameters; what counts its updates is its class's until it is first counted up."""

    updates = 0

    def __init__(self, model: nn.Module, averaged: nn.Module) -> None:
        self.pairs = list(zip(averaged.parameters(), model.parameters(), strict=True))

    @torch.no_grad()
    def update(self) -> None:
        self.updates += 1
        decay = min(0.9, (1 + self.updates) / (10 + self.updates))
        for average, value in self.pairs:
            average.mul_(decay).add_(value, alpha=1 - decay)


@case()
def averages_by_a_counter_of_the_class() -> Training:
    model, optimizer = linear()
    averaged = copy.deepcopy(model)
    average = Average(model, averaged)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        average.update()
        return loss + averaged(x).mean()

    return Training({"model": model, "averaged": averaged}, optimizer, step)


@case()
def counts_in_a_module_by_its_class() -> Training:
    class Counted(nn.Linear):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return super().forward(x) / self.calls

    model = Counted(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


@case()
def counts_by_a_weak_proxy() -> Training:
    class Counter:
        calls = 0

    model, optimizer = linear()
    counter = Counter()
    proxy = weakref.proxy(counter)

    def step(x: torch.Tensor, kept: Counter = counter) -> torch.Tensor:
        proxy.calls += 1
        return usual_step(model, optimizer, x / proxy.calls)

    return Training(model, optimizer, lambda x: step(x))


@dataclasses.dataclass(frozen=True)
class Progress:
    steps: int = 0


@case(r"`held\['now'\]\.steps` from 1 to 2.*the object that holds it is made anew in each call: change it in one that")
def replaces_a_record() -> Training:
    model, optimizer = linear()
    held = {"now": Progress()}

    def step(x: torch.Tensor) -> torch.Tensor:
        held["now"] = dataclasses.replace(held["now"], steps=held["now"].steps + 1)  # here
        return usual_step(model, optimizer, x / held["now"].steps)

    return Training(model, optimizer, step)


@case()
def looks_for_anomalies() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        with torch.profiler.record_function("step"), torch.autograd.set_detect_anomaly(True):
            return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case(r"`model\.parts\._size` from 2 to 3")
def adds_a_parameter() -> Training:
    class Growing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ParameterList([torch.ones(3)])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return sum(x * part for part in self.parts)

    model = Growing()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        model.parts.append(torch.ones(3))  # here
        return loss

    return Training(model, optimizer, step)


@case(r"a tensor has no values that NumPy could take while it is traced; compute with torch, or return it")
def logs_by_numpy() -> Training:
    model, optimizer = linear()
    log: list[Any] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        log.append(np.asarray(loss.detach()))  # here
        return loss

    return Training(model, optimizer, step)


@case()
def goes_half_of_the_way_to_where_it_came() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        before = copy.deepcopy(model.state_dict())
        loss = sum(usual_step(model, optimizer, half) for half in x.chunk(2))
        after = model.state_dict()
        model.load_state_dict({name: before[name] + 0.5 * (after[name] - before[name]) for name in before})
        return loss

    return Training(model, optimizer, step)


@case()
def clips_the_gradient_of_each_sample() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        values = {name: p.detach() for name, p in model.named_parameters()}

        def loss_of(values: dict[str, torch.Tensor], row: torch.Tensor) -> torch.Tensor:
            return torch.func.functional_call(model, values, (row[None],)).square().mean()

        gradients = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0))(values, x)
        for name, parameter in model.named_parameters():
            norms = gradients[name].flatten(1).norm(dim=1).clamp(min=1.0)
            parameter.grad = (gradients[name] / norms.view(-1, *[1] * parameter.dim())).mean(0)
        optimizer.step()
        return model(x).square().mean()

    return Training(model, optimizer, step)


@case()
def learns_to_learn() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        seen, unseen = x.chunk(2)
        values = dict(model.named_parameters())
        inner = torch.func.functional_call(model, values, (seen,)).square().mean()
        gradients = torch.autograd.grad(inner, list(values.values()), create_graph=True)
        fast = {name: p - 0.1 * g for (name, p), g in zip(values.items(), gradients, strict=True)}
        optimizer.zero_grad()
        loss = torch.func.functional_call(model, fast, (unseen,)).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)
