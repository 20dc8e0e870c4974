"""Functions of torch that take a float in C++, made of others where the program computes that float."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import NN, VF

MEAN = 1  # a reduction


def batch_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    training: bool,
    momentum: Any,
    eps: float,
    cudnn_enabled: bool = False,
) -> Any:
    """``torch.batch_norm``, whose averages move by a computed momentum."""
    if not isinstance(momentum, torch.SymFloat):
        return NotImplemented
    if not training or running_mean is None or running_var is None:
        return torch.batch_norm(x, weight, bias, running_mean, running_var, training, 0.0, eps, cudnn_enabled)
    mean, var = running_mean.clone(), running_var.clone()
    y = torch.batch_norm(x, weight, bias, mean, var, True, 1.0, eps, cudnn_enabled)
    for running, now in ((running_mean, mean), (running_var, var)):
        running.mul_(1 - momentum).add_(now * momentum)
    return y


def cross_entropy_loss(
    x: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: Any = 0.0,
) -> Any:
    """``cross_entropy_loss``, which is linear in the label smoothing."""
    if not isinstance(label_smoothing, torch.SymFloat):
        return NotImplemented
    sharp, smooth = (NN.cross_entropy_loss(x, target, weight, reduction, ignore_index, end) for end in (0.0, 1.0))
    is_sharp = torch.scalar_tensor(label_smoothing, dtype=torch.float64).eq(0)
    return torch.where(is_sharp, sharp, sharp * (1 - label_smoothing) + smooth * label_smoothing)


def dropout(x: torch.Tensor, p: Any, train: bool) -> Any:
    """``torch.dropout`` by a computed probability."""
    if not isinstance(p, torch.SymFloat):
        return NotImplemented
    if not train or not x.numel():
        return x
    kept = torch.bernoulli(torch.full_like(x, 1 - p, requires_grad=False))
    return x * torch.where(kept.bool(), kept / torch.scalar_tensor(1 - p, dtype=x.dtype), 0.0)


def lerp(x: torch.Tensor, end: torch.Tensor, weight: Any) -> Any:
    """``x.lerp(end, weight)``, whose weight is a tensor."""
    return _between(torch.Tensor.lerp, x, end, weight)


def lerp_(x: torch.Tensor, end: torch.Tensor, weight: Any) -> Any:
    """``x.lerp_(end, weight)``, as an average of weights moves."""
    return _between(torch.Tensor.lerp_, x, end, weight)


def _between(function: Callable[..., Any], x: torch.Tensor, end: torch.Tensor, weight: Any) -> Any:
    if not isinstance(weight, torch.SymFloat) or x.dtype not in (torch.float32, torch.float64):
        return NotImplemented  # of narrow types PyTorch does not round the weight
    return function(x, end, torch.scalar_tensor(weight, dtype=x.dtype))


# Where torch looks functions up, and what makes them of others: NotImplemented where no float is computed.
FLOAT_ARGUMENTS: dict[tuple[Any, str], Callable[..., Any]] = {
    (torch, "batch_norm"): batch_norm,
    (torch, "lerp"): lerp,
    (torch.Tensor, "lerp"): lerp,
    (torch.Tensor, "lerp_"): lerp_,
    (VF, "dropout"): dropout,
    (NN, "cross_entropy_loss"): cross_entropy_loss,
}
