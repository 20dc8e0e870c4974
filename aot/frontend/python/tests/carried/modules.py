"""Modules that carry something in their attributes or hooks."""

from __future__ import annotations

import functools
import random
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from trainings import Training, usual_step

from carried.case import table

CASES, case = table()


def trained(model: nn.Module) -> Training:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Training(model, optimizer, functools.partial(usual_step, model, optimizer))


class Layer(nn.Module):
    """A layer with something of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)


@case()
def anneals_dropout() -> Training:
    class Annealed(Layer):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return self.linear(x) * (1 - 0.5 / self.calls)

    return trained(Annealed())


@case(r"`model\[1\]\.p` from 0\.4\d* to 0\.3")
def anneals_a_dropout_module() -> Training:
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        model[1].p -= 0.1  # here
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case()
def counts_in_its_class() -> Training:
    class Counting(Layer):
        calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            Counting.calls += 1
            return self.linear(x) / Counting.calls

    return trained(Counting())


@case(r"reads `model\.hidden`, which the call before left")
def hides_a_state() -> Training:
    class Recurrent(Layer):
        hidden: torch.Tensor | None = None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.linear(x)
            if self.hidden is not None:
                y = y + 0.5 * self.hidden  # here
            self.hidden = y.detach()
            return y

    return trained(Recurrent())


@case(r"reads `model\.cache\['last'\]`, which the call before left")
def hides_a_state_in_a_dictionary() -> Training:
    class Recurrent(Layer):
        def __init__(self) -> None:
            super().__init__()
            self.cache: dict[str, torch.Tensor] = {}

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.linear(x)
            y = y + self.cache.get("last", torch.zeros(2))  # here
            self.cache["last"] = y.detach().mean(0)
            return y

    return trained(Recurrent())


@case()
def keeps_activations_to_look_at() -> Training:
    """What is written anew in each call, and never read from one before, carries nothing."""

    class Watched(Layer):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.activations = self.linear(x)
            return self.activations * self.activations.sigmoid()

    return trained(Watched())


@case()
def makes_a_table_at_its_first_call() -> Training:
    class Lazy(Layer):
        table: list[float] | None = None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.table is None:
                self.table = [0.5, 0.25]
            return self.linear(x) * torch.tensor(self.table)

    return trained(Lazy())


@case(r"the second call.*`model\.is_first` from True to False")
def does_something_once() -> Training:
    class Once(Layer):
        def __init__(self) -> None:
            super().__init__()
            self.is_first = True

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.linear(x)
            if self.is_first:
                self.is_first = False
                return y * 2
            return y

    return trained(Once())


@case()
def counts_in_a_forward_hook() -> Training:
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    calls = {"forward": 0}

    def hook(module: nn.Module, inputs: Any, output: torch.Tensor) -> torch.Tensor:
        calls["forward"] += 1
        return output / calls["forward"]

    model[0].register_forward_hook(hook)
    return trained(model)


@case(r"other random numbers of `random`")
def drops_layers_by_python() -> Training:
    class Dropping(Layer):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.linear(x)
            return y if random.random() < 0.5 else y + F.silu(y)  # here

    return trained(Dropping())


@case()
def toggles_modes() -> Training:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.BatchNorm1d(3), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        model.train()
        loss = usual_step(model, optimizer, x)
        model.eval()
        return loss

    return Training(model, optimizer, step)
