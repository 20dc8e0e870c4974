"""Schedulers in the program: PyTorch's rates to the bit, counted in the state."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from bundle import Bundle
from test_goldens import arguments, cases, data
from torch import nn
from torch.optim import lr_scheduler as schedulers
from torch.optim.lr_scheduler import LRScheduler

import ingot.torch

Rates = dict[str, float]
Training = tuple[torch.optim.Optimizer, LRScheduler]
MakeOptimizer = Callable[[], torch.optim.Optimizer]
MakeScheduler = Callable[[torch.optim.Optimizer], LRScheduler]


def adam() -> torch.optim.Optimizer:
    return torch.optim.Adam([nn.Parameter(torch.ones(1))], lr=0.1)


def sgd() -> torch.optim.Optimizer:
    return torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1, momentum=0.5)


def two_groups() -> torch.optim.Optimizer:
    groups = [{"params": [nn.Parameter(torch.ones(1))], "lr": lr} for lr in (0.1, 0.02)]
    return torch.optim.SGD(groups, momentum=0.5)


def warm_up_then_cosine(optimizer: torch.optim.Optimizer) -> LRScheduler:
    parts = [schedulers.LinearLR(optimizer, 0.1, total_iters=5), schedulers.CosineAnnealingLR(optimizer, 15)]
    return schedulers.SequentialLR(optimizer, parts, milestones=[5])


def chained(optimizer: torch.optim.Optimizer) -> LRScheduler:
    return schedulers.ChainedScheduler(
        [schedulers.ConstantLR(optimizer, 0.25, total_iters=4), schedulers.ExponentialLR(optimizer, 0.9)]
    )


def warm_up_then_linear(step: int) -> float:
    """A rate's factor as a Python function usually says it: by looking at the step."""
    if step < 4:
        return step / 4
    return max(0.0, (20 - step) / 16)


def of_transformers(optimizer: torch.optim.Optimizer) -> LRScheduler:
    transformers = pytest.importorskip("transformers")
    return transformers.get_cosine_with_hard_restarts_schedule_with_warmup(optimizer, 4, 20, num_cycles=2)


CASES: dict[str, tuple[MakeOptimizer, MakeScheduler]] = {
    "lambda": (adam, lambda o: schedulers.LambdaLR(o, warm_up_then_linear)),
    "lambda_of_each_group": (
        two_groups,
        lambda o: schedulers.LambdaLR(o, [warm_up_then_linear, lambda step: 0.95**step]),
    ),
    "transformers": (adam, of_transformers),
    "multiplicative": (adam, lambda o: schedulers.MultiplicativeLR(o, lambda _: 0.95)),
    "sequential": (adam, warm_up_then_cosine),
    "chained": (sgd, chained),
    "one_cycle_moves_beta1": (adam, lambda o: schedulers.OneCycleLR(o, max_lr=0.5, total_steps=25)),
    "one_cycle_moves_momentum": (sgd, lambda o: schedulers.OneCycleLR(o, max_lr=0.5, total_steps=25)),
    "cyclic_moves_momentum": (sgd, lambda o: schedulers.CyclicLR(o, 0.01, 0.2, step_size_up=6)),
    "cosine_with_restarts": (sgd, lambda o: schedulers.CosineAnnealingWarmRestarts(o, T_0=7)),
}


def step_of(optimizer: torch.optim.Optimizer, scheduler: LRScheduler) -> Callable[[torch.Tensor], Rates]:
    """A training function that gives the numbers it steps with."""

    def train_step(x: torch.Tensor) -> Rates:
        found = {"x": x}
        for i, group in enumerate(optimizer.param_groups):
            momentum = group["betas"][0] if "betas" in group else group.get("momentum", 0.0)
            found |= {f"lr{i}": group["lr"], f"last_lr{i}": scheduler.get_last_lr()[i], f"momentum{i}": momentum}
        optimizer.step()
        scheduler.step()
        return found

    return train_step


def compiled(optimizer: torch.optim.Optimizer, scheduler: LRScheduler, total_steps: int, folder: Path) -> Bundle:
    parameters = nn.ParameterList(p for group in optimizer.param_groups for p in group["params"])
    program = ingot.torch.Program(parameters, optimizer, scheduler, total_steps=total_steps)
    program.add("train_step", step_of(optimizer, scheduler), (torch.zeros(()),))
    return Bundle(program, folder)


def eager(optimizer: torch.optim.Optimizer, scheduler: LRScheduler, steps: int) -> list[Rates]:
    step = step_of(optimizer, scheduler)
    return [step(torch.zeros(())) for _ in range(steps)]


@pytest.mark.parametrize("case", CASES)
def test_rates_are_those_of_pytorch(case: str, tmp_path: Path) -> None:
    """Some steps of PyTorch, then of a bundle, then of PyTorch again: the same numbers as in one run of PyTorch."""
    make_optimizer, make_scheduler = CASES[case]
    before, inside, after = 2, 14, 8

    def make() -> Training:
        optimizer = make_optimizer()
        return optimizer, make_scheduler(optimizer)

    expected = eager(*make(), before + inside + after)
    optimizer, scheduler = make()
    assert eager(optimizer, scheduler, before) == expected[:before]
    groups, counters = copy.deepcopy(optimizer.param_groups), copy.deepcopy(scheduler.state_dict())
    bundle = compiled(optimizer, scheduler, before + inside, tmp_path)
    assert optimizer.param_groups == groups
    assert str(scheduler.state_dict()) == str(counters)
    log, _ = bundle.train({"x": torch.zeros(inside)})
    assert [{name: row[name] for name in expected[0]} for row in log] == expected[before : before + inside]
    parameters = nn.ParameterList(p for group in optimizer.param_groups for p in group["params"])
    ingot.torch.load_state(parameters, optimizer, tmp_path / "final.safetensors", scheduler)
    assert eager(optimizer, scheduler, after) == expected[before + inside :]


@pytest.mark.skipif(not cases("schedules"), reason="no goldens")
def test_goldens_at_once(tmp_path: Path) -> None:
    models, optimizers, all_schedulers, expected = {}, {}, {}, {}
    for name, case in cases("schedules").items():
        kwargs = arguments(case)
        models[name] = nn.Linear(1, 1)
        optimizers[name] = torch.optim.SGD(models[name].parameters(), lr=kwargs.pop("lr"))
        all_schedulers[name] = getattr(schedulers, case["class"])(optimizers[name], **kwargs)
        expected[name] = data("schedules", name)["lr"].tolist()

    def train_step(x: torch.Tensor) -> dict[str, Any]:
        rates = {name: scheduler.get_last_lr()[0] for name, scheduler in all_schedulers.items()}
        for scheduler in all_schedulers.values():
            scheduler.step()
        return {"x": x} | rates

    program = ingot.torch.Program(models, optimizers, all_schedulers, total_steps=60)
    program.add("train_step", train_step, (torch.zeros(()),))
    log, _ = Bundle(program, tmp_path).train({"x": torch.zeros(60)})
    assert {name: [row[name] for row in log] for name in expected} == expected


def test_after_the_table_the_last_rate_stays(tmp_path: Path) -> None:
    optimizer = sgd()
    log, final = compiled(optimizer, schedulers.ExponentialLR(optimizer, 0.5), 3, tmp_path).train({"x": torch.zeros(6)})
    assert [row["lr0"] for row in log] == [0.1, 0.05, 0.025, 0.0125, 0.0125, 0.0125]
    assert final["scheduler.last_epoch"] == 6


def test_an_entry_point_of_its_own_steps_once_an_epoch(tmp_path: Path) -> None:
    model = nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = schedulers.StepLR(optimizer, 1, gamma=0.5)

    def train_step(x: torch.Tensor) -> dict[str, Any]:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        return {"lr": scheduler.get_last_lr()[0]}

    program = ingot.torch.Program(model, optimizer, scheduler, total_steps=5)
    program.add("train_step", train_step, (torch.ones(2),))
    with pytest.raises(ValueError, match=r"no entry point calls scheduler.step\(\)"):
        program.save(tmp_path)
    program.add("next_epoch", scheduler.step, ())
    _, state = Bundle(program, tmp_path).run({}, "next_epoch")
    assert state["scheduler.last_epoch"] == 1
    assert scheduler.last_epoch == 0
    ingot.torch.load_state(model, optimizer, tmp_path / "last.safetensors", scheduler)
    log, _ = Bundle(program, tmp_path).train({"x": torch.ones(2, 2)})
    assert [row["lr"] for row in log] == [0.05, 0.05]


def test_each_of_two_optimizers_has_its_scheduler(tmp_path: Path) -> None:
    models = {"a": nn.Linear(1, 1), "b": nn.Linear(1, 1)}
    optimizers = {name: torch.optim.SGD(model.parameters(), lr=0.1) for name, model in models.items()}
    both = {
        "falls": schedulers.ExponentialLR(optimizers["a"], 0.5),
        "rises": schedulers.LinearLR(optimizers["b"], 0.5, total_iters=2),
    }

    def train_step(x: torch.Tensor) -> dict[str, Any]:
        rates = {name: scheduler.get_last_lr()[0] for name, scheduler in both.items()}
        for name in models:
            optimizers[name].zero_grad()
            models[name](x).sum().backward()
            optimizers[name].step()
        for scheduler in both.values():
            scheduler.step()
        return rates

    program = ingot.torch.Program(models, optimizers, both, total_steps=4)
    program.add("train_step", train_step, (torch.ones(1),))
    log, final = Bundle(program, tmp_path).train({"x": torch.ones(3, 1)})
    assert [row["falls"] for row in log] == pytest.approx([0.1, 0.05, 0.025])
    assert [row["rises"] for row in log] == pytest.approx([0.05, 0.075, 0.1])
    assert (final["falls.last_epoch"], final["rises.last_epoch"]) == (3, 3)


def test_what_cannot_be_a_table_is_refused() -> None:
    optimizer = sgd()
    model = nn.ParameterList(optimizer.param_groups[0]["params"])
    exponential = schedulers.ExponentialLR(optimizer, 0.5)
    step, constant = schedulers.StepLR(optimizer, 3), schedulers.ConstantLR(sgd())
    plateau = schedulers.ReduceLROnPlateau(optimizer)
    with pytest.raises(ValueError, match="ReduceLROnPlateau decides in Python by the values of a metric"):
        ingot.torch.Program(model, optimizer, plateau, total_steps=3)
    with pytest.raises(ValueError, match=r"total_steps is how many .* it has made 0, and total_steps is None"):
        ingot.torch.Program(model, optimizer, step)
    with pytest.raises(ValueError, match="ConstantLR's optimizer is not one of the program's"):
        ingot.torch.Program(model, optimizer, constant, total_steps=3)
    with pytest.raises(ValueError, match=r"a and b are of one optimizer.*ChainedScheduler"):
        ingot.torch.Program(model, optimizer, {"a": exponential, "b": step}, total_steps=3)
    with pytest.raises(ingot.torch.TraceError, match=r"test_schedules.py.*scheduler.step\(epoch\)"):
        ingot.torch.Program(model, optimizer, step, total_steps=3).add("jump", lambda: step.step(5), ())


def test_a_scheduler_that_is_further_is_not_loaded() -> None:
    optimizer = sgd()
    model = nn.ParameterList(optimizer.param_groups[0]["params"])
    scheduler = schedulers.ExponentialLR(optimizer, 0.5)
    program = ingot.torch.Program(model, optimizer, scheduler, total_steps=3)
    saved = {name: torch.zeros_like(tensor) for name, tensor in program.state.tensors.items()}
    eager(optimizer, scheduler, 1)
    with pytest.raises(ValueError, match="scheduler has made 1 steps, the file's 0"):
        program.state.load(saved)
    assert model[0] == 1


class Moving(LRScheduler):
    """Gives a setting of its optimizer the values of a list, one after the other."""

    def __init__(self, optimizer: torch.optim.Optimizer, key: str, values: list[float]) -> None:
        self.key, self.values = key, values
        super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        super().step(epoch)
        for group in self.optimizer.param_groups:
            group[self.key] = self.values[self.last_epoch % len(self.values)]


class Truthful(torch.optim.Optimizer):
    """Asks of its momentum whether it is true."""

    def __init__(self, parameters: Any, lr: float, momentum: float) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        (group,) = self.param_groups
        for parameter in group["params"]:
            state = self.state[parameter]
            if "slot" not in state:
                state["slot"] = torch.zeros_like(parameter)
            slot = state["slot"]
            if group["momentum"]:
                slot.mul_(group["momentum"]).add_(parameter.grad)
            parameter.sub_(group["lr"] * (slot if group["momentum"] else parameter.grad))


RATES = {"lr": 0.1, "momentum": 0.9}
TO_ZERO, FROM_ZERO = [0.9, 0.5, 0.0, 0.0, 0.8], [0.0, 0.5, 0.0, 0.9]
ZEROS: dict[str, tuple[Callable[..., torch.optim.Optimizer], str, list[float]]] = {
    "sgd": (lambda p: torch.optim.SGD(p, **RATES), "momentum", TO_ZERO),
    "nesterov": (lambda p: torch.optim.SGD(p, **RATES, nesterov=True), "momentum", TO_ZERO),
    "rmsprop": (lambda p: torch.optim.RMSprop(p, **RATES), "momentum", TO_ZERO),
    "decay": (lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1), "weight_decay", [0.1, 0.0, 0.2]),
    "rate": (lambda p: torch.optim.SGD(p, **RATES), "lr", [0.1, 0.0, 0.2]),
    "own": (lambda p: Truthful(p, **RATES), "momentum", TO_ZERO),
    "own_from_zero": (lambda p: Truthful(p, **RATES), "momentum", FROM_ZERO),
}


def moved(optimizer: Callable[..., torch.optim.Optimizer], key: str, values: list[float]) -> Any:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    mine = optimizer(model.parameters())
    scheduler = Moving(mine, key, values)

    def step(x: torch.Tensor) -> torch.Tensor:
        mine.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        mine.step()
        scheduler.step()
        return loss

    return model, mine, scheduler, step


@pytest.mark.parametrize("name", ZEROS)
def test_a_scheduler_moves_a_number_to_zero_and_back(name: str) -> None:
    """Where a momentum is 0 optimizers leave its slots as they are."""
    (model, optimizer, scheduler, function), (other, _, _, eager) = moved(*ZEROS[name]), moved(*ZEROS[name])
    step = ingot.torch.compile(function, model, optimizer, scheduler, total_steps=20)
    for x in torch.randn(8, 6, 3):
        assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-5)
    assert step.programs == 1
    assert torch.allclose(model.weight, other.weight, atol=1e-6)


def test_a_slot_that_would_be_made_later_is_refused() -> None:
    model, optimizer, scheduler, step = moved(lambda p: torch.optim.SGD(p, lr=0.1), "momentum", FROM_ZERO)
    with pytest.raises(ingot.torch.TraceError, match="SGD makes 'momentum_buffer' of its first gradients"):
        ingot.torch.compile(step, model, optimizer, scheduler, total_steps=20)(torch.randn(6, 3))
