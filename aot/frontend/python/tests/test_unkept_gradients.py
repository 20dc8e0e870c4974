"""What a script sees of gradients between the calls of a compiled step."""

from __future__ import annotations

import copy
import pickle
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


def compiled(cleared: str = "before", **options: Any) -> tuple[torch.nn.Linear, torch.optim.Optimizer, Any]:
    """A model whose steps clear gradients before they make them, after they used them, or both."""
    model, optimizer = made()

    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if cleared != "after":
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if cleared != "before":
            optimizer.zero_grad()
        return loss

    return model, optimizer, ingot.torch.compile(train_step, model, optimizer, **options)


def gradient(model: torch.nn.Linear) -> torch.Tensor:
    found = model.weight.grad
    assert found is not None
    return found


ASKING: dict[str, Callable[[torch.nn.Linear], Any]] = {
    "norm": lambda model: [p.grad.norm() for p in model.parameters() if p.grad is not None],
    "clipping": lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0),
    "step": lambda model: torch.optim.SGD(model.parameters(), lr=0.1).step(),
    "foreach": lambda model: torch.optim.AdamW(model.parameters(), foreach=True).step(),
    "backward": lambda model: model(X).sum().backward(),
    "item": lambda model: gradient(model)[0, 0].item(),
    "detached": lambda model: gradient(model).detach().clone(),
    "comparison": lambda model: gradient(model) == 0,
    "in place": lambda model: gradient(model).mul_(2),
    "array": lambda model: gradient(model).numpy(),
    "list": lambda model: gradient(model).tolist(),
    "copy": lambda model: copy.deepcopy(gradient(model)),
    "file": lambda model: pickle.dumps(gradient(model)),
    "half": lambda model: model.half().weight.grad.sum(),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=[*ASKING])
def test_who_asks_for_a_gradient_is_told(ask: Callable[[torch.nn.Linear], Any]) -> None:
    model, _, step = compiled()
    step(X, Y)
    with pytest.raises(
        TraceError, match=r"test_unkept_gradients.py:\d+: the gradient of '(weight|bias)' is asked for.*keep_gr"
    ):
        ask(model)


def test_an_optimizer_does_not_step_by_gradients_that_are_not_kept() -> None:
    model, optimizer = made()

    def backward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        model.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    ingot.torch.compile(backward, model)(X, Y)
    with pytest.raises(TraceError, match="gradient of 'weight' is asked for"):
        optimizer.step()


def test_gradients_that_are_cleared_are_none() -> None:
    for cleared in ("after", "both"):
        model, _, step = compiled(cleared)
        step(X, Y)
        assert model.weight.grad is None


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_models_become_of_another_type_and_of_the_first_again() -> None:
    model, _, step = compiled(verify=False)
    step(X, Y)
    model.bfloat16()
    step(X.bfloat16(), Y)
    model.float()
    step(X, Y)
    assert gradient(model).dtype == torch.float32
    assert step.programs == 2


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_arguments_that_come_to_require_gradients_have_them() -> None:
    _, _, step = compiled(verify=False)
    step(X, Y)
    x = X.clone().requires_grad_()
    step(x, Y)
    assert x.grad is not None
    with pytest.raises(TraceError, match="the gradient of 'x' goes on to what made it"):
        step(x * 2, Y)


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_another_type_of_autocast_is_another_program() -> None:
    model, _ = made()

    def predict(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu"):
            return model(x)

    step = ingot.torch.compile(predict, model, training=False, verify=False)
    before = torch.get_autocast_dtype("cpu")
    try:
        for dtype in (torch.bfloat16, torch.float16):
            torch.set_autocast_dtype("cpu", dtype)
            assert step(X).dtype == dtype
    finally:
        torch.set_autocast_dtype("cpu", before)


def test_what_does_not_ask_for_values_goes_on() -> None:
    model, optimizer, step = compiled()
    for _ in range(2):
        step(X, Y)
        assert "gradient of 'weight'" in repr(model.weight.grad)
        assert gradient(model).shape == model.weight.shape
        copy.deepcopy(model)
        model.double().float()
        optimizer.zero_grad(set_to_none=False)
        assert torch.equal(gradient(model) + 1, torch.ones(2, 3))
        model(X).sum().backward()
        expected = X.sum(0).expand(2, 3)
        torch.testing.assert_close(gradient(model) * 1, expected)
    optimizer.zero_grad()
    assert model.weight.grad is None
    step(X, Y)
    assert model.weight.grad is not None


@pytest.mark.parametrize("set_to_none", [True, False])
def test_what_is_cleared_between_steps_is_not_kept_after_the_next(set_to_none: bool) -> None:
    model, _, step = compiled()
    of_bias = torch.optim.SGD([model.bias], lr=0.1)
    for _ in range(2):
        step(X, Y)
        of_bias.zero_grad(set_to_none=set_to_none)
    step(X, Y)
    for parameter in model.parameters():
        assert parameter.grad is not None
        with pytest.raises(TraceError, match="is asked for"):
            parameter.grad.norm()


def test_steps_that_keep_gradients_do_not_start_from_those_that_were_not_kept() -> None:
    model, optimizer, step = compiled()
    step(X, Y)

    def kept(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    with pytest.raises(TraceError, match=r"clear it by zero_grad\(\)"):
        ingot.torch.compile(kept, model, keep_gradients=True)(X, Y)
    optimizer.zero_grad()
    ingot.torch.compile(kept, model, keep_gradients=True)(X, Y)
    assert gradient(model).norm() > 0


def test_gradients_that_are_kept_are_those_of_pytorch() -> None:
    (model, _, step), (other, optimizer) = compiled(keep_gradients=True), made()
    for _ in range(3):
        step(X, Y)
        optimizer.zero_grad()
        F.cross_entropy(other(X), Y).backward()
        optimizer.step()
        torch.testing.assert_close(model.weight.grad, other.weight.grad)


def test_gradients_from_before_a_call_are_refused_where_it_would_use_them() -> None:
    def made() -> tuple[nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(0)
        net = nn.Linear(3, 2)
        return net, torch.optim.SGD(net.parameters(), 0.1)

    def clearing_last(net: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        def step(x: torch.Tensor) -> torch.Tensor:
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss.detach()

        return step

    (mine, optimizer), (theirs, other), x = made(), made(), torch.ones(4, 3)
    step, expected = ingot.torch.compile(clearing_last(mine, optimizer), mine, optimizer), clearing_last(theirs, other)
    torch.testing.assert_close(step(x), expected(x))
    mine(x).sum().backward()
    with pytest.raises(ingot.torch.TraceError, match=r"'weight' that is there before the call.*keep_gradients=True"):
        step(x)
    optimizer.zero_grad(set_to_none=False)
    torch.testing.assert_close(step(x), expected(x))
    kept = ingot.torch.compile(clearing_last(mine, optimizer), mine, optimizer, keep_gradients=True)
    for net in (mine, theirs):
        net(x).sum().backward()
    torch.testing.assert_close(kept(x), expected(x))
    torch.testing.assert_close(mine.weight, theirs.weight)


def test_a_function_that_only_steps_is_told_that_it_has_no_gradients() -> None:
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    step = ingot.torch.compile(lambda: optimizer.step(), net, optimizer)
    net(torch.ones(4, 3)).sum().backward()
    with pytest.raises(ingot.torch.TraceError, match="there before the call, or reads it"):
        step()


class Heads(nn.Module):
    """Three layers, of which one is never used, and one where it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused, self.late = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, is_late: bool) -> torch.Tensor:
        y: torch.Tensor = self.used(x) + (self.late(x) if is_late else 0)
        return y


def accumulating(compiled: bool, are_both: bool) -> Heads:
    """Steps every second call, and at times without a gradient."""
    torch.manual_seed(0)
    model = Heads()
    optimizer = torch.optim.AdamW(model.parameters(), 0.1, weight_decay=0.5)

    def add(x: torch.Tensor, is_late: bool) -> torch.Tensor:
        loss = model(x, is_late).square().mean()
        loss.backward()
        return loss

    def update() -> None:
        optimizer.step()
        optimizer.zero_grad()

    if compiled:
        add = ingot.torch.compile(add, model, optimizer, keep_gradients=True)
        update = ingot.torch.compile(update, model, optimizer, keep_gradients=True) if are_both else update
    update()
    for i in range(4):
        add((i + 1) * X, i >= 2)
        if i % 2:
            update()
    update()
    assert model.used.weight.grad is None
    return model


@pytest.mark.filterwarnings("ignore:.*traced again")
@pytest.mark.parametrize("are_both", [True, False])
def test_gradients_that_are_kept_are_none_where_pytorchs_are(are_both: bool) -> None:
    mine, theirs = accumulating(True, are_both), accumulating(False, are_both)
    torch.testing.assert_close(mine.state_dict(), theirs.state_dict())


def test_parameters_without_gradients_are_left_out() -> None:
    def trained(compiled: bool) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        model = Heads()
        optimizer = torch.optim.AdamW(model.parameters(), 0.1, weight_decay=0.5)
        calls = 0

        def step(x: torch.Tensor) -> None:
            nonlocal calls
            calls += 1
            model(x, False).square().mean().backward()
            if calls % 2 == 0:
                optimizer.step()
                optimizer.zero_grad()

        run = ingot.torch.compile(step, model, optimizer, keep_gradients=True) if compiled else step
        for i in range(5):
            run((i + 1) * X)
        return model.state_dict()

    torch.testing.assert_close(trained(True), trained(False))


@pytest.mark.parametrize("is_first", [True, False])
def test_files_leave_out_parameters_for_which_nothing_makes_gradients(is_first: bool) -> None:
    """In whatever order their entry points are traced."""
    torch.manual_seed(0)
    model = Heads()
    optimizer = torch.optim.AdamW(model.parameters(), 0.1, weight_decay=0.5)

    def add(x: torch.Tensor) -> torch.Tensor:
        loss = model(x, False).square().mean()
        loss.backward()
        return loss

    def update() -> None:
        optimizer.step()
        optimizer.zero_grad()

    program = ingot.torch.Program(model, optimizer, keep_gradients=True)
    entries: list[tuple[str, Any, tuple[torch.Tensor, ...]]] = [("add", add, (X,)), ("update", update, ())]
    for entry in entries if is_first else entries[::-1]:
        program.add(*entry)
    session = ingot.Session(ingot.compile(program))
    for i in range(4):
        session.entries["add"](x=(i + 1) * X)
        add((i + 1) * X)
        if i % 2:
            session.entries["update"]()
            update()
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(session.state.torch(name), tensor)
