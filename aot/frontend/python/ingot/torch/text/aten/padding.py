"""The gradient of padding that repeats the border."""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import Value
from ingot.torch.text.lowering import Lowering, aten


@aten("replication_pad1d_backward.default", "replication_pad2d_backward.default", "replication_pad3d_backward.default")
def replication_pad_backward(e: Lowering, gradient: Value, x: Value, padding: Sequence[int]) -> Value:
    """What lies outside is added to the border; `padding` has pairs from the last dimension on."""
    if min(padding) < 0:
        raise e.refuse("replication padding that cuts has no gradient here", "slice before padding")
    for i in range(len(padding) // 2):
        axis = gradient.type.rank - 1 - i
        gradient = folded(e, gradient, axis, padding[2 * i], padding[2 * i + 1])
    return gradient


def folded(e: Lowering, x: Value, axis: int, low: int, high: int) -> Value:
    """X without `low` elements before and `high` behind along an axis, their sums added to the outermost that stay."""
    end = x.shape[axis]
    inner = e.slice_dim(x, axis, low, end - high)
    for start, limit, first in ((0, low, True), (end - high, end, False)):
        if start == limit:
            continue
        outside = e.reduce("add", e.slice_dim(x, axis, start, limit), [axis])
        row = e.reshape(outside, (*inner.shape[:axis], 1, *inner.shape[axis + 1 :]))
        before, behind = [0] * inner.type.rank, [0] * inner.type.rank
        (behind if first else before)[axis] = inner.shape[axis] - 1
        inner = e.binary("add", inner, e.pad(row, 0, before, behind))
    return inner
