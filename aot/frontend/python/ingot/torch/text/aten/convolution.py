"""Convolutions and their gradients: all are convolutions with other windows.

Tensors are [batch, channels, spatial...]; kernels [out, in / groups, spatial...], of transposed ones
[in, out / groups, spatial...]. With stride s, dilation d, padding p and kernel extent k, a convolution maps an extent n
to (n + 2p - d (k - 1) - 1) / s + 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import Value
from ingot.stablehlo.combining import WIDE_SUM
from ingot.stablehlo.ops import Layout, Window
from ingot.torch.text.lowering import Lowering, aten

Ints = Sequence[int]


def images(rank: int) -> Layout:
    """[batch, features, spatial...]."""
    return Layout(0, 1, tuple(range(2, rank)))


def swapped(rank: int) -> Layout:
    """[features, batch, spatial...]; of a kernel: [out, in, spatial...]."""
    return Layout(1, 0, tuple(range(2, rank)))


def forward(
    e: Lowering,
    x: Value,
    kernel: Value,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    dtype: str | None = None,
) -> Value:
    """The convolution of x with a kernel [out, in / groups, spatial...]; in x's element type or the one given."""
    rank = x.type.rank
    return e.convolution(
        x,
        kernel,
        Window(
            lhs=images(rank),
            rhs=swapped(rank),
            result=images(rank),
            strides=stride,
            padding=[(p, p) for p in padding],
            lhs_dilation=[1] * (rank - 2),
            rhs_dilation=dilation,
            feature_groups=groups,
        ),
        dtype,
    )


def spread(
    e: Lowering,
    y: Value,
    kernel: Value,
    extents: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    dtype: str | None = None,
) -> Value:
    """The transpose of `forward`: from its result's shape back to images of spatial `extents`."""
    rank = y.type.rank
    pads = []
    for i, (n, s, p, d) in enumerate(zip(extents, stride, padding, dilation, strict=True)):
        reach = d * (kernel.shape[2 + i] - 1)
        low = reach - p
        pads.append((low, n + reach - low - ((y.shape[2 + i] - 1) * s + 1)))
    return e.convolution(
        y,
        grouped_by_input(e, kernel, groups),
        Window(
            lhs=images(rank),
            rhs=images(rank),
            result=images(rank),
            strides=[1] * (rank - 2),
            padding=pads,
            lhs_dilation=stride,
            rhs_dilation=dilation,
            feature_groups=groups,
            reverse=True,
        ),
        dtype,
    )


def grouped_by_input(e: Lowering, kernel: Value, groups: int) -> Value:
    """[out, in / groups, ...] -> [out / groups, in, ...]: what a grouped convolution the other way reads."""
    if groups == 1:
        return kernel
    out, per_group, *window = kernel.shape
    split = e.reshape(kernel, (groups, out // groups, per_group, *window))
    turned = e.transpose(split, [1, 0, 2, *range(3, 3 + len(window))])
    return e.reshape(turned, (out // groups, groups * per_group, *window))


def kernel_gradient(
    e: Lowering, x: Value, y: Value, extents: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Value:
    """The gradient of `forward`'s kernel, of spatial `extents`, from images x and the result's gradient y."""
    rank = x.type.rank
    pads = []
    for i, (k, s, p, d) in enumerate(zip(extents, stride, padding, dilation, strict=True)):
        covered = (y.shape[2 + i] - 1) * s + d * (k - 1) + 1
        pads.append((p, covered - x.shape[2 + i] - p))
    return e.convolution(
        x,
        y,
        Window(
            lhs=swapped(rank),
            rhs=images(rank),
            result=swapped(rank),
            strides=dilation,
            padding=pads,
            lhs_dilation=[1] * (rank - 2),
            rhs_dilation=stride,
            batch_groups=groups,
        ),
    )


def for_each_extent(ints: Ints, extents: int) -> Ints:
    """A list of one number is of that number for each."""
    return list(ints) * extents if len(ints) == 1 else ints


@aten("convolution.default")
def convolution(
    e: Lowering,
    x: Value,
    kernel: Value,
    bias: Value | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Value:
    """A convolution, or a transposed one, and its bias; f16 and bf16 are summed in f32 and rounded once."""
    wide = WIDE_SUM.get(x.dtype, x.dtype)
    stride, padding, dilation = (for_each_extent(ints, x.type.rank - 2) for ints in (stride, padding, dilation))
    if transposed:
        y = spread(e, x, kernel, e.result.shape[2:], stride, padding, dilation, groups, wide)
    else:
        y = forward(e, x, kernel, stride, padding, dilation, groups, wide)
    if bias is not None:
        y = e.binary("add", y, e.broadcast_in_dim(e.convert(bias, wide), y.shape, [1]))
    return e.convert(y, e.result.dtype)


@aten("convolution_backward.default")
def convolution_backward(
    e: Lowering,
    gradient: Value,
    x: Value,
    kernel: Value,
    bias_sizes: Ints | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    mask: Sequence[bool],
) -> tuple[Value | None, ...]:
    """The gradients of a convolution's input, kernel and bias, those that `mask` asks for."""
    of_x = of_kernel = of_bias = None
    extents = kernel.shape[2:]
    stride, padding, dilation = (for_each_extent(ints, len(extents)) for ints in (stride, padding, dilation))
    if mask[0] and transposed:
        y = forward(e, gradient, kernel, stride, padding, dilation, groups)
        of_x = e.slice(y, [0] * y.type.rank, x.shape, [1] * y.type.rank)  # more is output_padding's, where it is large
    elif mask[0]:
        of_x = spread(e, gradient, kernel, x.shape[2:], stride, padding, dilation, groups)
    if mask[1]:
        image, result = (gradient, x) if transposed else (x, gradient)
        of_kernel = kernel_gradient(e, image, result, extents, stride, padding, dilation, groups)
    if mask[2]:
        of_bias = e.reduce("add", gradient, [0, *range(2, gradient.type.rank)])
    return of_x, of_kernel, of_bias
