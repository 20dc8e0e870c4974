"""Bessel functions as sums of a fixed number of terms, and the inverse of the normal distribution; all in f64.

Sources: Abramowitz, Stegun, "Handbook of mathematical functions", 1964: 9.1.18 and 9.1.88 for x up to FAR, 9.2.5 to
9.2.10 above it, 9.6.24; 7.1 and 26.2. Trefethen, Weideman, "The exponentially convergent trapezoidal rule", 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import torch

from ingot.torch.text.incomplete import in_f64

Tensor: TypeAlias = torch.Tensor

FAR = 20.0
ANGLES = 128  # of a whole turn: sums over them are integrals to the last place up to FAR
WAVES = 32  # of the series of the functions of the second kind
TERMS = 15  # of each of both asymptotic series, which are exact to the last place from FAR on
HYPERBOLIC = 100  # points of the integral of modified functions
TINY = 1e-8  # below which these are their first terms
EXPONENTS = 40.0  # e^-40 is nothing beside 1
EULER = 0.5772156649015329
NEWTON = 5  # steps, of which each doubles the digits


def _near(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """J of an order, 0 or 1, and the same sum with the second kind's weights: for x in [0, FAR]."""
    angles = [2 * math.pi * k / ANGLES for k in range(ANGLES // 4 + 1)]
    first, second = torch.zeros_like(x), torch.zeros_like(x)
    for k, angle in enumerate(angles):
        share = (2 if k in (0, ANGLES // 4) else 4) / ANGLES
        sine = math.sin(angle)
        wave = torch.cos(x * sine) if order == 0 else torch.sin(x * sine) * sine
        weight = math.fsum((-1) ** n * math.cos(2 * n * angle) / n for n in range(1, WAVES))
        first, second = first + wave * share, second + wave * (share * weight)
    return first, second


def _far(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """J and Y of an order, 0 or 1, for x from FAR on."""
    factors = [1.0]
    for k in range(1, 2 * TERMS):
        factors.append(factors[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    inverse = -1 / (x * x)
    even, odd = torch.zeros_like(x), torch.zeros_like(x)
    for k in reversed(range(TERMS)):
        even, odd = even * inverse + factors[2 * k], odd * inverse + factors[2 * k + 1]
    odd = odd / x
    sine, cosine = x.sin(), x.cos()
    # Of x - pi / 4, or x - 3 pi / 4, times the root of 2.
    sine, cosine = (sine - cosine, sine + cosine) if order == 0 else (-sine - cosine, sine - cosine)
    height = x.rsqrt() / math.sqrt(math.pi)
    return height * (even * cosine - odd * sine), height * (even * sine + odd * cosine)


def _first_kind(order: int) -> Callable[[Tensor], Tensor]:
    def of(x: Tensor) -> Tensor:
        size = x.abs()
        made = torch.where(size <= FAR, _near(size.clamp(max=FAR), order)[0], _far(size.clamp(min=FAR), order)[0])
        return made if order == 0 else torch.where(x < 0, -made, made)

    return in_f64(of)


def _second_kind(order: int) -> Callable[[Tensor], Tensor]:
    def of(x: Tensor) -> Tensor:
        size = x.clamp(min=torch.finfo(x.dtype).tiny, max=FAR)
        log = (size / 2).log() + EULER
        first, second = _near(size, order)
        near = (log * first - 2 * second) * (2 / math.pi)
        if order == 1:
            near = near - _near(size, 0)[0] * (2 / math.pi) / size
        made = torch.where(x <= FAR, near, _far(x.clamp(min=FAR), order)[1])
        return torch.where(x > 0, made, torch.where(x == 0, -torch.inf, torch.nan))

    return in_f64(of)


def _third_kind(order: int, is_scaled: bool) -> Callable[[Tensor], Tensor]:
    """The modified function K of an order, 0 or 1, or e^x times it: the integral of e^(-x cosh t) cosh (order t)."""

    def of(x: Tensor) -> Tensor:
        size = x.clamp(min=TINY)
        step = (EXPONENTS / 2 / size).sqrt().asinh() * (2 / HYPERBOLIC)  # up to where x (cosh t - 1) is EXPONENTS
        t = torch.arange(HYPERBOLIC + 1, dtype=x.dtype, device=x.device) * step[..., None]
        terms = (-size[..., None] * ((t / 2).sinh().square() * 2)).exp()
        if order == 1:
            terms = terms * t.cosh()
        made = (terms.sum(-1) - terms[..., 0] / 2) * step
        first = (1 / x if order else -(x / 2).log() - EULER) * (1 + x)
        made = torch.where(x < TINY, first, made)
        made = made if is_scaled else made * (-x).exp()
        return torch.where(x > 0, torch.where(x.isinf(), 0.0, made), torch.where(x == 0, torch.inf, torch.nan))

    return in_f64(of)


@in_f64
def spherical_j0(x: Tensor) -> Tensor:
    """Sin x / x."""
    made = torch.where(x == 0, 1.0, x.sin() / x)
    return torch.where(x.isinf(), 0.0, made)


@in_f64
def ndtri(p: Tensor) -> Tensor:
    """Where the normal distribution function is p, by Newton's steps from the first terms of its tail's series."""
    small = torch.minimum(p, 1 - p)
    wanted = small.clamp(min=torch.finfo(p.dtype).tiny).log()
    z = -(-2 * wanted - (1 - 2 * wanted * 2 * math.pi / 4).log()).clamp(min=0).sqrt()
    for _ in range(NEWTON):
        known = torch.special.log_ndtr(z)
        slope = (-z * z / 2 - known).exp() / math.sqrt(2 * math.pi)
        z = z - (known - wanted) / slope
    z = torch.where(p > 0.5, -z, z)
    z = torch.where(small == 0, torch.where(p > 0.5, torch.inf, -torch.inf), z)
    return torch.where((p >= 0) & (p <= 1), z, torch.nan)


aten = torch.ops.aten
BESSEL: dict[object, Callable[..., Tensor]] = {
    aten.special_bessel_j0.default: _first_kind(0),
    aten.special_bessel_j1.default: _first_kind(1),
    aten.special_bessel_y0.default: _second_kind(0),
    aten.special_bessel_y1.default: _second_kind(1),
    aten.special_modified_bessel_k0.default: _third_kind(0, is_scaled=False),
    aten.special_modified_bessel_k1.default: _third_kind(1, is_scaled=False),
    aten.special_scaled_modified_bessel_k0.default: _third_kind(0, is_scaled=True),
    aten.special_scaled_modified_bessel_k1.default: _third_kind(1, is_scaled=True),
    aten.special_spherical_bessel_j0.default: spherical_j0,
    aten.special_ndtri.default: ndtri,
}
