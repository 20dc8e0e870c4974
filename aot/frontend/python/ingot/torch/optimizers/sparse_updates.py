"""Optimizers that change only the rows of a sparse gradient: a program reads these rows, and writes them back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.optim import adagrad

from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals.optimizers import ADAGRAD, functions
from ingot.torch.optimizers.sparse_gradients import Rows, SparseGradients

Tensors = Sequence[torch.Tensor]


@contextmanager
def updates_by_rows(sparse: SparseGradients) -> Iterator[None]:
    """SparseAdam, and Adagrad where gradients are sparse, are traced by rows."""

    def sparse_adam(parameters: Tensors, gradients: Tensors, *slots: Sequence[Any], **settings: Any) -> None:
        for parameter, gradient, mean, square, step in zip(parameters, gradients, *slots, strict=True):
            if rows := sparse.rows(gradient):
                update_by_adam(rows, parameter, gradient, mean, square, step, **settings)

    def one_by_one(parameters: Tensors, gradients: Tensors, *slots: Sequence[Any], **settings: Any) -> None:
        for parameter, gradient, total, step in zip(parameters, gradients, *slots, strict=True):
            if settings["weight_decay"] != 0 or not sparse.has(gradient):
                ADAGRAD([parameter], [gradient], [total], [step], **settings)
                continue
            rows = sparse.rows(gradient) or Rows(*[step.new_zeros(0, dtype=kind) for kind in (torch.int64, torch.bool)])
            some, total_of_some = rows.of(parameter), rows.of(total)
            ADAGRAD([some], [rows.of(gradient)], [total_of_some], [step], **settings)
            rows.put(parameter, some)
            rows.put(total, total_of_some)

    with replaced(functions, "sparse_adam", sparse_adam), replaced(adagrad, ADAGRAD.__name__, one_by_one):
        yield


def update_by_adam(
    rows: Rows,
    parameter: torch.Tensor,
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    step: Any,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """What Adam does, to some rows of a parameter and its moments.

    Source: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1.
    """
    along, mean_before, square_before = map(rows.of, (-gradient if maximize else gradient, mean, square))
    mean_after = mean_before + (along - mean_before) * (1 - beta1)
    square_after = square_before + (along.pow(2) - square_before) * (1 - beta2)
    rate = lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
    rows.put(parameter, rows.of(parameter) - rate * (mean_after / (square_after.sqrt() + eps)))
    rows.put(mean, mean_after)
    rows.put(square, square_after)
