"""How many calls of a function are traced: a second one where the first does not show that it would do the same."""

import contextlib
import functools
import os
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from trainings import linear, usual_step

import ingot.torch
from ingot.torch.tracing.calls import Calls

X = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
GENERATOR = torch.Generator()


@functools.cache
def hidden_table() -> torch.Tensor:
    """Where Python does not show that it is kept."""
    return torch.arange(3.0) + 1


def forked(x: torch.Tensor) -> torch.Tensor:
    with torch.random.fork_rng(devices=[]):
        return nn.functional.dropout(x)


class Counter:
    count = 0

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * self.count


def at_a_time(x: torch.Tensor) -> torch.Tensor:
    return x * (time.time() > 0)


ONE: dict[str, Callable[[], Callable[[torch.Tensor], torch.Tensor]]] = {
    "plain": lambda: lambda x: x,
    "dropout": lambda: nn.Dropout(),
    "statistics": lambda: nn.BatchNorm1d(3),
    "recurrent": lambda: lambda x: nn.functional.dropout(x) + torch.randn(3),
    "made of itself": lambda: lambda x: x + hidden_table.__wrapped__(),
}


def read_from_a_pipe() -> Callable[[torch.Tensor], torch.Tensor]:
    reading, writing = os.pipe()
    with open(writing, "w") as file:
        file.write("2\n2\n2\n2\n")
    lines = open(reading)  # noqa: SIM115  (it is read in each call)
    return lambda x: x * float(lines.readline())


def compressing() -> Callable[[torch.Tensor], torch.Tensor]:
    compressor = zlib.compressobj()
    return lambda x: x * len(compressor.compress(b"0"))


TWO: dict[str, Callable[[], Callable[[torch.Tensor], torch.Tensor]]] = {
    "a tensor is kept": lambda: lambda x: x + hidden_table(),
    "a number changes": Counter,
    "a clock is read": lambda: at_a_time,
    "a generator is put back": lambda: forked,
    "a generator of its own": lambda: lambda x: x + torch.rand(3, generator=GENERATOR),
    "a pipe is read": read_from_a_pipe,
    "what an object of C holds is not shown": compressing,
    "a lock is an object of C": lambda: functools.partial(
        lambda lock, x: x * (2 - lock.acquire(False)), threading.Lock()
    ),
}


def traced_calls(
    change: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch, *, guards: bool = True
) -> int:
    """Of a step, until it is traced or refused; with `guards` it is of this process, where it is compared."""
    calls: list[Any] = []
    call = Calls._call

    def counting(self: Calls, inputs: Any) -> Any:
        calls.append(self)
        return call(self, inputs)

    monkeypatch.setattr(Calls, "_call", counting)
    hidden_table.cache_clear()
    model, optimizer = linear()
    program = ingot.torch.Program(
        nn.ModuleList([model, *([change] if isinstance(change, nn.Module) else [])]), optimizer
    )
    with contextlib.suppress(ingot.torch.TraceError):
        program.add("step", lambda x: usual_step(model, optimizer, change(x)), (X,), guards=guards)
    return sum(each is calls[0] for each in calls)


@pytest.mark.parametrize("change", ONE)
def test_one_call_is_traced(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert traced_calls(ONE[change](), monkeypatch) == 1


def test_two_calls_are_traced_for_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert traced_calls(lambda x: x, monkeypatch, guards=False) == 2


@pytest.mark.parametrize("change", TWO)
@pytest.mark.filterwarnings("ignore:.*reads time")
def test_two_calls_are_traced(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert traced_calls(TWO[change](), monkeypatch) == 2


def test_a_generator_that_is_given_a_large_seed_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def seeded(x: torch.Tensor) -> torch.Tensor:
        torch.random.manual_seed(2**63 - 5)
        return nn.functional.dropout(x)

    assert traced_calls(seeded, monkeypatch) == 2
