"""Losses that PyTorch does not take apart."""

from __future__ import annotations

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.elementwise import scaled
from ingot.torch.text.aten.indexing import rows
from ingot.torch.text.lowering import Lowering, Operand, aten

MEAN = 1  # of torch's reductions: none 0, mean 1, sum 2


@aten("multi_margin_loss_backward.default")
def multi_margin_loss_backward(
    e: Lowering,
    gradient: Value,
    x: Value,
    target: Value,
    p: int,
    margin: Operand,
    weight: Value | None = None,
    reduction: int = MEAN,
) -> Value:
    """The gradient of sum over j != y of w_y max(0, margin - x_y + x_j)^p / classes; x: [batch..., classes]."""
    shape = x.shape
    classes = shape[-1] if shape else 1
    x = e.reshape(x, (x.type.elements // classes, classes))
    batch = x.shape[0]
    target = e.reshape(e.convert(target, "i64"), (batch,))
    index = e.iota(1, x.type.with_dtype("i64"))
    is_target = e.compare("EQ", index, e.broadcast_in_dim(target, x.shape, [0]))
    zero = e.constant(0, x.type)
    of_target = e.reduce("add", e.select(is_target, x, zero), [1])
    gap = e.binary(
        "add", e.binary("subtract", x, e.broadcast_in_dim(of_target, x.shape, [0])), e.tensor(margin, x.type)
    )
    slope = e.constant(1, x.type) if p == 1 else scaled(e, gap, 2)
    active = e.binary("and", e.compare("GT", gap, zero), e.unary("not", is_target))
    slope = e.select(active, slope, zero)
    back = e.broadcast_in_dim(e.unary("negate", e.reduce("add", slope, [1])), x.shape, [0])
    result = scaled(e, e.select(is_target, back, slope), 1 / (classes * (batch if reduction == MEAN else 1)))
    if weight is not None:
        result = e.binary("multiply", result, e.broadcast_in_dim(rows(e, weight, target, 0), x.shape, [0]))
    each = e.reshape(gradient, (batch,)) if gradient.type.rank else e.tensor(gradient, TensorType(x.dtype, (batch,)))
    return e.reshape(e.binary("multiply", result, e.broadcast_in_dim(each, x.shape, [0])), shape)
