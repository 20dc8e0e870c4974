"""Adam with moments of 8 bits: it trains as Adam does, and programs do what PyTorch does."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from bundle import Bundle
from torch import nn

import ingot.torch
from ingot.torch.optim import SCALES, SLOTS, Adam8bit, AdamW8bit
from ingot.torch.optimizers.block_codes import MEAN, SQUARE, Coded, CodeFormat, block_elements, decode, encode

FORMATS = {"mean": MEAN, "square": SQUARE}
Maker = Callable[[Any], torch.optim.Optimizer]


def recoded(values: torch.Tensor, format: CodeFormat, step: int) -> torch.Tensor:
    return decode(encode(values, format, torch.tensor(float(step))), format)


@pytest.mark.parametrize("name", FORMATS)
def test_codes_are_off_by_an_eighth_at_most(name: str) -> None:
    format = FORMATS[name]
    torch.manual_seed(0)
    values = torch.exp2(-40 * torch.rand(64, 256)) * torch.exp2(torch.arange(-32.0, 32).unsqueeze(1))
    if format.is_signed:
        values *= torch.randint(0, 2, values.shape) * 2 - 1
    scales = values.abs().amax(1, keepdim=True)
    for step in (1, 2, 1000, 12345678):
        off = (recoded(values, format, step) - values).abs()
        assert (off <= (values.abs() + format.offset * scales) / 8).all()


@pytest.mark.parametrize("name", FORMATS)
def test_codes_are_right_in_the_mean_over_steps(name: str) -> None:
    format = FORMATS[name]
    torch.manual_seed(0)
    values = torch.randn(2, 64)
    values = values if format.is_signed else values.square()
    mean = torch.stack([recoded(values, format, step) for step in range(1, 2001)]).double().mean(0)
    assert ((mean - values).abs() <= 0.001 * values.abs()).all()


def test_second_moments_are_nothing_only_where_these_are() -> None:
    values = torch.full((1, 64), 2.0**-140)
    values[0, :2] = torch.tensor([1.0, 0.0])
    for step in range(20):
        codes = encode(values, SQUARE, torch.tensor(float(step))).codes
        assert codes[0, 1] == 0
        assert (codes == 0).sum() == 1


def test_codes_are_those_of_cpp() -> None:
    """The same numbers are in tests/programs/block_codes_test.cc."""
    values = (torch.arange(64) * 37 % 101 - 50).float().div(64).unsqueeze(0)
    means = [248, 232, 112, 244, 215, 115, 241, 97, 118, 237, 107, 247, 229, 112, 244, 0]
    squares = [248, 217, 230, 242, 182, 239, 236, 202, 245, 226, 223, 247, 210, 234, 240, 0]
    assert encode(values, MEAN, torch.tensor(3.0)).codes[0, :16].tolist() == means
    assert encode(values.square(), SQUARE, torch.tensor(3.0)).codes[0, :16].tolist() == squares


def test_blocks_are_divisors() -> None:
    sizes = {(64, 64): 256, (4095,): 0, (100, 100): 250, (4099,): 0, (2, 61, 61): 122, (13, 331): 0}
    assert {shape: block_elements(torch.zeros(shape)) for shape in sizes} == sizes
    assert block_elements(torch.zeros(64, 64, dtype=torch.float64)) == 0
    assert block_elements(torch.zeros(64, 64, dtype=torch.bfloat16)) == 256


class Predicting(nn.Module):
    """A small transformer, and its loss: what follows two tokens is a function of both, but for noise."""

    TOKENS, LENGTH, WIDTH = 24, 16, 64

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(self.TOKENS, self.WIDTH), nn.Embedding(self.LENGTH, self.WIDTH)
        kind = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(self.WIDTH, 4, 256, **kind) for _ in range(2))
        self.head = nn.Linear(self.WIDTH, self.TOKENS)

    def forward(self, ids: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places.weight
        hidden = torch.ones(self.LENGTH, self.LENGTH, dtype=torch.bool).triu(1)
        for layer in self.layers:
            x = layer(x, src_mask=hidden)
        return F.cross_entropy(self.head(x).flatten(0, 1), following.flatten())

    @classmethod
    def batch(cls, seed: int, rows: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
        random = torch.Generator().manual_seed(seed)
        tokens = [torch.randint(cls.TOKENS, (rows,), generator=random) for _ in range(2)]
        for _ in range(cls.LENGTH):
            a, b = tokens[-2:]
            noise = torch.randint(cls.TOKENS, (rows,), generator=random)
            is_noise = torch.rand(rows, generator=random) < 1 / 8
            tokens.append(torch.where(is_noise, noise, (a + 3 * b + a * b % 5) % cls.TOKENS))
        row = torch.stack(tokens, 1)
        return row[:, 1:-1].contiguous(), row[:, 2:].contiguous()


class Classifying(nn.Module):
    """A small classifier and its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.layers(x), classes)

    @classmethod
    def batch(cls, seed: int, rows: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
        random = torch.Generator().manual_seed(seed)
        directions = torch.randn(64, 10, generator=torch.Generator().manual_seed(99))
        x = torch.randn(rows, 64, generator=random)
        return x, (x.tanh() @ directions).argmax(1)


def train_step_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[..., torch.Tensor]:
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(x, y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def last_loss(task: Any, make: Maker, seed: int, steps: int) -> float:
    """The mean loss of the last tenth of steps."""
    torch.manual_seed(seed)
    model = task()
    step = train_step_of(model, make(model.parameters()))
    losses = [step(*task.batch(number)).item() for number in range(steps)]
    return sum(losses[-(steps // 10) :]) / (steps // 10)


TRAININGS: dict[str, tuple[Any, Maker, Maker, int]] = {
    "classifier": (Classifying, lambda p: Adam8bit(p, 1e-3), lambda p: torch.optim.Adam(p, 1e-3), 1000),
    "transformer": (Predicting, lambda p: AdamW8bit(p, 2e-3), lambda p: torch.optim.AdamW(p, 2e-3), 400),
}


@pytest.mark.parametrize("name", ["classifier", pytest.param("transformer", marks=pytest.mark.nightly)])
def test_training_ends_where_adam_does(name: str) -> None:
    task, make_8bit, make, steps = TRAININGS[name]
    seeds = range(2)
    of_adam = [last_loss(task, make, seed, steps) for seed in seeds]
    of_8bit = [last_loss(task, make_8bit, seed, steps) for seed in seeds]
    print(name, of_adam, of_8bit)
    noise = max(of_adam) - min(of_adam)
    mean = sum(of_adam) / len(of_adam)
    assert sum(of_8bit) / len(of_8bit) <= mean + max(0.01 * mean, noise)


def test_second_moments_go_down_when_gradients_do() -> None:
    torch.manual_seed(0)
    weight = nn.Parameter(torch.zeros(64, 64))
    optimizer = Adam8bit([weight])
    sizes, exact = torch.rand(64, 64) + 0.1, torch.zeros(64, 64, dtype=torch.float64)
    for step in range(8000):
        weight.grad = sizes if step < 1000 else sizes / 1000
        exact = 0.999 * exact + 0.001 * weight.grad.double().square()
        optimizer.step()
    held = optimizer.state[weight]
    squares = decode(Coded(held["exp_avg_sq"].view(-1, 256), held["exp_avg_sq_scale"]), SQUARE).view(64, 64)
    ratio = squares / exact
    assert ratio.mean() == pytest.approx(1, rel=0.01)
    assert ratio.min() > 0.7
    assert ratio.max() < 1.4


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_parameters_move_as_by_adam(kind: str) -> None:
    """The first step is that of Adam, whose moments are exact."""
    torch.manual_seed(0)
    first = nn.Parameter(torch.randn(64, 64).to(getattr(torch, kind)))
    second = nn.Parameter(first.detach().float())
    first.grad = torch.randn(64, 64).to(first.dtype)
    second.grad = first.grad.float()
    AdamW8bit([first], 0.1, weight_decay=0.1).step()
    torch.optim.AdamW([second], 0.1, weight_decay=0.1).step()
    assert torch.allclose(first.float(), second.to(first.dtype).float(), rtol=1e-6 if kind == "float32" else 1e-2)


def test_small_parameters_are_adams() -> None:
    torch.manual_seed(0)
    first = nn.Parameter(torch.randn(10, 10))
    second = nn.Parameter(first.detach().clone())
    settings = {"lr": 0.1, "weight_decay": 0.1}
    optimizers = AdamW8bit([first], **settings), torch.optim.AdamW([second], **settings, foreach=False)
    for _ in range(5):
        first.grad = second.grad = torch.randn(10, 10)
        for optimizer in optimizers:
            optimizer.step()
    assert torch.equal(first, second)
    assert torch.equal(optimizers[0].state[first]["exp_avg_sq"], optimizers[1].state[second]["exp_avg_sq"])


def test_state_goes_through_state_dict() -> None:
    torch.manual_seed(0)
    model = Classifying().bfloat16()
    optimizer = Adam8bit(model.parameters())
    x, y = Classifying.batch(0)
    step = train_step_of(model, optimizer)
    step(x.bfloat16(), y)
    other = copy.deepcopy(model)
    restored = Adam8bit(other.parameters())
    restored.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    step(x.bfloat16(), y)
    train_step_of(other, restored)(x.bfloat16(), y)
    for one, another in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, another)
        for name, slot in optimizer.state[one].items():
            assert slot.dtype == restored.state[another][name].dtype
            assert torch.equal(slot, restored.state[another][name])


@pytest.mark.parametrize("make", [pytest.param(Adam8bit, marks=pytest.mark.nightly), AdamW8bit])
def test_compiled_steps_are_pytorchs(make: Any) -> None:
    """The first call compares three steps with PyTorch's; state is saved, loaded, and training goes on."""
    torch.manual_seed(0)
    model = Predicting()
    optimizer = make(model.parameters(), lr=2e-3, weight_decay=0.01)
    plain = copy.deepcopy(model)
    plain_step = train_step_of(plain, make(plain.parameters(), lr=2e-3, weight_decay=0.01))
    step = ingot.torch.compile(train_step_of(model, optimizer), model, optimizer)
    for number in range(20):
        batch = Predicting.batch(number)
        assert step(*batch).item() == pytest.approx(plain_step(*batch).item(), rel=2e-3)
    other = copy.deepcopy(plain)
    other.load_state_dict(model.state_dict())
    resumed = make(other.parameters(), lr=2e-3, weight_decay=0.01)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    batch = Predicting.batch(20)
    assert train_step_of(other, resumed)(*batch).item() == pytest.approx(step(*batch).item(), rel=1e-5)
    batch = Predicting.batch(21)
    assert train_step_of(other, resumed)(*batch).item() == pytest.approx(step(*batch).item(), rel=1e-3)


def test_a_program_trains_and_its_state_is_read_back(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Classifying()
    optimizer = AdamW8bit(model.parameters())
    step = train_step_of(model, optimizer)
    program = ingot.torch.Program(model, optimizer)
    batches = [Classifying.batch(number) for number in range(10)]
    program.add("train_step", step, batches[0])
    rows = {name: torch.stack(tensors) for name, tensors in zip("xy", zip(*batches, strict=True), strict=True)}
    log, final = Bundle(program, tmp_path).train(rows)
    losses = [step(*batch).item() for batch in batches]
    assert [row["loss"] for row in log] == pytest.approx(losses, rel=1e-3)
    mine = optimizer.state[model.layers[2].weight]
    for name in (*SLOTS, *SCALES):
        theirs = final[f"optimizer.layers.2.weight.{name}"]
        assert theirs.dtype == mine[name].dtype
        assert theirs.shape == mine[name].shape
    # Codes differ by rounding alone, and by a sign where a mean is near 0.
    apart = (final["optimizer.layers.2.weight.exp_avg_sq"].int() - mine["exp_avg_sq"].int()).abs()
    assert (apart > 0).float().mean() < 0.01
    assert math.isclose(apart.float().max().item(), 1, abs_tol=1)
    ingot.torch.load_state(model, optimizer, tmp_path / "final.safetensors")
    assert torch.equal(optimizer.state[model.layers[2].weight]["exp_avg"], final["optimizer.layers.2.weight.exp_avg"])
