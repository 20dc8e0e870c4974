"""What goes wrong within ``backward()`` of lazy tensors is Python's to catch, and training goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import ingot.torch

DEVICE = ingot.torch.device()


class UsersError(Exception):
    """Not one of PyTorch's."""


def refuse(*_: Any) -> None:
    raise UsersError("the user's own")


def hook_of_a_value(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y.register_hook(refuse)
    return y.square()


def hook_of_a_leaf(x: torch.Tensor) -> torch.Tensor:
    x.register_hook(refuse)
    return x * 3


def hook_behind_a_gradient(x: torch.Tensor) -> torch.Tensor:
    x.register_post_accumulate_grad_hook(refuse)
    return x * 3


def hook_of_a_node(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    y.grad_fn.register_prehook(refuse)
    return y + 1


def hook_of_a_module(x: torch.Tensor) -> torch.Tensor:
    module = nn.Sequential(nn.Tanh())
    module.register_full_backward_hook(refuse)
    return module(x)


def function_of_the_users(x: torch.Tensor) -> torch.Tensor:
    class Refusing(torch.autograd.Function):
        @staticmethod
        def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        backward = staticmethod(refuse)

    return Refusing.apply(x)


def within_another_backward(x: torch.Tensor) -> torch.Tensor:
    def computed_twice(x: torch.Tensor) -> torch.Tensor:  # without gradients, then with them
        return hook_of_a_value(x) if torch.is_grad_enabled() else x.square()

    return checkpoint(computed_twice, x, use_reentrant=True)


@pytest.mark.parametrize(
    "function",
    [
        hook_of_a_value,
        hook_of_a_leaf,
        hook_behind_a_gradient,
        hook_of_a_node,
        hook_of_a_module,
        function_of_the_users,
        within_another_backward,
    ],
    ids=lambda function: function.__name__,
)
def test_an_error_within_backward_is_raised(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.ones(3, device=DEVICE, requires_grad=True)
    with pytest.raises(UsersError, match="the user's own") as raised:
        function(x).sum().backward()
    assert raised.traceback[-1].name == "refuse"
    y = torch.ones(3, device=DEVICE, requires_grad=True)
    (y * 3).sum().backward()
    assert y.grad is not None
    assert y.grad.tolist() == [3, 3, 3]


def test_an_error_of_autograd_grad_is_raised() -> None:
    x = torch.ones(3, device=DEVICE, requires_grad=True)
    with pytest.raises(UsersError):
        torch.autograd.grad(hook_of_a_value(x).sum(), x)


def test_errors_of_the_processors_tensors_stay_as_they_are() -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(UsersError):
        hook_of_a_value(x).sum().backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.ones(3, device=DEVICE).sum().backward()


def test_sparse_gradients_are_refused() -> None:
    table = nn.Embedding(5, 2, sparse=True).to(DEVICE)
    with pytest.raises(ingot.torch.TraceError, match=r"layout is torch\.sparse_coo.*sparse=False"):
        table(torch.tensor([1, 3], device=DEVICE)).sum().backward()
