"""Shapes, views, joining and cutting, padding."""

import torch
import torch.nn.functional as F

from ops.data import Cases, mixed, normal, whole

X, CUBE, IMAGE = normal(3, 4), normal(2, 3, 4), normal(2, 4, 6, 5)

CASES: Cases = {
    "views": (lambda x: (x.view(6, 4), x.reshape(-1), x.flatten(1), x.unflatten(1, (3, 1)), x.ravel()), (CUBE,)),
    "bits": (
        lambda n: (n.view(torch.int32), n.int().view(torch.int64), n.int().view(torch.uint8), n.view(n.dtype)),
        (whole(9, 3, 4),),
    ),
    "squeeze": (lambda x: (x.unsqueeze(1), x[:1].squeeze(), x[:1].squeeze(0), x[:1].squeeze((0, 1))), (CUBE,)),
    "transposes": (lambda x: (x.transpose(0, 2), x.permute(2, 0, 1), x.mT, x.movedim(0, 2), x.swapaxes(0, 1)), (CUBE,)),
    "t": (lambda x: (x.t(), x.T, x.adjoint()), (X,)),
    "expand": (lambda x: (x[:, :1].expand(3, 5), x.expand(2, 3, 4), torch.broadcast_to(x, (2, 3, 4))), (X,)),
    "repeat": (lambda x: (x.repeat(2, 3), x.repeat(2, 1, 2), torch.tile(x, (2,))), (X,)),
    "repeat_interleave": (lambda x: (x.repeat_interleave(2, dim=1), x.repeat_interleave(3)), (X,)),
    "cat": (
        lambda x, y: (torch.cat([x, y], 1), torch.stack([x, y], -1), torch.hstack([x, y]), torch.vstack([x, y])),
        (X, X + 1),
    ),
    "cat_promotes": (lambda x, y: torch.cat([x, y]), (X, whole(5, 2, 4))),
    "dstack": (lambda x: (torch.dstack([x, x]), torch.column_stack([x, x])), (X,)),
    "split": (lambda x: (*x.split(2, 1), *x.split([1, 2]), *x.chunk(2, 1), *x.tensor_split(3, 1)), (X,)),
    "unbind": (lambda x: (*x.unbind(), *x.unbind(2)), (CUBE,)),
    "flip": (lambda x: (x.flip(0), x.flip((0, 2)), x.fliplr(), x.flipud()), (CUBE,)),
    "roll": (lambda x: (x.roll(1), x.roll(1, 0), x.roll((1, -2), (0, 2))), (CUBE,)),
    "rot90": (lambda x: (torch.rot90(x), torch.rot90(x, 2), torch.rot90(x, -1, (1, 2))), (CUBE,)),
    "slices": (lambda x: (x[:, 1], x[..., ::2], x[1:, None, -2:], x[-1, 0], x.narrow(1, 1, 2)), (CUBE,)),
    "select_assign": (lambda x, y: assigned(x, y), (CUBE, X)),
    "diagonal": (lambda x: (x.diagonal(), x.diagonal(1, 1, 2), x.diagonal(-1, 2, 0)), (CUBE,)),
    "diag": (lambda x: (x.diag(), x[0].diag(), x[0].diag(-1)), (X,)),
    "diag_embed": (lambda x: (torch.diag_embed(x), torch.diag_embed(x, 1, 0, 2)), (X,)),
    "diagonal_scatter": (lambda x, y: torch.diagonal_scatter(x, y), (normal(4, 4), normal(4))),
    "slice_scatter": (lambda x, y: torch.slice_scatter(x, y, 1, 0, 4, 2), (X, normal(3, 2))),
    "select_scatter": (lambda x, y: torch.select_scatter(x, y, 1, -1), (X, normal(3))),
    "tril_triu": (lambda x: (x.tril(), x.triu(1), x.tril(-1)), (CUBE,)),
    "tril_indices": (
        lambda x: x[tuple(torch.tril_indices(3, 3))] + x[tuple(torch.triu_indices(3, 3))],
        (normal(3, 3),),
    ),
    "unfold_tensor": (lambda x: (x.unfold(1, 3, 2), x.unfold(0, 2, 1)), (normal(4, 9),)),
    "as_strided": (lambda x: x.as_strided((3, 4), (5, 1), 2), (normal(4, 5),)),
    "as_strided_windows": (lambda x: x.as_strided((6, 3), (1, 1)), (normal(8),)),
    "fold": (lambda x: F.fold(x, (4, 5), (2, 2)), (normal(2, 12, 12),)),
    "fold_strided": (lambda x: F.fold(x, (6, 7), (2, 3), stride=2, padding=1, dilation=1), (normal(2, 12, 16),)),
    "unfold": (lambda x: (F.unfold(x, 2), F.unfold(x, (2, 3), dilation=2, padding=1, stride=(2, 1))), (IMAGE,)),
    "pixel_shuffle": (lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x[:, :, :4, :4], 2)), (IMAGE,)),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), (IMAGE,)),
    "pad": (lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 1), value=3.0), F.pad(x, (-1, 1))), (IMAGE,)),
    "pad_reflect": (lambda x: (F.pad(x, (1, 2, 2, 1), mode="reflect"), F.pad(x[0], (2, 1), mode="reflect")), (IMAGE,)),
    "pad_replicate": (
        lambda x: (F.pad(x, (1, 2, 2, 1), mode="replicate"), F.pad(x[0], (2, 1), mode="replicate")),
        (IMAGE,),
    ),
    "pad_circular": (
        lambda x: (F.pad(x, (1, 2, 2, 1), mode="circular"), F.pad(x[0], (2, 1), mode="circular")),
        (IMAGE,),
    ),
    "meshgrid": (lambda x, y: torch.meshgrid(x, y, indexing="ij"), (normal(3), normal(4))),
    "cartesian_prod": (lambda x, y: torch.cartesian_prod(x, y), (normal(3), normal(4))),
    "block_diag": (lambda x, y: torch.block_diag(x, y), (X, normal(2, 2))),
    "kron": (torch.kron, (X, normal(2, 2))),
    "vander": (lambda x: torch.vander(x.detach(), 3), (normal(4),)),
    "atleast": (lambda x: (torch.atleast_2d(x), torch.atleast_3d(x)), (normal(3),)),
    "creation": (
        lambda x: (
            torch.arange(3, 10, 2),
            torch.linspace(0, 1, 5, dtype=x.dtype),
            torch.logspace(0, 2, 3, dtype=x.dtype),
            torch.eye(3, dtype=x.dtype),
            torch.full((2,), 3),
            torch.zeros_like(x),
            torch.ones(2, 2, dtype=torch.int32),
            x.new_full((2,), 1.5),
        ),
        (X,),
    ),
    "windows": (
        lambda x: x * torch.hann_window(8, dtype=x.dtype) + torch.hamming_window(8, dtype=x.dtype),
        (normal(8),),
    ),
    "view_as_complex": (lambda x: torch.view_as_real(torch.view_as_complex(x) ** 2), (normal(3, 2),)),
    "view_dtype": (lambda x: torch.view_as_real(x * 2), (mixed(3),)),
}


def assigned(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Writing to views."""
    x = x.clone()
    x[0] = y
    x[1, :, 1:3] += 2 * y[:, 1:3]
    x[:, 0].mul_(3)
    x.diagonal(0, 1, 2).fill_(1)
    return x
