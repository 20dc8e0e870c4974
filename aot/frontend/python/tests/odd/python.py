"""Python inside and around the step: closures, generators, counters, random numbers, exceptions."""

from __future__ import annotations

import collections
import contextlib
import math
import random

import torch
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd

COUNT = 0


def closure_float_falls(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    temperature = 1.0

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x) / temperature, y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
        temperature *= 0.9


def global_counter_is_incremented(step: Step) -> None:
    global COUNT
    COUNT = 0
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        global COUNT
        COUNT += 1
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) / math.sqrt(COUNT)
        loss.backward()
        optimizer.step()
        return loss * COUNT

    for i in range(6):
        train_step(XS[i], YS[i])
    assert COUNT == 6


def losses_are_collected_in_a_list(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    history: list[float] = []

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
    assert len(history) == 6


def metrics_are_summed_in_an_object(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    totals: collections.Counter[str] = collections.Counter()

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        totals["rows"] += len(x)
        totals["loss"] += loss.item()
        return loss

    for rows in (6, 6, 3, 6, 3, 6):
        train_step(XS[0, :rows], YS[0, :rows])
    assert totals["rows"] == 30


def python_random_decides(step: Step) -> None:
    random.seed(0)
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        out = model(x if random.random() < 0.5 else x.flip(0))
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def raised_inside_by_a_flag(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, stop: bool = False) -> torch.Tensor:
        if stop:
            raise StopIteration("enough")
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        with contextlib.suppress(StopIteration):
            train_step(XS[i], YS[i], i == 3)


def raised_inside_by_a_loss(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if not math.isfinite(loss.item()):
            raise FloatingPointError(f"loss is {loss.item()}")
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        with contextlib.suppress(FloatingPointError):
            train_step(XS[i] * (math.inf if i == 3 else 1.0), YS[i])


def caught_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        try:
            out = model(x)
        except RuntimeError:
            out = model(F.pad(x, (0, 4 - x.shape[1])))
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i, :, : 4 - i % 2], YS[i])


def decorated_in_each_call(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    for i in range(6):
        classifier(step, model, optimizer)(XS[i], YS[i])


def loop_ends_by_a_value(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(int(y.max()) + 1):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i].clamp(max=i % 3))


def losses_are_weighted_by_what_they_were(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    running = [1.0, 1.0]

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        out = model(x)
        first, second = F.cross_entropy(out, y), out.square().mean()
        loss = first / running[0] + second / running[1]
        loss.backward()
        optimizer.step()
        running[0] = 0.9 * running[0] + 0.1 * first.item()
        running[1] = 0.9 * running[1] + 0.1 * second.item()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
