"""StableHLO's ops of elements: what computes each by itself, and what moves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from ingot.stablehlo import literals
from ingot.stablehlo.types import Shape, TensorType
from ingot.stablehlo.writer import Value, Writer


def array(numbers: Sequence[int]) -> str:
    """An attribute: a list of integers."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def pairs(numbers: Sequence[tuple[int, int]]) -> str:
    """An attribute: one pair of integers for each dimension, shape [n, 2]."""
    if not numbers:
        return "dense<> : tensor<0x2xi64>"
    return f"dense<[{', '.join(f'[{low}, {high}]' for low, high in numbers)}]> : tensor<{len(numbers)}x2xi64>"


class Elements(Writer):
    """A writer of constants, and of ops that compute elements by themselves or move them."""

    def constant(self, value: literals.Number, type_: TensorType) -> Value:
        """A tensor with one value everywhere."""
        return self.op("stablehlo.constant", [], type_, f"value = {literals.splat(value, type_)}")

    def dense(self, values: npt.NDArray[Any], dtype: str) -> Value:
        """A tensor of the given elements."""
        type_ = TensorType(dtype, tuple(values.shape))
        return self.op("stablehlo.constant", [], type_, f"value = {literals.dense(values, type_)}")

    def unary(self, name: str, x: Value) -> Value:
        """An elementwise op of one operand: ``unary("tanh", x)``; names of other dialects in full."""
        return self.op(name if "." in name else f"stablehlo.{name}", [x], x.type)

    def binary(self, name: str, x: Value, y: Value) -> Value:
        """An elementwise op of two operands of one type; raises TypeError for others."""
        if x.type != y.type:
            raise TypeError(f"{name} of {x.type} and {y.type}")
        return self.op(name if "." in name else f"stablehlo.{name}", [x, y], x.type)

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """Whether x ``EQ NE LT LE GT GE`` y; result: i1 of their shape."""
        attribute = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        return self.op("stablehlo.compare", [x, y], x.type.with_dtype("i1"), attribute)

    def select(self, predicate: Value, x: Value, y: Value) -> Value:
        """X where the predicate holds, else y."""
        return self.op("stablehlo.select", [predicate, x, y], x.type)

    def is_finite(self, x: Value) -> Value:
        """Whether elements are neither infinite nor NaN."""
        return self.op("stablehlo.is_finite", [x], x.type.with_dtype("i1"))

    def convert(self, x: Value, dtype: str) -> Value:
        """X in another element type; truth values are `x != 0`."""
        if x.dtype == dtype:
            return x
        if dtype == "i1":
            return self.compare("NE", x, self.constant(0, x.type))
        return self.op("stablehlo.convert", [x], x.type.with_dtype(dtype))

    def iota(self, dimension: int, type_: TensorType) -> Value:
        """Each element is its index along a dimension."""
        return self.op("stablehlo.iota", [], type_, f"iota_dimension = {dimension} : i64")

    def reshape(self, x: Value, shape: Shape) -> Value:
        """The elements in row-major order under another shape; raises TypeError where it has not as many."""
        type_ = x.type.with_shape(shape)
        if x.type.elements != type_.elements:
            raise TypeError(f"reshape of {x.type} to {type_}")
        return x if x.type == type_ else self.op("stablehlo.reshape", [x], type_)

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        """Result dimension i is operand dimension `order[i]`."""
        if list(order) == list(range(x.type.rank)):
            return x
        shape = tuple(x.shape[d] for d in order)
        return self.op("stablehlo.transpose", [x], x.type.with_shape(shape), f"permutation = {array(order)}")

    def broadcast_in_dim(self, x: Value, shape: Shape, dimensions: Sequence[int]) -> Value:
        """Operand dimension i becomes result dimension `dimensions[i]`; the others repeat.

        Raises TypeError where an extent is neither the result's nor 1.
        """
        if len(dimensions) != x.type.rank or any(
            n not in (1, shape[d]) for n, d in zip(x.shape, dimensions, strict=True)
        ):
            raise TypeError(f"broadcast of {x.type} to {shape} along {[*dimensions]}")
        attribute = f"broadcast_dimensions = {array(dimensions)}"
        return self.op("stablehlo.broadcast_in_dim", [x], x.type.with_shape(shape), attribute)

    def broadcast(self, x: Value, shape: Shape) -> Value:
        """X repeated to a shape, trailing dimensions aligned, as NumPy and PyTorch do."""
        if x.shape == tuple(shape):
            return x
        return self.broadcast_in_dim(x, shape, range(len(shape) - x.type.rank, len(shape)))

    def slice(self, x: Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> Value:
        """The elements from `starts` below `limits`, one number for each dimension."""
        shape = tuple(
            max(0, -(-(limit - start) // step)) for start, limit, step in zip(starts, limits, strides, strict=True)
        )
        attributes = f"limit_indices = {array(limits)}, start_indices = {array(starts)}, strides = {array(strides)}"
        return self.op("stablehlo.slice", [x], x.type.with_shape(shape), attributes)

    def slice_dim(self, x: Value, dimension: int, start: int, limit: int, stride: int = 1) -> Value:
        """A slice along one dimension."""
        starts, limits, strides = [0] * x.type.rank, list(x.shape), [1] * x.type.rank
        starts[dimension], limits[dimension], strides[dimension] = start, limit, stride
        return self.slice(x, starts, limits, strides)

    def pad(
        self,
        x: Value,
        padding: Value | float,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> Value:
        """X with elements before, after and between its own; negative numbers cut."""
        inner = list(interior) if interior is not None else [0] * x.type.rank
        value = padding if isinstance(padding, Value) else self.constant(padding, TensorType(x.dtype))
        shape = tuple(lo + hi + n + max(0, n - 1) * i for lo, hi, n, i in zip(low, high, x.shape, inner, strict=True))
        attributes = (
            f"edge_padding_high = {array(high)}, edge_padding_low = {array(low)}, interior_padding = {array(inner)}"
        )
        return self.op("stablehlo.pad", [x, value], x.type.with_shape(shape), attributes)

    def concatenate(self, parts: Sequence[Value], dimension: int) -> Value:
        """Tensors one after the other along a dimension."""
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[dimension] = sum(part.shape[dimension] for part in parts)
        attribute = f"dimension = {dimension} : i64"
        return self.op("stablehlo.concatenate", parts, parts[0].type.with_shape(tuple(shape)), attribute)

    def reverse(self, x: Value, dimensions: Sequence[int]) -> Value:
        """X with the order along dimensions reversed."""
        return self.op("stablehlo.reverse", [x], x.type, f"dimensions = {array(dimensions)}")
