"""What stays whole in the text, and the functions that say what it is made of."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from bundle import Bundle, distance
from torch import nn
from torch.nn.functional import gelu

import ingot.torch

SIZE, HEADS = 8, 2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(SIZE, HEADS, SIZE, dropout=0.5, activation=gelu, batch_first=True)
        self.norms = nn.Sequential(nn.BatchNorm1d(3), nn.GroupNorm(1, 3), nn.RMSNorm(SIZE))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norms(self.encoder(x))


def composites(text: str) -> Counter[str]:
    """How many composites of each name a text has."""
    return Counter(re.findall(r'"stablehlo.composite".* name = "([^"]*)"', text))


def decompositions(text: str) -> list[str]:
    """The functions that composites are made of, each with its body."""
    return re.findall(r"func.func private @(\w+\(.*?\n  })", text, re.DOTALL)


@pytest.fixture
def program() -> ingot.torch.Program:
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", train_step, (torch.randn(2, 3, SIZE), torch.randint(3, (2, SIZE))))
    program.add("predict", model, (torch.randn(2, 3, SIZE),), training=False)
    return program


def test_functions_and_updates_stay_whole(program: ingot.torch.Program) -> None:
    """Whoever calls them: a module, another function of torch, or the user by a name of his own."""
    forward = {
        "torch.nn.functional.batch_norm": 1,
        "torch.nn.functional.gelu": 1,
        "torch.nn.functional.group_norm": 1,
        "torch.nn.functional.layer_norm": 2,
        "torch.nn.functional.rms_norm": 1,
        "torch.nn.functional.scaled_dot_product_attention": 1,
    }
    parameters = len(program.state.trained)
    assert composites(program.texts["predict"]) == forward
    assert composites(program.texts["train_step"]) == forward | {
        "torch.nn.functional.cross_entropy": 1,
        "torch.optim.AdamW": parameters,
    }


def test_equal_decompositions_are_one(program: ingot.torch.Program) -> None:
    shapes = {tensor.shape for tensor in program.state.trained.values()}
    bodies = decompositions(program.texts["train_step"])
    assert sum(body.startswith("AdamW") for body in bodies) == len(shapes)
    assert sum(body.startswith("layer_norm") for body in bodies) == 1
    assert "loc(" not in "".join(bodies)


def test_random_ops_within_draw_as_others(tmp_path: Path) -> None:
    """Attention drops out with probability 1/2 in two calls: other bits in each, the same in each run."""
    x = torch.eye(32)[None]

    def attend(x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: F.scaled_dot_product_attention(x * 1e-6, x, x, dropout_p=0.5) for name in ("first", "second")}

    program = ingot.torch.Program(nn.Identity())
    program.add("attend", attend, (x,))
    assert composites(program.texts["attend"])
    outputs, state = Bundle(program, tmp_path).run({"x": x}, "attend")
    kept = {name: value > 0 for name, value in outputs.items()}
    assert all(0.4 < k.float().mean() < 0.6 for k in kept.values())
    assert 0.4 < (kept["first"] == kept["second"]).float().mean() < 0.6
    assert state["rng.step"] == 1
    again, _ = Bundle(program, tmp_path / "again").run({"x": x}, "attend")
    assert all(distance(again[name], value) == 0 for name, value in outputs.items())
