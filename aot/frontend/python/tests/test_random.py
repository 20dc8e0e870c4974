"""Dropout in bundles: keyed by seed and step."""

from __future__ import annotations

from pathlib import Path

import torch
from bundle import Bundle
from torch import nn

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
