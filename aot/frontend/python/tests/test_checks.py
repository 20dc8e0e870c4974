"""Checks of values that only raise are taken to pass; by other questions about values a program branches."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn

import ingot.torch


def asserts(x: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all(), "x must be positive"
    return x.log()


def raises_if(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any() or (x < 0).any():
        raise ValueError(f"bad {x.shape}")
    return x.sqrt()


def raises_otherwise(x: torch.Tensor) -> torch.Tensor:
    if not (x.sum() > 3):
        raise ValueError
    elif x.shape[0] == 3:
        x = x + 1
    return x


def returns_or_raises(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).all():
        return x * 2
    raise ValueError


def checked_distribution(x: torch.Tensor) -> torch.Tensor:
    return torch.distributions.Normal(x, x.exp()).log_prob(x)


def exits_where_it_is_not_finite(x: torch.Tensor) -> torch.Tensor:
    value = x.sum().item()
    if not math.isfinite(value):
        print(f"stopped at {value}")
        sys.exit(1)
    return x * value


def stop() -> None:
    raise SystemExit(1)


def exits_elsewhere(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 100:
        stop()
    return x * 2


CASES = (
    *(asserts, raises_if, raises_otherwise, returns_or_raises, checked_distribution),
    *(exits_where_it_is_not_finite, exits_elsewhere),
)


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_a_check_passes(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    program = ingot.torch.Program(nn.Identity())
    program.add("f", function, (torch.ones(3),))
    assert "stablehlo" in program.texts["f"]


@pytest.mark.parametrize(("probability", "kept"), [(0.0, True), (1.0, False)])
def test_layers_that_never_or_always_drop_out(probability: float, kept: bool) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x if torch.rand([]) < probability else x.tanh()

    program = ingot.torch.Program(nn.Identity())
    program.add("f", f, (torch.ones(3),))
    assert ("stablehlo.tanh" in program.texts["f"]) == kept
    assert "stablehlo.case" not in program.texts["f"]
    program.add("g", lambda x: x if torch.rand([]) < 0.5 else x.tanh(), (torch.ones(3),))
    assert "stablehlo.case" in program.texts["g"]
