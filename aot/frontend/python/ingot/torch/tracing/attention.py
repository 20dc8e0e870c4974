"""Attention of bf16 as PyTorch's own kernel for processors computes it, with gradients.

Factors of products are bf16, their sums f32, and so is softmax: exponentials, which gradients are made of, and the
gradients of scores are rounded for the products that read them. Sums of rows divide what is multiplied, not before.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn.attention.bias import CausalBias, CausalVariant

NARROW, WIDE = torch.bfloat16, torch.float32

attention_of_pytorch = torch.nn.functional.scaled_dot_product_attention


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """``functional.scaled_dot_product_attention``; PyTorch's itself for all types but bf16, and for what it refuses."""
    if isinstance(attn_mask, CausalBias):
        attn_mask = causal_mask(attn_mask.variant, attn_mask.seq_len_q, attn_mask.seq_len_kv)
    tensors = query, key, value
    autocast = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None
    if autocast == NARROW:
        tensors = tuple(t.to(NARROW) if t.dtype in (WIDE, torch.float16) else t for t in tensors)
    is_known = autocast in (None, NARROW) and all(t.dtype == NARROW and t.dim() >= 3 for t in tensors)
    are_alike = enable_gqa or len({t.shape[:-2] for t in tensors}) == 1
    is_masked = attn_mask is None or (not is_causal and attn_mask.dtype in (torch.bool, NARROW, WIDE))
    if not (is_known and are_alike and is_masked):
        return attention_of_pytorch(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    with torch.autocast("cpu", enabled=False):
        return _of_bf16(*tensors, _added(tensors, attn_mask, is_causal), dropout_p, scale, enable_gqa)


def causal_mask(variant: CausalVariant, queries: int, keys: int) -> torch.Tensor:
    """The mask [queries, keys] that a ``CausalBias`` stands for, which is a tensor of a class of its own."""
    shift = keys - queries if variant is CausalVariant.LOWER_RIGHT else 0
    return torch.ones(queries, keys, dtype=torch.bool).tril(shift)


def _added(tensors: tuple[torch.Tensor, ...], mask: torch.Tensor | None, is_causal: bool) -> torch.Tensor | None:
    """What is added to scores."""
    if is_causal:
        mask = torch.ones(tensors[0].shape[-2], tensors[1].shape[-2], dtype=torch.bool, device=tensors[0].device).tril()
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, device=mask.device).masked_fill(mask.logical_not(), -torch.inf)


def _of_bf16(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    added: torch.Tensor | None,
    dropout_p: float,
    scale: float | None,
    enable_gqa: bool,
) -> torch.Tensor:
    if enable_gqa:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    products = RoundedGradient.apply(query.to(WIDE) @ key.to(WIDE).transpose(-2, -1))
    scores = products * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if added is not None:
        scores = scores + added
    highest = scores.detach().amax(-1, keepdim=True)
    weights = RoundedExponential.apply(scores - torch.where(highest == -torch.inf, 0.0, highest))
    sums = weights.sum(-1, keepdim=True)
    if dropout_p > 0:
        weights = Rounded.apply(torch.dropout(weights, dropout_p, train=True))
    attended: torch.Tensor = WeightedMean.apply(weights, value.to(WIDE), torch.where(sums == 0, 1.0, sums))
    return attended.to(NARROW)


def _rounded(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(NARROW).to(WIDE)


class _Elementwise(torch.autograd.Function):  # type: ignore[misc]  # torch is not checked
    """A function that keeps its result for its derivative."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        """Keeps the result."""
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)


class RoundedExponential(_Elementwise):
    """Exponentials rounded to bf16, of which their gradient is made: nothing wider is kept for it."""

    @staticmethod
    def forward(tensor: torch.Tensor) -> torch.Tensor:
        """Rounds them."""
        return _rounded(tensor.exp())

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        """That of the exponential."""
        (result,) = ctx.saved_tensors
        return gradient * result

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
        """That of the exponential."""
        (result,) = ctx.saved_tensors
        return tangent * result


class Rounded(_Elementwise):
    """Rounds to bf16; gradients pass as they are."""

    @staticmethod
    def forward(tensor: torch.Tensor) -> torch.Tensor:
        """Rounds."""
        return _rounded(tensor)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        """Keeps nothing."""

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        """Passes it."""
        return gradient

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
        """Passes it."""
        return tangent.clone()


class RoundedGradient(Rounded):
    """What it is given, whose gradient is rounded to bf16."""

    @staticmethod
    def forward(tensor: torch.Tensor) -> torch.Tensor:
        """Passes it."""
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        """Rounds."""
        return _rounded(gradient)


class WeightedMean(torch.autograd.Function):  # type: ignore[misc]  # torch is not checked
    """``weights @ values / sums``; rounded to bf16 is only what the product for the values' gradient reads."""

    generate_vmap_rule = True

    @staticmethod
    def forward(weights: torch.Tensor, values: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
        """Multiplies, then divides."""
        return weights @ values / sums

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        """Keeps all."""
        ctx.save_for_backward(*inputs, output)
        ctx.save_for_forward(*inputs, output)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Of each."""
        weights, values, sums, mean = ctx.saved_tensors
        of_values = weights.transpose(-2, -1) @ _rounded(gradient / sums)
        of_sums = -(gradient * mean).sum(-1, keepdim=True) / sums
        return gradient @ values.transpose(-2, -1) / sums, of_values, of_sums

    @staticmethod
    def jvp(ctx: Any, weights: torch.Tensor, values: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
        """Of all."""
        kept_weights, kept_values, kept_sums, mean = ctx.saved_tensors
        return (weights @ kept_values + kept_weights @ values - mean * sums) / kept_sums
