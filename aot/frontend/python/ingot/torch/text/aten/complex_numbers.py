"""Complex numbers, and Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ingot.stablehlo import Value
from ingot.stablehlo.elements import array
from ingot.stablehlo.types import COMPLEX_PARTS
from ingot.torch.text.lowering import Lowering, Operand, aten

COMPLEX_OF = {part: whole for whole, part in COMPLEX_PARTS.items()}
BY_ROOT, BY_COUNT = 1, 2  # of PyTorch's normalisations; 0 is none


def part(e: Lowering, name: str, z: Value) -> Value:
    """The ``real`` or ``imag`` part."""
    return e.op(f"stablehlo.{name}", [z], z.type.with_dtype(COMPLEX_PARTS[z.dtype]))


def has_sign(x: Value) -> bool:
    """Whether numbers of its element type may be below zero, or are complex."""
    return x.dtype != "i1" and not x.dtype.startswith("ui")


def magnitude(e: Lowering, z: Value) -> Value:
    """|z|, a real number."""
    if not has_sign(z):
        return z
    return e.op("stablehlo.abs", [z], z.type.with_dtype(COMPLEX_PARTS.get(z.dtype, z.dtype)))


def squared_magnitude(e: Lowering, z: Value) -> Value:
    """|z|², a real number."""
    if not z.type.is_complex:
        return e.binary("multiply", z, z)
    squares = (e.binary("multiply", x, x) for x in (part(e, "real", z), part(e, "imag", z)))
    return e.binary("add", *squares)


def composed(e: Lowering, x: Value, y: Value) -> Value:
    """X + iy."""
    return e.op("stablehlo.complex", [x, y], x.type.with_dtype(COMPLEX_OF[x.dtype]))


@aten("complex.default")
def complex_(e: Lowering, x: Value, y: Value) -> Value:
    """X + iy."""
    return composed(e, *(e.broadcast(v, e.result.shape) for v in (x, y)))


@aten("polar.default")
def polar(e: Lowering, size: Value, angle: Value) -> Value:
    """The number of a size and an angle."""
    size, angle = (e.broadcast(v, e.result.shape) for v in (size, angle))
    return composed(e, *(e.binary("multiply", size, e.unary(name, angle)) for name in ("cosine", "sine")))


@aten("view_as_real.default", "view_as_real_copy.default")
def view_as_real(e: Lowering, z: Value) -> Value:
    """Real and imaginary parts along a last dimension of 2."""
    parts = [e.reshape(part(e, name, z), (*z.shape, 1)) for name in ("real", "imag")]
    return e.concatenate(parts, z.type.rank)


@aten("view_as_complex.default", "view_as_complex_copy.default")
def view_as_complex(e: Lowering, x: Value) -> Value:
    """The numbers whose parts are along the last dimension, of 2."""
    last = x.type.rank - 1
    parts = [e.reshape(e.slice_dim(x, last, i, i + 1), x.shape[:-1]) for i in (0, 1)]
    return composed(e, *parts)


@aten("real.default")
def real(e: Lowering, z: Value) -> Value:
    """The real part."""
    return part(e, "real", z) if z.type.is_complex else z


@aten("_to_copy.default", "to.dtype", "convert_element_type.default")
def to_copy(e: Lowering, x: Value, *_: Any, **__: Any) -> Value:
    """X in the result's element type: of a complex number, the real part in a real one."""
    return e.convert(real_if_narrowed(e, x, e.result.dtype), e.result.dtype)


@aten("copy.default")
def copy(e: Lowering, x: Value, source: Value, non_blocking: bool = False) -> Value:
    """The source in x's type and shape."""
    return e.tensor(real_if_narrowed(e, source, x.dtype), x.type)


def real_if_narrowed(e: Lowering, x: Value, dtype: str) -> Value:
    """The real part of what is converted to a real element type; truth values tell whether x is not zero."""
    return x if dtype in (*COMPLEX_PARTS, "i1") else real(e, x)


@aten("imag.default")
def imag(e: Lowering, z: Value) -> Value:
    """The imaginary part."""
    return part(e, "imag", z)


@aten("conj_physical.default", "_conj_physical.default", "_conj.default", "_conj_copy.default")
def conjugate(e: Lowering, z: Operand) -> Value:
    """X - iy."""
    return conjugate_of(e, e.tensor(z, e.result))


def conjugate_of(e: Lowering, z: Value) -> Value:
    """X - iy; a real number is its own."""
    return e.unary("chlo.conj", z) if z.type.is_complex else z


@aten("angle.default")
def angle(e: Lowering, z: Operand) -> Value:
    """The angle; of real numbers 0 or pi, NaN for NaN."""
    if isinstance(z, Value) and z.type.is_complex:
        return e.binary("atan2", part(e, "imag", z), part(e, "real", z))
    (x,) = e.like_result(z)
    turned = e.select(e.compare("LT", x, e.constant(0, x.type)), e.constant(math.pi, x.type), e.constant(0, x.type))
    return e.select(e.compare("NE", x, x), x, turned)


def transformed(e: Lowering, kind: str, x: Value, axis: int, length: int) -> Value:
    """``FFT``, ``IFFT``, ``RFFT`` or ``IRFFT`` along one dimension."""
    last = x.type.rank - 1
    order = [*(d for d in range(x.type.rank) if d != axis), axis]
    moved = e.transpose(x, order)
    count = length // 2 + 1 if kind == "RFFT" else length
    dtype = {"RFFT": COMPLEX_OF.get(x.dtype), "IRFFT": COMPLEX_PARTS.get(x.dtype)}.get(kind) or x.dtype
    type_ = moved.type.with_dtype(dtype).with_shape((*moved.shape[:-1], count))
    attributes = f"fft_length = {array([length])}, fft_type = #stablehlo<fft_type {kind}>"
    result = e.op("stablehlo.fft", [moved], type_, attributes)
    return e.transpose(result, [*range(axis), last, *range(axis, last)])


def normalised(e: Lowering, x: Value, count: int, normalization: int, divided: bool) -> Value:
    """A sum over `count` terms as PyTorch wants it; `divided` says that it is a mean already."""
    factor = float(count if divided else 1) / {BY_ROOT: math.sqrt(count), BY_COUNT: count}.get(normalization, 1)
    return x if factor == 1 else e.binary("multiply", x, e.constant(factor, x.type))


@aten("_fft_c2c.default")
def fft_c2c(e: Lowering, x: Value, dims: Sequence[int], normalization: int, forward: bool) -> Value:
    """The Fourier transform along dimensions, or its inverse."""
    axes = e.axes(dims, x.type.rank) if dims else []
    for axis in axes:
        x = transformed(e, "FFT" if forward else "IFFT", x, axis, x.shape[axis])
    return normalised(e, x, math.prod(x.shape[a] for a in axes), normalization, not forward)


@aten("_fft_r2c.default")
def fft_r2c(e: Lowering, x: Value, dims: Sequence[int], normalization: int, onesided: bool) -> Value:
    """The Fourier transform of real numbers along dimensions; `onesided`: half of the last, the other mirrors it."""
    axes = [e.axis(d, x.type.rank) for d in dims]
    count = math.prod(x.shape[a] for a in axes)
    if onesided:
        y = transformed(e, "RFFT", x, axes[-1], x.shape[axes[-1]])
        axes = axes[:-1]
    else:
        y = composed(e, x, e.constant(0, x.type))
    for axis in axes:
        y = transformed(e, "FFT", y, axis, y.shape[axis])
    return normalised(e, y, count, normalization, divided=False)


@aten("_fft_c2r.default")
def fft_c2r(e: Lowering, x: Value, dims: Sequence[int], normalization: int, last_dim_size: int) -> Value:
    """The inverse transform along dimensions, of which the last is half of a mirrored one: real numbers."""
    *axes, last = [e.axis(d, x.type.rank) for d in dims]
    for axis in axes:
        x = transformed(e, "IFFT", x, axis, x.shape[axis])
    y = transformed(e, "IRFFT", x, last, last_dim_size)
    return normalised(e, y, math.prod(y.shape[a] for a in (*axes, last)), normalization, divided=True)
