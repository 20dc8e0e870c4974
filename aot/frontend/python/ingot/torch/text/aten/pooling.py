"""Pooling over windows of the last dimensions, and its gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ingot.stablehlo import TensorType, Value
from ingot.stablehlo.types import lowest
from ingot.torch.text.aten.indexing import gather, rows, scattered
from ingot.torch.text.aten.resampling import cell_bounds
from ingot.torch.text.lowering import Lowering, aten, rounded_once

Ints = Sequence[int]


def _each(numbers: Ints, count: int) -> list[int]:
    """One number for each dimension; one alone stands for all."""
    return list(numbers) * (count if len(numbers) == 1 else 1)


class Windows:
    """Windows over the last dimensions of x: PyTorch's arguments as numbers for every dimension of x."""

    def __init__(self, x: Value, result: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints = ()) -> None:
        spatial = len(kernel)
        lead = [1] * (x.type.rank - spatial)
        self.size = [*lead, *_each(kernel, spatial)]
        self.strides = [*lead, *_each(stride or kernel, spatial)]
        self.dilations = [*lead, *_each(dilation or [1], spatial)]
        low = [*([0] * len(lead)), *_each(padding, spatial)]
        self.padding = []
        for d in range(x.type.rank):
            reach = (result[d] - 1) * self.strides[d] + (self.size[d] - 1) * self.dilations[d] + 1
            self.padding.append((low[d], reach - x.shape[d] - low[d]))

    def offsets(self) -> list[list[int]]:
        """The steps into the window, in row-major order, for every dimension."""
        found: list[list[int]] = [[]]
        for size in self.size:
            found = [[*before, i] for before in found for i in range(size)]
        return found


def flat_index(e: Lowering, type_: TensorType, spatial: int) -> Value:
    """The row-major index of each element within the last dimensions, i64."""
    indices = type_.with_dtype("i64")
    total, step = e.constant(0, indices), 1
    for d in reversed(range(type_.rank - spatial, type_.rank)):
        along = e.binary("multiply", e.iota(d, indices), e.constant(step, indices))
        total = e.binary("add", total, along)
        step *= type_.shape[d]
    return total


@aten("max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def max_pool(
    e: Lowering,
    x: Value,
    kernel: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    ceil_mode: bool = False,
) -> tuple[Value, Value]:
    """The greatest element of each window, and its index within the image: of equal ones, the first."""
    windows = Windows(x, e.result.shape, kernel, stride, padding, dilation)
    greatest = e.reduce_window("maximum", x, windows.size, windows.strides, windows.padding, None, windows.dilations)
    index = flat_index(e, x.type, len(kernel))
    nowhere = 2**62
    best = e.constant(nowhere, greatest.type.with_dtype("i64"))
    for offset in windows.offsets():
        value = shifted(e, x, lowest(x.dtype), windows, offset, greatest.shape)
        at = shifted(e, index, nowhere, windows, offset, greatest.shape)
        hit = e.binary("or", e.compare("EQ", value, greatest), e.compare("NE", value, value))
        best = e.select(hit, e.binary("minimum", best, at), best)
    return greatest, best


def shifted(e: Lowering, x: Value, outside: float, windows: Windows, offset: Ints, shape: Ints) -> Value:
    """What stands at one offset into every window."""
    padded = e.pad(x, outside, [low for low, _ in windows.padding], [high for _, high in windows.padding])
    starts = [o * d for o, d in zip(offset, windows.dilations, strict=True)]
    limits = [a + (n - 1) * s + 1 for a, n, s in zip(starts, shape, windows.strides, strict=True)]
    return e.slice(padded, starts, limits, windows.strides)


@aten("max_pool2d_with_indices_backward.default", "max_pool3d_with_indices_backward.default")
def max_pool_backward(
    e: Lowering,
    gradient: Value,
    x: Value,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    indices: Value,
) -> Value:
    """Each gradient added where its window's greatest element is."""
    windows = Windows(x, gradient.shape, kernel, stride, padding, dilation)
    if all(d == 1 for d in windows.dilations):
        return e.select_and_scatter(x, gradient, windows.size, windows.strides, windows.padding)
    index = flat_index(e, x.type, len(kernel))
    total = e.constant(0, x.type)
    for offset in windows.offsets():
        at = shifted(e, index, -1, windows, offset, gradient.shape)
        part = e.select(e.compare("EQ", at, indices), gradient, e.constant(0, gradient.type))
        total = e.binary("add", total, unshifted(e, part, windows, offset, x.shape))
    return total


def unshifted(e: Lowering, part: Value, windows: Windows, offset: Ints, shape: Ints) -> Value:
    """The transpose of `shifted`: elements back where they stood, zeros elsewhere."""
    low, high, interior = [], [], []
    for d in range(len(shape)):
        first = offset[d] * windows.dilations[d] - windows.padding[d][0]
        used = (part.shape[d] - 1) * windows.strides[d] + 1
        low.append(first)
        high.append(shape[d] - first - used)
        interior.append(windows.strides[d] - 1)
    return e.pad(part, 0, low, high, interior)


@aten("adaptive_max_pool2d.default", "adaptive_max_pool3d.default")
def adaptive_max_pool(e: Lowering, x: Value, size: Ints) -> tuple[Value, Value]:
    """The greatest element of each of so many cells, and its index within the image.

    Cells of different sizes repeat their last element.
    """
    first = x.type.rank - len(size)
    extents = x.shape[first:]
    if all(n % cells == 0 for n, cells in zip(extents, size, strict=True)):
        return max_pool(e, x, [n // cells for n, cells in zip(extents, size, strict=True)])
    parts, index, split = x, np.zeros((), np.int64), list(x.shape[:first])
    for axis, (cells, n) in enumerate(zip(size, extents, strict=True), first):
        bounds = [cell_bounds(i, cells, n) for i in range(cells)]
        each = max(high - low for low, high in bounds)
        places = np.array([[min(low + k, high - 1) for k in range(each)] for low, high in bounds])
        parts = rows(e, parts, e.dense(places.reshape(-1), "i64"), axis)
        index = index[..., None, None] * n + places
        split += [cells, each]
    parts = e.reshape(parts, tuple(split))
    at = e.broadcast(e.dense(index, "i64"), parts.shape)
    return greatest_of(e, parts, at, [*range(first + 1, len(split), 2)])


def greatest_of(e: Lowering, parts: Value, index: Value, dims: Ints) -> tuple[Value, Value]:
    """The greatest element along dimensions, and its index: of equal ones, the least; NaN is the greatest."""
    kept = [d for d in range(parts.type.rank) if d not in dims]
    greatest = e.reduce("maximum", parts, dims)
    everywhere = e.broadcast_in_dim(greatest, parts.shape, kept)
    hit = e.binary("or", e.compare("EQ", parts, everywhere), e.compare("NE", parts, parts))
    return greatest, e.reduce("minimum", e.select(hit, index, e.constant(2**62, index.type)), dims)


@aten("fractional_max_pool2d.default")
def fractional_max_pool(e: Lowering, x: Value, kernel: Ints, size: Ints, samples: Value) -> tuple[Value, Value]:
    """The greatest element of windows whose places are random, and its index within the image.

    Source: Graham, "Fractional max-pooling", 2014. Samples in [0, 1) are [..., 2], for the width, then the height.
    """
    *lead, height, width = x.shape
    planes = math.prod(lead)
    flat, samples = e.reshape(x, (planes, height * width)), e.reshape(samples, (planes, 2))
    windows = TensorType("i64", (planes, size[0], kernel[0], size[1], kernel[1]))
    index = e.constant(0, windows)
    for d, extent in enumerate((height, width)):
        starts = window_starts(e, e.slice_dim(samples, 1, 1 - d, 2 - d), extent, size[d], kernel[d])
        start = e.broadcast_in_dim(starts, windows.shape, [0, 1 + 2 * d])
        rest = e.binary("multiply", index, e.constant(extent, windows))
        index = e.binary("add", rest, e.binary("add", start, e.iota(2 + 2 * d, windows)))
    parts = gather(e, flat, -1, e.reshape(index, (planes, math.prod(windows.shape[1:]))))
    found = greatest_of(e, e.reshape(parts, windows.shape), index, [2, 4])
    greatest, at = (e.reshape(v, (*lead, *size)) for v in found)
    return greatest, at


def window_starts(e: Lowering, sample: Value, extent: int, count: int, window: int) -> Value:
    """Where windows start, i64 of [planes, count]: by about equal steps, the last at the end."""
    type_ = TensorType(sample.dtype, (sample.shape[0], count))
    place = e.iota(1, type_)
    step = e.constant((extent - window) / max(1, count - 1), type_)
    sample = e.broadcast(sample, type_.shape)
    stop, begin = (e.convert(e.binary("multiply", v, step), "i64") for v in (e.binary("add", place, sample), sample))
    starts = e.binary("subtract", stop, begin)
    is_last = e.compare("EQ", place, e.constant(count - 1, type_))
    return e.select(is_last, e.constant(extent - window, starts.type), starts)


@aten("fractional_max_pool2d_backward.default")
def fractional_max_pool_backward(
    e: Lowering, gradient: Value, x: Value, kernel: Ints, size: Ints, indices: Value
) -> Value:
    """Each gradient added at the index of its window's greatest element."""
    return at_indices(e, gradient, x.type, indices, 2)


@aten("adaptive_max_pool2d_backward.default")
def adaptive_max_pool2d_backward(e: Lowering, gradient: Value, x: Value, indices: Value) -> Value:
    """Each gradient added at the index of its cell's greatest element."""
    return at_indices(e, gradient, x.type, indices, 2)


@aten("adaptive_max_pool3d_backward.default")
def adaptive_max_pool3d_backward(e: Lowering, gradient: Value, x: Value, indices: Value) -> Value:
    """Each gradient added at the index of its cell's greatest element."""
    return at_indices(e, gradient, x.type, indices, 3)


def at_indices(e: Lowering, source: Value, type_: TensorType, indices: Value, spatial: int) -> Value:
    """Zeros of a type with a source added at row-major indices within the last dimensions."""
    first = type_.rank - spatial
    lead, pixels = source.shape[:first], math.prod(type_.shape[first:])
    flat = (*lead, math.prod(source.shape[first:]))
    zeros = e.constant(0, TensorType(type_.dtype, (*lead, pixels)))
    placed = scattered(e, "add", zeros, -1, e.reshape(indices, flat), e.reshape(source, flat))
    return e.reshape(placed, type_.shape)


def window_counts(
    e: Lowering,
    x: Value,
    windows: Windows,
    result: TensorType,
    padding: Ints,
    count_include_pad: bool,
    divisor: int | None,
) -> Value:
    """How many elements each window averages over, in the result's type."""
    if divisor is not None:
        return e.constant(divisor, result)
    image = TensorType(result.dtype, tuple(1 if d < x.type.rank - len(padding) else n for d, n in enumerate(x.shape)))
    ones = e.constant(1, image)
    outer = list(windows.padding)
    if count_include_pad:
        borders = [low for low, _ in outer]
        high = [min(b, h) for b, (_, h) in zip(borders, outer, strict=True)]
        ones = e.pad(ones, 1, borders, high)
        outer = [(0, h - kept) for (_, h), kept in zip(outer, high, strict=True)]
    flat = e.reduce_window("add", ones, windows.size, windows.strides, outer)
    return e.broadcast(flat, result.shape)


@aten("avg_pool2d.default", "avg_pool3d.default", "avg_pool1d.default")
@rounded_once
def avg_pool(
    e: Lowering,
    x: Value,
    kernel: Ints,
    stride: Ints = (),
    padding: Ints = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    """The mean of each window."""
    padding = _each(padding, len(kernel))
    windows = Windows(x, e.result.shape, kernel, stride, padding)
    total = e.reduce_window("add", x, windows.size, windows.strides, windows.padding)
    counts = window_counts(e, x, windows, total.type, padding, count_include_pad, divisor_override)
    return e.binary("divide", total, counts)


@aten("avg_pool2d_backward.default", "avg_pool3d_backward.default")
@rounded_once
def avg_pool_backward(
    e: Lowering,
    gradient: Value,
    x: Value,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Value:
    """Each gradient spread evenly over its window."""
    padding = _each(padding, len(kernel))
    windows = Windows(x, gradient.shape, kernel, stride, padding)
    counts = window_counts(e, x, windows, gradient.type, padding, count_include_pad, divisor_override)
    share = e.binary("divide", gradient, counts)
    padding_back = [
        (size - 1 - low, n + low - ((g - 1) * step + 1))
        for size, (low, _), n, g, step in zip(
            windows.size, windows.padding, x.shape, gradient.shape, windows.strides, strict=True
        )
    ]
    return e.reduce_window("add", share, windows.size, [1] * x.type.rank, padding_back, windows.strides)
