"""Calls of a compiled step after the first: what they notice, what they read, and what they leave behind."""

from __future__ import annotations

import gc
import types
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ingot.torch
from ingot.torch.python_state.watched import Watched
from ingot.torch.run import Run
from ingot.torch.runs import MOST_PROGRAMS

XS = torch.randn(8, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Described(nn.Module):
    """A model of a class with everything but plain methods."""

    SCALE = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_buffer("prompt", torch.zeros(2))

    @property
    def factor(self) -> float:
        return 0.5

    @classmethod
    def scaled(cls, x: torch.Tensor) -> torch.Tensor:
        return cls.SCALE * x

    @staticmethod
    def bent(x: torch.Tensor) -> torch.Tensor:
        return x.tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.factor * self.scaled(self.bent(self.fc(x))) + self.prompt


def training(compiled: bool) -> tuple[nn.Module, Callable[..., torch.Tensor]]:
    torch.manual_seed(0)
    model = Described()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean() + model.prompt.sum()
        loss.backward()
        optimizer.step()
        return loss

    return model, ingot.torch.compile(step, model, optimizer, verify=False) if compiled else step


def losses(change: Callable[[nn.Module], Any], prepare: Callable[[nn.Module], Any], compiled: bool) -> list[float]:
    model, step = training(compiled)
    prepare(model)
    seen = [step(x).item() for x in XS[:3]]
    change(model)
    return seen + [step(x).item() for x in XS[3:6]]


def double(gradient: torch.Tensor) -> torch.Tensor:
    return 2 * gradient


def stop(parameter: torch.Tensor) -> None:
    parameter.grad.zero_()


def hook_that_goes(model: nn.Module) -> None:
    model.fc.weight.register_hook(double).remove()


def no_longer_trained(model: nn.Module) -> None:
    model.fc.weight.requires_grad_(False)


CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "a hook": (lambda model: model.fc.weight.register_hook(double), lambda model: None),
    "a hook where one was": (lambda model: model.fc.weight.register_hook(double), hook_that_goes),
    "a hook after accumulation": (
        lambda model: model.fc.weight.register_post_accumulate_grad_hook(stop),
        lambda model: None,
    ),
    "a frozen parameter": (no_longer_trained, lambda model: None),
    "a parameter that is trained again": (lambda model: model.fc.weight.requires_grad_(), no_longer_trained),
    "an attribute of the class": (lambda model: setattr(Described, "SCALE", 3.0), lambda model: None),
    "a method of the class": (lambda model: setattr(Described, "bent", staticmethod(F.relu)), lambda model: None),
    "a property": (lambda model: setattr(Described, "factor", property(lambda self: 1.5)), lambda model: None),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_between_calls_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for compiled in (True, False):
        with monkeypatch.context() as undo, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for attribute in ("SCALE", "bent", "factor"):  # put back afterwards
                undo.setattr(Described, attribute, vars(Described)[attribute])
            seen.append(losses(*CHANGES[name], compiled))
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)


def test_classes_with_all_kinds_of_methods_are_traced_once() -> None:
    _, step = training(True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in XS[:4]:
            step(x)
    assert step.programs == 1


@pytest.mark.parametrize("first", [False, True])
def test_arguments_without_elements_may_lie_anyhow(first: bool) -> None:
    step = ingot.torch.compile(lambda x: x * 2, nn.Identity())
    for i in range(3):
        x = torch.zeros(0, 8)[:, ::2] if (i % 2 == 0) == first else torch.zeros(0, 4)
        assert step(x).shape == (0, 4)


ARGUMENTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "columns": lambda x: x.t().contiguous().t(),
    "every second row": lambda x: torch.stack([x, x], 1).flatten(0, 1)[::2],
    "memory at any place": lambda x: torch.cat([torch.zeros(1), x.flatten()])[1:].view(6, 3),
    "a read-only array": lambda x: torch.from_numpy(np.broadcast_to(x.numpy(), (2, 6, 3)))[0],
    "gradients": lambda x: x.clone().requires_grad_(),
    "negated": lambda x: torch._neg_view(-x),
    "an imaginary part": lambda x: torch.complex(x, -x).conj().imag,
    "the state": lambda x: nn.Parameter(x),
}


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_arguments_are_read_as_they_are(name: str, first: bool) -> None:
    """`first`: the program is traced with one that is laid out so."""
    _, step = training(True)
    _, reference = training(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for i, x in enumerate(XS[:4]):
            laid_out = ARGUMENTS[name](x) if (i % 2 == 0) == first else x
            assert step(laid_out).item() == pytest.approx(reference(x).item(), rel=1e-5)
    assert step.programs == (2 if ARGUMENTS[name](XS[0]).requires_grad else 1)  # which have gradients


@pytest.mark.parametrize("first", [False, True])
def test_complex_arguments_may_be_conjugated(first: bool) -> None:
    model = nn.Linear(3, 2)
    predict = ingot.torch.compile(lambda z: model(z.real) * model(z.imag), model, training=False, verify=False)
    z = torch.complex(XS[0], XS[1])
    for i in range(3):
        given = z.conj() if (i % 2 == 0) == first else z
        torch.testing.assert_close(predict(given), (model(given.real) * model(given.imag)).detach())
    assert predict.programs == 1


def test_other_types_are_traced_again() -> None:
    linear = nn.Linear(3, 2)
    predict = ingot.torch.compile(lambda x: linear(x.float()), linear, training=False, verify=False)
    predict(XS[0])
    with pytest.warns(UserWarning, match=r"`x` is a float64 tensor of shape \[6, 3\], and was a float32 tensor"):
        torch.testing.assert_close(predict(XS[0].double()), linear(XS[0]).detach())
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        predict(XS[0], XS[0])
    assert predict.programs == 2


def test_calls_leave_nothing_to_collect() -> None:
    _, step = training(True)
    step(XS[0])
    started: list[int] = []
    gc.callbacks.append(lambda phase, info: started.append(info["generation"]))
    try:
        gc.collect()
        started.clear()
        for i in range(2000):
            step(XS[i % 8])
    finally:
        gc.callbacks.pop()
    assert not started


def stepping(model: nn.Module, optimizer: Any, compiled: bool) -> Any:
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return ingot.torch.compile(step, model, optimizer, verify=False) if compiled else step


def test_numbers_that_are_inputs_may_move_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedule is not looked at in Python, and what is no input still is."""
    runs = []
    for compiled in (True, False):
        torch.manual_seed(0)
        model = Described()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        step = stepping(model, optimizer, compiled)
        group = optimizer.param_groups[0]
        seen = [step(XS[0]).item()]
        with monkeypatch.context() as undo:
            if compiled:
                undo.setattr(Watched, "_arm", None)  # which a comparison by value would call
            for i in range(1, 4):
                group.update(lr=0.1 / i, momentum=0.5 / i)
                seen.append(step(XS[i]).item())
        group["nesterov"] = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen.append(step(XS[4]).item())
        assert not compiled or step.programs == 2
        runs.append(seen)
    assert runs[0] == pytest.approx(runs[1], rel=1e-5)


def test_groups_may_be_other_objects() -> None:
    runs = []
    for compiled in (True, False):
        torch.manual_seed(0)
        model = Described()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1, betas=(0.8, 0.9))
        step = stepping(model, optimizer, compiled)
        seen = [step(XS[0]).item()]
        optimizer.param_groups[0] = dict(optimizer.param_groups[0])  # an equal one
        seen.append(step(XS[1]).item())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for change in ({"lr": 0.01}, {"betas": (0.5, 0.9)}, {"weight_decay": 0.1}):
                optimizer.param_groups[0].update(change)
                seen += [step(x).item() for x in XS[2:4]]
        runs.append(seen)
    assert runs[0] == pytest.approx(runs[1], rel=1e-5)


def test_steps_that_nobody_has_are_collected() -> None:
    model, step = training(True)
    model.step = step  # which the step's guard holds
    step(XS[0])
    gone = weakref.ref(step._runs.latest.guard)
    del model, step
    gc.collect()
    assert gone() is None


def test_full_buckets_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compared: list[int] = []
    compare = Run.compare

    def noted(run: Run, name: str, arguments: Any, given: Any, steps: int) -> None:
        compared.append(len(given[0]))
        compare(run, name, arguments, given, steps)

    def step(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (w * model(x).square().sum(1)).sum() / w.sum()
        loss.backward()
        optimizer.step()
        return loss

    monkeypatch.setattr(Run, "compare", noted)
    step = ingot.torch.compile(step, model, optimizer, buckets=ingot.torch.Buckets(["x"], "w", least=4))
    for rows in (3, 4, 4, 3):
        step(XS[0, :rows], torch.ones(rows))
    assert compared == [3, 4]


def marking(x: torch.Tensor) -> torch.Tensor:
    x.seen = True
    return x


def counting(x: torch.Tensor) -> torch.Tensor:
    x.seen = getattr(x, "seen", 0) + 1
    return x / x.seen


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * getattr(x, "scale", 1.0)


def step_on(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    model = nn.Linear(3, 2)
    return ingot.torch.compile(lambda x: model(change(x)).sum(), model, verify=False, training=False)


def test_attributes_that_a_function_sets_on_arguments() -> None:
    with pytest.warns(UserWarning, match=r"do not set `an argument's seen`"):
        step_on(marking)(XS[0].clone())
    with pytest.raises(ingot.torch.TraceError, match="looks whether an argument has `seen`, and sets it"):
        step_on(counting)(XS[0].clone())


def test_attributes_that_arguments_come_to_have() -> None:
    step = step_on(scaled)
    step(XS[0].clone())
    step(XS[1].clone())
    marked = XS[2].clone()
    marked.scale = 0.5
    with pytest.warns(UserWarning, match="this call is PyTorch's.*reads `scale`, an attribute of an argument; pass it"):
        assert step(marked).item() == step.function(marked).item()
    assert step.programs == 1


def test_attributes_of_arguments_that_stand_ins_have_too() -> None:
    marked = XS[0].clone()
    marked.constant = 2.0
    with pytest.raises(ingot.torch.TraceError, match="an argument with the attribute `constant`"):
        step_on(lambda x: x * x.constant)(marked)


def test_calls_of_more_kinds_than_programs_are_pytorchs() -> None:
    scale = ["1"]

    def losses(compiled: bool) -> list[Any]:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(model.parameters(), 0.1)

        def function(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = (model(x) * float(scale[0])).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        step: Any = ingot.torch.compile(function, model, optimizer) if compiled else function
        found = []
        for scale[0] in map(str, (*range(MOST_PROGRAMS + 2), 0, 3, MOST_PROGRAMS, 1)):
            found.append(step(XS[0]).item())
        assert not compiled or step.programs == MOST_PROGRAMS
        return [*found, *model.parameters()]

    with pytest.warns(UserWarning) as said:
        torch.testing.assert_close(losses(True), losses(False), rtol=1e-5, atol=1e-6)
    assert sum("8 were traced: calls that are none of theirs are PyTorch's" in str(w.message) for w in said) == 1


class Doubled:
    def step(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Tripled(Doubled):
    def step(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3

    def step_of_parent(self) -> Callable[[torch.Tensor], torch.Tensor]:
        return super().step


def test_methods_that_objects_do_not_have_by_their_names() -> None:
    nameless = types.MethodType(lambda self, x: self.step(x) + 1, Tripled())
    model = nn.Linear(1, 1)
    for method, expected in ((Tripled().step_of_parent(), XS[0] * 2), (nameless, XS[0] * 3 + 1)):
        torch.testing.assert_close(ingot.torch.compile(method, model)(XS[0]), expected)


def test_weights_that_hooks_make_anew_are_no_change() -> None:
    """Evaluation in PyTorch between the calls makes others of the same form; one of another form is a change."""

    def trained(is_compiled: bool) -> tuple[list[Any], int]:
        torch.manual_seed(0)
        layer = nn.Linear(3, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            net = nn.Sequential(nn.utils.weight_norm(layer), nn.Tanh(), nn.utils.spectral_norm(nn.Linear(4, 2)))
        optimizer = torch.optim.SGD(net.parameters(), 0.1)

        def train_step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        step = ingot.torch.compile(train_step, net, optimizer) if is_compiled else train_step
        seen = []
        for i in range(5):
            seen.append(step(torch.full((2, 3), i + 1.0)).detach())
            seen.append(net(torch.ones(1, 3)).detach())
        return seen, getattr(step, "programs", 1)

    with pytest.warns(UserWarning, match="do not set `net\\[0\\].weight`") as said:
        mine, programs = trained(True)
    torch.testing.assert_close(mine, trained(False)[0])
    assert (programs, len(said)) == (1, 1)


class Remembering(nn.Module):
    """A layer that looks at what the call before left, before it leaves its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last, self.first = nn.Linear(3, 2), torch.zeros(2, 2), torch.ones(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        is_known = self.last is self.first or len(self.last) > 2
        self.last = self.layer(x)
        return self.last * (1 if is_known else 2)


@pytest.mark.filterwarnings("ignore:.*(do not set|traced again|this call is PyTorch's)")
def test_tensors_that_are_made_anew_are_looked_at_as_python_does() -> None:
    def seen(is_compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = Remembering()
        predict = ingot.torch.compile(lambda x: net(x), net, training=False) if is_compiled else lambda x: net(x)
        made = []
        for last in (net.last, torch.zeros(2, 2), net.first, torch.zeros(2, 2), torch.zeros(3, 2)):
            net.last = last
            made.append(predict(torch.ones(2, 3)).detach())
        return made

    torch.testing.assert_close(seen(True), seen(False))
