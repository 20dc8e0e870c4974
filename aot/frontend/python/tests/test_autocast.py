"""Regions of bf16 autocast: the same casts as PyTorch's, sums in f32."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from bundle import Bundle, distance
from torch import nn

import ingot.torch

STEPS = 4
TOLERANCE = 2.0**-7  # two roundings to bf16


def test_steps_in_bf16_autocast(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    xs, ys = torch.randn(STEPS, 6, 8), torch.randint(0, 5, (STEPS, 6))

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0], ys[0]))
    assert "bf16" in program.texts["train_step"]
    log, final = Bundle(program, tmp_path).train({"x": xs, "y": ys})
    for row, x, y in zip(log, xs, ys, strict=True):
        assert row["loss"] == pytest.approx(step(x, y).item(), rel=TOLERANCE)
    far = {name: distance(final[name], value) for name, value in program.state.tensors.items()}
    assert max(far.values()) < TOLERANCE, far
