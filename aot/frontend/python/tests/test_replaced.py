"""Functions that are replaced between two calls: a compiled step does what PyTorch does then, and says which."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import softplus

import ingot.torch

XS = torch.randn(6, 6, 3, generator=torch.Generator().manual_seed(0))
HERE = sys.modules[__name__]
SGD = sys.modules["torch.optim.sgd"]
OF_OBJECTS = ("__code__", "__defaults__", "__class__")  # what is set, and never deleted
USUAL_STEP = torch.optim.SGD.step
USUAL_BACKWARD = torch.Tensor.backward


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


def activated(x: torch.Tensor) -> torch.Tensor:
    return inner(x)


def inner(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x)


class Part(nn.Linear):
    """Its forward is Linear's."""

    @property
    def factor(self) -> float:
        return 2.0

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return activated(x) * self.factor


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.last = Part(3, 4), nn.Dropout(0.0), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.drop(self.first.scaled(self.first(x)))))


Loss = Callable[[torch.Tensor], torch.Tensor]


def mean_square(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean()


def imported_within(y: torch.Tensor) -> torch.Tensor:
    from torch.nn import functional as f

    return f.silu(y).mean()


def by_a_name(y: torch.Tensor) -> torch.Tensor:
    return getattr(functional, "ge" + "lu")(y).mean()


def scaled(y: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
    return (y * factor).square().mean()


def scaled_more(y: torch.Tensor, factor: float = 3.0) -> torch.Tensor:
    return (y * factor + 1).square().mean()


def of_classes(y: torch.Tensor) -> torch.Tensor:
    return nn.CrossEntropyLoss()(y, (y.detach()[:, 0] > 0).long())


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: function(*args, **kwargs) * 2


def with_larger_gradients(optimizer: torch.optim.Optimizer, closure: Any = None) -> None:
    for parameter in optimizer.param_groups[0]["params"]:
        parameter.grad.mul_(2)
    USUAL_STEP(optimizer, closure)


def without_bias(module: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    return x @ module.weight.t()


# Loss, where something is replaced, its name there, what takes its place.
REPLACED: dict[str, tuple[Loss, Any, str, Any]] = {
    "of a module, by its name": (lambda y: functional.relu(y).mean(), functional, "relu", functional.gelu),
    "of a module that is imported within": (imported_within, functional, "silu", torch.sin),
    "of a module, by a name that is computed": (by_a_name, functional, "gelu", torch.sin),
    "a global variable": (lambda y: softplus(y).mean(), HERE, "softplus", torch.exp),
    "a global module": (lambda y: functional.relu(y).mean(), HERE, "functional", torch),
    "called by another": (mean_square, HERE, "inner", torch.sigmoid),
    "called by PyTorch's modules": (mean_square, functional, "linear", lambda x, w, _: x @ w.t()),
    "called with flags by them": (mean_square, functional, "dropout", lambda x, *_: x * 2),
    "called by PyTorch's functions": (lambda y: functional.relu(y).mean(), torch, "relu", torch.tanh),
    "of torch": (mean_square, torch, "relu", torch.sigmoid),
    "that calls what it replaces": (mean_square, torch, "relu", twice(torch.relu)),
    "a loss that calls what it replaces": (of_classes, functional, "cross_entropy", twice(functional.cross_entropy)),
    "a method of tensors": (mean_square, torch.Tensor, "square", torch.Tensor.abs),
    "a method that calls what it replaces": (
        mean_square,
        torch.Tensor,
        "square",
        twice(torch.Tensor.square),
    ),
    "what computes gradients": (mean_square, torch.Tensor, "backward", lambda y: USUAL_BACKWARD(y * 2)),
    "a method of PyTorch's module": (mean_square, nn.Linear, "forward", without_bias),
    "of all modules": (mean_square, nn.Module, "__call__", twice(nn.Module.__call__)),
    "a method of the user's class": (mean_square, Part, "scaled", lambda _, x: x.exp()),
    "a property of it": (mean_square, Part, "factor", property(lambda _: 3.0)),
    "a gradient": (lambda y: Square.apply(y).mean(), Square, "backward", staticmethod(lambda ctx, g: g)),
    "an optimizer's step": (mean_square, torch.optim.SGD, "step", with_larger_gradients),
    "an optimizer's function": (mean_square, SGD, "sgd", lambda parameters, *_, **__: parameters[0].mul_(2)),
    "code": (scaled, scaled, "__code__", scaled_more.__code__),
    "defaults": (scaled, scaled, "__defaults__", (3.0,)),
}


FEW = (
    "of a module that is imported within",
    "called by another",
    "called by PyTorch's modules",
    "that calls what it replaces",
    "a method of tensors",
    "of all modules",
    "an optimizer's step",
    "defaults",
)
SOME_OR_ALL = [
    pytest.param(*row, marks=() if case in FEW else pytest.mark.nightly, id=case) for case, row in REPLACED.items()
]


def training(loss: Loss) -> tuple[nn.Module, torch.optim.Optimizer, Callable[[torch.Tensor], torch.Tensor]]:
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(model(x))
        value.backward()
        optimizer.step()
        return value

    return model, optimizer, step


@contextmanager
def replaced(where: Any, name: str, other: Any) -> Iterator[None]:
    is_own = name in vars(where) or name in OF_OBJECTS
    before = vars(where).get(name, getattr(where, name))
    setattr(where, name, other)
    try:
        yield
    finally:
        if is_own:
            setattr(where, name, before)
        else:
            delattr(where, name)


def trained(step: Callable[[torch.Tensor], torch.Tensor], model: nn.Module, other: Any) -> list[torch.Tensor]:
    """Losses and weights of two steps, two where something is replaced, and two as before."""
    losses = [step(x).detach().clone() for x in XS[:2]]
    with other:
        losses += [step(x).detach().clone() for x in XS[2:4]]
    losses += [step(x).detach().clone() for x in XS[4:]]
    return [*losses, *(parameter.detach().clone() for parameter in model.parameters())]


@pytest.mark.filterwarnings("ignore:.*it is traced again")
@pytest.mark.parametrize("verify", [pytest.param(True, marks=pytest.mark.nightly), False])
@pytest.mark.parametrize(("loss", "where", "name", "other"), SOME_OR_ALL)
def test_steps_are_as_in_pytorch(loss: Loss, where: Any, name: str, other: Any, verify: bool) -> None:
    model, _, step = training(loss)
    expected = trained(step, model, replaced(where, name, other))
    model, optimizer, step = training(loss)
    compiled = ingot.torch.compile(step, model, optimizer, verify=verify)
    found = trained(compiled, model, replaced(where, name, other))
    assert compiled.programs == 2
    for tensor, right in zip(found, expected, strict=True):
        torch.testing.assert_close(tensor, right, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_what_libraries_call_is_seen() -> None:
    test_steps_are_as_in_pytorch(*REPLACED["called by PyTorch's functions"], verify=True)


NAMED = {
    "of a module, by its name": "`torch.nn.functional.relu` is another function than it was",
    "called by PyTorch's modules": "`torch.nn.functional.linear` is another",
    "a method of PyTorch's module": r"`torch.nn.modules.linear.Linear.forward` is another",
    "an optimizer's function": "`torch.optim.sgd.sgd` is another",
    "code": "`test_replaced.scaled` is another",
}


@pytest.mark.parametrize("case", NAMED)
def test_what_is_replaced_is_named(case: str) -> None:
    loss, where, name, other = REPLACED[case]
    model, optimizer, step = training(loss)
    compiled = ingot.torch.compile(step, model, optimizer, verify=False, on_change="error")
    with pytest.raises(ingot.torch.TraceError, match=NAMED[case]):
        trained(compiled, model, replaced(where, name, other))


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_objects_that_become_of_another_class_are_seen() -> None:
    class Wider(Part):
        def scaled(self, x: torch.Tensor) -> torch.Tensor:
            return x * 3

    results = []
    for is_compiled in (False, True):
        model, optimizer, step = training(mean_square)
        step = ingot.torch.compile(step, model, optimizer) if is_compiled else step
        results.append(trained(step, model, replaced(model.first, "__class__", Wider)))
    torch.testing.assert_close(results[0], results[1], rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_methods_that_a_class_is_given_are_seen() -> None:
    results = []
    for is_compiled in (False, True):
        model, optimizer, step = training(mean_square)
        step = ingot.torch.compile(step, model, optimizer) if is_compiled else step
        results.append(trained(step, model, replaced(Part, "forward", without_bias)))
    torch.testing.assert_close(results[0], results[1], rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_calls_are_pytorchs_while_operators_of_tensors_are_replaced() -> None:
    results = []
    for is_compiled in (False, True):
        model, optimizer, step = training(mean_square)
        step = ingot.torch.compile(step, model, optimizer) if is_compiled else step
        change = replaced(torch.Tensor, "__mul__", torch.Tensor.__add__)
        if is_compiled:
            with pytest.warns(UserWarning, match=r"PyTorch's: .*torch.Tensor.__mul__ is not PyTorch's own"):
                results.append(trained(step, model, change))
        else:
            results.append(trained(step, model, change))
    torch.testing.assert_close(results[0], results[1], rtol=1e-4, atol=1e-6)


def test_what_another_has_is_not_seen() -> None:
    model, optimizer, step = training(mean_square)
    compiled = ingot.torch.compile(step, model, optimizer, verify=False, on_change="error")
    compiled(XS[0])
    with replaced(functional, "hardswish", torch.sin):
        compiled(XS[1])


def clipped(y: torch.Tensor, *, most: float = 1.0) -> torch.Tensor:
    return y.clamp(max=most).square().mean()


@pytest.mark.filterwarnings("ignore:.*it is traced again")
def test_keyword_defaults_are_read_in_each_call() -> None:
    model, optimizer, step = training(clipped)
    compiled = ingot.torch.compile(step, model, optimizer)
    other, _, plain = training(clipped)
    for most, x in zip([1.0, 1.0, 0.5, 0.25, 0.1], XS, strict=False):
        with replaced_entry(clipped.__kwdefaults__, "most", most):
            torch.testing.assert_close(compiled(x), plain(x), rtol=1e-4, atol=1e-6)
    assert compiled.programs == 2
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-6)


@contextmanager
def replaced_entry(mapping: Any, name: str, value: Any) -> Iterator[None]:
    before = mapping[name]
    mapping[name] = value
    try:
        yield
    finally:
        mapping[name] = before
