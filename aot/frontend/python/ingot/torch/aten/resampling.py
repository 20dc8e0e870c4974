"""Resizing of images: along each dimension a fixed matrix, which says how much of each input an output is made of.

The gradient is the product with the transposed matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ingot.stablehlo import Value
from ingot.torch.aten.pooling import cell_bounds
from ingot.torch.lowering import Lowering, aten

Matrix = npt.NDArray[np.float64]
Ints = Sequence[int]
Scale = float | None


def means(outputs: int, inputs: int) -> Matrix:
    """Each output is the mean of its cell."""
    matrix = np.zeros((outputs, inputs))
    for i in range(outputs):
        low, high = cell_bounds(i, outputs, inputs)
        matrix[i, low:high] = 1 / (high - low)
    return matrix


def nearest(outputs: int, inputs: int, scale: Scale) -> Matrix:
    """Each output is the input at or before its place."""
    step = 1 / scale if scale else inputs / outputs
    matrix = np.zeros((outputs, inputs))
    for i in range(outputs):
        matrix[i, min(int(np.floor(np.float32(i * step))), inputs - 1)] = 1
    return matrix


def linear(outputs: int, inputs: int, align_corners: bool, scale: Scale) -> Matrix:
    """Each output lies between two inputs."""
    if align_corners:
        step = (inputs - 1) / (outputs - 1) if outputs > 1 else 0.0
    else:
        step = 1 / scale if scale else inputs / outputs
    matrix = np.zeros((outputs, inputs))
    for i in range(outputs):
        place = i * step if align_corners else max(0.0, (i + 0.5) * step - 0.5)
        low = min(int(place), inputs - 1)
        high = min(low + 1, inputs - 1)
        weight = min(place - low, 1.0)
        matrix[i, low] += 1 - weight
        matrix[i, high] += weight
    return matrix


def resampled(e: Lowering, x: Value, matrices: Sequence[Matrix], transposed: bool = False) -> Value:
    """X with a matrix, or its transpose, applied along each of its last dimensions."""
    rank = x.type.rank
    first = rank - len(matrices)
    for i, matrix in enumerate(matrices):
        axis = first + i
        weights = e.convert(e.dense(matrix.astype(np.float64), "f64"), x.dtype)
        product = e.dot_general(x, weights, ([axis], [0 if transposed else 1]))
        order = [*range(axis), rank - 1, *range(axis, rank - 1)]
        x = e.transpose(product, order)
    return x


Maker = Callable[[int, int, Any], Matrix]


def _pair(e: Lowering, outputs: Ints, inputs: Ints, make: Maker, scales: Sequence[Scale]) -> list[Matrix]:
    return [make(o, i, s) for o, i, s in zip(outputs[-2:], inputs[-2:], scales, strict=True)]


@aten("_adaptive_avg_pool2d.default")
def adaptive_avg_pool(e: Lowering, x: Value, output_size: Ints) -> Value:
    """The mean of each of output_size cells."""
    return resampled(e, x, [means(o, n) for o, n in zip(output_size, x.shape[-2:], strict=True)])


@aten("_adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool_backward(e: Lowering, gradient: Value, x: Value) -> Value:
    """Gradients spread evenly over their cells."""
    matrices = [means(o, n) for o, n in zip(gradient.shape[-2:], x.shape[-2:], strict=True)]
    return resampled(e, gradient, matrices, transposed=True)


@aten("upsample_nearest2d.default")
def upsample_nearest(e: Lowering, x: Value, size: Ints, height: Scale = None, width: Scale = None) -> Value:
    """The nearest pixel."""
    return resampled(e, x, _pair(e, size, x.shape, nearest, (height, width)))


@aten("upsample_nearest2d_backward.default")
def upsample_nearest_backward(
    e: Lowering, gradient: Value, size: Ints, input_size: Ints, height: Scale = None, width: Scale = None
) -> Value:
    """Gradients added to the pixels that they came from."""
    return resampled(e, gradient, _pair(e, size, input_size, nearest, (height, width)), transposed=True)


def _linear(align_corners: bool) -> Maker:
    return lambda outputs, inputs, scale: linear(outputs, inputs, align_corners, scale)


@aten("upsample_bilinear2d.default")
def upsample_bilinear(
    e: Lowering, x: Value, size: Ints, align_corners: bool, height: Scale = None, width: Scale = None
) -> Value:
    """Between the four nearest pixels."""
    return resampled(e, x, _pair(e, size, x.shape, _linear(align_corners), (height, width)))


@aten("upsample_bilinear2d_backward.default")
def upsample_bilinear_backward(
    e: Lowering,
    gradient: Value,
    size: Ints,
    input_size: Ints,
    align_corners: bool,
    height: Scale = None,
    width: Scale = None,
) -> Value:
    """Gradients shared among the four nearest pixels."""
    matrices = _pair(e, size, input_size, _linear(align_corners), (height, width))
    return resampled(e, gradient, matrices, transposed=True)
