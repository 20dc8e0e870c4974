"""Numbers of optimizers that are inputs of programs, where they are 0 for a while."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from bundle import Bundle, distance
from torch import nn
from trainings import usual_step

import ingot.torch

XS = torch.randn(6, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Own(torch.optim.Optimizer):
    """Asks for the signs of its numbers."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.01})
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter]["sum"] = torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self) -> None:
        (group,) = self.param_groups
        for parameter in group["params"]:
            change = parameter.grad
            if group["weight_decay"] != 0:
                change = change + group["weight_decay"] * parameter
            if group["momentum"] > 0:
                change = self.state[parameter]["sum"].mul_(group["momentum"]).add_(change)
            if group["lr"]:
                parameter.sub_(group["lr"] * change)


Make = Callable[[Any], torch.optim.Optimizer]
ZEROED: dict[str, Make] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.5),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.01, momentum=0.5),
}


def made(make: Make) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    return model, make(model.parameters())


@pytest.mark.filterwarnings("ignore:.*`momentum` is 0, and was 0.5.*it is traced again")
@pytest.mark.parametrize("name", ZEROED)
def test_momentum_may_be_nothing_for_a_while(name: str) -> None:
    """What is 0 leaves the slots as they are, where a product with 0 would not."""

    (mine, my_optimizer), (theirs, their_optimizer) = made(ZEROED[name]), made(ZEROED[name])
    step = ingot.torch.compile(lambda x: usual_step(mine, my_optimizer, x), mine, my_optimizer)
    for x, momentum in zip(XS, (0.0, 0.0, 0.5, 0.25, 0.0, 0.5), strict=True):
        assert step(x).item() == pytest.approx(usual_step(theirs, their_optimizer, x).item(), rel=1e-5)
        assert torch.allclose(mine.weight, theirs.weight, rtol=1e-5, atol=1e-7)
        for optimizer in (my_optimizer, their_optimizer):
            optimizer.param_groups[0]["momentum"] = momentum


MOVED: dict[str, tuple[Make, str]] = {
    **{name: (make, "momentum") for name, make in ZEROED.items()},
    "dampened": (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, dampening=0.1), "momentum"),
    "nesterov": (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, weight_decay=0.1, nesterov=True), "momentum"),
    "decayed": (lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.5), "weight_decay"),
    **{f"own_{key}": (Own, key) for key in ("momentum", "weight_decay", "lr")},
}


@pytest.mark.parametrize("name", MOVED)
def test_a_host_may_give_nothing_for_a_while(name: str, tmp_path: Path) -> None:
    make, key = MOVED[name]
    model, optimizer = made(make)
    usual_step(model, optimizer, XS[0])  # as if dampening began before
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", lambda x: usual_step(model, optimizer, x), (XS[0],))
    rows = torch.tensor([0.5, 0.0, 0.0, 0.25, 0.0, 0.5], dtype=torch.float64)
    log, final = Bundle(program, tmp_path).train({"x": XS, key: rows})
    for row, x, number in zip(log, XS, rows, strict=True):
        optimizer.param_groups[0][key] = number.item()
        assert row["loss"] == pytest.approx(usual_step(model, optimizer, x).item(), rel=1e-5)
    far = {name: distance(final[name], tensor) for name, tensor in program.state.tensors.items()}
    assert max(far.values()) < 1e-5, far


def test_a_rate_may_be_nothing_for_a_while() -> None:
    """Own optimizers may ask whether it is."""
    (mine, my_optimizer), (theirs, their_optimizer) = made(Own), made(Own)
    step = ingot.torch.compile(lambda x: usual_step(mine, my_optimizer, x), mine, my_optimizer)
    for x, rate in zip(XS, (0.0, 0.0, 0.1, 0.0, 0.2, 0.1), strict=True):
        assert step(x).item() == pytest.approx(usual_step(theirs, their_optimizer, x).item(), rel=1e-5)
        for optimizer in (my_optimizer, their_optimizer):
            optimizer.param_groups[0]["lr"] = rate
    assert step.programs == 1
    assert torch.allclose(mine.weight, theirs.weight, rtol=1e-5, atol=1e-7)
