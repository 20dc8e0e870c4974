"""PyTorch's profilers see each call of a program, and below it each run of a kernel."""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.autograd.profiler_util import FunctionEvent

import ingot.torch
from ingot.torch.base import profiles

XS = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


def profiled(call: Callable[[], object]) -> list[FunctionEvent]:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
    return list(profile.events())


def calls_of(events: list[FunctionEvent], name: str) -> list[dict[str, int]]:
    """Of each call of a program how often each kernel ran, which is within the call and takes no longer than it."""
    calls = [event for event in events if event.name == name]
    runs = []
    for call in calls:
        kernels = [event for event in call.cpu_children if not event.name.startswith("aten::")]
        assert all(call.time_range.start <= event.time_range.start for event in kernels)
        assert all(event.time_range.end <= call.time_range.end for event in kernels)
        assert 0 < sum(event.time_range.elapsed_us() for event in kernels) <= call.time_range.elapsed_us()
        runs.append(collections.Counter(event.name for event in kernels))
    return runs


class Counted:
    """An event that counts how often it is entered and left."""

    entered = left = 0

    def __init__(self, _name: str) -> None: ...

    def __enter__(self) -> None:
        Counted.entered += 1

    def __exit__(self, *_: object) -> None:
        Counted.left += 1


def network(threads: int = 1) -> tuple[Any, nn.Module]:
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer, verify=False, threads=threads)
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step, model


@pytest.mark.parametrize("threads", [1, 2])
def test_each_kernel_of_a_step_is_an_event(threads: int) -> None:
    step, _ = network(threads)
    step(XS)
    first, second = calls_of(profiled(lambda: (step(XS), step(XS))), "ingot: step")
    assert first == second
    assert set(first.values()) == {1}
    products = [kernel for kernel in first if "dot_general" in kernel]
    assert len(products) >= 3
    assert all("(test_profiled.py:" in kernel for kernel in products)


def test_a_loop_runs_kernels_many_times() -> None:
    layer = nn.Linear(3, 3)

    @ingot.torch.step(layer, verify=False)
    def step(x: torch.Tensor, trips: torch.Tensor) -> torch.Tensor:
        start = torch.zeros((), dtype=torch.int64), x
        return torch.while_loop(lambda i, y: i < trips, lambda i, y: (i + 1, layer(y).tanh()), start)[1]

    with torch.no_grad():
        step(XS, torch.tensor(2))
        few, many = calls_of(profiled(lambda: [step(XS, torch.tensor(trips)) for trips in (3, 7)]), "ingot: step")
    assert set(few) == set(many)
    assert {many[kernel] - few[kernel] for kernel in few if "dot_general" in kernel} == {4}


def test_without_a_profiler_there_are_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "ProfiledEvent", Counted)
    step, _ = network()
    step(XS)
    profiled(lambda: step(XS))
    entered = Counted.entered
    assert entered == Counted.left > 3
    step(XS)
    assert Counted.entered == entered


def test_parts_of_eager_programs_have_events() -> None:
    torch._dynamo.reset()
    _, model = network()
    part = ingot.torch.partial(model)
    part(XS).sum().backward()
    events = profiled(lambda: part(XS).sum().backward())
    for name, products in (("forward", 2), ("backward", 3)):
        (runs,) = calls_of(events, f"ingot: {name}")
        assert sum("dot_general" in kernel for kernel in runs) == products
