"""Numbers that Python carries from call to call are state: in this process, in files, and for several entry points."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import torch
from carried import CASES
from torch import nn
from trainings import Training, linear, usual_step

import ingot.torch
from ingot.torch.python_state.carried import PREFIX

STEPS = 6
XS = torch.randn(STEPS, 6, 3, generator=torch.Generator().manual_seed(0))
NAMES = ["counts_in_its_group", "counts_in_the_trainer", "looks_ahead", "warms_up_and_decays", "goes_back_to_the_start"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def numbers_of(training: Training) -> dict[str, Any]:
    """The numbers of a training's program, as Python holds them."""
    program = ingot.torch.Program(training.model, training.optimizer)
    program.add("train_step", training.step, (XS[0],))
    return {name: number.get() for name, number in program.state.numbers.items()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_python_has_the_numbers_after_each_step(name: str) -> None:
    torch.manual_seed(0)
    mine = CASES[name].make()
    torch.manual_seed(0)
    theirs = CASES[name].make()
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in XS:
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-5)
    assert step.programs == 1
    expected = numbers_of(theirs)
    assert expected
    assert numbers_of(mine) == pytest.approx(expected)
    assert [*map(type, numbers_of(mine).values())] == [*map(type, expected.values())]


class Counted(nn.Linear):
    """A layer that counts its calls while it is trained."""

    def __init__(self) -> None:
        super().__init__(3, 2)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += self.training
        return super().forward(x) / (1 + self.calls)


def counted() -> Training:
    torch.manual_seed(0)
    model = Counted()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Training(model, optimizer, functools.partial(usual_step, model, optimizer))


def test_the_user_may_set_a_number_between_steps() -> None:
    (model, _, eager), (other, optimizer, function) = counted(), counted()
    step = ingot.torch.compile(function, other, optimizer)
    for i, x in enumerate(XS):
        if i == 3:
            model.calls = other.calls = 0
        assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-5)
    assert other.calls == model.calls == 3
    assert step.programs == 1
    other.calls = 2.5
    with pytest.raises(ingot.torch.TraceError, match=r"`model\.calls` is 2\.5, and int in the program"):
        step(XS[0])


@pytest.mark.filterwarnings("ignore:.*is traced again")
def test_a_state_that_is_loaded_is_traced_again() -> None:
    def make() -> Training:
        torch.manual_seed(0)
        return CASES["counts_in_its_group"].make()

    mine, theirs = make(), make()
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer, verify=False)
    for i, x in enumerate(XS):
        if i == 2:
            for training in (mine, theirs):
                training.optimizer.load_state_dict(training.optimizer.state_dict())
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-5)
    assert mine.optimizer.param_groups[0]["t"] == theirs.optimizer.param_groups[0]["t"] == STEPS


def test_entry_points_share_a_number() -> None:
    """What an entry point carries is state in another that only reads it, also in one that was added before."""
    model, optimizer, step = counted()
    program = ingot.torch.Program(model, optimizer)
    program.add("predict", model, (XS[0],), training=False)
    assert f"{PREFIX}model.calls" not in program.texts["predict"]
    program.add("train_step", step, (XS[0],))
    assert f"{PREFIX}model.calls" in program.texts["predict"]
    assert model.calls == 0


def test_numbers_of_other_entry_points_are_put_back() -> None:
    model, optimizer = linear()
    calls = [0]

    def step(x: torch.Tensor) -> torch.Tensor:
        calls[0] += 1
        return usual_step(model, optimizer, x / calls[0])

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (XS[0],))
    program.add("predict", model, (XS[0],), training=False)
    assert calls == [0]


def test_a_saved_number_comes_back(tmp_path: Path) -> None:
    training = CASES["counts_in_its_group"].make()
    training.step(XS[0])
    program = ingot.torch.Program(training.model, training.optimizer)
    program.add("train_step", training.step, (XS[0],))
    program.save_state(tmp_path / "state.safetensors")
    training.step(XS[0])
    ingot.torch.load_state(training.model, training.optimizer, tmp_path / "state.safetensors")
    assert training.optimizer.param_groups[0]["t"] == 1


def test_a_saved_number_of_a_variable_is_told(tmp_path: Path) -> None:
    training = CASES["sets_the_rate_by_a_closure"].make()
    program = ingot.torch.Program(training.model, training.optimizer)
    program.add("train_step", training.step, (XS[0],))
    program.save_state(tmp_path / "state.safetensors")
    with pytest.warns(UserWarning, match=r"`it` was 0"):
        ingot.torch.load_state(training.model, training.optimizer, tmp_path / "state.safetensors")


def test_a_refusal_names_the_line() -> None:
    model, optimizer = linear()
    names, it = ["weight", "bias"], 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        it += 1
        getattr(model, names[it % 2]).data.mul_(0.5)
        return usual_step(model, optimizer, x)

    line = step.__code__.co_firstlineno + 2
    with pytest.raises(ingot.torch.TraceError, match=rf"test_carried_numbers\.py:{line}: .*`it` from 1 to 2"):
        ingot.torch.Program(model, optimizer).add("train_step", step, (XS[0],))
