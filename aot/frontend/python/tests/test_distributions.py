"""Samples of the gamma distribution and of those made of it, and how they move with its parameters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import distributions, nn
from torch.nn import functional

import ingot.torch

SAMPLES = 20_000
FAR = 1.95  # times 1 / sqrt(n): further from a distribution a thousandth of all samples is (Kolmogorov, Smirnov)

Make = Callable[[torch.Tensor], distributions.Distribution]


def test_samples_are_of_the_gamma_distribution() -> None:
    sample = ingot.torch.partial(torch._standard_gamma)
    shapes = torch.tensor([0.3, 1.0, 2.5, 3000.0])
    torch.manual_seed(0)
    first, second = (sample(shapes.expand(SAMPLES, 4).contiguous()) for _ in range(2))
    assert not torch.equal(first, second) and first.min() > 0
    parts = torch.special.gammainc(shapes.double(), first.double()).sort(0).values
    steps = torch.arange(SAMPLES)[:, None] / SAMPLES
    assert max((parts - steps).abs().max(), (parts - steps - 1 / SAMPLES).abs().max()) < FAR / SAMPLES**0.5
    assert torch.corrcoef(torch.cat([first, second], 1).T).triu(1).abs().max() < 5 / SAMPLES**0.5


def test_shares_are_of_the_dirichlet_distribution() -> None:
    torch.manual_seed(0)
    concentration = torch.tensor([0.3, 1.0, 5.0])
    shares = ingot.torch.partial(torch._sample_dirichlet)(concentration.expand(SAMPLES, 3).contiguous())
    expected = distributions.Dirichlet(concentration)
    torch.testing.assert_close(shares.sum(1), torch.ones(SAMPLES))
    assert ((shares.mean(0) - expected.mean).abs() < 4 * (expected.variance / SAMPLES).sqrt()).all()
    torch.testing.assert_close(shares.var(0), expected.variance, rtol=0.1, atol=0)


def gradients(sample: Callable[[torch.Tensor], torch.Tensor], parameter: torch.Tensor) -> list[torch.Tensor]:
    value = sample(parameter)
    return [value.detach(), *torch.autograd.grad(value.sum(), [parameter])]


def test_samples_move_with_their_parameters_as_in_pytorch() -> None:
    parameter = (torch.rand(300, 3, dtype=torch.float64) * 6 - 3).exp().requires_grad_()
    value, moved = gradients(ingot.torch.partial(torch._standard_gamma), parameter)
    torch.testing.assert_close(moved, torch._standard_gamma_grad(parameter, value).detach(), rtol=2e-3, atol=1e-12)
    dirichlet = ingot.torch.partial(lambda x: distributions.Dirichlet(x, validate_args=False).rsample()[:, 0])
    value, moved = gradients(dirichlet, parameter)
    total = parameter.sum(1)
    expected = torch._dirichlet_grad(value, parameter[:, 0].contiguous(), total).detach() * (1 - value)
    torch.testing.assert_close(moved[:, 0], expected, rtol=2e-3, atol=1e-9)


OF_GAMMA: dict[str, Make] = {
    "Gamma": lambda x: distributions.Gamma(x, x.flip(0)),
    "Chi2": distributions.Chi2,
    "Beta": lambda x: distributions.Beta(x, x.flip(0)),
    "Dirichlet": distributions.Dirichlet,
    "StudentT": lambda x: distributions.StudentT(x + 3),
}


@pytest.mark.parametrize("name", OF_GAMMA)
def test_steps_draw_from_distributions(name: str) -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    @ingot.torch.step(model, optimizer, on_change="error")  # which compares the first steps
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        made = OF_GAMMA[name](functional.softplus(model(x)) + 0.1)
        loss = made.rsample().square().mean() - made.log_prob(made.sample()).mean() / 10
        loss.backward()
        optimizer.step()
        return loss

    x = torch.randn(5, 4)
    losses = [step(x).item() for _ in range(3)]
    assert len({*losses}) == 3 and step.programs == 1
