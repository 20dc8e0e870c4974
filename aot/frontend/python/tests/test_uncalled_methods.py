"""Only what a step can run is watched: not what methods read that nothing of it calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


class Decorated(Reporting):
    """As a trainer whose threads work beside it."""

    @contextmanager
    def reporting(self) -> Iterator[str]:
        yield f"scale {SEEN['scale']}"

    @torch.no_grad()
    def report(self) -> str:
        return f"scale {SEEN['scale']}"


class ScaledWithoutGradients(Reporting):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x) * self.scale()

    @torch.no_grad()
    def scale(self) -> float:
        return SEEN["scale"]


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


@pytest.mark.parametrize("kind", [Reporting, Trained, Decorated])
def test_globals_of_methods_that_are_not_called_may_change(kind: type[nn.Module]) -> None:
    step = Training(made(kind), True).step
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i, x in enumerate(XS):
            SEEN["scale"] = 1.0 + i
            step(x)
    assert step.programs == 1


@pytest.mark.parametrize("kind", [Scaled, ScaledWithoutGradients, ByForward])
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


class Game:
    """As an environment of reinforcement learning."""

    def __init__(self) -> None:
        self.state = torch.zeros(3).numpy()

    def play(self) -> None:
        self.state = self.state + 1


class Playing(Reporting):
    """Keeps what its training loop needs, as many scripts do."""

    def __init__(self) -> None:
        super().__init__()
        self.game, self.episodes, self.steps, self.temperature = Game(), [0.0], 0, 1.0

    def play(self) -> None:
        self.game.play()
        self.episodes.append(float(self.steps))
        self.steps += 1


class Tempered(Playing):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) / self.temperature


def test_attributes_of_a_model_that_no_code_of_a_step_names_may_change() -> None:
    model = Playing()
    step = Training(model, True).step
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in XS:
            model.play()
            step(x)
    assert step.programs == 1


class Settings:
    """Its text shows all that it has."""

    def __init__(self) -> None:
        self.power = 2

    def __str__(self) -> str:
        return str(self.__dict__)


class Trainer:
    """Calls back what others gave it after each step."""

    def __init__(self, model: nn.Module) -> None:
        settings = Settings()
        self.callbacks: list[Callable[[Trainer], None]] = [
            lambda trainer: SEEN.update({f"{settings}": trainer.loss.item()})
        ]
        self.optimizer = optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x: torch.Tensor) -> torch.Tensor:
            model.zero_grad()
            if x.dim() != 2:
                raise ValueError(f"{x.dim()} dimensions")
            loss = model(x).pow(settings.power).mean()
            loss.backward()
            self.optimizer.step()
            return loss

        self.step: Any = ingot.torch.compile(step, model, optimizer)

    def run(self, x: torch.Tensor) -> None:
        self.loss = self.step(x)
        for callback in self.callbacks:
            callback(self)


def test_callbacks_of_the_loop_around_may_read_what_changes() -> None:
    trainer = Trainer(Reporting())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in XS:
            trainer.run(x)
    assert trainer.step.programs == 1


def doubled(model: nn.Module) -> None:
    forward = model.forward
    model.forward = lambda x: forward(x) * 2  # type: ignore[method-assign]


def warmer(model: nn.Module) -> None:
    model.temperature = 2.0  # type: ignore[assignment]


@pytest.mark.parametrize("change", [doubled, warmer])
@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_those_that_a_step_reads_are_seen(change: Callable[[nn.Module], None]) -> None:
    runs = []
    for is_compiled in (True, False):
        model = made(Tempered)
        step = Training(model, is_compiled).step
        losses = [step(x).item() for x in XS[:2]]
        change(model)
        runs.append(losses + [step(x).item() for x in XS[2:4]])
    assert runs[0] == pytest.approx(runs[1], rel=1e-4)
