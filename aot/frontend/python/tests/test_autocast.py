"""Regions of bf16 autocast: the same casts as PyTorch's, sums in f32."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from agreement import ROUNDING
from bundle import Bundle, distance
from tool import call
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

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


ROWS = 40
ATTENTION: dict[str, Callable[[torch.dtype], dict[str, Any]]] = {
    "plain": lambda dtype: {},
    "causal": lambda dtype: {"is_causal": True},
    "with rows that see nothing": lambda dtype: {"attn_mask": torch.ones(ROWS, ROWS, dtype=torch.bool).tril(-1)},
    "with a bias": lambda dtype: {"attn_mask": torch.linspace(-3, 3, ROWS, dtype=dtype).expand(ROWS, -1), "scale": 0.3},
    "of groups": lambda dtype: {"enable_gqa": True},
}
NAMES = ("result", "of_q", "of_k", "of_v")


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_of_bf16_is_no_further_from_f64_than_pytorchs(name: str, tmp_path: Path) -> None:
    """By the worst of its result and gradients; all its products are of bf16."""
    torch.manual_seed(0)
    heads = 2 if name == "of groups" else 4
    q, k, v, grad = (torch.randn(2, h, ROWS, 32).bfloat16().float() for h in (4, heads, heads, 4))

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, grad: torch.Tensor) -> dict[str, torch.Tensor]:
        rows = [t.detach().requires_grad_() for t in (q, k, v)]
        with torch.autocast("cpu", torch.bfloat16, enabled=q.dtype == torch.float32):
            made = F.scaled_dot_product_attention(*rows, **ATTENTION[name](q.dtype))
        gradients = torch.autograd.grad(made, rows, grad.to(made.dtype))
        return {name: t.float() for name, t in zip(NAMES, (made, *gradients), strict=True)}

    program = ingot.torch.Program(nn.Identity())
    program.add("attend", attend, (q, k, v, grad))
    bundle = Bundle(program, tmp_path, *ROUNDING)
    outputs, _ = bundle.run({"q": q, "k": k, "v": v, "grad": grad}, "attend")
    exact = attend(*(t.double() for t in (q, k, v, grad)))
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        theirs = attend(q, k, v, grad)
    mine, pytorchs = (max(distance(made[of], exact[of]) for of in NAMES) for made in (outputs, theirs))
    assert mine <= pytorchs < TOLERANCE
    text = call("compile", tmp_path, "-o", tmp_path / "printed.ingot", "--print-after", "canonicalize")
    products = re.findall(r"dot_general.* : \((.*)\) ->", text)
    assert len(products) == 6
    assert all(product.count("bf16") == 2 for product in products), products


def test_attention_of_bf16_drops_out_as_others(tmp_path: Path) -> None:
    """As often as it is asked to; what is left is as much larger, and gradients are where it is left."""
    eye = torch.eye(64)[None, None].bfloat16()

    def attend(v: torch.Tensor) -> dict[str, torch.Tensor]:
        v = v.detach().requires_grad_()
        made = F.scaled_dot_product_attention(torch.zeros_like(v), v, v, dropout_p=0.25)
        return {"made": made.float(), "of_v": torch.autograd.grad(made.float().sum(), v)[0].float()}

    program = ingot.torch.Program(nn.Identity())
    program.add("attend", attend, (eye,))
    outputs, _ = Bundle(program, tmp_path, *ROUNDING).run({"v": eye}, "attend")
    left = outputs["made"] > 0
    assert 0.7 < left.float().mean() < 0.8
    assert torch.allclose(outputs["made"][left], torch.tensor(1 / 64 / 0.75), rtol=TOLERANCE)
    assert torch.allclose(outputs["of_v"][0, 0, :, 0], outputs["made"][0, 0].sum(0), rtol=TOLERANCE)
