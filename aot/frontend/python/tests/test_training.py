"""Five steps of a compiled bundle beside five of PyTorch, on the same batches."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from bundle import Bundle, distance
from torch import nn

import ingot.torch

STEPS = 5


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1, bias=False)  # a bias before BatchNorm has a gradient of noise
        self.norm1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 8, 3, padding=1, stride=2, bias=False)
        self.norm2 = nn.BatchNorm2d(8)
        self.head = nn.Linear(8 * 2 * 2, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.relu(self.norm2(self.conv2(x)))
        return self.head(x.flatten(1))


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(6, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(x.shape[0], 5)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h)


class TiedWords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 6, padding_idx=0)
        self.norm = nn.LayerNorm(6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.embedding(x))).transpose(1, 2)


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5))


Make = Callable[[], nn.Module]
MakeOptimizer = Callable[[nn.Module], torch.optim.Optimizer]
Batch = Callable[[], tuple[torch.Tensor, torch.Tensor]]


def rows(*shape: int, classes: int = 5) -> Batch:
    return lambda: (torch.randn(STEPS, *shape), torch.randint(0, classes, (STEPS, shape[0])))


def words() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(0, 11, (STEPS, 4, 7)), torch.randint(0, 11, (STEPS, 4, 7))


CASES: dict[str, tuple[Make, MakeOptimizer, Batch]] = {
    "mlp_sgd": (mlp, lambda m: torch.optim.SGD(m.parameters(), lr=0.1), rows(6, 8)),
    "mlp_momentum": (
        mlp,
        lambda m: torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
        rows(6, 8),
    ),
    "mlp_adamw": (mlp, lambda m: torch.optim.AdamW(m.parameters(), lr=0.01), rows(6, 8)),
    "lenet_adam": (LeNet, lambda m: torch.optim.Adam(m.parameters(), lr=0.01), rows(4, 1, 8, 8)),
    "lstm_cell_adam": (Tagger, lambda m: torch.optim.Adam(m.parameters(), lr=0.01), rows(4, 6, 6, classes=3)),
    "tied_words_adagrad": (TiedWords, lambda m: torch.optim.Adagrad(m.parameters(), lr=0.1), words),
}
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-9}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=["f32", "f64"])
@pytest.mark.parametrize("case", CASES)
def test_steps_agree_with_pytorch(case: str, dtype: torch.dtype, tmp_path: Path) -> None:
    torch.manual_seed(0)
    make, make_optimizer, make_batches = CASES[case]
    model = make().to(dtype)
    xs, ys = (t.to(dtype) if t.is_floating_point() else t for t in make_batches())
    optimizer = make_optimizer(model)

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    before = copy.deepcopy(model.state_dict())
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0], ys[0]))
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), f"tracing changed {name}"
    log, final = Bundle(program, tmp_path).train({"x": xs, "y": ys})

    losses = [step(x, y).item() for x, y in zip(xs, ys, strict=True)]
    for row, loss in zip(log, losses, strict=True):
        assert row["loss"] == pytest.approx(loss, rel=TOLERANCE[dtype])
    far = {name: distance(final[name], value) for name, value in program.state.tensors.items()}
    assert max(far.values()) < TOLERANCE[dtype], far

    reloaded = make().to(dtype)
    reloaded_optimizer = make_optimizer(reloaded)
    ingot.torch.load_state(reloaded, reloaded_optimizer, tmp_path / "final.safetensors")
    for name, value in reloaded.state_dict().items():
        assert distance(value, model.state_dict()[name]) < TOLERANCE[dtype]


@pytest.mark.parametrize(
    "wrap",
    [
        torch.compile,
        lambda m: nn.Sequential(
            torch.nn.utils.parametrizations.weight_norm(m[0]), m[1], torch.nn.utils.parametrizations.spectral_norm(m[2])
        ),
    ],
    ids=["compiled", "parametrized"],
)
def test_modules_that_torch_wraps_train(wrap: Callable[[nn.Module], nn.Module], tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = wrap(mlp())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    xs, ys = rows(6, 8)()

    def step(x: torch.Tensor, y: torch.Tensor, model: nn.Module = model) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0], ys[0]))
    log, final = Bundle(program, tmp_path).train({"x": xs, "y": ys})
    assert set(final) >= set(model.state_dict())
    eager = getattr(model, "_orig_mod", model)
    for row, x, y in zip(log, xs, ys, strict=True):
        assert row["loss"] == pytest.approx(step(x, y, eager).item(), rel=TOLERANCE[torch.float32])
