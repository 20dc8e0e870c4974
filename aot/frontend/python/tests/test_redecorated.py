"""A step that is decorated inside the function of an epoch is traced once, and is the one that it is in each epoch."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ingot.torch
from ingot.torch.program import Program

XS = torch.randn(8, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the entry points that are traced."""
    names: list[str] = []
    trace = Program.trace
    monkeypatch.setattr(Program, "trace", lambda self, name, added: (names.append(name), trace(self, name, added))[1])
    return names


def made() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    return model, torch.optim.Adam(model.parameters(), lr=0.1)


def epoch(
    model: nn.Module, optimizer: Any, xs: Any, is_compiled: bool = True, scale: float = 1.0, **options: Any
) -> list[float]:
    def scaled(loss: torch.Tensor) -> torch.Tensor:
        return scale * loss

    def step(x: torch.Tensor, power: int = 2) -> torch.Tensor:
        optimizer.zero_grad()
        loss = scaled(model(x).pow(power).mean())
        loss.backward()
        optimizer.step()
        return loss

    compiled = ingot.torch.compile(step, model, optimizer, **options) if is_compiled else step
    return [compiled(x).item() for x in xs]


def test_epochs_share_their_programs(traced: list[str]) -> None:
    seen = []
    for is_compiled in (True, False):
        model, optimizer = made()
        losses = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                losses += epoch(model, optimizer, [*XS[:3], XS[3, :4]], is_compiled)  # the last batch is smaller
        seen.append(losses)
    assert len(traced) == 2
    assert seen[0] == pytest.approx(seen[1], rel=1e-4)


def test_other_values_and_objects_are_traced(traced: list[str]) -> None:
    model, optimizer = made()
    for scale in (1.0, 2.0, 1.0):
        epoch(model, optimizer, XS[:2], scale=scale)
    assert len(traced) == 2
    epoch(model, optimizer, XS[:2], verify=False)
    assert len(traced) == 3, "with other options"
    other, _ = made()
    epoch(other, torch.optim.Adam(other.parameters()), XS[:2])
    assert len(traced) == 4


def test_variables_that_change_after_a_program_was_found_are_seen() -> None:
    seen = []
    for is_compiled in (True, False):
        model, optimizer = made()
        losses: list[float] = []

        def run(is_compiled: bool = is_compiled, model: Any = model, optimizer: Any = optimizer) -> list[float]:
            power = 2

            def step(x: torch.Tensor) -> torch.Tensor:
                optimizer.zero_grad()
                loss = model(x).pow(power).mean()
                loss.backward()
                optimizer.step()
                return loss

            compiled = ingot.torch.compile(step, model, optimizer) if is_compiled else step
            first = compiled(XS[0]).item()
            power = 4
            return [first, compiled(XS[1]).item()]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            losses += run() + run()
        seen.append(losses)
    assert seen[0] == pytest.approx(seen[1], rel=1e-4)


def test_counters_of_each_function_are_its_own() -> None:
    seen = []
    for is_compiled in (True, False):
        model, optimizer = made()

        def run(is_compiled: bool = is_compiled, model: Any = model, optimizer: Any = optimizer) -> list[float]:
            count = 0

            def step(x: torch.Tensor) -> torch.Tensor:
                nonlocal count
                count += 1
                optimizer.zero_grad()
                loss = model(x).square().mean() * count
                loss.backward()
                optimizer.step()
                return loss

            compiled = ingot.torch.compile(step, model, optimizer) if is_compiled else step
            return [*(compiled(x).item() for x in XS[:3]), count]

        seen.append(run() + run())
    assert seen[0] == pytest.approx(seen[1], rel=1e-4)


@pytest.mark.parametrize("seed", [None, 7])
def test_random_numbers_go_on(seed: int | None, traced: list[str]) -> None:
    model, optimizer = made()

    def masks() -> list[list[float]]:
        step: Callable[[], torch.Tensor] = ingot.torch.compile(
            lambda: F.dropout(torch.ones(64)), model, optimizer, training=False, seed=seed
        )
        return [step().tolist() for _ in range(2)]

    (one, two), (three, four) = masks(), masks()
    assert all(a != b for a, b in ((one, two), (one, three), (two, four), (three, four)))
    assert len(traced) == 1


def test_optimizers_are_saved_and_copied_without_programs() -> None:
    model, optimizer = made()
    epoch(model, optimizer, XS[:1])
    assert b"ingot" not in pickle.dumps(optimizer)
    copied = copy.deepcopy(optimizer)
    assert {*vars(copied)} <= {*vars(made()[1])} | {"_zero_grad_profile_name"}


def test_programs_go_with_their_optimizer() -> None:
    model, optimizer = made()
    epoch(model, optimizer, XS[:1])
    gone = weakref.ref(model)
    del model, optimizer
    gc.collect()
    assert gone() is None


def by_hand(model: nn.Module, xs: Any) -> list[float]:
    """An epoch without an optimizer."""

    def step(x: torch.Tensor) -> torch.Tensor:
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-0.1)
        return loss

    compiled = ingot.torch.compile(step, model)
    return [compiled(x).item() for x in xs]


def test_epochs_without_an_optimizer_share_their_programs(traced: list[str]) -> None:
    model, _ = made()
    losses = by_hand(model, XS[:2]) + by_hand(model, XS[:2])
    assert len(traced) == 1
    assert losses[2] < losses[0]
    loaded = pickle.loads(pickle.dumps(model))
    for other in (loaded, copy.deepcopy(model)):
        assert torch.equal(other.weight, model.weight)
        by_hand(other, XS[:2])
