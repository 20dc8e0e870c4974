"""Schedulers that a compiled step names, reads or steps, given to it or not."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler as schedulers

import ingot.torch
from ingot.torch import TraceError
from ingot.torch.optimizers import schedules

STEPS = 12
Make = Callable[[torch.optim.Optimizer], Any]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def warm_up_then_cosine(optimizer: torch.optim.Optimizer) -> Any:
    parts = [schedulers.LinearLR(optimizer, 0.1, total_iters=5), schedulers.CosineAnnealingLR(optimizer, 15)]
    return schedulers.SequentialLR(optimizer, parts, milestones=[5])


MAKE: dict[str, Make] = {
    "step": lambda o: schedulers.StepLR(o, 3, 0.5),
    "lambda": lambda o: schedulers.LambdaLR(o, lambda step: 1 / (1 + step)),
    "restarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, T_0=7),
    "sequential": warm_up_then_cosine,
    "one cycle": lambda o: schedulers.OneCycleLR(o, max_lr=0.5, total_steps=STEPS + 1),
    "plateau": lambda o: schedulers.ReduceLROnPlateau(o, patience=1),
}


class Training:
    def __init__(self, make: Make, is_compiled: bool, body: Callable[[Training], Any], **options: Any) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(3, 2)
        groups = [{"params": [self.model.weight]}, {"params": [self.model.bias], "lr": 0.01}]
        self.optimizer = torch.optim.SGD(groups, lr=0.1)
        self.scheduler = make(self.optimizer)
        model, optimizer, scheduler = self.model, self.optimizer, self.scheduler

        def step(x: torch.Tensor) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss, body(scheduler)

        is_given = options.pop("is_given", False)
        given = (scheduler,) if is_given else ()
        self.step = ingot.torch.compile(step, model, optimizer, *given, **options) if is_compiled else step

    def run(self, steps: int, is_stepped: bool = True) -> list[list[float]]:
        seen = []
        for i in range(steps):
            loss, read = self.step(torch.full((4, 3), 1 - i / 5))
            seen.append([float(loss.detach()), *map(float, read)])
            if is_stepped:
                is_told = isinstance(self.scheduler, schedulers.ReduceLROnPlateau)
                self.scheduler.step(*([loss.detach()] if is_told else []))
        return seen


def flat(rows: list[list[float]]) -> list[float]:
    return [value for row in rows for value in row]


@pytest.mark.parametrize("name", MAKE)
def test_rates_that_are_read_are_inputs(name: str) -> None:
    def read(scheduler: Any) -> list[Any]:
        return [*scheduler.get_last_lr(), scheduler.last_epoch]

    mine, reference = (Training(MAKE[name], is_compiled, read) for is_compiled in (True, False))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert flat(mine.run(STEPS)) == pytest.approx(flat(reference.run(STEPS)), rel=1e-5)
    assert mine.step.programs == 1
    if name != "plateau":  # which looks at losses
        assert mine.scheduler.state_dict() == reference.scheduler.state_dict()


def test_a_scheduler_that_is_only_mentioned_is_not_watched() -> None:
    flag = False

    def step_if(scheduler: Any) -> list[float]:
        if flag:
            scheduler.step()
        return []

    training = Training(MAKE["step"], True, step_if)
    training.run(STEPS)
    assert training.step.programs == 1


def test_steps_of_one_that_was_not_given_are_refused_with_the_way_out() -> None:
    training = Training(MAKE["step"], True, lambda scheduler: scheduler.step() or [])
    with pytest.raises(TraceError, match=r"ingot\.torch\.step\(model, optimizer, scheduler\)"):
        training.run(1, is_stepped=False)


@pytest.mark.parametrize("name", [name for name in MAKE if name != "plateau"])
@pytest.mark.filterwarnings("ignore:Detected call of")
def test_schedulers_that_are_given_need_no_end(name: str) -> None:
    def step(scheduler: Any) -> list[float]:
        scheduler.step()
        return [*scheduler.get_last_lr()]

    mine = Training(MAKE[name], True, step, is_given=True)
    reference = Training(MAKE[name], False, step)
    seen = [training.run(STEPS, is_stepped=False) for training in (mine, reference)]
    assert flat(seen[0]) == pytest.approx(flat(seen[1]), rel=1e-5)
    assert mine.step.programs == 1
    assert mine.scheduler.last_epoch == reference.scheduler.last_epoch == STEPS


def test_tables_that_are_over_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "HORIZON", 4)
    monkeypatch.setattr(schedules, "MOST_PER_CALL", 1)

    def step(scheduler: Any) -> list[float]:
        scheduler.step()
        return [*scheduler.get_last_lr()]

    mine = Training(MAKE["lambda"], True, step, is_given=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = mine.run(STEPS, is_stepped=False)
    reference = Training(MAKE["lambda"], False, step)
    assert flat(seen) == pytest.approx(flat(reference.run(STEPS, is_stepped=False)), rel=1e-5)
    assert mine.step.programs == 1


@pytest.mark.filterwarnings("ignore:Detected call of", "ignore:.*it is traced again")
def test_a_scheduler_that_is_put_back_is_followed() -> None:
    seen = []
    for is_compiled in (True, False):
        training = Training(MAKE["lambda"], is_compiled, lambda s: s.step() or [*s.get_last_lr()], is_given=True)
        start = copy.deepcopy((training.scheduler.state_dict(), training.optimizer.state_dict()))
        for _ in range(3):
            training.scheduler.step()
        rows = training.run(2, is_stepped=False)
        training.scheduler.load_state_dict(start[0])
        training.optimizer.load_state_dict(start[1])
        seen.append(flat(rows + training.run(2, is_stepped=False)))
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)
