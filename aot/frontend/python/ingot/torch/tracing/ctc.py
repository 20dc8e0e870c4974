"""``ctc_loss`` as two ops of fixed shapes: PyTorch's own has as many states as the values of the lengths say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch.nn.functional import pad

from ingot.torch.text.aten.ctc import NEVER

Lengths: TypeAlias = torch.Tensor | Sequence[int]

MEAN, SUM = 1, 2


def ctc_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: int = MEAN,
    zero_infinity: bool = False,
) -> Any:
    """Minus the log-likelihood of labels [n, s], or [s], under log_probs [t, n, classes], or [t, classes].

    Targets may also be concatenated, [sum of target_lengths]. Takes t * n * (2 * s + 1) values of memory, and as many
    in backward.
    """
    if not len(log_probs):
        return NotImplemented  # PyTorch raises its own error
    given, wanted = (torch.as_tensor(lengths).reshape(-1).long() for lengths in (input_lengths, target_lengths))
    is_single = log_probs.dim() == 2
    if is_single:
        log_probs, targets = log_probs.unsqueeze(1), targets.unsqueeze(0)
    if targets.dim() == 1:
        longest = targets.numel() if isinstance(target_lengths, torch.Tensor) else max(target_lengths, default=0)
        targets = padded(targets, wanted, longest)
    losses, _ = losses_of(log_probs, targets, given, wanted, blank, zero_infinity)
    if zero_infinity:
        losses = torch.where(losses.isinf(), 0.0, losses)
    if reduction == MEAN:
        return (losses / wanted.clamp(min=1)).mean()
    return losses.sum() if reduction == SUM else losses.squeeze(0) if is_single else losses


def padded(targets: torch.Tensor, lengths: torch.Tensor, longest: int) -> torch.Tensor:
    """Concatenated labels [sum of lengths] as [n, longest]."""
    places = (lengths.cumsum(0) - lengths)[:, None] + torch.arange(longest)
    return targets[places.clamp(max=max(targets.numel() - 1, 0))]


@torch.library.custom_op("ingot::ctc_loss", mutates_args=())  # type: ignore[untyped-decorator]
def losses_of(
    log_probs: torch.Tensor, targets: torch.Tensor, given: torch.Tensor, wanted: torch.Tensor, blank: int, zero: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The losses [n], and the logarithms of paths' probabilities to each state in each frame [t, n, 2 * s + 1].

    With `zero` the gradient of an infinite loss is 0, else NaN.
    """
    losses, alphas = torch.ops.aten._ctc_loss(log_probs, targets, given.tolist(), wanted.tolist(), blank, zero)
    states = torch.arange(2 * targets.shape[1] + 1)
    paths = pad(alphas, (0, len(states) - alphas.shape[2]), value=NEVER).transpose(0, 1)
    is_within = torch.arange(len(paths))[:, None] < given
    is_reached = is_within[:, :, None] & (states <= 2 * wanted[:, None])  # PyTorch leaves others as memory was
    return losses, torch.where(is_reached, paths, NEVER).clamp(min=NEVER)


@torch.library.custom_op("ingot::ctc_gradient", mutates_args=())  # type: ignore[untyped-decorator]
def gradient_of(
    gradient: torch.Tensor,
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    given: torch.Tensor,
    wanted: torch.Tensor,
    losses: torch.Tensor,
    paths: torch.Tensor,
    blank: int,
    zero: bool,
) -> torch.Tensor:
    """The gradient of log_softmax's operand, [t, n, classes]."""
    lengths = given.tolist(), wanted.tolist()
    alphas = paths.transpose(0, 1)[:, :, : 2 * max(lengths[1], default=0) + 1].contiguous()
    made: torch.Tensor = torch.ops.aten._ctc_loss_backward(
        gradient, log_probs, targets, *lengths, losses, alphas, blank, zero
    )
    return made


@losses_of.register_fake  # type: ignore[untyped-decorator]
def _fake_losses(log_probs: torch.Tensor, targets: torch.Tensor, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    frames, count, _classes = log_probs.shape
    return log_probs.new_empty(count), log_probs.new_empty(frames, count, 2 * targets.shape[1] + 1)


@gradient_of.register_fake  # type: ignore[untyped-decorator]
def _fake_gradient(gradient: torch.Tensor, log_probs: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(log_probs)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    *tensors, ctx.blank, ctx.zero = inputs
    ctx.save_for_backward(*tensors, *output)


def _backward(ctx: Any, gradient: torch.Tensor, _: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
    made: torch.Tensor = gradient_of(gradient, *ctx.saved_tensors, ctx.blank, ctx.zero)
    return made, None, None, None, None, None


losses_of.register_autograd(_backward, setup_context=_keep)
