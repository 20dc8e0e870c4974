"""Sparse gradients of embeddings: steps are PyTorch's, rows that were not read stay, what asks for more is refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from trainings import Training, agrees

import ingot.torch

WORDS = 9
MakeOptimizer = Callable[..., torch.optim.Optimizer]
Body = Callable[[nn.Module, torch.optim.Optimizer, torch.Tensor], torch.Tensor]


class Words(nn.Module):
    """The mean of the squares of what words, read of numbers, are in a table."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, 4, sparse=True, **options)
        self.head = nn.Linear(4, 2).requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.table(words(x))).square().mean()


def words(x: torch.Tensor) -> torch.Tensor:
    """Words of numbers, some several times."""
    return (x.abs() * 3).long() % (WORDS - 1)


def training(body: Body, make: MakeOptimizer, **options: Any) -> Training:
    model = Words(**options)
    optimizer = make(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        return body(model, optimizer, x)

    return Training(model, optimizer, step)


def usual(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    loss = model(x)
    loss.backward()
    optimizer.step()
    return loss


def twice(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    model(x[:2]).backward()
    return usual(model, optimizer, x[2:])


def emptied_between(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    model(x[:2]).backward()
    optimizer.zero_grad(set_to_none=False)
    return usual(model, optimizer, x[2:])


def scaled(model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    loss = model(x)
    loss.backward()
    model.table.weight.grad.mul_(0.5)
    optimizer.step()
    return loss


def asks_what_it_is(model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    loss = model(x)
    loss.backward()
    weight = model.table.weight
    with torch.no_grad():
        weight.sub_(weight.grad.to_dense(), alpha=0.1 if weight.grad.is_sparse else 0.2)
        weight.add_(weight.grad.coalesce(), alpha=0.1 if weight.grad.layout is torch.sparse_coo else 0.2)
    return loss


def with_a_dense_one(model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    loss = model(x) + model.table.weight.square().mean()
    loss.backward()
    optimizer.step()
    return loss


def of_bags(model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    loss = F.embedding_bag(words(x), model.table.weight, mode="mean", sparse=True, padding_idx=-2).square().sum()
    loss.backward()
    optimizer.step()
    return loss


SPARSE_ADAM: MakeOptimizer = partial(torch.optim.SparseAdam, lr=0.05)
TRAININGS: dict[str, Callable[[], Training]] = {
    "sgd": partial(training, usual, partial(torch.optim.SGD, lr=0.1)),
    "momentum": partial(training, usual, partial(torch.optim.SGD, lr=0.1, momentum=0.9)),
    "adagrad": partial(training, usual, partial(torch.optim.Adagrad, lr=0.1, lr_decay=0.1, eps=0.0)),
    "sparse_adam": partial(training, usual, SPARSE_ADAM),
    "padding": partial(training, usual, partial(torch.optim.SparseAdam, maximize=True), padding_idx=2),
    "largest_norm": partial(training, usual, SPARSE_ADAM, max_norm=1.5),
    "twice": partial(training, twice, SPARSE_ADAM),
    "emptied_between": partial(training, emptied_between, SPARSE_ADAM),
    "scaled": partial(training, scaled, SPARSE_ADAM),
    "asks_what_it_is": partial(training, asks_what_it_is, SPARSE_ADAM),
    "with_a_dense_one": partial(training, with_a_dense_one, torch.optim.Adam),
    "of_bags": partial(training, of_bags, SPARSE_ADAM),
}


@pytest.mark.parametrize("name", TRAININGS)
def test_steps_are_pytorchs(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    agrees(TRAININGS[name](), tmp_path, steps=4)


def test_momentum_that_pytorch_holds_sparse_is_dense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's own step does not take what a program makes of it, and is not compared."""
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    torch.manual_seed(0)
    mine = training(usual, partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True))
    theirs = copy.deepcopy(mine.model)
    optimizer = torch.optim.SGD([theirs.table.weight], lr=0.1, momentum=0.9, nesterov=True)
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    xs = torch.randn(4, 6, 3)
    with pytest.warns(UserWarning, match=r"is not verified: PyTorch adds no dense momentum to a sparse gradient"):
        losses = [step(xs[0])]
    losses += map(step, xs[1:])
    for x, loss in zip(xs, losses, strict=True):
        optimizer.zero_grad()
        torch.testing.assert_close(loss, usual(theirs, optimizer, x))
    torch.testing.assert_close(mine.model.table.weight, theirs.table.weight)


def asks_for_rows(model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    loss = model(x)
    loss.backward()
    grad = model.table.weight.grad.coalesce()
    model.table.weight.data.index_add_(0, grad.indices()[0], grad.values())
    return loss


def makes_one(model: Any, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    return torch.sparse.mm(x.to_sparse(), torch.ones(3, 1)).sum() + usual(model, optimizer, x)


REFUSED: list[tuple[Body, MakeOptimizer, str]] = [
    (usual, torch.optim.Adam, "Adam does not support sparse gradients"),
    (usual, partial(torch.optim.Adagrad, weight_decay=0.1), "not compatible with sparse gradients"),
    (with_a_dense_one, SPARSE_ADAM, "does not support dense gradients"),
    (asks_for_rows, SPARSE_ADAM, r"py:\d+.*`indices` asks which rows a sparse gradient has.*to_dense\(\)"),
    (makes_one, SPARSE_ADAM, r"py:\d+.*layout is torch.sparse_coo.*to_dense\(\)"),
]


@pytest.mark.parametrize(("body", "make", "message"), REFUSED)
def test_is_refused(body: Body, make: MakeOptimizer, message: str) -> None:
    given = training(body, make)
    if isinstance(given.optimizer, torch.optim.SparseAdam):  # whose first step, of PyTorch's, makes this
        for p in given.model.parameters():
            given.optimizer.state[p] = {"step": 1, "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.ones_like(p)}
    program = ingot.torch.Program(given.model, given.optimizer)
    with pytest.raises(ingot.torch.TraceError) as caught:
        program.add("train_step", given.step, (torch.randn(6, 3),))
    assert re.search(message, str(caught.value)), caught.value


def test_state_is_dense() -> None:
    model = nn.Linear(3, 2)
    model.register_buffer("graph", torch.eye(3).to_sparse())
    with pytest.raises(ingot.torch.TraceError, match=r"layout of 'graph' is torch\.sparse_coo"):
        ingot.torch.Program(model, torch.optim.SGD(model.parameters(), lr=0.1))
