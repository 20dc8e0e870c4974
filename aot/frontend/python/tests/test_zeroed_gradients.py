"""Steps that set gradients to zero, or ask whether there are any, before they add to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import ingot.torch
from ingot.torch import TraceError

X, Y = torch.linspace(-1, 1, 12).reshape(4, 3), torch.tensor([0, 1, 1, 0])


def made() -> tuple[torch.nn.Linear, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


ZEROING: dict[str, Callable[[nn.Module, torch.optim.Optimizer], Any]] = {
    "in place": lambda model, _: [gradient_of(each).zero_() for each in model.parameters()],
    "data": lambda model, _: [gradient_of(each).data.fill_(0) for each in model.parameters()],
    "replaced": lambda model, _: [setattr(each, "grad", torch.zeros_like(each)) for each in model.parameters()],
    "list": lambda model, _: torch._foreach_zero_([gradient_of(each) for each in model.parameters()]),
    "optimizer": lambda _, optimizer: optimizer.zero_grad(set_to_none=False),
    "one": lambda model, _: (gradient_of(model.weight).zero_(), setattr(model.bias, "grad", None)),
}


def gradient_of(parameter: Any) -> torch.Tensor:
    found: torch.Tensor = parameter.grad
    return found


def zeroing(how: str, is_compiled: bool, write: Callable[[torch.Tensor], Any]) -> list[torch.Tensor]:
    """Losses and gradients of steps that set gradients to zero after they used them; the fourth is written between."""
    model, optimizer = made()

    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        ZEROING[how](model, optimizer)
        return loss

    step = ingot.torch.compile(train_step, model, optimizer) if is_compiled else train_step
    seen = []
    for i in range(6):
        seen.append(step((i + 1) * X, Y).detach())
        seen.append(gradient_of(model.weight).sum())
        if i == 3:
            write(gradient_of(model.weight))
    assert getattr(step, "programs", 1) == 1
    return [*seen, model.weight]


@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=[pytest.mark.nightly] * (i > 1)) for i, how in enumerate(ZEROING)]
)
def test_gradients_that_are_set_to_zero_are_zeros_after_the_call(how: str) -> None:
    mine, theirs = (zeroing(how, is_compiled, lambda gradient: gradient.add_(0.5)) for is_compiled in (True, False))
    torch.testing.assert_close(mine, theirs)


def test_gradients_that_are_not_all_set_to_zero_are_refused() -> None:
    writes: dict[str, Callable[[nn.Linear], Any]] = {
        "bias": lambda model: gradient_of(model.weight).zero_(),
        "weight": lambda model: [(gradient_of(p).zero_(), gradient_of(p).detach().add_(1)) for p in model.parameters()],
    }
    for name, write in writes.items():
        model, optimizer = made()

        def train_step(x: torch.Tensor, model: nn.Linear = model, write: Callable[[nn.Linear], Any] = write) -> None:
            model(x).square().mean().backward()
            write(model)

        with pytest.raises(TraceError, match=f"the gradient of '{name}' lives on"):
            ingot.torch.compile(lambda x, step=train_step: step(x), model, optimizer)(X)


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_optimizers_step_by_gradients_that_an_earlier_program_made_and_this_one_sets_to_zero() -> None:
    def trained(is_compiled: bool) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        heads = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2)])
        optimizer = torch.optim.SGD(heads.parameters(), 0.1, weight_decay=0.5)

        def train_step(x: torch.Tensor, head: int) -> torch.Tensor:
            optimizer.zero_grad(set_to_none=False)
            loss = heads[head](x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        step = ingot.torch.compile(train_step, heads, optimizer) if is_compiled else train_step
        for i in range(6):
            step(X, i % 2)
        return heads.state_dict()

    torch.testing.assert_close(trained(True), trained(False))


def test_what_was_added_to_a_cleared_gradient_is_refused_where_a_step_would_use_it() -> None:
    model, optimizer = made()

    def clearing_first(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    def clearing_last(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    first, step = (ingot.torch.compile(each, model, optimizer) for each in (clearing_first, clearing_last))
    step(X)
    first(X)
    optimizer.zero_grad(set_to_none=False)
    step(X)
    first(X)
    optimizer.zero_grad(set_to_none=False)
    model(X).sum().backward()
    with pytest.raises(TraceError, match=r"that is there before the call.*keep_gradients=True"):
        step(X)


def test_files_take_gradients_that_are_set_to_zero() -> None:
    model, optimizer = made()

    def train_step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        for parameter in model.parameters():
            gradient_of(parameter).zero_()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", train_step, (X,))
    session = ingot.Session(ingot.compile(program))
    for i in range(3):
        session.entries["train_step"](x=(i + 1) * X, lr=0.1)
        train_step((i + 1) * X)
    torch.testing.assert_close(session.state.torch("weight"), model.weight.detach())


ASKING_FIRST: dict[str, Callable[[torch.Tensor], Any]] = {
    "in place": lambda gradient: gradient.zero_(),
    "halved": lambda gradient: gradient.mul_(0.5),
}


@pytest.mark.filterwarnings("ignore:.*traced again")
@pytest.mark.parametrize("how", [*ASKING_FIRST])
def test_gradients_are_asked_for_before_they_are_made(how: str) -> None:
    """As in ``if p.grad is not None: p.grad.zero_()``: the first call finds none, those that follow find them."""

    def trained(is_compiled: bool) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        model, optimizer = made()
        parameters = [*model.parameters()]

        def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            for parameter in parameters:
                if parameter.grad is not None:
                    ASKING_FIRST[how](parameter.grad)
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step = ingot.torch.compile(train_step, model, optimizer) if is_compiled else train_step
        losses = [step((i + 1) * X, Y).detach() for i in range(6)]
        assert getattr(step, "programs", 2) == 2
        return [*losses, gradient_of(model.weight)], model.state_dict()

    torch.testing.assert_close(trained(True), trained(False))


def test_a_list_of_parameters_is_cleared_by_hand() -> None:
    def trained(is_compiled: bool) -> list[torch.Tensor]:
        model, _ = made()
        parameters = [*model.parameters()]

        def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            for parameter in parameters:
                parameter.grad = None
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            with torch.no_grad():
                for parameter in parameters:
                    parameter -= 0.1 * gradient_of(parameter)
            return loss

        step = ingot.torch.compile(train_step, model) if is_compiled else train_step
        return [step((i + 1) * X, Y).detach() for i in range(4)]

    torch.testing.assert_close(trained(True), trained(False))
