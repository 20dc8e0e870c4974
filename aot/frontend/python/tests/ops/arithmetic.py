"""Elementwise arithmetic, comparisons, bits."""

import torch

from ops.data import Cases, between, normal, truths, whole

X, Y, POSITIVE, WHOLE = normal(3, 4), normal(3, 4), between(0.5, 3, 3, 4), whole(20, 3, 4)

EDGES = torch.tensor([0.0, 1e-45, 1.0, float("inf")])


def bits(x: torch.Tensor) -> torch.Tensor:
    """The numbers as integers."""
    return x.view(torch.int64 if x.dtype is torch.float64 else torch.int32)


CASES: Cases = {
    "rounding_of_int": (lambda x: (x.floor(), x.ceil(), x.round(), x.trunc(), x.int().floor()), (torch.arange(-2, 3),)),
    "without_a_sign": (
        lambda x: [f(x.to(torch.uint8)) for f in (torch.sign, torch.abs, torch.neg, torch.square)] + [(x > 0).sign()],
        (torch.arange(-2, 3),),
    ),
    "nan_to_num_of_int": (lambda x: (x.nan_to_num(), (x > 0).nan_to_num()), (torch.arange(-2, 3),)),
    "add_alpha": (lambda x, y: torch.add(x, y, alpha=2), (X, Y)),
    "sub_alpha": (lambda x, y: torch.sub(x, y, alpha=0.5), (X, Y)),
    "add_int_float": (lambda x, y: x + y, (WHOLE, X)),
    "div_int": (lambda x: x / 3, (WHOLE,)),
    "div_floor": (lambda x, y: torch.div(x, y, rounding_mode="floor"), (X, POSITIVE)),
    "div_trunc": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), (X, POSITIVE)),
    "floor_divide_int": (lambda x: (x - 10) // 3, (WHOLE,)),
    "remainder": (torch.remainder, (X, Y)),
    "fmod": (torch.fmod, (X, Y)),
    "remainder_int": (lambda x: ((x - 10) % 3, 7 % (x + 1)), (WHOLE,)),
    "frac": (torch.frac, (X,)),
    "trunc": (lambda x: torch.trunc(3 * x), (X,)),
    "round": (lambda x: (torch.round(3 * x), torch.round(x, decimals=2)), (X,)),
    "ceil_floor": (lambda x: (torch.ceil(x), torch.floor(x)), (X,)),
    "abs": (torch.abs, (X,)),
    "abs_int": (lambda x: torch.abs(x - 10), (WHOLE,)),
    "sign": (lambda x: (torch.sign(x), torch.sgn(x), torch.signbit(x)), (X,)),
    "nextafter": (
        lambda x, y: bits(torch.nextafter(torch.cat([x, EDGES.to(x)]), torch.cat([y, -EDGES.to(y)])).detach()),
        (normal(12), normal(12)),
    ),
    "gcd_of_scalars": (lambda x: torch.gcd(x[0], x[1]), (torch.tensor([12, -18]),)),
    "gcd": (
        lambda x, y: (torch.gcd(x - 10, y * 6), torch.lcm(x, y + 1), torch.gcd(x, x * 0)),
        (WHOLE, WHOLE.T.reshape(3, 4)),
    ),
    "copysign": (torch.copysign, (X, Y)),
    "clamp": (lambda x: torch.clamp(x, -0.5, 0.5), (X,)),
    "clamp_tensors": (lambda x, low, high: torch.clamp(x, low, high), (X, Y - 1, Y + 1)),
    "clamp_min_tensor": (lambda x, low: torch.clamp(x, min=low), (X, Y)),
    "clamp_int": (lambda x: torch.clamp(x, 3, 9), (WHOLE,)),
    "maximum": (torch.maximum, (X, Y)),
    "maximum_ties": (lambda x: torch.maximum(x, x.clone()), (X,)),
    "fmax_fmin": (lambda x, y: (torch.fmax(x, y), torch.fmin(x, y)), (X, Y)),
    "lerp": (lambda x, y: torch.lerp(x, y, 0.3), (X, Y)),
    "lerp_tensor": (torch.lerp, (X, Y, between(0, 1, 3, 4))),
    "addcmul": (lambda x, y, z: torch.addcmul(x, y, z, value=0.5), (X, Y, POSITIVE)),
    "addcdiv": (lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), (X, Y, POSITIVE)),
    "hypot": (torch.hypot, (X, Y)),
    "atan2": (torch.atan2, (X, Y)),
    "pow": (lambda x: (x**2, x**3, x**0.5, x**-1, x**-2, x**2.5), (POSITIVE,)),
    "pow_tensor": (torch.pow, (POSITIVE, X)),
    "pow_of_number": (lambda x: 2**x, (X,)),
    "pow_int": (lambda x: x**2, (WHOLE,)),
    "float_power": (lambda x: torch.float_power(x, 2.5), (POSITIVE,)),
    "square_rsqrt_reciprocal": (lambda x: (x.square(), x.rsqrt(), x.reciprocal(), x.sqrt()), (POSITIVE,)),
    "logical": (
        lambda a, b: (torch.logical_and(a, b), torch.logical_or(a, b), torch.logical_xor(a, b), torch.logical_not(a)),
        (truths(3, 4), truths(3, 4)),
    ),
    "logical_of_numbers": (lambda x, y: torch.logical_and(x, y), (WHOLE, X)),
    "bitwise": (lambda x, y: (x & y, x | y, x ^ y, ~x, x & 3), (WHOLE, whole(20, 3, 4))),
    "shifts": (lambda x: (x << 2, x >> 1, (x - 10) >> 1, torch.bitwise_left_shift(x, x % 3)), (WHOLE,)),
    "comparisons": (lambda x, y: (x < y, x <= 0, x == y, x != y, x > 1, x >= y), (X, Y)),
    "comparison_promotes": (lambda x, y: x < y, (WHOLE, X)),
    "isclose": (lambda x, y: torch.isclose(x, x + 1e-9 * y), (X, Y)),
    "is_special": (
        lambda x: (torch.isnan(x / 0 * 0), torch.isinf(x / 0), torch.isfinite(x), torch.isposinf(x / 0)),
        (X,),
    ),
    "isin": (lambda x: torch.isin(x, torch.tensor([3, 5, 7])), (WHOLE,)),
    "isin_tensor": (torch.isin, (WHOLE, whole(20, 5))),
    "nan_to_num": (lambda x: torch.nan_to_num(torch.log(x), nan=1.5, neginf=-2.0), (X,)),
    "where": (lambda c, x, y: (torch.where(c, x, y), torch.where(c, x, 0.0)), (truths(3, 4), X, Y)),
    "masked_fill": (lambda x, c: x.masked_fill(c, 3.0), (X, truths(3, 4))),
    "heaviside": (lambda x, y: torch.heaviside(x.detach(), y.detach()), (X, Y)),
    "casts": (lambda x: (x.int(), x.to(torch.uint8), x.bool(), x.float().double(), x.half().double()), (3 * POSITIVE,)),
    "threshold": (lambda x: torch.threshold(x, 0.1, 20.0), (X,)),
    "in_place": (lambda x, y: x.clone().mul_(y).add_(1).clamp_(max=2), (X, Y)),
    "ldexp": (lambda x: torch.ldexp(x, torch.tensor([1, 2, 3, 4])), (X,)),
    "rsub": (lambda x: 1 - x, (X,)),
    "deg2rad": (lambda x: (torch.deg2rad(x), torch.rad2deg(x)), (X,)),
    "dist": (torch.dist, (X, Y)),
}
