"""The judge of the first call is judged: it refuses no ordinary program, and planted faults are caught."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from ordinary.programs import ORDINARY, Ordinary
from tool import TOOL

import ingot.torch
import ingot.torch.program
from ingot.torch.text.lowering import TABLE

SEEDS = 20  # of each program, half of them trained before
BATCH, LAST_BATCH = 32, 11
TRAINED_STEPS = 300
QUICK = (
    "convolutions, batch norm, SGD",
    "softmax regression, decay in the loss",
    "BCELoss of labels 0 and 1",
    "perceptron, Adam",
)


@pytest.fixture(autouse=True)
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


def made(name: str, seed: int) -> Ordinary:
    """A program; one of an odd seed was trained in PyTorch."""
    torch.manual_seed(seed)
    program = ORDINARY[name]()
    for _ in range(TRAINED_STEPS * (seed % 2)):
        program.step(*program.batch(BATCH))
    return program


def trains(name: str, seed: int) -> None:
    """An epoch through ingot whose last batch is smaller, without a word but that it is traced again."""
    program = made(name, seed)
    step = ingot.torch.compile(program.step, program.model, program.optimizer)
    step(*program.batch(BATCH))
    step(*program.batch(BATCH))
    with pytest.warns(UserWarning, match="traced again") as warned:
        step(*program.batch(LAST_BATCH))
    messages = [str(warning.message) for warning in warned if issubclass(warning.category, UserWarning)]
    assert len(messages) == 1, messages


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("error::UserWarning:ingot")
def test_ordinary_programs_are_not_refused(name: str, seed: int) -> None:
    trains(name, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.filterwarnings("error::UserWarning:ingot")
def test_no_program_is_refused(name: str, seed: int) -> None:
    trains(name, seed)


def penalty(program: Ordinary) -> torch.Tensor:
    return 1e-3 * sum(p.float().pow(2).sum() for p in program.model.parameters())


def wrong_sign(program: Ordinary) -> Ordinary:
    def loss(*batch: torch.Tensor) -> torch.Tensor:
        sign = -1 if torch.compiler.is_compiling() else 1
        return program.loss(*batch) + sign * penalty(program)

    return program._replace(loss=loss)


def lost_term(program: Ordinary) -> Ordinary:
    def loss(*batch: torch.Tensor) -> torch.Tensor:
        made = program.loss(*batch)
        return made if torch.compiler.is_compiling() else made + penalty(program)

    return program._replace(loss=loss)


def stale_statistic(program: Ordinary) -> Ordinary:
    program.model.register_buffer("seen", torch.zeros(()))

    def loss(*batch: torch.Tensor) -> torch.Tensor:
        seen = program.model.seen.mul_(0.9)
        if not torch.compiler.is_compiling():
            seen.add_(0.1 * batch[-1].float().mean())
        return program.loss(*batch)

    return program._replace(loss=loss)


def factor(program: Ordinary) -> Ordinary:
    """One gradient is off by a hundredth."""
    parameter = random.Random(0).choice([*program.model.parameters()])
    parameter.register_hook(lambda g: g * 1.01 if torch.compiler.is_compiling() else g)
    return program


TRACED = {f.__name__: f for f in (wrong_sign, lost_term, stale_statistic, factor)}


def is_caught(program: Ordinary) -> bool:
    """Whether the comparison sees the fault of a program, which is traced anew."""
    step = ingot.torch.compile(program.step, program.model, program.optimizer)
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, INGOT_CACHE=folder):
        try:
            step(*program.batch(BATCH))
        except ingot.torch.DisagreementError:
            return True
    return False


@pytest.mark.parametrize("slow_step_s", [0.0, 1.0])  # in part, and in three steps
@pytest.mark.parametrize("fault", TRACED)
def test_a_fault_of_the_trace_is_caught(fault: str, slow_step_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingot.torch.judge.verify.SLOW_STEP_S", slow_step_s)
    assert is_caught(TRACED[fault](made("convolutions, batch norm, SGD", 1)))


ADDITION = re.compile(r'(%\w+) = "stablehlo\.add"\((%\w+), (%\w+)\) : \(tensor<\d[\dx]*xf32>')
IN_TEXTS: dict[str, Callable[[re.Match[str]], str]] = {
    "sign": lambda found: found[0].replace("stablehlo.add", "stablehlo.subtract"),
    "lost": lambda found: found[0].replace(f"({found[2]}, {found[3]})", f"({found[2]}, {found[2]})"),
}


def planted(fault: str, seed: int, emit: Callable[..., Any]) -> Callable[..., Any]:
    """Writes programs with one addition of the step itself another."""

    def written(ways: Any, entry: str, *names: Any) -> tuple[str, bool]:
        text, is_random = emit(ways, entry, *names)
        end = text.find("func.func private")
        found = [*ADDITION.finditer(text, 0, end if end > 0 else len(text))]
        if entry != "step" or not found:
            return text, is_random
        match = random.Random(seed).choice(found)
        return text[: match.start()] + IN_TEXTS[fault](match) + text[match.end() :], is_random

    return written


@pytest.mark.parametrize("fault", IN_TEXTS)
def test_a_fault_of_compiled_code_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingot.torch.traced, "emit", planted(fault, 2, ingot.torch.traced.emit))
    assert is_caught(made("perceptron, Adam", 1))


OPS = (
    "relu.default",
    "mm.default",
    "mul.Tensor",
    "addmm.default",
    "_log_softmax.default",
    "div.Tensor",
    "sum.dim_IntList",
)


def negated(overload: str, used: list[str] | None = None) -> Any:
    """A rule whose result has another sign; notes where it is used."""
    own = TABLE[overload]

    def rule(e: Any, *args: Any, **kwargs: Any) -> Any:
        (used if used is not None else []).append(overload)
        return e.unary("negate", own(e, *args, **kwargs))

    return rule


def op_is_caught(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[str, bool]:
    """Plants a fault in the first op of some that a program uses: its name, and whether it is caught."""
    for i in range(len(OPS)):
        fault, used = OPS[(seed // 5 + i) % len(OPS)], []
        with monkeypatch.context() as patched:
            patched.setitem(TABLE, fault, negated(fault, used))
            is_found = is_caught(made(name, seed))
        if used:
            return fault, is_found
    raise AssertionError(f"{name} uses none of {OPS}")


@pytest.mark.nightly
def test_nearly_all_of_a_hundred_planted_faults_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = []
    programs = [name for name in ORDINARY if "bf16" not in name and "autocast" not in name]
    for seed in range(100):
        name = random.Random(seed).choice(programs)
        program = made(name, seed)
        with monkeypatch.context() as patched:
            if seed % 5 < 3:
                fault = [*TRACED][seed % 4]
                is_found = is_caught(TRACED[fault](program))
            elif seed % 5 == 3:
                fault = [*IN_TEXTS][seed % 2]
                patched.setattr(ingot.torch.traced, "emit", planted(fault, seed, ingot.torch.traced.emit))
                is_found = is_caught(program)
            else:
                fault, is_found = op_is_caught(name, seed, patched)
            if not is_found:
                missed.append((name, fault, seed))
    assert len(missed) <= 5, missed


def test_a_later_call_that_differs_is_pytorchs(monkeypatch: pytest.MonkeyPatch) -> None:
    program, reference = (made("perceptron, SGD", 0) for _ in range(2))
    step = ingot.torch.compile(program.step, program.model, program.optimizer)
    batches = [program.batch(n) for n in (BATCH, LAST_BATCH, LAST_BATCH, BATCH)]
    step(*batches[0])
    monkeypatch.setitem(TABLE, "mm.default", negated("mm.default"))
    with pytest.warns(UserWarning, match=r"calls with arguments of these shapes are PyTorch's from now on: .* mm\."):
        step(*batches[1])
    for batch in batches[2:]:
        step(*batch)
    for batch in batches:
        reference.step(*batch)
    for mine, other in zip(program.model.parameters(), reference.model.parameters(), strict=True):
        assert torch.allclose(mine, other, atol=1e-6)


def test_numbers_of_python_are_compared_in_f64() -> None:
    program = made("perceptron, SGD", 0)
    third = 1 / 3

    def step(*batch: torch.Tensor) -> dict[str, float]:
        loss = program.step(*batch)
        return {"loss": loss.item(), "doubled": 2 * loss.item(), "third": third}

    returned = ingot.torch.compile(step, program.model, program.optimizer)(*program.batch(BATCH))
    assert returned["third"] == third


def test_gradients_that_earlier_calls_left_do_not_disturb() -> None:
    program = made("perceptron, SGD", 0)
    *_, last = program.model.children()
    optimizer = torch.optim.SGD(last.parameters(), 0.1)

    @ingot.torch.step(program.model, optimizer)
    def step(*batch: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss = program.loss(*batch)
        loss.backward()
        optimizer.step()
        return loss

    for rows in (BATCH, LAST_BATCH):
        step(*program.batch(rows))


@pytest.mark.filterwarnings("error::UserWarning:ingot")
def test_steps_are_compared_where_the_caller_set_autocast() -> None:
    program = made("perceptron, SGD", 0)
    step = ingot.torch.compile(program.step, program.model, program.optimizer)
    batch = program.batch(BATCH)
    with torch.autocast("cpu", torch.bfloat16):
        step(*batch)
        step(*batch)
        inside = program.model(batch[0])
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(inside, program.model(batch[0]))


@pytest.mark.filterwarnings("error::UserWarning:ingot")
def test_numbers_that_python_carries_start_each_step_as_the_programs() -> None:
    program = made("perceptron, SGD", 0)
    mean = [1.0]

    def step(*batch: torch.Tensor) -> torch.Tensor:
        program.optimizer.zero_grad()
        loss = program.loss(*batch) / mean[0]
        loss.backward()
        program.optimizer.step()
        mean[0] = 0.9 * mean[0] + 0.1 * loss.item()
        return loss

    compiled = ingot.torch.compile(step, program.model, program.optimizer)
    for _ in range(2):
        compiled(*program.batch(BATCH))
