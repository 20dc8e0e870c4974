"""Indices outside of what they index: PyTorch's own error, and nothing is changed; all others run in the bundle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.functional import one_hot

import ingot.torch

CLASSES = 6
Use = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # of a weight [CLASSES, CLASSES] and indices

USES: dict[str, Use] = {
    "embedding": lambda w, i: F.embedding(i, w).sin().sum(),
    "embedding_bag": lambda w, i: F.embedding_bag(i.reshape(-1), w, torch.tensor([0, 2])).sin().sum(),
    "cross_entropy": lambda w, i: F.cross_entropy(w[: i.numel()], i.reshape(-1)),
    "nll_loss": lambda w, i: F.nll_loss(w[: i.numel()].log_softmax(1), i.reshape(-1)),
    "one_hot": lambda w, i: (one_hot(i.reshape(-1), CLASSES) * w[: i.numel()]).sin().sum(),
    "gather": lambda w, i: w.sin().gather(1, i).sum(),
    "take_along_dim": lambda w, i: w.sin()[:, :2].take_along_dim(i, 0).sum(),
    "index_select": lambda w, i: w.sin().index_select(-1, i.reshape(-1)).sum(),
    "brackets": lambda w, i: w.sin()[i].sum(),
    "second brackets": lambda w, i: w.sin()[1:3, i - 2].sum(),
    "scatter": lambda w, i: (w * w.detach().scatter(0, i, 2.0)).sum(),
    "scatter_add": lambda w, i: w.scatter_add(1, i, w[:2, :2] * w[:2, :2]).sin().sum(),
    "index_add": lambda w, i: w.index_add(0, i.reshape(-1), w[: i.numel()]).sin().sum(),
    "written": lambda w, i: _written(w, i).sin().sum(),
}
WITHIN, OUTSIDE = torch.tensor([[0, 5], [3, 2]]), torch.tensor([[0, 5], [6, 2]])
IGNORED, NEGATIVE = torch.tensor([[0, -100], [3, 2]]), torch.tensor([[0, -6], [3, 2]])


def _written(weight: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    copy = weight.clone()
    copy[indices] = 0
    return copy


class Trained:
    """A weight, and a step that trains it by a loss of indices."""

    def __init__(self, use: Use) -> None:
        self.model = nn.Linear(CLASSES, CLASSES, bias=False)
        with torch.no_grad():
            self.model.weight.copy_(torch.linspace(-1, 1, CLASSES * CLASSES).reshape(CLASSES, CLASSES))
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.1)
        self.use = use

    def step(self, indices: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.use(self.model.weight, indices)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def same_after(use: Use, all_indices: list[torch.Tensor], make: Callable[[Trained], Any]) -> None:
    """Steps that are given indices end as in PyTorch, and those that it refuses are refused, and change nothing."""
    ours, theirs = Trained(use), Trained(use)
    step = make(ours)
    for indices in all_indices:
        try:
            expected = theirs.step(indices)
        except (IndexError, RuntimeError):
            with pytest.raises((IndexError, RuntimeError)):
                step(indices)
        else:
            torch.testing.assert_close(step(indices), expected)
        torch.testing.assert_close(ours.model.weight, theirs.model.weight)


def whole_step(trained: Trained) -> Any:
    return ingot.torch.compile(trained.step, trained.model, trained.optimizer)


def its_forward(trained: Trained) -> Any:
    trained.use = torch.compile(trained.use, backend="ingot", fullgraph=True)
    return trained.step


@pytest.mark.parametrize("make", [whole_step, its_forward])
@pytest.mark.parametrize("name", USES)
def test_outside_is_refused_as_in_pytorch(name: str, make: Callable[[Trained], Any]) -> None:
    same_after(USES[name], [WITHIN, OUTSIDE, WITHIN.flip(0), NEGATIVE, WITHIN], make)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_ignored_labels_are_within(name: str) -> None:
    step = whole_step(Trained(USES[name]))
    step(IGNORED)
    step.function = None  # is not called
    assert step(WITHIN).isfinite() and step(IGNORED).isfinite()


def test_what_is_known_is_not_looked_at() -> None:
    trained = Trained(lambda w, i: F.embedding(i.clamp(0, CLASSES - 1), w)[torch.arange(2)].sin().sum())
    program = ingot.torch.Program(trained.model, trained.optimizer)
    program.add("train_step", trained.step, (WITHIN,), guards=True)
    assert program.traced["train_step"].checks == []


def test_a_trace_that_was_kept_looks_too() -> None:
    for _ in range(2):
        same_after(USES["embedding"], [WITHIN, OUTSIDE, WITHIN], whole_step)


def test_lazy_tensors_raise_where_they_are_computed() -> None:
    device = ingot.torch.device()
    weight = torch.linspace(-1, 1, CLASSES * CLASSES).reshape(CLASSES, CLASSES).to(device)
    torch.testing.assert_close(weight[WITHIN.to(device)].cpu(), weight.cpu()[WITHIN])
    outside = F.embedding(OUTSIDE.to(device), weight)
    with pytest.raises(IndexError):
        outside.cpu()
