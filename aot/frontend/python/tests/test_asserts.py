"""What a step checks of values, and raises otherwise, it raises in a compiled call too, and nothing has changed."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch

XS = torch.randn(6, 4, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Training:
    def __init__(self, is_compiled: bool, **checks: Callable[..., Any]) -> None:
        torch.manual_seed(0)
        self.model = model = nn.Linear(3, 2)
        self.optimizer = optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

        def step(x: torch.Tensor) -> torch.Tensor:
            checks.get("argument", list)(*[x][: "argument" in checks])
            optimizer.zero_grad()
            loss = model(x).square().mean()
            checks.get("loss", list)(*[loss][: "loss" in checks])
            loss.backward()
            checks.get("model", list)(*[model][: "model" in checks])
            optimizer.step()
            return loss

        self.step: Any = ingot.torch.compile(step, model, optimizer) if is_compiled else step


def finite(x: torch.Tensor) -> None:
    assert torch.isfinite(x).all(), "x is not finite"


def bad_loss(loss: torch.Tensor) -> None:
    if math.isnan(loss.item()):
        raise FloatingPointError("no loss")


def several(x: torch.Tensor) -> None:
    if torch.isnan(x).any() or x.abs().max() > 1e6:
        raise ValueError(f"bad input of {x.shape}")


def finite_gradients(model: nn.Module) -> None:
    for parameter in model.parameters():
        assert torch.isfinite(parameter.grad).all()


def clipped(model: nn.Module) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)


CHECKS: dict[str, dict[str, Callable[..., Any]]] = {
    "an argument": {"argument": finite},
    "the loss": {"loss": bad_loss},
    "an argument, and its size": {"argument": several},
    "gradients": {"model": finite_gradients},
    "two": {"argument": finite, "loss": bad_loss},
    "a library's": {"model": clipped},
    "a distribution's": {"argument": lambda x: torch.distributions.Normal(x, 1.0, validate_args=True).log_prob(x)},
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_that_fails_raises_and_changes_nothing(name: str) -> None:
    raised, ends = [], []
    for is_compiled in (True, False):
        training = Training(is_compiled, **CHECKS[name])
        for x in XS[:3]:
            training.step(x)
        before = {key: value.clone() for key, value in training.model.state_dict().items()}
        with pytest.raises(Exception) as error:
            training.step(XS[3] * math.nan)
        raised.append((type(error.value), str(error.value).partition("\n")[0]))
        assert all(torch.equal(value, before[key]) for key, value in training.model.state_dict().items())
        assert int(training.optimizer.state[training.model.weight]["step"]) == 3
        ends.append([training.step(x).item() for x in XS[4:]])
        assert not is_compiled or training.step.programs == 1
    assert raised[0] == raised[1]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


@pytest.mark.filterwarnings("ignore:.*is not verified")
def test_one_that_fails_in_the_first_call_raises_too() -> None:
    training = Training(True, argument=finite)
    with pytest.raises(AssertionError, match="x is not finite"):
        training.step(XS[0] * math.nan)
    training.step(XS[0])


def test_large_but_finite_values_are_told_apart() -> None:
    training = Training(True, argument=several)
    training.step(XS[0])
    with pytest.raises(ValueError, match="bad input"):
        training.step(XS[0] * 1e9)


@pytest.fixture
def structured_logs() -> Iterator[None]:
    """PyTorch's logs for programs, which list folders."""
    logger = logging.getLogger("torch.__trace")
    before = logger.level
    logger.setLevel(logging.DEBUG)
    yield
    logger.setLevel(before)


@pytest.mark.usefixtures("structured_logs")
def test_a_trace_with_checks_is_found_again() -> None:
    def check(x: torch.Tensor) -> None:
        if torch.isnan(x).any():
            raise ValueError("x is not finite")

    def made() -> Training:
        return Training(True, argument=check)

    made().step(XS[0])
    training = made()
    training.step(XS[0])
    assert not training.step._runs.latest._program.traced["step"].graphs, "it was traced again"
    with pytest.raises(ValueError, match="x is not finite"):
        training.step(XS[0] * math.nan)
