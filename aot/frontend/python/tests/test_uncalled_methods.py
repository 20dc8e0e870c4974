"""Only what a step can run is watched: not what methods read that nothing of it calls."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch

XS = torch.randn(6, 4, 3, generator=torch.Generator().manual_seed(0))
SEEN: dict[str, float] = {}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(f"{__name__}.SEEN", {"scale": 1.0})


class Reporting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)

    def report(self) -> str:
        return f"scale {SEEN['scale']}"


class Trained(nn.Linear):
    """As a layer that has its own training loop."""

    def train(self, mode: bool = True) -> Any:
        return super().train(mode and SEEN["scale"] > 0)

    def report(self) -> str:
        return f"scale {SEEN['scale']}"


class Scaled(Reporting):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scaled(self.fc(x))

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x * SEEN["scale"]


class ByForward(nn.Linear):
    """Overrides what a library's method calls."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) * SEEN["scale"]


class Training:
    def __init__(self, model: nn.Module, is_compiled: bool) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        self.step: Any = ingot.torch.compile(step, model, optimizer) if is_compiled else step


def made(kind: type[nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return kind() if issubclass(kind, Reporting) else kind(3, 2)


@pytest.mark.parametrize("kind", [Reporting, Trained])
def test_globals_of_methods_that_are_not_called_may_change(kind: type[nn.Module]) -> None:
    step = Training(made(kind), True).step
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i, x in enumerate(XS):
            SEEN["scale"] = 1.0 + i
            step(x)
    assert step.programs == 1


@pytest.mark.parametrize("kind", [Scaled, ByForward])
@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_those_of_methods_that_are_called_are_seen(kind: type[nn.Module]) -> None:
    runs = []
    for is_compiled in (True, False):
        SEEN["scale"] = 1.0
        step = Training(made(kind), is_compiled).step
        losses = [step(x).item() for x in XS[:2]]
        SEEN["scale"] = 3.0
        runs.append(losses + [step(x).item() for x in XS[2:4]])
    assert runs[0] == pytest.approx(runs[1], rel=1e-4)


def test_a_method_that_only_pytorch_calls_by_name_is_seen() -> None:
    model = made(Trained)

    def predict(x: torch.Tensor) -> torch.Tensor:
        model.eval()
        return model(x)

    step = ingot.torch.compile(predict, model, training=False)
    step(XS[0])
    SEEN["scale"] = -1.0
    with pytest.warns(UserWarning, match="it is traced again"):
        step(XS[0])
