"""StableHLO's ops as functions of values; every result type follows from the operands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingot.stablehlo.combining import Combining
from ingot.stablehlo.elements import array, pairs
from ingot.stablehlo.types import Shape, TensorType
from ingot.stablehlo.writer import Value


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


class Ops(Combining):
    """A writer that knows StableHLO's ops: products, gathers and control flow besides those of its bases."""

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

    def composite(
        self, name: str, decomposition: str, operands: Sequence[Value], result_types: Sequence[TensorType]
    ) -> tuple[Value, ...]:
        """An op that a function of the module spells out."""
        attributes = (
            f'composite_attributes = {{}}, decomposition = @{decomposition}, name = "{name}", version = 0 : i32'
        )
        return self.ops("stablehlo.composite", operands, result_types, attributes)
