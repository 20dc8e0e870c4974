"""What Python carries from call to call, outside of tensors: a program agrees with PyTorch over several, or refuses it.

A refusal names the object, its path, its values and the user's line.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from carried import CASES, HERE
from carried.case import Case
from carried.hidden import Kind, Other
from trainings import agrees, linear, usual_step

import ingot.torch

STEPS = 6
FOLDER = Path(__file__).parent / "carried"
REFUSED = {name: case for name, case in CASES.items() if case.message}


@pytest.fixture(autouse=True)
def remove_hooks_of_all_modules() -> Iterator[None]:
    """A case's hook names its model, so the two keep each other, and later tests would run it."""
    yield
    torch.nn.modules.module._global_forward_hooks.clear()


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_agrees(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    agrees(CASES[name].make(), tmp_path, STEPS)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_is_refused_by_name(case: Case) -> None:
    training = case.make()
    program = ingot.torch.Program(training.model, training.optimizer)
    with pytest.raises(ingot.torch.TraceError) as caught:
        program.add("train_step", training.step, (torch.randn(6, 3),))
    said = str(caught.value)
    assert re.search(case.message, said), said
    if HERE in inspect.getsource(case.make):
        file, line = re.search(r"(\w+\.py):(\d+)", said).groups()
        assert HERE in linecache.getline(str(FOLDER / file), int(line)), said


def test_tracing_registers_no_class() -> None:
    test_is_refused_by_name(REFUSED["registers_a_class"])
    assert not issubclass(Other, Kind)


ITERATORS: dict[str, Callable[[], Iterator[float]]] = {
    "of a list": lambda: iter([1.0, 2.0, 3.0, 4.0]),
    "of what is chained": lambda: itertools.chain([1.0], [2.0, 3.0], [4.0]),
    "of two together": lambda: map(operator.mul, [1.0, 2.0, 3.0, 4.0], range(4)),
    "that goes round": lambda: itertools.cycle([1.0, 2.0, 3.0]),
    "that goes round soon": lambda: itertools.cycle([1.0, 2.0]),
    "that has gone round": lambda: gone_on(itertools.cycle([1.0, 2.0, 3.0]), 4),
}


def gone_on(iterator: Iterator[float], count: int) -> Iterator[float]:
    for _ in range(count):
        next(iterator)
    return iterator


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_iterators_are_where_they_were(make: Callable[[], Iterator[float]]) -> None:
    model, optimizer = linear()
    numbers = make()
    program = ingot.torch.Program(model, optimizer)
    with pytest.raises(ingot.torch.TraceError, match="the second call changes `numbers"):
        program.add("train_step", lambda x: usual_step(model, optimizer, x * next(numbers)), (torch.randn(6, 3),))
    assert [*itertools.islice(numbers, 4)] == [*itertools.islice(make(), 4)]
