"""Bounds of the integers in tensors: of what an op makes from those of its operands, or those of its type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

Number = int | float
Bounds = tuple[Number, Number]
Known = Callable[[Any], Bounds | None]  # bounds of an operand, which may be a number

aten = torch.ops.aten


def of_type(dtype: torch.dtype) -> Bounds | None:
    """What a type of elements can hold; None for floats and complex numbers."""
    if dtype is torch.bool:
        return 0, 1
    if dtype.is_floating_point or dtype.is_complex:
        return None
    info = torch.iinfo(dtype)
    return info.min, info.max


def of_constant(tensor: torch.Tensor) -> Bounds | None:
    """The least and the largest of a tensor's integers."""
    if of_type(tensor.dtype) is None or not tensor.numel():
        return of_type(tensor.dtype)
    return int(tensor.min()), int(tensor.max())


def of_tensor(node: torch.fx.Node, made: torch.Tensor, known: Known) -> Bounds | None:
    """Of all elements of what a node gives; those of its type where it computes what that does not hold."""
    most = of_type(made.dtype)
    rule = RULES.get(node.target)
    found = rule(node, known) if rule else None
    if found is None:
        return most
    if most is None:
        return _rounded(found, made.dtype) if node.target not in SUMS and not made.dtype.is_complex else None
    if not all(math.isfinite(end) for end in found):
        return most
    low, high = math.floor(found[0]), math.ceil(found[1])
    return (low, high) if most[0] <= low and high <= most[1] else most


def _rounded(found: Bounds, dtype: torch.dtype) -> Bounds:
    """As far as rounding to a type of floats may move what is within."""
    far = torch.finfo(dtype).eps
    return float(found[0]) - abs(found[0]) * far, float(found[1]) + abs(found[1]) * far


def _first(node: torch.fx.Node, known: Known) -> Bounds | None:
    return known(node.args[0])


def _joined(*places: int) -> Callable[[torch.fx.Node, Known], Bounds | None]:
    """Of what takes each element from one of some operands."""

    def rule(node: torch.fx.Node, known: Known) -> Bounds | None:
        found = [known(node.args[place]) for place in places]
        ends = [bounds for bounds in found if bounds]
        return (min(low for low, _ in ends), max(high for _, high in ends)) if len(ends) == len(found) else None

    return rule


def _of_two(combine: Callable[[Number, Number], Number]) -> Callable[[torch.fx.Node, Known], Bounds | None]:
    """Of what rises or falls in each of two operands, which have no factors beside them."""

    def rule(node: torch.fx.Node, known: Known) -> Bounds | None:
        x, y = known(node.args[0]), known(node.args[1])
        if x is None or y is None or node.kwargs or len(node.args) > 2:
            return None
        ends = [combine(a, b) for a in x for b in y]
        return min(ends), max(ends)

    return rule


def _negated(node: torch.fx.Node, known: Known) -> Bounds | None:
    x = known(node.args[0])
    return (-x[1], -x[0]) if x else None


def _absolute(node: torch.fx.Node, known: Known) -> Bounds | None:
    x = known(node.args[0])
    return (0, max(-x[0], x[1])) if x else None


def _remainder(node: torch.fx.Node, known: Known) -> Bounds | None:
    divisor = known(node.args[1])
    return (min(divisor[0], 0), max(divisor[1], 0)) if divisor else None


def _clamped(node: torch.fx.Node, known: Known) -> Bounds | None:
    """Of a tensor cut below and above, where both are known; also of floats."""
    x = known(node.args[0]) or (-math.inf, math.inf)
    ends = dict(zip(("min", "max"), node.args[1:], strict=False)) | node.kwargs
    least, most = (known(ends[name]) if ends.get(name) is not None else None for name in ("min", "max"))
    low = max(x[0], least[0]) if least else x[0]
    high = max(x[1], least[1]) if least else x[1]
    return (min(low, most[0]), min(high, most[1])) if most else (low, high)


def _summed(node: torch.fx.Node, known: Known) -> Bounds | None:
    x, count = known(node.args[0]), _count(node.args[0])
    return (min(x[0] * count, x[0], 0), max(x[1] * count, x[1], 0)) if x else None


def _place(node: torch.fx.Node, known: Known) -> Bounds | None:
    return 0, _count(node.args[0])


def _counted(node: torch.fx.Node, known: Known) -> Bounds | None:
    """Of what counts from a start to an end, by steps."""
    numbers = [operand for operand in node.args if isinstance(operand, int)]
    if len(numbers) != len(node.args):
        return None
    start, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    count = max(0, -((start - end) // step))
    last = start + step * max(0, count - 1)
    return min(start, last), max(start, last)


def _count(operand: Any) -> int:
    return int(operand.meta["val"].numel())


SUMS = (aten.sum.default, aten.sum.dim_IntList)
MOVING = (
    *(aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.expand.default, aten.permute.default),
    *(aten.t.default, aten.transpose.int, aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims),
    *(aten.unsqueeze.default, aten.select.int, aten.slice.Tensor, aten.alias.default, aten.detach.default),
    *(aten.clone.default, aten._to_copy.default, aten.lift_fresh_copy.default, aten.scalar_tensor.default),
    *(aten.index.Tensor, aten.index_select.default, aten.gather.default, aten.embedding.default),
    *(aten.max.default, aten.min.default, aten.amax.default, aten.amin.default, aten.flip.default),
)
RULES: dict[Any, Callable[[torch.fx.Node, Known], Bounds | None]] = {
    **dict.fromkeys(MOVING, _first),
    **dict.fromkeys((aten.add.Tensor, aten.add.Scalar), _of_two(lambda a, b: a + b)),
    **dict.fromkeys((aten.sub.Tensor, aten.sub.Scalar), _of_two(lambda a, b: a - b)),
    **dict.fromkeys((aten.mul.Tensor, aten.mul.Scalar), _of_two(lambda a, b: a * b)),
    **dict.fromkeys((aten.maximum.default, aten.minimum.default), _joined(0, 1)),
    **dict.fromkeys((aten.remainder.Scalar, aten.remainder.Tensor), _remainder),
    **dict.fromkeys(SUMS, _summed),
    **dict.fromkeys((aten.argmax.default, aten.argmin.default, aten.count_nonzero.default), _place),
    **dict.fromkeys((aten.arange.default, aten.arange.start, aten.arange.start_step), _counted),
    aten.where.self: _joined(1, 2),
    aten.neg.default: _negated,
    aten.abs.default: _absolute,
    aten.clamp.default: _clamped,
}
