"""Resizing of images: along each dimension elements are picked, or mixed by a fixed matrix.

A matrix of [outputs, inputs] says how much of each input an output is made of; the gradient is the product with its
transpose. f16 and bf16 are mixed in f32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np
import numpy.typing as npt

from ingot.stablehlo import TensorType, Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.torch.text.aten.indexing import rows
from ingot.torch.text.lowering import Lowering, Rule, aten, rounded_once

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]
Ints = Sequence[int]
Scale = float | None
Kernel = Callable[[float], float]

# How much emptier than full a matrix is before products with it give way to elements picked one by one.
SPARSITY = 8


def cell_bounds(i: int, cells: int, extent: int) -> tuple[int, int]:
    """Where the i-th of some cells starts and ends: they cover an extent, and may share elements."""
    return i * extent // cells, -(-(i + 1) * extent // cells)


def means(outputs: int, inputs: int) -> Matrix:
    """Each output is the mean of its cell."""
    matrix = np.zeros((outputs, inputs))
    for i in range(outputs):
        low, high = cell_bounds(i, outputs, inputs)
        matrix[i, low:high] = 1 / (high - low)
    return matrix


def nearest(offset: float) -> Callable[[int, int, Scale], Positions]:
    """Each output is the input whose cell it lies in, `offset` after its start; reckoned in f32, as PyTorch does."""

    def make(outputs: int, inputs: int, scale: Scale) -> Positions:
        step = np.float32(1 / scale) if scale else np.float32(inputs) / np.float32(outputs)
        places = (np.arange(outputs, dtype=np.float32) + np.float32(offset)) * step
        positions: Positions = np.minimum(np.floor(places).astype(np.int64), inputs - 1)
        return positions

    return make


def steps(outputs: int, inputs: int, scale: Scale, align_corners: bool) -> float:
    """How far apart outputs are among the inputs."""
    if align_corners:
        return (inputs - 1) / (outputs - 1) if outputs > 1 else 0.0
    return 1 / scale if scale else inputs / outputs


def triangle(x: float) -> float:
    """What an input at distance x counts, between two of them."""
    return max(0.0, 1 - abs(x))


def cubic(a: float) -> Kernel:
    """What an input at distance x counts, among four, in Keys's cubic convolution."""

    def weight(x: float) -> float:
        x = abs(x)
        if x <= 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0

    return weight


def interpolation(kernel: Kernel, reach: int) -> Callable[[int, int, Scale, bool], Matrix]:
    """Each output is made of the `reach` inputs on either side of its place; those beyond the border repeat it."""

    def matrix(outputs: int, inputs: int, scale: Scale, align_corners: bool) -> Matrix:
        step = steps(outputs, inputs, scale, align_corners)
        weights = np.zeros((outputs, inputs))
        for i in range(outputs):
            place = i * step if align_corners else (i + 0.5) * step - 0.5
            for j in range(math.floor(place) - reach + 1, math.floor(place) + reach + 1):
                weights[i, min(max(j, 0), inputs - 1)] += kernel(place - j)
        return weights

    return matrix


def antialiased(kernel: Kernel, reach: int) -> Callable[[int, int, Scale, bool], Matrix]:
    """The same with a kernel that covers, where images shrink, as many more inputs as outputs are apart."""

    def matrix(outputs: int, inputs: int, scale: Scale, align_corners: bool) -> Matrix:
        step = steps(outputs, inputs, scale, align_corners)
        width = max(step, 1.0)
        weights = np.zeros((outputs, inputs))
        for i in range(outputs):
            center = step * (i + 0.5)
            first = max(int(center - reach * width + 0.5), 0)
            last = min(int(center + reach * width + 0.5), inputs)
            for j in range(first, last):
                weights[i, j] = kernel((j - center + 0.5) / width)
            weights[i] /= weights[i].sum()
        return weights

    return matrix


def taps(matrix: Matrix) -> list[tuple[Positions, Matrix]]:
    """A matrix by columns of what is not zero: which input each output takes, and how much of it."""
    count = (matrix != 0).sum(1).max(initial=0)
    order = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
    weights = np.take_along_axis(matrix, order, 1)
    return list(zip(order.T, weights.T, strict=True))


def mixed(e: Lowering, x: Value, axis: int, matrix: Matrix) -> Value:
    """X with a matrix applied along an axis; of a matrix that is nearly empty, only what is not."""
    wide = e.convert(x, WIDE_SUM.get(x.dtype, x.dtype))
    parts = taps(matrix)
    if 0 < len(parts) * SPARSITY < matrix.shape[1]:
        return e.convert(tapped(e, wide, axis, parts), x.dtype)
    weights = e.convert(e.dense(matrix, "f64"), wide.dtype)
    product = e.dot_general(wide, weights, ([axis], [1]))
    last = x.type.rank - 1
    return e.convert(e.transpose(product, [*range(axis), last, *range(axis, last)]), x.dtype)


def tapped(e: Lowering, x: Value, axis: int, parts: Sequence[tuple[Positions, Matrix]]) -> Value:
    """The sum of elements at positions along an axis, each weighted."""
    products = []
    for positions, weights in parts:
        taken = picked(e, x, axis, positions)
        factors = e.convert(e.dense(weights, "f64"), x.dtype)
        products.append(e.binary("multiply", taken, e.broadcast_in_dim(factors, taken.shape, [axis])))
    return reduce(partial(e.binary, "add"), products)


def repeats(positions: Positions, extent: int) -> int:
    """How often each element stands in a row where positions say no more than that; else 0."""
    count = len(positions) // extent
    return count if count and np.array_equal(positions, np.arange(len(positions)) // count) else 0


def picked(e: Lowering, x: Value, axis: int, positions: Positions) -> Value:
    """The elements at positions along an axis."""
    count = repeats(positions, x.shape[axis])
    if not count:
        return rows(e, x, e.dense(positions, "i64"), axis)
    shape = [*x.shape]
    wide = (*shape[: axis + 1], count, *shape[axis + 1 :])
    spread = e.broadcast_in_dim(x, wide, [d for d in range(len(wide)) if d != axis + 1])
    return e.reshape(spread, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def put_back(e: Lowering, gradient: Value, axis: int, positions: Positions, extent: int) -> Value:
    """The transpose of `picked`: elements added where they came from."""
    shape = [*gradient.shape]
    count = repeats(positions, extent)
    if count:
        return e.reduce("add", e.reshape(gradient, (*shape[:axis], extent, count, *shape[axis + 1 :])), [axis + 1])
    shape[axis] = extent
    return e.scatter(
        "add",
        e.constant(0, TensorType(gradient.dtype, tuple(shape))),
        e.reshape(e.dense(positions, "i64"), (len(positions), 1)),
        gradient,
        window_dims=[d for d in range(len(shape)) if d != axis],
        inserted=[axis],
        index_map=[axis],
    )


def pick(make: Callable[[int, int, Scale], Positions]) -> Rule:
    """Resizing that picks elements."""

    def write(e: Lowering, x: Value, size: Ints, *scales: Scale) -> Value:
        """The nearest pixel."""
        first = x.type.rank - len(size)
        for i, (outputs, scale) in enumerate(zip(size, scales or [None] * len(size), strict=True)):
            x = picked(e, x, first + i, make(outputs, x.shape[first + i], scale))
        return x

    return write


def pick_backward(make: Callable[[int, int, Scale], Positions]) -> Rule:
    """The gradient of `pick`."""

    def write(e: Lowering, gradient: Value, size: Ints, input_size: Ints, *scales: Scale) -> Value:
        """Gradients added to the pixels that they came from."""
        first = gradient.type.rank - len(size)
        for i, (outputs, scale) in enumerate(zip(size, scales or [None] * len(size), strict=True)):
            extent = input_size[first + i]
            gradient = put_back(e, gradient, first + i, make(outputs, extent, scale), extent)
        return gradient

    return write


def mix(make: Callable[[int, int, Scale, bool], Matrix]) -> Rule:
    """Resizing that mixes elements."""

    def write(e: Lowering, x: Value, size: Ints, align_corners: bool, *scales: Scale) -> Value:
        """Made of the pixels nearby."""
        first = x.type.rank - len(size)
        for i, (outputs, scale) in enumerate(zip(size, scales or [None] * len(size), strict=True)):
            x = mixed(e, x, first + i, make(outputs, x.shape[first + i], scale, align_corners))
        return x

    return rounded_once(write)


def mix_backward(make: Callable[[int, int, Scale, bool], Matrix]) -> Rule:
    """The gradient of `mix`."""

    def write(e: Lowering, gradient: Value, size: Ints, input_size: Ints, align_corners: bool, *scales: Scale) -> Value:
        """Gradients shared among the pixels nearby."""
        first = gradient.type.rank - len(size)
        for i, (outputs, scale) in enumerate(zip(size, scales or [None] * len(size), strict=True)):
            matrix = make(outputs, input_size[first + i], scale, align_corners)
            gradient = mixed(e, gradient, first + i, matrix.T.copy())
        return gradient

    return rounded_once(write)


PICKS = {"upsample_nearest": nearest(0), "_upsample_nearest_exact": nearest(0.5)}
LINEAR, CUBIC = interpolation(triangle, 1), interpolation(cubic(-0.75), 2)
MIXES = {
    "upsample_linear1d": LINEAR,
    "upsample_bilinear2d": LINEAR,
    "upsample_trilinear3d": LINEAR,
    "upsample_bicubic2d": CUBIC,
    "_upsample_bilinear2d_aa": antialiased(triangle, 1),
    "_upsample_bicubic2d_aa": antialiased(cubic(-0.5), 2),
}
for _name, _positions in PICKS.items():
    for _dims in (1, 2, 3):
        aten(f"{_name}{_dims}d.default")(pick(_positions))
        aten(f"{_name}{_dims}d_backward.default")(pick_backward(_positions))
for _name, _matrix in MIXES.items():
    aten(f"{_name}.default")(mix(_matrix))
    aten(f"{_name}_backward.default")(mix_backward(_matrix))


@aten("_adaptive_avg_pool2d.default", "_adaptive_avg_pool3d.default")
def adaptive_avg_pool(e: Lowering, x: Value, size: Ints) -> Value:
    """The mean of each of so many cells."""
    y = e.convert(x, WIDE_SUM.get(x.dtype, x.dtype))
    for axis, cells in enumerate(size, x.type.rank - len(size)):
        if x.shape[axis] % cells:
            y = mixed(e, y, axis, means(cells, x.shape[axis]))
        else:
            each = x.shape[axis] // cells
            total = e.reduce("add", e.reshape(y, (*y.shape[:axis], cells, each, *y.shape[axis + 1 :])), [axis + 1])
            y = e.binary("divide", total, e.constant(each, total.type))
    return e.convert(y, x.dtype)


@aten("_adaptive_avg_pool2d_backward.default", "_adaptive_avg_pool3d_backward.default")
def adaptive_avg_pool_backward(e: Lowering, gradient: Value, x: Value) -> Value:
    """Gradients spread evenly over their cells."""
    y = e.convert(gradient, WIDE_SUM.get(x.dtype, x.dtype))
    for axis, (cells, extent) in enumerate(zip(gradient.shape, x.shape, strict=True)):
        if extent % cells:
            y = mixed(e, y, axis, means(cells, extent).T.copy())
        elif extent != cells:
            each = extent // cells
            share = e.binary("divide", y, e.constant(each, y.type))
            y = picked(e, share, axis, np.arange(extent) // each)
    return e.convert(y, x.dtype)
