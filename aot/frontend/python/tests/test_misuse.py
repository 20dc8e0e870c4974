"""Wrong arguments of `compile`, `step` and their calls are refused at once, with what to give instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch

X = torch.randn(4, 3)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def made() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


MODEL, OPTIMIZER = made()
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "swapped": (lambda: ingot.torch.compile(step, OPTIMIZER, MODEL), TypeError, "swapped"),
    "swapped in a decorator": (lambda: ingot.torch.step(OPTIMIZER, MODEL), TypeError, "swapped"),
    "no function": (lambda: ingot.torch.compile(MODEL.weight, MODEL), TypeError, "is a Parameter, .* a function"),
    "a model in its place": (lambda: ingot.torch.compile(MODEL, OPTIMIZER), TypeError, "model is a SGD"),
    "several models": (
        lambda: ingot.torch.compile(step, [MODEL, MODEL], OPTIMIZER),
        TypeError,
        "model is a list.*mapping of several",
    ),
    "a list of optimizers": (lambda: ingot.torch.compile(step, MODEL, [OPTIMIZER]), TypeError, "optimizer is a list"),
    "a mapping of others": (
        lambda: ingot.torch.compile(step, {"m": OPTIMIZER}),
        TypeError,
        "model is a dict with a SGD",
    ),
    "no parentheses": (lambda: ingot.torch.step(step), TypeError, r"@ingot\.torch\.step\(model, optimizer\)"),
    "a class": (lambda: ingot.torch.step(MODEL, OPTIMIZER)(nn.Linear), TypeError, "is a type, .* a function"),
    "a scheduler of another kind": (
        lambda: ingot.torch.compile(step, MODEL, OPTIMIZER, OPTIMIZER),
        TypeError,
        "scheduler is a SGD",
    ),
    "on_change": (lambda: ingot.torch.compile(step, MODEL, on_change="explode"), ValueError, "'retrace' or 'error'"),
    "math": (lambda: ingot.torch.compile(step, MODEL, math="quick"), ValueError, "'exact' or 'standard' or 'fast'"),
    "threads": (lambda: ingot.torch.compile(step, MODEL, threads=0), ValueError, "threads is 0"),
    "a seed": (lambda: ingot.torch.compile(step, MODEL, seed="7"), TypeError, "seed is '7'"),
    "a program": (lambda: ingot.torch.Program(OPTIMIZER, MODEL), TypeError, "swapped"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_at_once(name: str) -> None:
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()


def test_calls_of_other_arguments_are_pythons_errors() -> None:
    compiled = ingot.torch.compile(step, MODEL, training=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for args, named in (((), {}), ((X,), {}), ((X, X, X), {}), ((X,), {"z": X}), ((X, X), {"y": X})):
            with pytest.raises(TypeError):
                compiled(*args, **named)
    compiled(X, X)
    assert compiled.programs == 1


def test_errors_of_the_users_are_what_they_are() -> None:
    model, optimizer = made()
    stopped = [False]

    def train(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        if stopped[0]:
            raise KeyError("mine")
        assert len(x) == 4, "four rows"
        optimizer.step()
        return loss

    compiled = ingot.torch.compile(train, model, optimizer)
    with pytest.raises(AssertionError, match="four rows"):
        compiled(X[:2])
    compiled(X)
    stopped[0] = True
    with pytest.raises(KeyError, match="mine"):
        compiled(X)


def test_settings_of_the_users_are_named() -> None:
    model, optimizer = made()
    settings = {"lr": 1, "random_scale": 1}

    def train(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean() * settings["lr"] * settings["random_scale"]
        loss.backward()
        optimizer.step()
        return loss

    compiled = ingot.torch.compile(train, model, optimizer)
    compiled(X)
    for name in settings:
        settings[name] = 2
        with pytest.warns(UserWarning, match=rf"`settings\['{name}'\]` is 2, and was 1"):
            compiled(X)


def test_numbers_that_are_returned_are_pythons() -> None:
    seen = []
    for is_compiled in (True, False):
        torch.manual_seed(0)
        model, optimizer = made()
        counted = [0]

        def train(
            x: torch.Tensor, model: Any = model, optimizer: Any = optimizer, counted: list[int] = counted
        ) -> dict[str, Any]:
            counted[0] += 1
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            rate = optimizer.param_groups[0]["lr"]
            return {"loss": loss.item(), "rate": rate, "count": counted[0], "large": loss.item() * 2, "name": "a"}

        compiled = ingot.torch.compile(train, model, optimizer) if is_compiled else train
        seen.append([compiled(torch.ones(4, 3) * i) for i in range(1, 4)])
    for mine, other in zip(*seen, strict=True):
        assert [*map(type, mine.values())] == [*map(type, other.values())]
        assert mine.pop("name") == other.pop("name")
        assert mine == pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.Adagrad, torch.optim.RMSprop])
@pytest.mark.parametrize("verify", [True, False])
def test_parameters_without_gradients_have_no_slots(kind: Any, verify: bool) -> None:
    keys = []
    for is_compiled in (True, False):
        model = nn.ModuleDict({"used": nn.Linear(3, 2), "unused": nn.Linear(1, 1), "frozen": nn.Linear(1, 1)})
        model["frozen"].requires_grad_(False)
        optimizer = kind(model.parameters())
        is_used = [False]

        def train(
            x: torch.Tensor, model: Any = model, optimizer: Any = optimizer, is_used: list[bool] = is_used
        ) -> torch.Tensor:
            optimizer.zero_grad()
            loss = model["used"](x).square().sum()
            if is_used[0]:
                loss = loss + model["unused"](x[:, :1]).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        compiled = ingot.torch.compile(train, model, optimizer, verify=verify) if is_compiled else train
        found = []
        for is_used[0] in (False, False, True, False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled(X)
            found.append([*optimizer.state_dict()["state"]])
        keys.append(found)
        assert not is_compiled or compiled.programs <= 3
    assert keys[0] == keys[1]


def test_optimizer_steps_of_several_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    with pytest.raises(RuntimeError, match=r"does not reduce gradients over the 2 processes.*all_reduce"):
        ingot.torch.optimizer_step(OPTIMIZER)


def outer(model: nn.Module, optimizer: Any) -> Any:
    def train(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return train


def test_optimizers_that_were_not_given_are_named() -> None:
    model, optimizer = made()
    _, other = made()
    train = outer(model, optimizer)
    message = r"test_misuse.py:\d+: calls zero_grad\(\) of `optimizer`, a SGD"
    for given in ((), (other,)):
        with pytest.raises(ingot.torch.TraceError, match=message):
            ingot.torch.compile(train, model, *given)(X)


def test_a_training_goes_on_where_later_calls_cannot_be_traced() -> None:
    losses = []
    for is_compiled in (False, True):
        torch.manual_seed(0)
        model, optimizer = made()

        def train(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()  # noqa: B023  (it is rebound)
            loss: torch.Tensor = model(x).square().mean()  # noqa: B023
            loss.backward()
            optimizer.step()  # noqa: B023
            return loss

        compiled = ingot.torch.compile(train, model, optimizer) if is_compiled else train
        losses.append([compiled(X).item()])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            losses[-1] += [compiled(X).item() for _ in range(5)]
        assert (len([w for w in said if "of `optimizer`, a SGD" in str(w.message)]) == 1) is is_compiled
        assert all(w.filename == __file__ for w in said)
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    strict = ingot.torch.compile(outer(*made()), *made(), on_change="error")
    with pytest.raises(ingot.torch.TraceError):
        strict(X)


def test_what_was_computed_before_the_call_names_a_way_out() -> None:
    model, optimizer = made()
    saved = [model(X).sum()]

    def train() -> None:
        optimizer.zero_grad()
        saved[0].backward()
        optimizer.step()

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTorch warns where the gradient of such a tensor is read
        with pytest.raises(ingot.torch.TraceError, match=r"before the call.*model = ingot\.torch\.partial\(model\)"):
            ingot.torch.compile(train, model, optimizer)()


def test_methods_are_decorated_in_their_class() -> None:
    model, optimizer = made()

    class Trainer:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @ingot.torch.step(model, optimizer)
        def run(self, x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss: torch.Tensor = self.factor * model(x).square().mean()
            loss.backward()
            return loss

    one, two = Trainer(1.0), Trainer(2.0)
    assert [two.run(X).item(), two.run(x=X).item()] == pytest.approx([2 * one.run(X).item()] * 2)
    assert isinstance(Trainer.run, type(one.run))


def test_equal_objects_of_a_class_have_steps_of_their_own() -> None:
    model, optimizer = made()

    @dataclass
    class Scaled:
        name: str
        factor: float = field(compare=False)

        @ingot.torch.step(model, optimizer)
        def run(self, x: torch.Tensor) -> torch.Tensor:
            return self.factor * model(x).square().mean()

    one, two = Scaled("loss", 1.0), Scaled("loss", 2.0)
    assert one == two
    assert two.run(X).item() == pytest.approx(2 * one.run(X).item())
