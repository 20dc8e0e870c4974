"""torch.while_loop is a loop of the program: as many trips as its values say, in a file too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn, while_loop
from trainings import Training, agrees, linear, usual_step

import ingot.torch

Function = Callable[[nn.Module, torch.Tensor], Any]


def after_steps(function: Function) -> Training:
    """A step, and then a function without gradients."""
    model, optimizer = linear()
    model.register_buffer("trips", torch.tensor(0))

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        loss = usual_step(model, optimizer, x)
        with torch.no_grad():
            return {"loss": loss, "found": function(model, x)}

    return Training(model, optimizer, step)


def halves(model: Any, x: torch.Tensor) -> torch.Tensor:
    """Until it is small, however often that is; how often is a buffer's."""
    trips, y = torch.while_loop(
        lambda trips, y: (y.norm() > 0.01) & (trips < 50),
        lambda trips, y: (trips + 1, F.gelu(y) * model.weight.abs().max()),
        (torch.tensor(0), model(x)),
    )
    model.trips += trips
    return y.sum()


def makes_no_trip(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    (y,) = torch.while_loop(lambda y: y.sum() > 1e6, lambda y: (y * 2,), (model(x),))
    return y.sum()


def in_a_loop(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Squares, each by adding up."""

    def add_up(i: torch.Tensor, total: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        _, square = torch.while_loop(
            lambda k, s: k < i, lambda k, s: (k + 1, s + model.bias.sum()), (torch.tensor(0), torch.tensor(0.0))
        )
        return i + 1, total + square

    _, total = torch.while_loop(lambda i, total: i < 3 + (x.sum() > 0), add_up, (torch.tensor(0), torch.tensor(0.0)))
    return total


def swaps(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    a, b, _ = while_loop(
        lambda a, b, k: k < 3, lambda a, b, k: (b * 2, a * 0.5, k + 1), (x[0].clone(), x[1].clone(), torch.tensor(0))
    )
    return (a - b).sum()


def carries_a_tree(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    def body(tree: dict[str, Any], k: torch.Tensor) -> tuple[dict[str, Any], torch.Tensor]:
        a, b = tree["pair"]
        return {"pair": (b + 1, a * torch.tensor(0.5))}, k + 1

    tree, _ = while_loop(lambda tree, k: k < 3, body, ({"pair": (x[0].clone(), x[1].clone())}, torch.tensor(0)))
    return (tree["pair"][0] * tree["pair"][1]).sum()


TAKEN = [halves, makes_no_trip, in_a_loop, swaps, carries_a_tree]


@pytest.mark.parametrize("function", TAKEN)
def test_trips_are_pytorchs(function: Function, tmp_path: Path) -> None:
    torch.manual_seed(0)
    agrees(after_steps(function), tmp_path, steps=4)


def counts_outside(model: Any, x: torch.Tensor) -> torch.Tensor:
    def body(y: torch.Tensor) -> tuple[torch.Tensor]:
        model.trips.add_(1)
        return (y / 2,)

    return torch.while_loop(lambda y: y.norm() > 1, body, (x,))[0].sum()


def draws(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.while_loop(lambda y: y.norm() > 1, lambda y: (y / 2 + torch.randn(3),), (x,))[0].sum()


def gives_another_type(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.while_loop(lambda y: y.norm() > 1, lambda y: (y.double(),), (x,))[0].sum()


REFUSED = [
    (counts_outside, r"py:\d+.*changes, or gives to Python, what is outside of it; carry it in the loop"),
    (draws, r"py:\d+.*draws random numbers.*draw before the loop"),
    (gives_another_type, r"py:\d+.*carries .*float32.*, and its body gives .*float64"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_is_refused(function: Function, message: str) -> None:
    given = after_steps(function)
    program = ingot.torch.Program(given.model, given.optimizer)
    with pytest.raises(ingot.torch.TraceError) as caught:
        program.add("train_step", given.step, (torch.randn(6, 3),))
    assert re.search(message, str(caught.value)), caught.value


@pytest.mark.parametrize("function", TAKEN)
def test_steps_with_loops_are_compared(function: Function) -> None:
    torch.manual_seed(0)
    mine, xs = after_steps(function), torch.randn(3, 6, 3)
    torch.manual_seed(0)
    theirs = after_steps(function)
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in xs:
        torch.testing.assert_close(step(x), theirs.step(x))
