"""Convolutions, pooling, resizing and sampling of images."""

from functools import partial

import torch
import torch.nn.functional as F

from ops.data import Cases, between, normal

LINE, IMAGE, VOLUME = normal(2, 3, 9), normal(2, 4, 7, 6), normal(2, 2, 5, 4, 6)


def resize(size: object, mode: str, **options: object) -> partial[torch.Tensor]:
    """F.interpolate."""
    return partial(
        F.interpolate, **({"scale_factor": size} if isinstance(size, float) else {"size": size}), mode=mode, **options
    )


CASES: Cases = {
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1), (LINE, normal(5, 3, 3), normal(5))),
    "conv1d_same": (lambda x, w: F.conv1d(x, w, padding="same"), (LINE, normal(5, 3, 4))),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1, dilation=2), (IMAGE, normal(5, 4, 3, 2), normal(5))),
    "conv2d_numbers_for_all": (lambda x, w: torch.conv2d(x, w, None, [2], [1], [1]), (IMAGE, normal(5, 4, 3, 2))),
    "conv2d_groups": (lambda x, w: F.conv2d(x, w, groups=2, stride=(2, 1)), (IMAGE, normal(6, 2, 3, 3))),
    "conv2d_depthwise": (lambda x, w: F.conv2d(x, w, groups=4), (IMAGE, normal(4, 1, 3, 3))),
    "conv2d_unbatched": (lambda x, w: F.conv2d(x[0], w), (IMAGE, normal(5, 4, 3, 3))),
    "conv3d": (lambda x, w: F.conv3d(x, w, padding=1), (VOLUME, normal(3, 2, 3, 2, 3))),
    "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, stride=2, output_padding=1), (LINE, normal(3, 2, 3))),
    "conv_transpose2d": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, groups=2),
        (IMAGE, normal(4, 3, 3, 3), normal(6)),
    ),
    "conv_transpose3d": (lambda x, w: F.conv_transpose3d(x, w, dilation=2), (VOLUME, normal(2, 3, 2, 2, 2))),
    "conv_transpose_output_padding": (
        lambda x, w: F.conv_transpose1d(x, w, output_padding=1, dilation=2),
        (LINE, normal(3, 2, 3)),
    ),
    "max_pool1d": (lambda x: F.max_pool1d(x, 3, 2, 1), (LINE,)),
    "max_pool2d": (lambda x: (F.max_pool2d(x, 2), F.max_pool2d(x, (3, 2), 2, 1, ceil_mode=True)), (IMAGE,)),
    "max_pool2d_dilated": (lambda x: F.max_pool2d(x, 2, 1, dilation=2), (IMAGE,)),
    "max_pool_indices": (lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), (IMAGE,)),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2), (VOLUME,)),
    "max_unpool2d": (
        lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=(7, 6)),
        (IMAGE,),
    ),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 3, 2, 1), (LINE,)),
    "avg_pool2d": (
        lambda x: (F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
        (IMAGE,),
    ),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, 1), (VOLUME,)),
    "lp_pool": (
        lambda x, y: (F.lp_pool1d(x, 2, 3), F.lp_pool2d(y, 3, 2)),
        (between(0.1, 1, 2, 3, 9), between(0.1, 1, 2, 3, 4, 4)),
    ),
    "fractional_max_pool2d": (
        lambda x, samples: F.fractional_max_pool2d(x, 2, output_size=(4, 3), _random_samples=samples.detach()),
        (IMAGE, between(0, 1, 2, 4, 2)),
    ),
    "fractional_max_pool2d_of_negative_samples": (
        lambda x, samples: F.fractional_max_pool2d(x, 1, output_size=(4, 3), _random_samples=samples.detach()),
        (IMAGE, between(-0.9, -0.1, 2, 4, 2)),
    ),
    "adaptive_avg_pool1d": (lambda x: (F.adaptive_avg_pool1d(x, 4), F.adaptive_avg_pool1d(x, 1)), (LINE,)),
    "adaptive_avg_pool2d": (lambda x: (F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_avg_pool2d(x, 1)), (IMAGE,)),
    "adaptive_avg_pool3d": (lambda x: (F.adaptive_avg_pool3d(x, (3, 4, 2)), F.adaptive_avg_pool3d(x, 1)), (VOLUME,)),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 4), (LINE,)),
    "adaptive_max_pool2d": (
        lambda x: (F.adaptive_max_pool2d(x, (3, 4)), *F.adaptive_max_pool2d(x, 2, return_indices=True)),
        (IMAGE,),
    ),
    "adaptive_max_pool3d": (lambda x: F.adaptive_max_pool3d(x, (3, 2, 2)), (VOLUME,)),
    **{f"nearest1d_{s}": (resize(s, "nearest"), (LINE,)) for s in (2.0, 1.5, 4, 18)},
    **{f"nearest_exact1d_{s}": (resize(s, "nearest-exact"), (LINE,)) for s in (2.0, 4)},
    "nearest2d": (resize((14, 18), "nearest"), (IMAGE,)),
    "nearest2d_down": (resize((3, 4), "nearest"), (IMAGE,)),
    "nearest_exact2d": (resize((10, 5), "nearest-exact"), (IMAGE,)),
    "nearest3d": (resize((10, 8, 4), "nearest"), (VOLUME,)),
    "nearest_exact3d": (resize(2.0, "nearest-exact"), (VOLUME,)),
    "linear1d": (resize(13, "linear"), (LINE,)),
    "bilinear2d": (resize((9, 11), "bilinear"), (IMAGE,)),
    "bilinear2d_corners": (resize((9, 11), "bilinear", align_corners=True), (IMAGE,)),
    "bilinear2d_large": (resize(2.0, "bilinear"), (normal(1, 2, 40, 3),)),
    "bilinear2d_antialias": (resize((3, 4), "bilinear", antialias=True), (IMAGE,)),
    "trilinear3d": (resize((7, 3, 9), "trilinear"), (VOLUME,)),
    "bicubic2d": (resize((9, 11), "bicubic"), (IMAGE,)),
    "bicubic2d_corners": (resize(1.5, "bicubic", align_corners=True), (IMAGE,)),
    **{
        f"grid_sample_{mode}_{padding}": (
            partial(F.grid_sample, mode=mode, padding_mode=padding, align_corners=False),
            (IMAGE, between(-1.2, 1.2, 2, 5, 3, 2)),
        )
        for mode, padding in (
            ("bilinear", "zeros"),
            ("bilinear", "border"),
            ("bicubic", "reflection"),
        )
    },
    "grid_sample_nearest": (
        lambda x, grid: F.grid_sample(x, grid, mode="nearest", align_corners=True),
        (IMAGE, between(-1.2, 1.2, 2, 5, 3, 2)),
    ),
    **{
        f"grid_sample_of_volumes_{mode}_{padding}_{aligned}": (
            partial(F.grid_sample, mode=mode, padding_mode=padding, align_corners=aligned),
            (normal(2, 3, 4, 2, 5), between(-1.6, 1.6, 2, 2, 3, 2, 3)),
        )
        for mode, padding, aligned in (
            *(("bilinear", "zeros", False), ("bilinear", "border", True), ("bilinear", "reflection", False)),
            *(("nearest", "zeros", True), ("nearest", "reflection", False)),
        )
    },
    "affine_grid": (lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=False), (normal(2, 2, 3),)),
}
