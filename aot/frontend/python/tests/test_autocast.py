"""Regions of bf16 autocast: the same casts as PyTorch's, sums in f32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from agreement import ROUNDING
from bundle import Bundle, distance
from torch import nn

import ingot.torch

STEPS = 4
TOLERANCE = 2.0**-7  # two roundings to bf16
RARE_TIES = 5e-4  # sums in another order may round otherwise; a second rounding takes values to 2e-3


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


FUNCTIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add_alpha": lambda x, y: torch.add(x, y, alpha=0.3),
    "sub_alpha": lambda x, y: torch.sub(x, y, alpha=0.25),
    "scaled": lambda x, y: 0.7 * x + y / 3,
    "power": lambda x, y: x**3 + x.abs() ** 1.7,
    "gelu": lambda x, y: F.gelu(x),
    "gelu_tanh": lambda x, y: F.gelu(x, approximate="tanh"),
    "elu": lambda x, y: F.elu(x, 0.7),
    "leaky_relu": lambda x, y: F.leaky_relu(x, 0.3),
    "silu": lambda x, y: F.silu(x),
    "linear": lambda x, y: F.linear(x, y, y[:, 0]),
    "addmm": lambda x, y: torch.addmm(x, x, y, beta=0.7, alpha=1.3),
    "baddbmm": lambda x, y: torch.baddbmm(x[None], x[None], y[None]),
    "conv2d": lambda x, y: F.conv2d(x[None, None], y[:3, None, :2, None], y[0, :3]),
    "avg_pool": lambda x, y: F.avg_pool2d(x[None], 3, 2, 1),
    "bilinear": lambda x, y: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "norm": lambda x, y: torch.linalg.vector_norm(x, 3, dim=1),
}


def test_functions_round_once(tmp_path: Path) -> None:
    torch.manual_seed(0)
    xs, ys = (torch.randn(8, 8).bfloat16() for _ in range(2))

    def every(x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: function(x.bfloat16(), y.bfloat16()).float() for name, function in FUNCTIONS.items()}

    x, y = xs.float(), ys.float()
    program = ingot.torch.Program(nn.Identity())
    program.add("every", every, (x, y))
    outputs, _ = Bundle(program, tmp_path, *ROUNDING).run({"x": x, "y": y}, "every")
    far = {name: distance(outputs[name], value) for name, value in every(x, y).items()}
    assert max(far.values()) < RARE_TIES, far
