"""Tensors that a compiled function captures, which are neither arguments nor state: each call reads them anew."""

from __future__ import annotations

import copy
import multiprocessing
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import ingot.torch

Change = Callable[[nn.Module, int], Any]


class Scaled(nn.Module):
    """A layer whose results are scaled by a tensor that is no buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.scale = torch.linspace(0.5, 1.5, 6)[::2]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer(x) * self.scale
        return y


def losses(
    model: nn.Module, change: Change, compiled: bool, most: int = 1, times: Any = (2, 4), **options: Any
) -> list[torch.Tensor]:
    """The losses of six steps, with a change before some of them, and what was trained, by at most so many programs."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.uniform_(-1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = ingot.torch.compile(step, model, optimizer, **options) if compiled else step
    found = []
    for i in range(6):
        if i in times:
            change(model, i)
        found.append(run(torch.randn(5, 4)).clone())
    assert not compiled or run.programs <= most
    return [*found, *model.parameters()]


def dense(model: Any) -> Any:
    """Where a tensor's memory is its own."""
    if not model.scale.is_contiguous():
        model.scale = model.scale.contiguous()
    return model.scale


def in_another_process(model: Any, _: int) -> None:
    dense(model).share_memory_()
    process = multiprocessing.get_context("fork").Process(target=model.scale.mul_, args=(1.5,))
    process.start()
    process.join()


def without_a_version(model: Any, _: int) -> None:
    with torch.autograd._unsafe_preserve_version_counter(model.scale):
        model.scale.mul_(1.5)


CHANGES: dict[str, Change] = {
    "in_place": lambda m, i: m.scale.mul_(1.5),
    "by_data": lambda m, i: m.scale.data.mul_(1.5),
    "by_numpy": lambda m, i: np.multiply(m.scale.numpy(), 1.5, out=m.scale.numpy()),
    "by_dlpack": lambda m, i: torch.from_dlpack(m.scale).mul_(1.5),
    "by_its_storage": lambda m, i: dense(m).untyped_storage().copy_(torch.full((3,), float(i)).untyped_storage()),
    "by_other_storage": lambda m, i: m.scale.set_(torch.full((3,), float(i))),
    "to_other_strides": lambda m, i: m.scale.set_(m.scale.untyped_storage(), i // 2, (3,), (1,)),
    "to_another_tensor": lambda m, i: setattr(m, "scale", m.scale * 1.5),
    "in_another_process": in_another_process,
    "without_a_version": without_a_version,
    "to_no_number": lambda m, i: m.scale.data.fill_(torch.nan),
}


@pytest.mark.filterwarnings("ignore:.*traced again", "ignore:.*no finite numbers")
@pytest.mark.parametrize("name", CHANGES)
def test_written_tensors_are_read_again(name: str) -> None:
    makes_dense = name.endswith("_storage") or name in ("to_other_strides", "to_another_tensor", "in_another_process")
    expected, got = (losses(Scaled(), CHANGES[name], compiled, 1 + makes_dense) for compiled in (False, True))
    torch.testing.assert_close(got, expected, equal_nan=True)


class Asked(Scaled):
    """One whose results are scaled by numbers that Python has of the tensor."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        numbers, last = self.scale.tolist(), (self.scale[2:].sum() * 2).item()
        y: torch.Tensor = self.layer(x) * numbers[0] * self.scale + last
        return y


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_numbers_that_python_asked_for_are_constants() -> None:
    torch.testing.assert_close(*(losses(Asked(), CHANGES["by_data"], compiled, 3) for compiled in (False, True)))
    with pytest.raises(ingot.torch.TraceError, match=r"`model.scale` has other values than it had"):
        losses(Asked(), CHANGES["by_data"], True, on_change="error")


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_numbers_of_a_scalar_that_was_computed_with_are_constants() -> None:
    def run(compiled: bool) -> list[torch.Tensor]:
        factor = torch.tensor(2.0)
        model = Reads(lambda y: y * (factor * 2).item() * factor)
        return losses(model, lambda _, i: factor.fill_(1 / i), compiled, 3)

    torch.testing.assert_close(run(True), run(False))


class Reads(nn.Module):
    """A layer, and a function of its results that reads tensors of the caller's."""

    def __init__(self, read: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.read = read

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.read(self.layer(x))


def test_tensors_of_the_caller_are_inputs() -> None:
    """Globals, closures and what lists hold; and other models where nothing trains them."""

    def run(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(1)
        teacher = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).eval().requires_grad_(False)
        tables, shift = [torch.rand(3), torch.rand(3)], torch.rand(3)

        def change(_: nn.Module, i: int) -> None:
            tables[1] = tables[1] * 2
            shift.numpy()[0] = i
            teacher[0].weight.mul_(1.1)

        model = Reads(lambda y: (y - teacher(y)) * tables[0] + y * tables[1] + shift)
        return losses(model, change, compiled)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(run(True), run(False))


def test_another_tensor_may_stand_in_a_place() -> None:
    """In a list, a closure, a module and a global variable of the step's; also one in the memory of the state."""

    def run(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(1)
        teacher, table, shift = nn.Linear(3, 3).requires_grad_(False), [torch.rand(3)], torch.rand(3)

        def change(model: Any, i: int) -> None:
            nonlocal shift
            table[0], shift, teacher.bias = torch.rand(3), torch.rand(3), nn.Parameter(torch.rand(3), False)
            teacher.weight.data = model.layer.weight.data[:, :3]
            teacher.weight.data = torch.rand(3, 3)
            if i == 4:
                table[0] = model.layer.bias.detach()

        model = Reads(lambda y: (y - teacher(y)) * table[0] + shift)
        return losses(model, change, compiled)

    torch.testing.assert_close(run(True), run(False))


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_a_tensor_in_two_places_is_one() -> None:
    def run(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(1)
        one = [torch.rand(3)]
        other = [*one]
        model = Reads(lambda y: y * one[0] + other[0])

        def change(_: nn.Module, i: int) -> None:
            (one if i == 2 else other)[0] = torch.rand(3)

        return losses(model, change, compiled, 3)

    torch.testing.assert_close(run(True), run(False))


UPDATES: dict[str, Callable[[nn.Module, nn.Module], Any]] = {
    "loaded": lambda target, model: target.load_state_dict(model.state_dict()),
    "averaged": lambda target, model: [
        p.data.mul_(0.9).add_(q.data, alpha=0.1) for p, q in zip(target.parameters(), model.parameters(), strict=True)
    ],
    "copied": lambda target, model: [p.copy_(q) for p, q in zip(target.parameters(), model.parameters(), strict=True)],
    "by_lerp": lambda target, model: torch._foreach_lerp_([*target.parameters()], [*model.parameters()], 0.1),
    "one_memory": lambda target, model: [
        setattr(p, "data", q.data) for p, q in zip(target.parameters(), model.parameters(), strict=True)
    ],
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_a_target_network_is_updated_between_calls(update: Callable[[nn.Module, nn.Module], Any]) -> None:
    """As those of DQN, BYOL and mean teachers are."""

    def run(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(1)
        target = nn.Linear(4, 3).requires_grad_(False)

        class Student(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = nn.Linear(4, 3)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.layer(x) - target(x).max(1, keepdim=True)[0]

        def change(model: Any, _: int) -> None:
            with torch.no_grad():
                update(target, model.layer)

        return losses(Student(), change, compiled, times=range(1, 6))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "step: this call is PyTorch's: .*lies in the memory of 'layer.weight'")
        torch.testing.assert_close(run(True), run(False))


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_a_target_network_may_be_replaced() -> None:
    def run(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(1)
        target: nn.Module = nn.Linear(3, 3)

        def change(model: Any, _: int) -> None:
            nonlocal target
            target = copy.deepcopy(target)

        def taught(y: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                wanted = target(y)
            return y - wanted

        return losses(Reads(taught), change, compiled, 3)

    torch.testing.assert_close(run(True), run(False))


def test_a_teacher_may_have_parameters_that_could_be_trained() -> None:
    """As nothing has gradients of them."""

    def run(compiled: bool) -> list[torch.Tensor]:
        torch.manual_seed(1)
        teacher = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

        def taught(y: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                target = teacher(y)
            return y - target

        return losses(Reads(taught), lambda _, i: teacher[0].weight.data.mul_(i), compiled)

    torch.testing.assert_close(run(True), run(False))


def taught() -> Callable[[torch.Tensor], torch.Tensor]:
    teacher = nn.Linear(3, 3)
    return lambda y: y - teacher(y)


def scaled() -> Callable[[torch.Tensor], torch.Tensor]:
    factor = torch.ones(3, requires_grad=True)
    return lambda y: y * factor


def counted() -> Callable[[torch.Tensor], torch.Tensor]:
    count = torch.zeros(())
    return lambda y: y * count.add_(1)


REFUSED = {
    r"reads the tensor `.*weight`.*neither an argument nor state": taught,
    r"reads the tensor `.*factor`.*make it a torch.nn.Parameter of the model": scaled,
    r"writes `.*count`, which is neither an argument nor state": counted,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_trained_or_written_elsewhere_is_refused(message: str) -> None:
    with pytest.raises(ingot.torch.TraceError, match=message):
        losses(Reads(REFUSED[message]()), lambda *_: None, True)
