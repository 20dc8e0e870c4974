"""StableHLO's ops as functions of values; every result type follows from the operands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ingot.stablehlo import literals
from ingot.stablehlo.types import Shape, TensorType, highest, lowest
from ingot.stablehlo.writer import Value, Writer

WIDE_SUM = {"f16": "f32", "bf16": "f32"}
REDUCTION_STARTS: dict[str, Callable[[str], float | int]] = {
    "add": lambda dtype: 0,
    "multiply": lambda dtype: 1,
    "maximum": lowest,
    "minimum": highest,
    "or": lambda dtype: 0,
    "and": lambda dtype: 1,
}


def array(numbers: Sequence[int]) -> str:
    """An attribute: a list of integers."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def pairs(numbers: Sequence[tuple[int, int]]) -> str:
    """An attribute: one pair of integers for each dimension, shape [n, 2]."""
    if not numbers:
        return "dense<> : tensor<0x2xi64>"
    return f"dense<[{', '.join(f'[{low}, {high}]' for low, high in numbers)}]> : tensor<{len(numbers)}x2xi64>"


@dataclass(frozen=True)
class Layout:
    """Which dimension of a convolution's operand is which; a kernel's inputs are `batch`, its outputs `feature`."""

    batch: int
    feature: int
    spatial: tuple[int, ...]

    def text(self, batch: str, feature: str) -> str:
        """``[b, f, 0, 1]``."""
        names = {self.batch: batch, self.feature: feature} | {d: str(i) for i, d in enumerate(self.spatial)}
        return f"[{', '.join(names[d] for d in range(len(names)))}]"


@dataclass(frozen=True)
class Window:
    """How a convolution's kernel moves: one number, or pair of numbers, for each spatial dimension."""

    lhs: Layout
    rhs: Layout
    result: Layout
    strides: Sequence[int]
    padding: Sequence[tuple[int, int]]
    lhs_dilation: Sequence[int]
    rhs_dilation: Sequence[int]
    feature_groups: int = 1
    batch_groups: int = 1
    reverse: bool = False


class Ops(Writer):
    """A writer that knows StableHLO's ops."""

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

    def reduce(self, combine: str, x: Value, dimensions: Sequence[int]) -> Value:
        """Elements along dimensions combined by a binary op; f16 and bf16 are summed in f32 and rounded once."""
        if not dimensions:
            return x
        if combine in ("add", "multiply") and x.dtype in WIDE_SUM:
            wide = self.reduce(combine, self.convert(x, WIDE_SUM[x.dtype]), dimensions)
            return self.convert(wide, x.dtype)
        scalar = TensorType(x.dtype)
        shape = tuple(n for d, n in enumerate(x.shape) if d not in dimensions)
        start = self.constant(REDUCTION_STARTS[combine](x.dtype), scalar)
        return self.op(
            "stablehlo.reduce",
            [x, start],
            x.type.with_shape(shape),
            f"dimensions = {array(sorted(dimensions))}",
            lambda: self._combine(combine, scalar),
        )

    def reduce_window(
        self,
        combine: str,
        x: Value,
        window: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        base_dilations: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
    ) -> Value:
        """Elements under each position of a window combined by a binary op; sums of f16 and bf16 are made in f32."""
        if combine == "add" and x.dtype in WIDE_SUM:
            wide = self.convert(x, WIDE_SUM[x.dtype])
            narrow = x.dtype
            return self.convert(
                self.reduce_window(combine, wide, window, strides, padding, base_dilations, dilations), narrow
            )
        ones = [1] * x.type.rank
        base, holes = list(base_dilations or ones), list(dilations or ones)
        shape = tuple(
            (max(0, (n - 1) * b + 1) + low + high - ((w - 1) * d + 1)) // s + 1
            for n, b, (low, high), w, d, s in zip(x.shape, base, padding, window, holes, strides, strict=True)
        )
        scalar = TensorType(x.dtype)
        start = self.constant(REDUCTION_STARTS[combine](x.dtype), scalar)
        attributes = (
            f"base_dilations = {array(base)}, padding = {pairs(padding)}, window_dilations = {array(holes)}, "
            f"window_dimensions = {array(window)}, window_strides = {array(strides)}"
        )
        return self.op(
            "stablehlo.reduce_window",
            [x, start],
            x.type.with_shape(shape),
            attributes,
            lambda: self._combine(combine, scalar),
        )

    def select_and_scatter(
        self,
        x: Value,
        source: Value,
        window: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
    ) -> Value:
        """Each source element added where its window of x has its first greatest element; result: x's type."""
        scalar = TensorType(x.dtype)
        zero = self.constant(0, scalar)

        def is_kept() -> None:
            with self.block([scalar, scalar]) as (a, b):
                self._return(self.compare("GE", a, b))

        attributes = (
            f"padding = {pairs(padding)}, window_dimensions = {array(window)}, window_strides = {array(strides)}"
        )
        return self.op(
            "stablehlo.select_and_scatter",
            [x, source, zero],
            x.type,
            attributes,
            is_kept,
            lambda: self._combine("add", scalar),
        )

    def dot_general(
        self,
        x: Value,
        y: Value,
        contracting: tuple[Sequence[int], Sequence[int]],
        batching: tuple[Sequence[int], Sequence[int]] = ((), ()),
        dtype: str | None = None,
    ) -> Value:
        """Sums of products over contracting dimensions; result: batch, x's free, y's free dimensions.

        Its element type is x's, or the one that is given.
        """
        free = [
            [n for d, n in enumerate(v.shape) if d not in contracting[i] and d not in batching[i]]
            for i, v in enumerate((x, y))
        ]
        shape = (*(x.shape[d] for d in batching[0]), *free[0], *free[1])
        fields = [
            f"{side}_{kind}_dimensions = [{', '.join(map(str, dims[i]))}]"
            for kind, dims in (("batching", batching), ("contracting", contracting))
            for i, side in enumerate(("lhs", "rhs"))
            if dims[i]
        ]
        attributes = f"dot_dimension_numbers = #stablehlo.dot<{', '.join(fields)}>"
        return self.op("stablehlo.dot_general", [x, y], TensorType(dtype or x.dtype, shape), attributes)

    def convolution(self, x: Value, kernel: Value, window: Window, dtype: str | None = None) -> Value:
        """Sums of products under each position of a window; which dimension means what is in `window`.

        Result shape: what `window.result` names, with the extents that padding, strides and dilations leave. Its
        element type is x's, or the one that is given.
        """
        spatial = range(len(window.strides))
        extents = [
            (
                (x.shape[window.lhs.spatial[i]] - 1) * window.lhs_dilation[i]
                + 1
                + sum(window.padding[i])
                - ((kernel.shape[window.rhs.spatial[i]] - 1) * window.rhs_dilation[i] + 1)
            )
            // window.strides[i]
            + 1
            for i in spatial
        ]
        shape = [0] * x.type.rank
        shape[window.result.batch] = x.shape[window.lhs.batch] // window.batch_groups
        shape[window.result.feature] = kernel.shape[window.rhs.feature]
        for i in spatial:
            shape[window.result.spatial[i]] = extents[i]
        numbers = f"{window.lhs.text('b', 'f')}x{window.rhs.text('i', 'o')}->{window.result.text('b', 'f')}"
        reversal = f"array<i1: {', '.join(['true' if window.reverse else 'false'] * len(spatial))}>"
        attributes = (
            f"batch_group_count = {window.batch_groups} : i64, dimension_numbers = #stablehlo.conv<{numbers}>, "
            f"feature_group_count = {window.feature_groups} : i64, lhs_dilation = {array(window.lhs_dilation)}, "
            f"padding = {pairs(window.padding)}, rhs_dilation = {array(window.rhs_dilation)}, "
            f"window_reversal = {reversal}, window_strides = {array(window.strides)}"
        )
        return self.op("stablehlo.convolution", [x, kernel], TensorType(dtype or x.dtype, tuple(shape)), attributes)

    def gather(
        self,
        x: Value,
        indices: Value,
        *,
        offset_dims: Sequence[int],
        collapsed: Sequence[int],
        index_map: Sequence[int],
        slice_sizes: Sequence[int],
        shape: Shape,
        batch: int = 0,
    ) -> Value:
        """Windows of x that start where index vectors, the last dimension of `indices`, say.

        The first `batch` dimensions of x and of the indices go together. Windows of an x without elements are zeros.
        """
        if not x.type.elements:
            return self.constant(0, TensorType(x.dtype, tuple(shape)))
        dims = f"[{', '.join(map(str, range(batch)))}]"
        together = f"operand_batching_dims = {dims}, start_indices_batching_dims = {dims}, " if batch else ""
        fields = (
            f"offset_dims = [{', '.join(map(str, offset_dims))}], "
            f"collapsed_slice_dims = [{', '.join(map(str, collapsed))}], "
            f"{together}"
            f"start_index_map = [{', '.join(map(str, index_map))}], index_vector_dim = {indices.type.rank - 1}"
        )
        attributes = (
            f"dimension_numbers = #stablehlo.gather<{fields}>, indices_are_sorted = false, "
            f"slice_sizes = {array(slice_sizes)}"
        )
        return self.op("stablehlo.gather", [x, indices], x.type.with_shape(shape), attributes)

    def scatter(
        self,
        combine: str,
        x: Value,
        indices: Value,
        updates: Value,
        *,
        window_dims: Sequence[int],
        inserted: Sequence[int],
        index_map: Sequence[int],
    ) -> Value:
        """Updates combined by a binary op (``add``, ``maximum``), or put (``set``), where index vectors say."""
        fields = (
            f"update_window_dims = [{', '.join(map(str, window_dims))}], "
            f"inserted_window_dims = [{', '.join(map(str, inserted))}], "
            f"scatter_dims_to_operand_dims = [{', '.join(map(str, index_map))}], "
            f"index_vector_dim = {indices.type.rank - 1}"
        )
        attributes = (
            f"indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<{fields}>, "
            "unique_indices = false"
        )
        scalar = TensorType(x.dtype)
        return self.op(
            "stablehlo.scatter", [x, indices, updates], x.type, attributes, lambda: self._combine(combine, scalar)
        )

    def sort(self, operands: Sequence[Value], dimension: int, *, descending: bool) -> tuple[Value, ...]:
        """Rows along a dimension in the order of the first operand; stable."""
        types = [TensorType(operand.dtype) for operand in operands for _ in range(2)]

        def comparator() -> None:
            with self.block(types) as arguments:
                total = ", compare_type = #stablehlo<comparison_type TOTALORDER>" if types[0].is_float else ""
                direction = f"comparison_direction = #stablehlo<comparison_direction {'GT' if descending else 'LT'}>"
                self._return(self.op("stablehlo.compare", arguments[:2], TensorType("i1"), direction + total))

        attributes = f"dimension = {dimension} : i64, is_stable = true"
        return self.ops("stablehlo.sort", operands, [operand.type for operand in operands], attributes, comparator)

    def _combine(self, combine: str, scalar: TensorType) -> None:
        with self.block([scalar, scalar]) as (a, b):
            self._return(b if combine == "set" else self.binary(combine, a, b))

    def case(
        self, index: Value, types: Sequence[TensorType], branches: Sequence[Callable[[], Sequence[Value]]]
    ) -> tuple[Value, ...]:
        """What the branch of that index, an i32 scalar, gives: values of those types."""

        def region(branch: Callable[[], Sequence[Value]]) -> None:
            with self.block([]):
                self._return(*branch())

        return self.ops("stablehlo.case", [index], types, "", *(functools.partial(region, b) for b in branches))

    def while_loop(
        self,
        starts: Sequence[Value],
        goes_on: Callable[[list[Value]], Sequence[Value]],
        body: Callable[[list[Value]], Sequence[Value]],
    ) -> tuple[Value, ...]:
        """What is carried when a loop ends: its body makes it of itself as long as the other, an i1 scalar, is true."""
        types = [start.type for start in starts]

        def region(write: Callable[[list[Value]], Sequence[Value]]) -> None:
            with self.block(types) as arguments:
                self._return(*write(arguments))

        return self.ops("stablehlo.while", starts, types, "", *(functools.partial(region, w) for w in (goes_on, body)))

    def _return(self, *values: Value) -> None:
        self.ops("stablehlo.return", values, [])

    def composite(
        self, name: str, decomposition: str, operands: Sequence[Value], result_types: Sequence[TensorType]
    ) -> tuple[Value, ...]:
        """An op that a function of the module spells out."""
        attributes = (
            f'composite_attributes = {{}}, decomposition = @{decomposition}, name = "{name}", version = 0 : i32'
        )
        return self.ops("stablehlo.composite", operands, result_types, attributes)
