"""Transformations of functions, and decompositions of matrices, on lazy tensors: the same as PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch

DEVICE = "ingot"


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    ingot.torch.device()
    yield


def layers() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def derivative_along_a_direction(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y, along = torch.func.jvp(model, (x,), (torch.ones_like(x),))
    return torch.cat([y, along])


def jacobians(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    jacobian: torch.Tensor = torch.func.vmap(torch.func.jacrev(model))(x)
    return jacobian


def second_derivatives(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    hessian: torch.Tensor = torch.func.vmap(torch.func.hessian(lambda row: model(row).sum()))(x)
    return hessian


def gradients_of_each_row(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: Any, row: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.func.functional_call(model, parameters, (row,))
        return made.square().mean()

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x)
    return torch.cat([gradient.flatten(1) for gradient in gradients.values()], 1)


def solution_of_equations(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    square = x[:3] + 4 * torch.eye(3, device=x.device)
    solved: torch.Tensor = torch.linalg.solve(square, x[3:6])
    return solved


def orthogonal_weights(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(1)
    linear = nn.Linear(3, 3)
    nn.utils.parametrizations.orthogonal(linear, orthogonal_map="cayley")
    made: torch.Tensor = linear.to(x.device)(x)
    return made


@pytest.mark.parametrize(
    "function",
    [
        derivative_along_a_direction,
        jacobians,
        second_derivatives,
        gradients_of_each_row,
        solution_of_equations,
        orthogonal_weights,
    ],
)
def test_same_as_pytorch(function: Callable[[nn.Module, torch.Tensor], torch.Tensor]) -> None:
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    expected = function(layers(), x)
    made = function(layers().to(DEVICE), x.to(DEVICE))
    assert made.device.type == DEVICE
    torch.testing.assert_close(made.cpu(), expected, rtol=1e-4, atol=1e-5)
