"""Functions whose first call is another than those that follow: it is PyTorch's, and what it made is constant."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainings import Training, linear, usual_step

import ingot.torch

XS = torch.randn(5, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def made_table() -> torch.Tensor:
    return torch.arange(3.0) + 1


def scaled_by(table: Callable[[], torch.Tensor]) -> Training:
    model, optimizer = linear()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * table()))


class Tables:
    @functools.cached_property
    def table(self) -> torch.Tensor:
        return made_table()


class Lazy(nn.Linear):
    """Makes its table where it is called first."""

    table: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.table is None:
            self.table = made_table()
        return super().forward(x * self.table)


def lazy() -> Training:
    model = Lazy(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


def counting() -> Training:
    """As an optimizer that keeps its steps in its groups."""
    model, optimizer = linear()
    group = optimizer.param_groups[0]

    def step(x: torch.Tensor) -> torch.Tensor:
        group["step"] = group.get("step", 0) + 1
        return usual_step(model, optimizer, x * 0.9 ** group["step"])

    return Training(model, optimizer, step)


def of_a_property() -> Training:
    tables = Tables()
    return scaled_by(lambda: tables.table)


TRAININGS: dict[str, Callable[[], Training]] = {
    "a cached function": lambda: scaled_by(functools.lru_cache(maxsize=None)(made_table)),
    "a function that caches some": lambda: scaled_by(functools.lru_cache(maxsize=4)(made_table)),
    "a cached property": of_a_property,
    "a module": lazy,
    "a counter that it makes": counting,
}


@pytest.mark.parametrize("name", TRAININGS)
def test_first_call_is_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    _, _, eager = TRAININGS[name]()
    torch.manual_seed(0)
    model, optimizer, function = TRAININGS[name]()
    step = ingot.torch.compile(function, model, optimizer)
    with pytest.warns(UserWarning, match="this call is PyTorch's: .* (which the call before left|from 1 to 2)"):
        assert step(XS[0]).item() == eager(XS[0]).item()
    assert step.programs == 0
    for x in XS[1:]:
        assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-5)
    assert step.programs == 1


def test_a_file_is_told_what_the_first_call_makes() -> None:
    model, optimizer, function = counting()
    program = ingot.torch.Program(model, optimizer)
    with pytest.raises(ingot.torch.TraceError, match=r"'step'.* from 1 to 2.* the first makes it: let it be a number"):
        program.add("train_step", function, (XS[0],))


def test_what_each_call_leaves_is_pytorchs() -> None:
    """A training that has begun goes on, whatever it finds."""
    losses = []
    for is_compiled in (False, True):
        torch.manual_seed(0)
        model, optimizer = linear()
        last: dict[str, torch.Tensor] = {}

        def function(x: torch.Tensor, model: Any = model, optimizer: Any = optimizer, last: Any = last) -> torch.Tensor:
            before, last["x"] = last.get("x", x), x
            return usual_step(model, optimizer, x + before)

        step = ingot.torch.compile(function, model, optimizer) if is_compiled else function
        with pytest.warns(UserWarning, match="this call is PyTorch's") if is_compiled else nullcontext():
            losses.append([step(x).item() for x in XS[:4]])
    assert losses[0] == losses[1]


def test_a_module_is_not_converted() -> None:
    model, optimizer = linear()

    def function(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model.to(torch.float32), optimizer, x)

    ingot.torch.compile(function, model, optimizer)(XS[0])

    def narrow(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model.to(torch.float64), optimizer, x.double())

    with pytest.raises(ingot.torch.TraceError, match="convert the module before it is traced"):
        ingot.torch.compile(narrow, model, optimizer)(XS[0])


class Masked(nn.Linear):
    """Makes its mask again where the length is another than that of the call before."""

    mask: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mask is None or len(self.mask) != len(x):
            self.mask = torch.tril(torch.ones(len(x), len(x)))
        return self.mask @ super().forward(x)


def masked() -> Training:
    torch.manual_seed(0)
    model = Masked(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


LENGTHS = {"epochs": [6, 6, 6, 4] * 3, "in turn": [6, 4] * 8, "three": [6, 6, 5, 4, 5, 6]}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_each_length_has_a_first_call(name: str) -> None:
    _, _, eager = masked()
    model, optimizer, function = masked()
    step = ingot.torch.compile(function, model, optimizer, verify=False)
    for i, length in enumerate(LENGTHS[name]):
        x = XS[i % 5, :length]
        assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-4)


def test_first_calls_of_other_lengths_are_refused_where_that_is_asked_for() -> None:
    model, optimizer, function = masked()
    function(XS[0])
    step = ingot.torch.compile(function, model, optimizer, on_change="error", verify=False)
    step(XS[0])
    with pytest.raises(ingot.torch.TraceError):
        step(XS[1, :4])
