"""Ops that PyTorch gives devices whole (cells of LSTMs and GRUs, dropout, batch norm), made of simpler ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from ingot.torch.base.torch_internals.ops import OpOverload

Tensor: TypeAlias = torch.Tensor
aten = torch.ops.aten


def _lstm_cell(x: Tensor, hidden: Tensor, cell: Tensor, *biases: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """A step of an LSTM: the new hidden state and cell; the gates, which PyTorch keeps."""
    gates = x + hidden
    for bias in biases:
        gates = gates if bias is None else gates + bias
    entered, forgotten, new, shown = gates.chunk(4, 1)
    cell = forgotten.sigmoid() * cell + entered.sigmoid() * new.tanh()
    return shown.sigmoid() * cell.tanh(), cell, gates


def _gru_cell(x: Tensor, hidden: Tensor, state: Tensor, *biases: Tensor | None) -> tuple[Tensor, Tensor]:
    """A step of a GRU: the new state; the gates, which PyTorch keeps."""
    given = zip((x, hidden), biases or (None, None), strict=True)
    sides = [side if bias is None else side + bias for side, bias in given]
    (reset_x, update_x, new_x), (reset_h, update_h, new_h) = (side.chunk(3, 1) for side in sides)
    update = (update_x + update_h).sigmoid()
    new = (new_x + (reset_x + reset_h).sigmoid() * new_h).tanh()
    return (state - new) * update + new, sides[0]


def _dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """What is left, scaled, and the mask."""
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    kept = torch.empty_like(x).bernoulli_(1 - p)
    return x * (kept / (1 - p) if p < 1 else kept), kept.bool()


def _batch_norm(x: Tensor, weight: Any, bias: Any, mean: Any, var: Any, *rest: Any) -> Any:
    """The form of batch normalization whose schema says that it writes the running statistics."""
    if mean is None:
        return aten._native_batch_norm_legit.no_stats(x, weight, bias, *rest)
    return aten._native_batch_norm_legit.default(x, weight, bias, mean, var, *rest)


# What autograd sees as it is made here.
DIFFERENTIATED: dict[OpOverload, Callable[..., Any]] = {
    aten._thnn_fused_lstm_cell.default: _lstm_cell,
    aten._thnn_fused_gru_cell.default: _gru_cell,
    aten.native_dropout.default: _dropout,
}
COMPOSED: dict[OpOverload, Callable[..., Any]] = {**DIFFERENTIATED, aten.native_batch_norm.default: _batch_norm}
