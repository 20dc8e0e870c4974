"""Ops of other libraries, and of groups of rows, made of PyTorch's: by name, as the libraries may not be there.

Sources: He, Gkioxari, Dollár, Girshick, "Mask R-CNN", ICCV 2017, section 3 (RoIAlign); Girshick, "Fast R-CNN", ICCV
2015, section 2.1 (RoI pooling).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from ingot.torch.base.errors import TraceError

Tensor: TypeAlias = torch.Tensor
Function: TypeAlias = Callable[..., Any]


def _is_of(offsets: Tensor, rows: int) -> Tensor:
    """Whether each of the rows is of each group [rows, groups], which end at offsets."""
    row, starts = torch.arange(rows, device=offsets.device)[:, None], offsets.roll(1)
    starts = torch.where(torch.arange(len(offsets), device=offsets.device) == 0, 0, starts)
    return (row >= starts) & (row < offsets)


def _of_groups(x: Tensor, offsets: Tensor) -> Tensor:
    """Rows [rows, n] at the places of their groups, [rows, groups, n], and zeros at those of others."""
    return torch.where(_is_of(offsets, len(x))[:, :, None], x[:, None], 0)


def _times_own(x: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
    """Rows [rows, k] times the weight of their group, of [groups, k, n]: one product, of zeros for other groups."""
    return _of_groups(x, offsets).flatten(1) @ weights.flatten(0, 1)


def _by_group(x: Tensor, y: Tensor, offsets: Tensor) -> Tensor:
    """[groups, k, n]: the products of x [rows, k] and y [rows, n] over the rows of each group."""
    product = _of_groups(x, offsets).flatten(1).t() @ y
    return product.unflatten(0, (len(offsets), x.shape[1]))


def grouped_mm(
    x: Tensor, y: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: torch.dtype | None = None
) -> Tensor:
    """``torch.nn.functional.grouped_mm``: products of groups of rows, columns, or of what is added up."""
    if offs is None:
        product = x @ y
    elif x.dim() == 2 and y.dim() == 2:
        product = _by_group(x.t(), y, offs)
    elif y.dim() == 3:
        product = _times_own(x, y, offs)
    else:
        product = _times_own(y.t(), x.transpose(1, 2), offs).t()
    product = product if bias is None else product + bias
    return product if out_dtype is None else product.to(out_dtype)


def _grouped_mm_backward(x: Tensor, weights: Tensor, offs: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    return _times_own(gradient, weights.transpose(1, 2), offs), _by_group(x, gradient, offs)


def _points(start: Tensor, size: Tensor, bins: int, ratio: int, extent: int) -> tuple[Tensor, Tensor]:
    """Where each region's samples along a dimension are read, [regions, bins, ratio, 2], and with which weights."""
    step = (torch.arange(bins * ratio, device=start.device) + 0.5) / ratio
    place = start[:, None] + step.to(start.dtype) * (size / bins)[:, None]
    is_inside = (place >= -1) & (place <= extent)
    place = place.clamp(0, extent - 1)
    low = place.floor().clamp(max=max(extent - 2, 0))
    part = place - low
    weights = torch.stack([1 - part, part], -1) * is_inside[..., None]
    places = torch.stack([low, (low + 1).clamp(max=extent - 1)], -1).long()
    shape = (-1, bins, ratio, 2)
    return places.reshape(shape), weights.reshape(shape)


def _mixing(
    rois: Tensor, scale: float, bins: tuple[int, int], ratio: int, aligned: bool, extents: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """What of the rows and of the columns of an image each bin is: [regions, bins, extent] for either."""
    if ratio <= 0:
        what = "roi_align takes as many samples as a region is large"
        raise TraceError(what, fix="give it a number of them: sampling_ratio=2")
    mixed = []
    for first, last, count, extent in ((2, 4, bins[0], extents[0]), (1, 3, bins[1], extents[1])):
        start = rois[:, first] * scale - (0.5 if aligned else 0.0)
        size = rois[:, last] * scale - (0.5 if aligned else 0.0) - start
        places, weights = _points(start, size if aligned else size.clamp(min=1), count, ratio, extent)
        is_at = places[..., None] == torch.arange(extent, device=rois.device)
        mixed.append(torch.where(is_at, weights[..., None], 0).sum((2, 3)) / ratio)
    return mixed[0], mixed[1]


def roi_align(x: Tensor, rois: Tensor, scale: float, height: int, width: int, ratio: int, aligned: bool) -> Tensor:
    """``torchvision.ops.roi_align``: means of bilinear samples of regions [regions, 5] of images [n, c, h, w]."""
    rows, columns = _mixing(rois, scale, (height, width), ratio, aligned, (x.shape[2], x.shape[3]))
    return rows[:, None].to(x.dtype) @ x[rois[:, 0].long()] @ columns[:, None].transpose(2, 3).to(x.dtype)


def _roi_align_backward(
    gradient: Tensor,
    rois: Tensor,
    scale: float,
    height: int,
    width: int,
    n: int,
    c: int,
    h: int,
    w: int,
    ratio: int,
    aligned: bool,
) -> Tensor:
    rows, columns = _mixing(rois, scale, (height, width), ratio, aligned, (h, w))
    each = rows[:, None].transpose(2, 3).to(gradient.dtype) @ gradient @ columns[:, None].to(gradient.dtype)
    return gradient.new_zeros(n, c, h, w).index_add(0, rois[:, 0].long(), each)


def _within(rois: Tensor, first: int, scale: float, bins: int, extent: int) -> Tensor:
    """Which rows, or columns, of an image are of each bin: [regions, bins, extent]; PyTorch's bins overlap."""
    ends = (rois[:, i] * scale for i in (first, first + 2))
    start, last = (end.sign() * (end.abs() + 0.5).floor() for end in ends)  # halves away from 0
    size = (last - start + 1).clamp(min=1) / bins
    at = torch.arange(bins, device=rois.device)
    low = (start[:, None] + (at * size[:, None]).floor()).clamp(0, extent)
    high = (start[:, None] + ((at + 1) * size[:, None]).ceil()).clamp(0, extent)
    place = torch.arange(extent, device=rois.device)
    return (place >= low[..., None]) & (place < high[..., None])


def roi_pool(x: Tensor, rois: Tensor, scale: float, height: int, width: int) -> tuple[Tensor, Tensor]:
    """``torchvision.ops.roi_pool``: the greatest of each bin, 0 of an empty one, and where it is, i32."""
    h, w = x.shape[2:]
    rows, columns = _within(rois, 2, scale, height, h), _within(rois, 1, scale, width, w)
    images = x[rois[:, 0].long()]
    greatest, column = torch.where(columns[:, None, None], images[:, :, :, None], -torch.inf).max(-1)
    by_bin = torch.where(rows[:, None, :, :, None], greatest[:, :, None], -torch.inf)
    greatest, row = by_bin.max(3)
    places = row * w + column.gather(2, row)
    is_empty = ~(rows.any(-1)[:, None, :, None] & columns.any(-1)[:, None, None])
    return torch.where(is_empty, 0, greatest), torch.where(is_empty, -1, places).int()


def _roi_pool_backward(
    gradient: Tensor,
    rois: Tensor,
    places: Tensor,
    scale: float,
    height: int,
    width: int,
    n: int,
    c: int,
    h: int,
    w: int,
) -> Tensor:
    flat = places.flatten(2).long()
    values = torch.where(flat >= 0, gradient.flatten(2), 0)
    each = gradient.new_zeros(len(rois), c, h * w).scatter_add(2, flat.clamp(min=0), values)
    return gradient.new_zeros(n, c, h * w).index_add(0, rois[:, 0].long(), each).reshape(n, c, h, w)


NAMED: dict[str, Function] = {
    "aten::_grouped_mm": grouped_mm,
    "transformers::grouped_mm_fallback": grouped_mm,
    "transformers::grouped_mm_fallback_backward": _grouped_mm_backward,
    "torchvision::roi_align": roi_align,
    "torchvision::_roi_align_backward": _roi_align_backward,
    "torchvision::roi_pool": roi_pool,
    "torchvision::_roi_pool_backward": _roi_pool_backward,
}
LIBRARIES = ("transformers.integrations.moe", "torchvision")  # modules that make such ops


def made_of_others() -> dict[Any, Function]:
    """What makes those of the NAMED ops that there are."""
    found: dict[Any, Function] = {}
    for full_name, function in NAMED.items():
        library, name = full_name.split("::")
        if packet := getattr(getattr(torch.ops, library), name, None):
            found[packet.default] = function
    return found
