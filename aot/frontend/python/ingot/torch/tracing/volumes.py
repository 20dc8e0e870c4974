"""``grid_sample`` of volumes, made of ops that have a rule and a gradient."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch

NEAREST = 1  # of the interpolations of grid_sample; 0 is linear
BORDER, REFLECTION = 1, 2  # of its paddings; 0 is zeros


def sampled_volumes(
    x: torch.Tensor, grid: torch.Tensor, interpolation: int, padding: int, align_corners: bool
) -> torch.Tensor:
    """Volumes [n, c, d, h, w] sampled where a grid [n, d', h', w', 3] says, whose coordinates are of w, h and d."""
    extents = x.shape[:1:-1]
    positions = [position(grid[..., i], extent, padding, align_corners) for i, extent in enumerate(extents)]
    if interpolation == NEAREST:
        return voxels(x, [p.detach().round() for p in positions])
    lows = [p.detach().floor() for p in positions]
    corners = []
    for steps in itertools.product((0, 1), repeat=len(extents)):
        at = [low + step for low, step in zip(lows, steps, strict=True)]
        weights = [1 - (p - place).abs() for p, place in zip(positions, at, strict=True)]
        corners.append(voxels(x, at) * math.prod(weights[1:], start=weights[0]).unsqueeze(1))
    return sum(corners[1:], corners[0])


def voxels(x: torch.Tensor, at: Sequence[torch.Tensor]) -> torch.Tensor:
    """The values of x [n, c, d, h, w] at whole positions along w, h and d, of shape [n, ...]; zeros outside."""
    is_within, flat, size = torch.ones((), dtype=torch.bool), torch.zeros((), dtype=torch.int64), 1
    for place, extent in zip(at, x.shape[:1:-1], strict=True):
        is_within = is_within & (place >= 0) & (place < extent)
        flat, size = flat + place.nan_to_num().clamp(0, extent - 1).long() * size, size * extent
    index = flat.reshape(len(x), 1, flat[:1].numel()).expand(-1, x.shape[1], -1)
    values = x.flatten(2).gather(2, index).reshape(*x.shape[:2], *flat.shape[1:])
    return torch.where(is_within.unsqueeze(1), values, 0)


def position(coordinate: torch.Tensor, extent: int, padding: int, align_corners: bool) -> torch.Tensor:
    """The position among `extent` voxels of a coordinate from -1 to 1."""
    margin = 0.0 if align_corners else 0.5  # from the first voxel's centre to -1
    at = ((coordinate + 1) * (extent - 1 + 2 * margin) - 2 * margin) / 2
    if padding == REFLECTION:
        at = reflected(at, -margin, extent - 1 + margin)
    if padding in (BORDER, REFLECTION):
        at = torch.where((at > 0) & (at < extent - 1), at, at.detach().clamp(0, extent - 1))
    return at


def reflected(at: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """Positions mirrored at both ends until they are between them."""
    if low == high:
        return torch.zeros_like(at)
    beyond = torch.where(at < low, low - at, at - low)
    rest = torch.fmod(beyond, high - low)
    is_even = (beyond.detach() / (high - low)).floor() % 2 == 0
    return torch.where(is_even, rest + low, high - rest)
