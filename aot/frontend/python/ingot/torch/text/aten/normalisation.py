"""Normalisation over groups of channels and of weights; of layers and batches PyTorch's own decompositions are used."""

from __future__ import annotations

from ingot.stablehlo import Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.torch.text.aten.reductions import variance_and_mean
from ingot.torch.text.lowering import Lowering, aten


@aten("native_group_norm.default")
def native_group_norm(
    e: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    batch: int,
    channels: int,
    pixels: int,
    groups: int,
    eps: float,
) -> tuple[Value, Value, Value]:
    """X [batch, channels, ...] less its group's mean, over its group's deviation.

    Also the means and the reciprocals of the deviations, [batch, groups].
    """
    wide = WIDE_SUM.get(x.dtype, x.dtype)
    parts = e.reshape(e.convert(x, wide), (batch, groups, channels // groups * pixels))
    variance, mean = variance_and_mean(e, parts, [2], 0, keepdim=True)
    scale = e.unary("rsqrt", e.binary("add", variance, e.constant(eps, variance.type)))
    away = e.binary("subtract", parts, e.broadcast(mean, parts.shape))
    y = e.reshape(e.binary("multiply", away, e.broadcast(scale, parts.shape)), x.shape)
    for name, factor in (("multiply", weight), ("add", bias)):
        if factor is not None:
            y = e.binary(name, y, e.broadcast_in_dim(e.convert(factor, wide), x.shape, [1]))
    statistics = [
        e.reshape(e.convert(v, t.dtype), t.shape) for v, t in zip((mean, scale), e.results[1:], strict=True) if t
    ]
    return e.convert(y, x.dtype), statistics[0], statistics[1]


@aten("_weight_norm_interface_backward.default")
def weight_norm_backward(
    e: Lowering, gradient: Value, v: Value, g: Value, norms: Value, dim: int
) -> tuple[Value, Value]:
    """The gradients of v and g in g v / |v|, where |v| is taken over all dimensions but one: Salimans, Kingma, 2016."""
    others = [d for d in range(v.type.rank) if d != e.axis(dim, v.type.rank)]
    along = e.reshape(e.reduce("add", e.binary("multiply", gradient, v), others), g.shape)
    of_g = e.binary("divide", along, norms)
    share = e.binary("divide", of_g, norms)
    across = e.binary("subtract", gradient, e.binary("multiply", v, e.broadcast(share, v.shape)))
    scale = e.broadcast(e.binary("divide", g, norms), v.shape)
    return e.binary("multiply", scale, across), of_g
