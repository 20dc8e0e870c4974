"""Products of groups of rows, and ops of libraries that may not be there, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from trainings import usual_step

import ingot.torch


def values_and_gradients(function: Callable[..., torch.Tensor], *given: torch.Tensor) -> list[torch.Tensor]:
    leaves = [x.detach().requires_grad_() for x in given]
    value = function(*leaves)
    weights = torch.arange(1, value.numel() + 1).reshape(value.shape).sin()
    return [value.detach(), *torch.autograd.grad((value * weights).sum(), leaves)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_are_multiplied_by_groups(dtype: torch.dtype) -> None:
    ends = torch.tensor([2, 2, 6], dtype=torch.int32)
    x, weights = (torch.randn(shape).to(dtype) for shape in ((6, 8), (3, 8, 8)))

    def multiply(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.grouped_mm(x, weights, offs=ends)

    step = ingot.torch.compile(lambda x, w: values_and_gradients(multiply, x, w), nn.Identity(), on_change="error")
    torch.testing.assert_close(step(x, weights), values_and_gradients(multiply, x, weights))
    if dtype is torch.bfloat16:  # others PyTorch's own compiler refuses
        made = values_and_gradients(ingot.torch.partial(multiply), x, weights)
        torch.testing.assert_close(made, values_and_gradients(multiply, x, weights))


def test_experts_are_chosen_in_steps() -> None:
    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.router, self.weights = nn.Linear(8, 3), nn.Parameter(torch.randn(3, 8, 8) / 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            share, chosen = self.router(x).softmax(-1).topk(2)
            expert, order = chosen.flatten().sort(stable=True)
            ends = torch.bincount(expert, minlength=3).cumsum(0).to(torch.int32)
            made = nn.functional.grouped_mm(x.repeat_interleave(2, 0)[order], self.weights, offs=ends)
            return (made[order.argsort()].unflatten(0, (-1, 2)) * share[..., None]).sum(1)

    torch.manual_seed(0)
    model = Experts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer, on_change="error")  # which compares the first steps
    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x)

    for _ in range(2):
        x = torch.randn(5, 8)
        expected = model(x).square().mean()
        torch.testing.assert_close(step(x), expected.detach(), rtol=1e-4, atol=1e-5)
    assert step.programs == 1


REGIONS = torch.tensor(
    [[0, 1.2, 2.1, 7.7, 8.2], [1, -3, -2, 4, 20], [1, 5, 5, 5.3, 5.2], [0, 0, 0, 30, 30], [0, 40, 40, 50, 50]]
)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_regions_are_pooled_as_by_torchvision(scale: float) -> None:
    ops = pytest.importorskip("torchvision").ops

    def pool(x: torch.Tensor) -> torch.Tensor:
        means = [ops.roi_align(x, REGIONS, (3, 4), scale, sampling_ratio=2, aligned=a) for a in (False, True)]
        return torch.stack([*means, ops.roi_pool(x, REGIONS, (3, 4), scale)])

    x = torch.randn(2, 3, 9, 11).relu()
    made = values_and_gradients(torch.compile(pool, backend="ingot", dynamic=False), x)
    torch.testing.assert_close(made, values_and_gradients(pool, x))


def test_samples_that_are_as_many_as_a_region_is_large_are_refused() -> None:
    ops = pytest.importorskip("torchvision").ops
    model = nn.Conv2d(3, 3, 1)
    program = ingot.torch.Program(model)
    with pytest.raises(ingot.torch.TraceError, match="sampling_ratio=2"):
        program.add("pool", lambda x: ops.roi_align(model(x), REGIONS, 3), (torch.randn(2, 3, 9, 11),), capture=True)
