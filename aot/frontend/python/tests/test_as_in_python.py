"""In this process: numbers that Python computes otherwise than a program are refused at the call where they come."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from carried.numbers import added, doubled, shifted
from torch import nn
from trainings import Training, linear, usual_step

import ingot.torch
from ingot.torch.numbers.bounds import ENDLESS, RULES

STEPS = 6
XS = torch.randn(STEPS, 6, 3, generator=torch.Generator().manual_seed(0))
Compute = Callable[[list[Any]], float]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def computing(held: list[Any], compute: Compute) -> Training:
    torch.manual_seed(0)
    model, optimizer = linear()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * compute(held)))


def rooted(held: list[Any]) -> float:
    held[0] -= 1.0
    return abs(held[0] ** 0.5)


def logarithm(held: list[Any]) -> float:
    held[0] -= 1.0
    return math.log(held[0])


def exponential(held: list[Any]) -> float:
    held[0] += 60.0
    return math.exp(held[0]) * 1e-300


def quotient(held: list[Any]) -> float:
    held[0] -= 1.0
    return 1 / held[0]


def counted(held: list[Any]) -> float:
    held[0] += 1
    return 1 / (1 + held[0] % 7)


def made_whole(held: list[Any]) -> float:
    held[0] *= 10.0
    return math.floor(held[0]) % 7


# What is computed of which numbers, the call that is refused, counted from 0, and what the refusal says.
REFUSED: dict[str, tuple[Compute, list[Any], int, str]] = {
    "doubled": (
        doubled,
        [2**60],
        2,
        r"`held\[0\]` is 4611686018427387904, Python computes an integer 9223372036854775808",
    ),
    "added": (added, [2**58, 2**59], 5, r"an integer 9799832789158199296, and a program's have 64 bits"),
    "shifted": (shifted, [60], 2, r"`held\[0\]` is 62, Python computes an integer 9223372036854775808"),
    "made_whole": (made_whole, [1e15], 3, r"64 bits"),
    "rooted": (rooted, [2.5], 2, r"`held\[0\]` is 0\.5, Python comes to complex numbers"),
    "logarithm": (logarithm, [2.5], 2, r"`held\[0\]` is 0\.5, Python comes to ValueError"),
    "exponential": (exponential, [480.0], 3, r"`held\[0\]` is 660\.0, Python comes to OverflowError"),
    "quotient": (quotient, [3.0], 2, r"`held\[0\]` is 1\.0, Python comes to ZeroDivisionError"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused_where_python_would_do_something_else(name: str) -> None:
    compute, start, call, message = REFUSED[name]
    mine, theirs = computing([*start], compute), computing([*start], compute)
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in XS[:call]:
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-4)
    before = mine.model.weight.detach().clone()
    with pytest.raises(ingot.torch.TraceError, match=message):
        step(XS[call])
    assert torch.equal(before, mine.model.weight)


def test_numbers_that_the_user_gives_must_fit() -> None:
    held = [1]
    training = computing(held, counted)
    step = ingot.torch.compile(training.step, training.model, training.optimizer)
    step(XS[0])
    held[0] = 2**63 - 1
    with pytest.raises(ingot.torch.TraceError, match="64 bits"):
        step(XS[0])
    held[0] = 2**70
    with pytest.raises(ingot.torch.TraceError, match=r"`held\[0\]` is 1180591620717411303424"):
        step(XS[0])
    held[0] = 5
    step(XS[0])
    assert held == [6]


def samples(random_: random.Random) -> tuple[int, int]:
    size = random_.choice((2, 5, 40, 70))
    return tuple(sorted(random_.randint(-(1 << size), 1 << size) for _ in range(2)))


@pytest.mark.parametrize("op", [op for op in RULES if op is not torch.sym_sum], ids=lambda op: op.__name__)
def test_bounds_hold_what_is_computed(op: Any) -> None:
    random_ = random.Random(0)
    count = RULES[op].__code__.co_argcount or 1
    python = {torch.sym_not: lambda a: not a, torch.sym_min: min, torch.sym_max: max, torch.sym_float: float}
    python |= {torch._sym_sqrt: math.sqrt, torch.ops.aten.sqrt.default: math.sqrt}
    for _ in range(300):
        ranges = [samples(random_) for _ in range(count)]
        if "shift" in op.__name__ or op.__name__ == "pow":
            ranges[1] = tuple(sorted(random_.randint(0, 9) for _ in range(2)))
        if op is torch.sym_not:
            ranges = [(0, 1)]
        try:
            low, high = RULES[op](*ranges)
        except (TypeError, ArithmeticError, ValueError):
            continue
        for _ in range(9):
            values = [random_.randint(*bounds) for bounds in ranges]
            try:
                found = python.get(op, op)(*values)
            except (ArithmeticError, ValueError):
                continue
            assert low <= found <= high or abs(found) > ENDLESS, (ranges, values)


def leaving(leave: Callable[[nn.Module, dict[str, Any], torch.Tensor], None]) -> Training:
    model, optimizer = linear()
    model.last = None
    held: dict[str, Any] = {}

    def step(x: torch.Tensor) -> torch.Tensor:
        leave(model, held, model(x))
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


LEFT: dict[str, tuple[Callable[..., None], str]] = {
    "entry": (lambda model, held, y: held.__setitem__("y", y.detach()), r"`held\['y'\]`"),
    "attribute": (lambda model, held, y: setattr(model, "last", y.detach()), r"`model\.last`"),
    "number": (lambda model, held, y: setattr(model, "last", y.mean().item()), r"`model\.last`"),
    "several": (lambda model, held, y: held.update(all=(y, y.sum())), r"`held\['all'\]\[0\]`, `held\['all'\]\[1\]`"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_compiled_calls_do_not_leave_is_said_once_in_each_process(name: str) -> None:
    leave, path = LEFT[name]
    for _ in range(2):  # the second finds the trace
        torch.manual_seed(0)
        training = leaving(leave)
        step = ingot.torch.compile(training.step, training.model, training.optimizer)
        with pytest.warns(UserWarning, match=rf"compiled calls do not set {path}, which .*return it") as said:
            for x in XS[:3]:
                step(x)
        assert len(said) == 1
