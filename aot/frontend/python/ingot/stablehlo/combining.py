"""StableHLO's ops that combine elements by a region, or put them in order by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingot.stablehlo.elements import Elements, array, pairs
from ingot.stablehlo.types import TensorType, highest, lowest
from ingot.stablehlo.writer import Value

WIDE_SUM = {"f16": "f32", "bf16": "f32"}
REDUCTION_STARTS: dict[str, Callable[[str], float | int]] = {
    "add": lambda dtype: 0,
    "multiply": lambda dtype: 1,
    "maximum": lowest,
    "minimum": highest,
    "or": lambda dtype: 0,
    "and": lambda dtype: 1,
}


class Combining(Elements):
    """A writer of reductions, windows, scatters and sorts."""

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

    def _return(self, *values: Value) -> None:
        self.ops("stablehlo.return", values, [])
