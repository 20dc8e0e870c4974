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


@aten("multilabel_margin_loss_forward.default")
def multilabel_margin_loss(e: Lowering, x: Value, target: Value, reduction: int = MEAN) -> tuple[Value, Value]:
    """The sum over labels j and other classes k of max(0, 1 - x_j + x_k) / classes; and which classes are labels.

    X and the target are [batch..., classes]; the labels are those before the first -1.
    """
    gap, counts, is_label = label_gaps(e, x, target)
    each = scaled(e, e.reduce("add", e.select(counts, gap, e.constant(0, gap.type)), [1, 2]), 1 / gap.shape[2])
    flags = e.reshape(e.convert(e.reduce("or", is_label, [1]), x.dtype), x.shape)
    if reduction:
        each = scaled(e, e.reduce("add", each, [0]), 1 / gap.shape[0] if reduction == MEAN else 1)
    return e.reshape(each, e.result.shape), flags


@aten("multilabel_margin_loss_backward.default")
def multilabel_margin_loss_backward(
    e: Lowering, gradient: Value, x: Value, target: Value, reduction: int, is_target: Value
) -> Value:
    """The gradient of x: for each gap that counts, 1 at its class and -1 at its label."""
    gap, counts, is_label = label_gaps(e, x, target)
    slope = e.convert(counts, x.dtype)
    of_label = e.broadcast_in_dim(e.reduce("add", slope, [2]), gap.shape, [0, 1])
    back = e.select(is_label, of_label, e.constant(0, gap.type))
    total = e.reduce("add", e.binary("subtract", slope, back), [1])
    total = scaled(e, total, 1 / (gap.shape[2] * (gap.shape[0] if reduction == MEAN else 1)))
    each = e.broadcast(e.reshape(gradient, (gradient.type.elements, 1)), total.shape)
    return e.reshape(e.binary("multiply", total, each), x.shape)


def label_gaps(e: Lowering, x: Value, target: Value) -> tuple[Value, Value, Value]:
    """1 - x_j + x_k for labels j and classes k, [batch, j, k]; which of them count; where the label is the class."""
    classes = x.shape[-1] if x.type.rank else 1
    shape = (x.type.elements // classes, classes)
    x, target = e.reshape(x, shape), e.reshape(e.convert(target, "i64"), shape)
    place, nowhere = e.iota(1, target.type), e.constant(classes, target.type)
    ends = e.select(e.compare("EQ", target, e.constant(-1, target.type)), place, nowhere)
    is_used = e.compare("LT", place, e.broadcast_in_dim(e.reduce("minimum", ends, [1]), shape, [0]))
    cube = TensorType("i64", (*shape, classes))

    def of_labels(value: Value) -> Value:
        return e.broadcast_in_dim(value, cube.shape, [0, 1])

    def of_classes(value: Value) -> Value:
        return e.broadcast_in_dim(value, cube.shape, [0, 2])

    is_label = e.compare("EQ", of_labels(e.select(is_used, target, nowhere)), e.iota(2, cube))
    wide = of_classes(x)
    zero = e.constant(0, wide.type)
    at_label = e.reduce("add", e.select(is_label, wide, zero), [2])
    gap = e.binary("add", e.binary("subtract", wide, of_labels(at_label)), e.constant(1, wide.type))
    is_other = of_classes(e.unary("not", e.reduce("or", is_label, [1])))
    is_pair = e.binary("and", of_labels(is_used), is_other)
    return gap, e.binary("and", is_pair, e.compare("GT", gap, zero)), is_label
