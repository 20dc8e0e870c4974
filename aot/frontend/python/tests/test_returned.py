"""What a step returns lies where it does in PyTorch, and gradients that would go on beyond it are asked for in vain."""

from __future__ import annotations

import copy
import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import ingot.torch

XS = torch.randn(4, 5, 4, generator=torch.Generator().manual_seed(1))
Returns = Callable[[nn.Module, torch.Tensor, torch.Tensor], Any]  # of a model, an argument and a loss

RETURNED: dict[str, Returns] = {
    "a parameter": lambda model, x, loss: (loss, model[0].weight),
    "a parameter apart": lambda model, x, loss: (loss, model[0].weight.detach()),
    "a row of it": lambda model, x, loss: (loss, model[0].weight[1].detach()),
    "a buffer": lambda model, x, loss: {"mean": model[1].running_mean, "variance": model[1].running_var[1:]},
    "an argument": lambda model, x, loss: [x, x[0], x.t()],
    "twice the same": lambda model, x, loss: (made := loss.detach() * 2, made, made.view(1)),
    "a view and what it views": lambda model, x, loss: (made := x * 2, made[1], made.flatten()[3:].detach()),
    "parts of what is not returned": lambda model, x, loss: (x * 2).chunk(2, 1),
}


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3))


def step_of(net: nn.Module, returns: Returns) -> tuple[Callable[..., Any], torch.optim.Optimizer]:
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def step(x: torch.Tensor) -> Any:
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return returns(net, x, loss)

    return step, optimizer


def seen(step: Callable[..., Any]) -> list[Any]:
    """What all steps return, looked at in the end, after something was written to the first tensor of each."""
    kept = []
    for x in copy.deepcopy(XS):
        returned = step(x)
        tensors = [*(returned.values() if isinstance(returned, dict) else returned)]
        with torch.no_grad():
            tensors[0].add_(1)
        kept.append([x, *tensors])
    return [[tensor.detach() for tensor in tensors] for tensors in kept]


@pytest.mark.parametrize("name", RETURNED)
def test_memory_is_shared_as_in_pytorch(name: str) -> None:
    theirs, _ = step_of(model(), RETURNED[name])
    for _ in range(2):  # also of a trace that was kept
        mine = model()
        step, optimizer = step_of(mine, RETURNED[name])
        torch.testing.assert_close(seen(ingot.torch.compile(step, mine, optimizer)), seen(theirs))
        theirs, _ = step_of(model(), RETURNED[name])


@pytest.mark.filterwarnings("ignore:.*traced again")
@pytest.mark.parametrize("beside", [0, 1])  # other threads
def test_memory_is_shared_with_what_calls_returned_before_a_retrace(beside: int) -> None:
    is_over = threading.Event()
    threads = [threading.Thread(target=is_over.wait) for _ in range(beside)]
    for thread in threads:
        thread.start()
    try:
        shares_memory()
    finally:
        is_over.set()


def shares_memory() -> None:
    seen = []
    for is_compiled in (True, False):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def step(x: torch.Tensor, model: Any = model, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            return model[0].weight.detach(), model[1].running_mean, model[0].bias.detach()[1:]

        function = functools.partial(step, model=model, optimizer=optimizer)
        called = ingot.torch.compile(function, model, optimizer) if is_compiled else function
        first = called(torch.ones(2, 3) * torch.arange(2)[:, None])
        for rows in (4, 5, 2):
            called(torch.ones(rows, 3) * torch.arange(rows)[:, None])
        now = model[0].weight, model[1].running_mean, model[0].bias[1:]
        assert [x.data_ptr() for x in first] == [x.data_ptr() for x in now]
        seen.append([x.clone() for x in first])
    torch.testing.assert_close(*seen)


def test_views_that_were_made_before_are_warned_of() -> None:
    mine = model()
    step, optimizer = step_of(mine, RETURNED["a parameter"])
    kept = mine.state_dict()
    with pytest.warns(UserWarning, match=r"shares the memory of `0\.weight`, and no longer sees it change"):
        ingot.torch.compile(step, mine, optimizer)(XS[0])
    assert not torch.equal(kept["0.weight"], mine[0].weight)


def test_those_beside_other_threads_are_too() -> None:
    is_over = threading.Event()
    failed: list[SystemError] = []

    def make_tuples() -> None:
        while not is_over.is_set():
            try:
                _ = tuple(i for i in range(5000))  # which resizes it as it grows
            except SystemError as error:
                failed.append(error)

    thread = threading.Thread(target=make_tuples)
    thread.start()
    try:
        test_views_that_were_made_before_are_warned_of()
    finally:
        is_over.set()
        thread.join()
    assert not failed


def test_those_of_a_graph_or_of_another_step_are_not() -> None:
    mine = model()
    loss = mine(XS[0]).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("a parameter", "a row of it"):
            step, optimizer = step_of(mine, RETURNED[name])
            ingot.torch.compile(step, mine, optimizer)(XS[0])
    assert loss.grad_fn


def test_a_parameter_that_is_returned_is_the_parameter() -> None:
    mine = model()
    step, optimizer = step_of(mine, RETURNED["a parameter"])
    compiled = ingot.torch.compile(step, mine, optimizer)
    assert all(compiled(x)[1] is mine[0].weight for x in XS)


def test_gradients_of_what_is_returned_end_there() -> None:
    mine = model()
    loss_of = ingot.torch.compile(lambda x: mine(x).square().mean(), mine)
    loss = loss_of(XS[0])
    assert loss.item() > 0 and loss.requires_grad
    with pytest.raises(
        ingot.torch.TraceError, match=r"test_returned\.py:\d+: the gradient of what a compiled function"
    ):
        (loss + mine[0].weight.sum()).backward()
    with torch.no_grad():
        assert not loss_of(XS[0]).requires_grad
    assert not ingot.torch.compile(lambda x: mine(x).mean().detach(), mine)(XS[0]).requires_grad
    assert ingot.torch.compile(lambda x: (mine(x), mine[0].weight), mine)(XS[0])[1] is mine[0].weight


def test_gradients_of_arguments_are_asked_for_in_vain() -> None:
    mine = model()
    step, optimizer = step_of(mine, lambda net, x, loss: loss)
    compiled = ingot.torch.compile(step, mine, optimizer)
    x = XS[0].clone().requires_grad_()
    compiled(x)
    with pytest.raises(ingot.torch.TraceError, match=r"asked for, .*torch\.autograd\.grad\(loss, x\), and return it"):
        x.grad.norm()
    encoder = nn.Linear(4, 4)
    before = copy.deepcopy(mine.state_dict())
    with pytest.raises(ingot.torch.TraceError, match=r"goes on to what made it .* give argument\.detach\(\)"):
        compiled(encoder(x))
    torch.testing.assert_close(mine.state_dict(), before)
    compiled(encoder(x).detach())


def test_functions_may_take_gradients_of_arguments() -> None:
    def trained(wrap: Callable[..., Any]) -> list[torch.Tensor]:
        net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.copy_(torch.linspace(-1, 1, parameter.numel()).view_as(parameter))
        optimizer = torch.optim.Adam(net.parameters(), 0.01)

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
            loss = functional.mse_loss(slope, x.detach())
            loss.backward()
            optimizer.step()
            return loss.detach()

        wrapped = wrap(step, net, optimizer)
        return [wrapped(x.clone().requires_grad_()) for x in XS] + [*net.parameters()]

    torch.testing.assert_close(trained(ingot.torch.compile), trained(lambda step, *_: step))


def test_an_argument_that_is_a_parameter_is_refused() -> None:
    prompt = nn.Parameter(XS[0].clone())
    mine = model()
    optimizer = torch.optim.SGD([*mine.parameters(), prompt], 0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = mine(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    with pytest.raises(ingot.torch.TraceError, match="an argument is the parameter"):
        ingot.torch.compile(step, mine, optimizer)(prompt)


def test_arguments_by_keyword_alone() -> None:
    def trained(wrap: Callable[..., Any]) -> list[torch.Tensor]:
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)

        def step(x: torch.Tensor, *, scale: float = 1.0, mask: torch.Tensor | None = None, **more: Any) -> torch.Tensor:
            optimizer.zero_grad()
            made = net(x) * scale
            made = made if mask is None else made * mask
            loss = (made + more.get("bias", 0)).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        wrapped, half = wrap(step, net, optimizer), torch.full((3,), 0.5)
        losses = [wrapped(XS[0]), wrapped(XS[1], scale=2.0), wrapped(XS[2], mask=half), wrapped(XS[3], mask=half * 3)]
        return [*losses, wrapped(XS[0], bias=half), wrapped(mask=half, x=XS[1])]

    with pytest.warns(UserWarning, match="traced again"):
        mine = trained(ingot.torch.compile)
    torch.testing.assert_close(mine, trained(lambda step, *_: step))


def test_an_object_of_tensors_is_refused() -> None:
    class Made:
        def __init__(self, loss: torch.Tensor) -> None:
            self.loss = loss

    net = model()
    with pytest.raises(ingot.torch.TraceError, match="returns a Made, whose `loss` is a tensor that it made"):
        ingot.torch.compile(lambda x: Made(net(x).mean()), net)(XS[0])
    returned, same = ingot.torch.compile(lambda x: (net(x).detach(), net), net)(XS[0])
    assert same is net and returned.shape == net(XS[0]).shape
