"""Python's floats in calls of a compiled step: as arguments, in variables and attributes, they are inputs."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ingot.torch
from ingot.torch.program import Program

XS = torch.randn(12, 6, 3, generator=torch.Generator().manual_seed(0))
RATE = 0.5


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the entry points that are traced."""
    names: list[str] = []
    trace = Program.trace
    monkeypatch.setattr(Program, "trace", lambda self, name, added: (names.append(name), trace(self, name, added))[1])
    return names


def losses(make: Callable[[nn.Module], Callable[..., Any]], is_compiled: bool, calls: list[Any]) -> list[float]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    step = make(model)
    if is_compiled:
        step = ingot.torch.compile(step, model)
    return [float(step(*call).detach()) if not isinstance(call, dict) else float(step(**call)) for call in calls]


def by_hand(model: nn.Module, loss: torch.Tensor, rate: float) -> torch.Tensor:
    for parameter in model.parameters():
        parameter.grad = None
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(parameter.grad, alpha=-rate)
    return loss.detach()


def test_arguments_may_be_called_as_what_the_state_has() -> None:
    seen = []
    for is_compiled in (True, False):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(
            x: torch.Tensor, weight: torch.Tensor, lr: float, model: Any = model, optimizer: Any = optimizer
        ) -> Any:
            optimizer.param_groups[0]["lr"] = lr
            optimizer.zero_grad()
            loss = (model(x) * weight).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        function = functools.partial(step, model=model, optimizer=optimizer)
        compiled = ingot.torch.compile(function, model, optimizer) if is_compiled else function
        seen.append([compiled(x, torch.ones(2) * 2, 0.1 / (1 + i)).item() for i, x in enumerate(XS[:5])])
        seen[-1].append(optimizer.param_groups[0]["lr"])
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)


def of_arguments(model: nn.Module) -> Callable[..., Any]:
    def step(x: torch.Tensor, temperature: float, rates: dict[str, float], *, power: float = 2.0) -> torch.Tensor:
        loss = F.softmax(model(x) / temperature, 1).pow(power).mean()
        return by_hand(model, loss, rates["lr"])

    return step


def test_floats_of_arguments_are_inputs(traced: list[str]) -> None:
    calls = [(x, 1.0 + i / 4, {"lr": 0.5 / (i + 1)}) for i, x in enumerate(XS)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = [losses(of_arguments, is_compiled, calls) for is_compiled in (True, False)]
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)
    assert len(traced) == 1


def test_those_by_keyword_too() -> None:
    calls = [{"x": x, "temperature": 1.0, "rates": {"lr": 0.1}, "power": 1.0 + i} for i, x in enumerate(XS[:4])]
    seen = [losses(of_arguments, is_compiled, calls) for is_compiled in (True, False)]
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)


def test_python_may_choose_by_them() -> None:
    def make(model: nn.Module) -> Callable[..., Any]:
        def step(x: torch.Tensor, weight: float) -> torch.Tensor:
            loss = model(x).square().mean()
            if weight > 0:
                loss = loss + weight * model.weight.abs().sum()
            return by_hand(model, loss, 0.1)

        return step

    calls = [(x, weight) for x, weight in zip(XS, [0.0, 0.5, -1.0, 0.0, 2.0], strict=False)]
    seen = [losses(make, is_compiled, calls) for is_compiled in (True, False)]
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)


def fixed_in_ops(model: nn.Module) -> Callable[..., Any]:
    def step(x: torch.Tensor, slope: float, width: float) -> torch.Tensor:
        y = F.layer_norm(F.leaky_relu(model(x), slope), (2,), eps=slope)
        return by_hand(model, y[:, : int(width)].square().mean() + F.dropout(y, slope, training=False).sum(), 0.1)

    return step


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_those_that_must_be_known_are_fixed() -> None:
    calls = [(x, slope, width) for x, slope, width in zip(XS, [0.1, 0.1, 0.2], [1.0, 2.0, 2.0], strict=False)]
    seen = [losses(fixed_in_ops, is_compiled, calls) for is_compiled in (True, False)]
    assert seen[0] == pytest.approx(seen[1], rel=1e-4)


def test_integers_that_ops_have_fixed_are_fixed(traced: list[str]) -> None:
    def make(model: nn.Module) -> Callable[..., Any]:
        return lambda x, count: by_hand(model, model(x).pow(count).mean(), 0.1)

    with pytest.warns(UserWarning, match="traced again"):
        losses(make, True, [(XS[0], 2), (XS[1], 4)])
    assert len(traced) in (2, 3)  # where it is tried whether the integer may be an input


def of_a_global(model: nn.Module) -> Callable[..., Any]:
    return lambda x: by_hand(model, model(x).square().mean(), RATE)


class Settings:
    rate = 0.5


def of_an_attribute(model: nn.Module) -> Callable[..., Any]:
    settings = Settings()

    def step(x: torch.Tensor) -> torch.Tensor:
        return by_hand(model, model(x).square().mean(), settings.rate * RATE)

    return step


@pytest.mark.parametrize("make", [of_a_global, of_an_attribute])
def test_floats_elsewhere_are_inputs_once_they_changed(
    make: Any, traced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for is_compiled in (True, False):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        step = make(model)
        step = ingot.torch.compile(step, model) if is_compiled else step
        found = []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for i, x in enumerate(XS):
                monkeypatch.setattr(f"{__name__}.RATE", 0.5 / (1 + i // 2))
                found.append(step(x if i % 3 else x[:4]).item())
        seen.append(found)
        if is_compiled:
            assert any("`RATE` is 0.25, and was 0.5" in str(w.message) for w in warned)
            assert not any("were traced" in str(w.message) for w in warned)
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)
    assert len(traced) <= 4
