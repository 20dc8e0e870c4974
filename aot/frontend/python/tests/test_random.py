"""Dropout in bundles: keyed by seed and step."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from bundle import Bundle
from torch import nn
from torch.utils.checkpoint import checkpoint

import ingot.torch


def test_dropout_is_reproducible_and_differs_between_steps(tmp_path: Path) -> None:
    dropout = nn.Dropout(0.25)

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        y = dropout(x)
        at = torch.arange(1.0, 4001.0)
        return {"loss": (y * at).sum() / at.sum(), "kept": (y > 0).float().mean(), "top": y.max()}

    program = ingot.torch.Program(dropout, seed=7)
    program.add("train_step", step, (torch.ones(4000),))
    program.add("predict", dropout, (torch.ones(4000),), training=False)
    bundle = Bundle(program, tmp_path)
    log, state = bundle.train({"x": torch.ones(3, 4000)})
    again, _ = bundle.train({"x": torch.ones(3, 4000)})
    assert log == again
    assert len({row["loss"] for row in log}) == 3
    assert all(abs(row["kept"] - 0.75) < 0.03 for row in log)
    assert all(abs(row["top"] - 4 / 3) < 1e-6 for row in log)
    assert state["rng.step"].item() == 3


class Dropped(nn.Module):
    """Ones that dropout leaves, and weights that another leaves, which backward computes again."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1000))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return F.dropout(x, 0.5), checkpoint(lambda: F.dropout(self.weight * x, 0.25), use_reentrant=False)


def test_checkpoints_drop_the_same_again(tmp_path: Path) -> None:
    model = Dropped()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        optimizer.zero_grad()
        ones, weights = model(x)
        weights.sum().backward()
        optimizer.step()
        return {"ones": ones, "weights": weights}

    before = torch.get_rng_state()
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (torch.ones(1000),))
    assert torch.equal(torch.get_rng_state(), before)
    outputs, state = Bundle(program, tmp_path).run({"x": torch.ones(1000)}, "train_step")
    assert torch.allclose(state["weight"], 1 - outputs["weights"])
    both = ((outputs["ones"] > 0) & (outputs["weights"] > 0)).float().mean()
    assert abs(both - 0.5 * 0.75) < 0.05
