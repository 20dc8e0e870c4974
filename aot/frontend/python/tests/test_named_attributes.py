"""Attributes that a step reads in roundabout ways: each call has them as they are."""

from __future__ import annotations

import contextlib
import functools
import operator
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch

X = torch.ones(4, 3) * torch.arange(1, 5)[:, None]
K_OF = operator.attrgetter("k")
Scale = Callable[["Scaled"], Any]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Held:
    """An object of a number, which gives it in many ways."""

    def __init__(self, k: float) -> None:
        self.k = k

    def __str__(self) -> str:
        return str(self.k)

    def __contains__(self, number: float) -> bool:
        return number < self.k

    def __iter__(self) -> Iterator[float]:
        return iter([self.k])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * self.k

    @contextlib.contextmanager
    def entered(self) -> Iterator[float]:
        yield self.k


class Copied(Held):
    def __init__(self, other: Held) -> None:
        super().__init__(other.k)


class Descriptor:
    def __get__(self, owner: Any, _: Any = None) -> Any:
        return owner.held.k


def matched(model: Scaled) -> Any:
    match model.plain:
        case types.SimpleNamespace(k=number):
            return number


def entered(model: Scaled) -> Any:
    with model.held.entered() as number:
        return number


def of_a_text(model: Scaled) -> Any:
    return eval("model.held.k")


WAYS: dict[str, Scale] = {
    "descriptor": lambda model: model.described,
    "matched": matched,
    "entered": entered,
    "of_a_text": of_a_text,
    "looked for": lambda model: 2.0 if 2.0 in model.held else 1.0,
    "iterated": lambda model: sum(model.held),
    "shown": lambda model: float("".join(map(str, [model.held]))),
    "formatted": lambda model: float(f"{model.held}"),
    "sorted": lambda model: min([model.held, Held(2.0)], key=K_OF).k,
    "copied": lambda model: Copied(model.held).k,
    "made by a table": lambda model: {"copied": Copied}["copied"](model.held).k,
    "partial": lambda model: functools.partial(K_OF, model.held)(),
    "called by a library": lambda model: model.layer(X[None]).sum(),
    "of a library's class": lambda model: model.leaky(-X).sum(),
}


class Leaky(nn.LeakyReLU):
    """A layer of PyTorch's whose attribute PyTorch's code alone names."""


class Scaled(nn.Module):
    described = Descriptor()

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.leaky, self.scale = nn.Linear(3, 3), Leaky(1.0), scale
        self.held, self.plain = Held(1.0), types.SimpleNamespace(k=1.0)
        self.layer = nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0, batch_first=True, activation=self.held)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x) * self.scale(self)

    def change(self) -> None:
        self.held.k = self.plain.k = self.leaky.negative_slope = 3.0


def losses(scale: Scale, is_compiled: bool) -> list[float]:
    model = Scaled(scale)
    optimizer = torch.optim.SGD(model.fc.parameters(), 1e-3)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    called = ingot.torch.compile(step, model, optimizer) if is_compiled else step
    found = [called(X).item() for _ in range(2)]
    model.change()
    return found + [called(X).item() for _ in range(2)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:.*traced again")
def test_numbers_are_seen_however_they_are_read(way: str) -> None:
    mine, expected = (losses(WAYS[way], is_compiled) for is_compiled in (True, False))
    assert mine == pytest.approx(expected, rel=1e-3)
    assert abs(expected[2] - expected[1]) > 0.01 * abs(expected[1])
