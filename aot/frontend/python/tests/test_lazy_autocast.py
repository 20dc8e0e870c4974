"""torch.autocast on lazy tensors does what it does on PyTorch's processor."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import ingot.torch
from ingot.torch.lazy.autocast import NARROW, WIDEST

DEVICE = ingot.torch.device()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path_factory.getbasetemp() / "lazy"))
    yield
    ingot.torch.mark_step()


def numbers(device: Any, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.arange(float(torch.Size(shape).numel())).reshape(shape) / 9 - 1).sin().to(dtype).to(device)


def narrow(device: Any, *shape: int) -> torch.Tensor:
    return numbers(device, *shape, dtype=torch.get_autocast_dtype(torch.device(device).type))


def image(device: Any) -> torch.Tensor:
    return numbers(device, 2, 3, 6, 6)


OPS: dict[str, Callable[[Any], torch.Tensor]] = {
    "linear": lambda d: F.linear(numbers(d, 4, 6), numbers(d, 5, 6), numbers(d, 5)),
    "matmul": lambda d: numbers(d, 4, 6) @ numbers(d, 6, 2),
    "matrix by vector": lambda d: numbers(d, 4, 6) @ numbers(d, 6),
    "bmm": lambda d: torch.bmm(numbers(d, 2, 4, 6), narrow(d, 2, 6, 3)),
    "baddbmm": lambda d: torch.baddbmm(numbers(d, 2, 4, 3), numbers(d, 2, 4, 6), numbers(d, 2, 6, 3)),
    "addmm": lambda d: torch.addmm(numbers(d, 3), numbers(d, 4, 6), numbers(d, 6, 3)),
    "conv2d": lambda d: F.conv2d(image(d), numbers(d, 4, 3, 3, 3), padding=1),
    "conv_transpose2d": lambda d: F.conv_transpose2d(image(d), numbers(d, 3, 2, 2, 2)),
    "prelu": lambda d: F.prelu(numbers(d, 2, 3), numbers(d, 3)),
    "attention": lambda d: F.scaled_dot_product_attention(*(numbers(d, 1, 2, 4, 8) for _ in range(3))),
    "of doubles": lambda d: numbers(d, 2, 3, dtype=torch.float64) @ numbers(d, 3, 2, dtype=torch.float64),
    "softmax": lambda d: narrow(d, 3, 4).softmax(1),
    "layer_norm": lambda d: F.layer_norm(numbers(d, 3, 4), (4,)),
    "elementwise": lambda d: narrow(d, 3, 4).exp() * 2 + numbers(d, 4),
    "cross_entropy": lambda d: F.cross_entropy(narrow(d, 3, 4), torch.tensor([0, 3, 1]).to(d)),
    "mse_loss": lambda d: F.mse_loss(narrow(d, 3, 4), narrow(d, 3, 4) * 2),
    "bce_with_logits": lambda d: F.binary_cross_entropy_with_logits(narrow(d, 3), narrow(d, 3).sigmoid()),
    "cat of one type": lambda d: torch.cat([narrow(d, 3), narrow(d, 2)]),
    "cat of two types": lambda d: torch.cat([narrow(d, 3), numbers(d, 2)]),
    "stack of two types": lambda d: torch.stack([numbers(d, 3), narrow(d, 3)]),
    "product": lambda d: narrow(d, 5).prod(),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("function", OPS.values(), ids=OPS.keys())
def test_ops_compute_in_the_type_of_the_processors(function: Callable[[Any], torch.Tensor], dtype: torch.dtype) -> None:
    with torch.autocast("cpu", dtype):
        expected = function("cpu")
    with torch.autocast("ingot", dtype):
        found = function(DEVICE)
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found.cpu().float(), expected.float(), rtol=2e-2, atol=2e-2)


def test_the_table_is_of_ops_that_pytorch_has_rules_for() -> None:
    ruled = {
        name.removeprefix("aten::").partition(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, "AutocastCPU")
    }
    assert ruled >= NARROW | WIDEST


def losses(device: Any) -> list[float]:
    torch.manual_seed(0)
    norms = (nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
    model = nn.Sequential(nn.Conv2d(1, 4, 3), *norms, nn.Linear(144, 16), nn.LayerNorm(16), nn.Linear(16, 5)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for _ in range(4):
        x, y = torch.randn(8, 1, 8, 8).to(device), torch.randint(0, 5, (8,)).to(device)
        optimizer.zero_grad()
        with torch.autocast(torch.device(device).type):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        ingot.torch.optimizer_step(optimizer)
        found.append(loss.item())
    assert all(p.dtype == torch.float32 == p.grad.dtype for p in model.parameters() if p.grad is not None)
    return found


def test_training_equals_the_processors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = losses(DEVICE)
    assert found == pytest.approx(losses("cpu"), rel=1e-2)


def test_it_ends_where_it_is_switched_off() -> None:
    x = numbers(DEVICE, 2, 2)
    with torch.autocast("ingot"):
        assert (x @ x).dtype == torch.bfloat16
        with torch.autocast("ingot", enabled=False):
            assert (x @ x).dtype == torch.float32
    assert (x @ x).dtype == torch.float32
