"""Incomplete gamma and beta functions, and how samples move with their distributions' parameters, as integrals.

All are integrals over [0, oo) of exponentials that fall off, times logarithms. With y = exp(t - exp(-t)) trapezoids of
a fixed number of points are exact to 13 digits, as such integrands fall off doubly exponentially on both sides of t.
It was checked in f64 beside 40 digits for parameters from 1e-3 to 1e5.
Source: Takahasi, Mori, "Double exponential formulas for numerical integration", 1974.

A sample x of F(x; a) moves as dx/da = -(dF/da) / (dF/dx), which PyTorch approximates to 3 or 4 digits.
Source: Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", NeurIPS 2018.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor
Function: TypeAlias = Callable[..., Tensor]

POINTS = 64
FIRST, LAST = -3.6, 5.2  # of t


def in_f64(function: Function) -> Function:
    """A function of f64 tensors as one of others, which are broadcast; the result has the type that they promote to."""

    @functools.wraps(function)
    def of_others(*given: Tensor) -> Tensor:
        dtype = functools.reduce(torch.promote_types, (x.dtype for x in given))
        dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
        return function(*torch.broadcast_tensors(*(x.double() for x in given))).to(dtype)

    return of_others


def _points(rate: Tensor) -> tuple[Tensor, Tensor]:
    """Points in [0, oo) for integrands that fall off at about that rate, and their weights: [..., POINTS]."""
    step = (LAST - FIRST) / (POINTS - 1)
    t = torch.arange(POINTS, dtype=torch.float64, device=rate.device) * step + FIRST
    y = (t - (-t).exp()).exp()
    return y / rate[..., None], y * (1 + (-t).exp()) * step / rate[..., None]


def _below(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For t = x e^-y in [0, x]: y, t^(a-1) e^-t dt / (x^a e^-x), and where it is asked for: x < max(a, 1)."""
    is_asked = x < a.clamp(min=1)
    x = x.where(is_asked, a)
    y, weights = _points(torch.minimum(a, (a - x).clamp(min=0) + a.sqrt()))
    return y, weights * (-a[..., None] * y - x[..., None] * torch.expm1(-y)).exp(), is_asked


def _above(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """For t = x + u in [x, oo), where x >= max(a, 1): ln (t / x), and t^(a-1) e^-t dt / (x^(a-1) e^-x)."""
    x = torch.maximum(x, a.clamp(min=1))
    u, weights = _points((x - a + 1) / x + x.rsqrt())
    log = (u / x[..., None]).log1p()
    return log, weights * ((a[..., None] - 1) * log - u).exp()


@in_f64
def standard_gamma_grad(a: Tensor, x: Tensor) -> Tensor:
    """dx/da of a sample x of the gamma distribution of shape a.

    By either end of the integral of (ln t - digamma(a)) t^(a-1) e^-t, which is 0 as a whole.
    """
    mean = (x.log() - a.digamma())[..., None]
    y, below, is_below = _below(a, x)
    log, above = _above(a, x)
    return torch.where(is_below, -x * (below * (mean - y)).sum(-1), (above * (mean + log)).sum(-1))


@in_f64
def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """dx/dalpha / (1 - x) of a sample x of the beta distribution of alpha and total - alpha, as of the Dirichlet.

    By either end of the integral of (ln t - its mean) t^(alpha-1) (1-t)^(beta-1), which is 0 as a whole.
    """
    beta = total - alpha
    mean = (alpha.digamma() - total.digamma())[..., None]
    is_below = x * total < alpha
    one, other = torch.where(is_below, x, 1 - x), torch.where(is_below, 1 - x, x)
    mine, others = torch.where(is_below, alpha, beta), torch.where(is_below, beta, alpha) - 1
    ratio = one / other
    rate = (mine - others * ratio).clamp(min=0) + (others.clamp(min=0) * ratio / other).sqrt()
    y, weights = _points(torch.where(others > 0, torch.minimum(mine, rate), mine))
    log = (-ratio[..., None] * torch.expm1(-y)).log1p()  # of what is not e^-y of its end, over what it is there
    weights = weights * (others[..., None] * log - mine[..., None] * y).exp()
    logs = torch.where(is_below[..., None], -y, log) + x.log()[..., None] - mean
    return torch.where(is_below, -ratio, torch.ones_like(x)) * (weights * logs).sum(-1)


def _parts(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """P(a, x) where x < max(a, 1), 1 - P(a, x) elsewhere, and where which is."""
    _, below, is_below = _below(a, x)
    _, above = _above(a, x)
    height = (a * x.log() - x - a.lgamma()).exp()
    return height * below.sum(-1), height / x * above.sum(-1), is_below


def _at_ends(a: Tensor, x: Tensor, inside: Tensor, low: float) -> Tensor:
    """The function where it is an integral; `low` at x = 0, 1 - low at x = oo; of NaN what PyTorch has."""
    made = torch.where((a == 0) | x.isinf(), 1 - low, inside)
    made = torch.where((x == 0) | a.isinf(), low, made)
    is_none = (a < 0) | (x < 0) | ((a == 0) & ~(x > 0)) | (a.isinf() & x.isinf())
    return torch.where(is_none, torch.nan, made)


@in_f64
def igamma(a: Tensor, x: Tensor) -> Tensor:
    """P(a, x): the part of gamma(a) below x."""
    lower, upper, is_below = _parts(a, x)
    return _at_ends(a, x, torch.where(is_below, lower, 1 - upper), 0.0)


@in_f64
def igammac(a: Tensor, x: Tensor) -> Tensor:
    """1 - P(a, x): the part of gamma(a) above x."""
    lower, upper, is_below = _parts(a, x)
    return _at_ends(a, x, torch.where(is_below, 1 - lower, upper), 1.0)


OF_SAMPLES: dict[object, Function] = {
    torch.ops.aten._standard_gamma_grad.default: standard_gamma_grad,
    torch.ops.aten._dirichlet_grad.default: dirichlet_grad,
}
INCOMPLETE: dict[object, Function] = {
    **OF_SAMPLES,
    torch.ops.aten.igamma.default: igamma,
    torch.ops.aten.igammac.default: igammac,
}
