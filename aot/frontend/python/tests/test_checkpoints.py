"""torch.utils.checkpoint: less memory, the same training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bundle import Bundle, distance
from tool import call
from torch import nn
from torch.utils.checkpoint import checkpoint

import ingot.torch

STEPS, ROWS, WIDTH = 3, 64, 32


class Blocks(nn.Module):
    def __init__(self, run: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.run = run
        self.into = nn.Linear(WIDTH, WIDTH)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.Tanh(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(6)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.into(x)
        for block in self.blocks:
            x = x + self.run(block, x)
        return x


def trained(run: Callable[..., torch.Tensor], folder: Path) -> tuple[int, float]:
    """The bytes of the arena, and how far the last weights are from PyTorch's."""
    torch.manual_seed(0)
    model = Blocks(run)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    xs = torch.randn(STEPS, ROWS, WIDTH)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0],))
    bundle = Bundle(program, folder)
    _, final = bundle.train({"x": xs})
    for x in xs:
        step(x)
    far = max(distance(final[name], tensor) for name, tensor in program.state.tensors.items())
    (entry,) = json.loads(call("inspect", folder / "bundle.ingot", "--json"))["entries"]
    return entry["plans"][0]["arena_bytes"], far


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints_take_less_memory(use_reentrant: bool, tmp_path: Path) -> None:
    plain, far = trained(lambda block, x: block(x), tmp_path / "plain")
    assert far < 1e-6
    less, far = trained(lambda block, x: checkpoint(block, x, use_reentrant=use_reentrant), tmp_path / "less")
    assert far < 1e-6
    assert less < 0.8 * plain
