"""Special functions, and elementwise ones that take care of signs and extremes."""

from __future__ import annotations

import math

from ingot.stablehlo import Value
from ingot.stablehlo.types import lowest
from ingot.torch.text.aten.elementwise import scaled
from ingot.torch.text.lowering import Lowering, Operand, aten, rounded_once

SIGNED = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}

# Bessel's functions: up to x = 20 the mean of 48 points of their integral, which there is exact to the last place of a
# double; above it 30 terms of their asymptotic series.
POINTS, FAR, TERMS = 48, 20, 30
FRACTIONS = {"f32": 16, "f64": 64}  # terms of erfcx's continued fraction


@aten("signbit.default", "prims::signbit.default")
def signbit(e: Lowering, x: Value) -> Value:
    """Whether the sign is minus, that of zero too."""
    if x.type.is_float:
        x = e.op("stablehlo.bitcast_convert", [x], x.type.with_dtype(SIGNED[x.dtype]))
    return e.compare("LT", x, e.constant(0, x.type))


@aten("copysign.Tensor", "copysign.Scalar")
def copysign(e: Lowering, x: Value, sign: Operand) -> Value:
    """The size of x, the sign of another."""
    x, sign = e.like_result(x, sign)
    size = e.unary("abs", x)
    return e.select(signbit(e, sign), e.unary("negate", size), size)


@aten("nextafter.default", "prims::nextafter.default")
def nextafter(e: Lowering, x: Operand, y: Operand) -> Value:
    """The neighbour of x towards y: as integers, the bits of numbers of one sign are in the order of their sizes."""
    x, y = e.like_result(x, y)
    bits = x.type.with_dtype(SIGNED[x.dtype])
    zero, one = e.constant(0, x.type), e.constant(1, bits)
    number = e.op("stablehlo.bitcast_convert", [x], bits)
    is_up, is_zero = e.compare("GT", y, x), e.compare("EQ", x, zero)
    grows = e.compare("EQ", is_up, e.compare("GT", x, zero))
    moved = e.binary("add", number, e.select(grows, one, e.constant(-1, bits)))
    least = e.select(is_up, one, e.binary("add", e.constant(lowest(bits.dtype), bits), one))
    moved = e.op("stablehlo.bitcast_convert", [e.select(is_zero, least, moved)], x.type)
    is_comparable = e.binary("and", e.compare("EQ", x, x), e.compare("EQ", y, y))
    moved = e.select(is_comparable, moved, e.constant(math.nan, x.type))
    return e.select(e.compare("EQ", x, y), y, moved)


@aten("gcd.default", "prims::gcd.default")
def gcd(e: Lowering, x: Operand, y: Operand) -> Value:
    """The greatest common divisor, by Euclid's algorithm for all elements at once."""
    x, y = e.like_result(x, y)
    zero = e.constant(0, x.type)

    def goes_on(pair: list[Value]) -> list[Value]:
        return [e.reduce("or", e.compare("NE", pair[1], zero), list(range(x.type.rank)))]

    def next_pair(pair: list[Value]) -> list[Value]:
        larger, smaller = pair
        is_done = e.compare("EQ", smaller, zero)
        rest = e.binary("remainder", larger, e.select(is_done, e.constant(1, x.type), smaller))
        return [e.select(is_done, larger, smaller), e.select(is_done, zero, rest)]

    divisor, _ = e.while_loop([x, y], goes_on, next_pair)
    return divisor if x.dtype.startswith("ui") else e.unary("abs", divisor)


def _extreme_of_numbers(e: Lowering, name: str, x: Operand, y: Operand) -> Value:
    x, y = e.like_result(x, y)
    if not x.type.is_float:
        return e.binary(name, x, y)
    either = e.select(e.compare("NE", x, x), y, e.binary(name, x, y))
    return e.select(e.compare("NE", y, y), x, either)


@aten("fmax.default", "prims::fmax.default")
def fmax(e: Lowering, x: Operand, y: Operand) -> Value:
    """The greater of two; of a number and NaN, the number."""
    return _extreme_of_numbers(e, "maximum", x, y)


@aten("fmin.default", "prims::fmin.default")
def fmin(e: Lowering, x: Operand, y: Operand) -> Value:
    """The lesser of two; of a number and NaN, the number."""
    return _extreme_of_numbers(e, "minimum", x, y)


@aten("hypot.default", "prims::hypot.default")
def hypot(e: Lowering, x: Value, y: Value) -> Value:
    """The square root of x² + y², which does not overflow."""
    x, y = (e.unary("abs", v) for v in e.like_result(x, y))
    large, small = e.binary("maximum", x, y), e.binary("minimum", x, y)
    ratio = e.binary("divide", small, large)
    root = e.unary("sqrt", e.binary("add", e.constant(1, x.type), e.binary("multiply", ratio, ratio)))
    return e.select(e.compare("EQ", small, e.constant(0, x.type)), large, e.binary("multiply", large, root))


@aten("special_zeta.default", "special_zeta.other_scalar", "special_zeta.self_scalar", "prims::zeta.default")
def zeta(e: Lowering, x: Operand, y: Operand) -> Value:
    """Hurwitz's zeta function: the sum of (y + k)^-x; at its poles, and at infinity, as in PyTorch."""
    x, y = e.like_result(x, y)
    one, infinity = e.constant(1, x.type), e.constant(math.inf, x.type)
    value = e.binary("chlo.zeta", x, y)
    value = e.select(e.compare("EQ", y, infinity), e.constant(math.nan, x.type), value)
    converges = e.unary("not", e.compare("LT", x, one))
    value = e.select(e.binary("and", is_pole(e, y), converges), infinity, value)
    return e.select(e.compare("EQ", x, one), infinity, value)


@aten("digamma.default")
def digamma(e: Lowering, x: Value) -> Value:
    """The logarithmic derivative of the gamma function; infinite at 0."""
    (x,) = e.like_result(x)
    at_zero = e.binary("divide", e.constant(-1, x.type), x)
    return e.select(e.compare("EQ", x, e.constant(0, x.type)), at_zero, e.unary("chlo.digamma", x))


@aten("polygamma.default")
def polygamma(e: Lowering, n: int, x: Value) -> Value:
    """The n-th derivative of digamma; at its poles, and at infinity, as in PyTorch."""
    if n == 0:
        return digamma(e, x)
    (x,) = e.like_result(x)
    value = e.binary("chlo.polygamma", e.constant(n, x.type), x)
    unknown = e.compare("EQ", x, e.constant(-math.inf if n == 1 else math.inf, x.type))
    value = e.select(unknown, e.constant(math.nan, x.type), value)
    return e.select(is_pole(e, x), e.constant(-math.inf if n % 2 == 0 else math.inf, x.type), value) if n > 1 else value


def is_pole(e: Lowering, x: Value) -> Value:
    """Whether x is one of the poles of the gamma function: 0, -1, -2, ..."""
    is_whole = e.compare("EQ", e.unary("floor", x), x)
    return e.binary("and", is_whole, e.compare("LE", x, e.constant(0, x.type)))


@aten("special_erfcx.default", "prims::erfcx.default")
@rounded_once
def erfcx(e: Lowering, x: Value) -> Value:
    """e^(x²) erfc(x); above 2 by Laplace's continued fraction, as erfc vanishes there."""
    (x,) = e.like_result(x)
    two = e.constant(2, x.type)
    near, far = e.binary("minimum", x, two), e.binary("maximum", x, two)
    fraction = far
    for k in reversed(range(1, FRACTIONS[x.dtype])):
        fraction = e.binary("add", far, e.binary("divide", e.constant(k / 2, x.type), fraction))
    tail = e.binary("divide", e.constant(1 / math.sqrt(math.pi), x.type), fraction)
    square = e.binary("multiply", near, near)
    direct = e.binary("multiply", e.unary("exponential", square), e.unary("chlo.erfc", near))
    return e.select(e.compare("LE", x, two), direct, tail)


def bessel(e: Lowering, x: Value, order: int, is_scaled: bool) -> Value:
    """The modified Bessel function I of order 0 or 1, or e^-|x| times it."""
    narrow = x.dtype
    wide = e.convert(x, "f64" if narrow == "f64" else "f32")
    size, one = e.unary("abs", wide), e.constant(1, wide.type)
    limit = e.constant(FAR, wide.type)
    near, far = e.binary("minimum", size, limit), e.binary("maximum", size, limit)
    total = e.constant(0, wide.type)
    for k in range(POINTS // 2 + 1):
        cosine = math.cos(2 * math.pi * k / POINTS)
        weight = (1 if k in (0, POINTS // 2) else 2) * cosine**order / POINTS
        total = e.binary("add", total, scaled(e, e.unary("exponential", scaled(e, near, cosine - 1)), weight))
    series = one
    for k in reversed(range(1, TERMS)):
        ratio = e.binary("divide", e.constant(((2 * k - 1) ** 2 - 4 * order**2) / (8 * k), wide.type), far)
        series = e.binary("add", one, e.binary("multiply", ratio, series))
    series = e.binary("multiply", series, e.unary("rsqrt", scaled(e, far, 2 * math.pi)))
    y = e.select(e.compare("LE", size, limit), total, series)
    if order == 1:
        y = e.select(e.compare("LT", wide, e.constant(0, wide.type)), e.unary("negate", y), y)
    return e.convert(y if is_scaled else e.binary("multiply", y, e.unary("exponential", size)), narrow)


@aten("i0.default", "special_i0.default", "special_modified_bessel_i0.default", "prims::bessel_i0.default")
def i0(e: Lowering, x: Value) -> Value:
    """The modified Bessel function I of order 0."""
    return bessel(e, e.tensor(x, e.result), 0, is_scaled=False)


@aten("special_i0e.default", "prims::bessel_i0e.default")
def i0e(e: Lowering, x: Value) -> Value:
    """The same times e^-|x|."""
    return bessel(e, e.tensor(x, e.result), 0, is_scaled=True)


@aten("special_i1.default", "special_modified_bessel_i1.default", "prims::bessel_i1.default")
def i1(e: Lowering, x: Value) -> Value:
    """The modified Bessel function I of order 1."""
    return bessel(e, e.tensor(x, e.result), 1, is_scaled=False)


@aten("special_i1e.default", "prims::bessel_i1e.default")
def i1e(e: Lowering, x: Value) -> Value:
    """The same times e^-|x|."""
    return bessel(e, e.tensor(x, e.result), 1, is_scaled=True)
