"""Tensors that a compiled function reads, and that are neither arguments nor state: they are read as they are."""

from __future__ import annotations

import multiprocessing
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


def losses(model: nn.Module, change: Change, compiled: bool, **options: Any) -> list[torch.Tensor]:
    """The losses of six steps, with a change before two of them, and what was trained."""
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
        if i in (2, 4):
            change(model, i)
        found.append(run(torch.randn(5, 4)).clone())
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
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_written_constants_are_read_again(change: Change) -> None:
    expected, got = (losses(Scaled(), change, compiled) for compiled in (False, True))
    torch.testing.assert_close(got, expected, equal_nan=True)


def test_error_names_what_was_written() -> None:
    with pytest.raises(ingot.torch.TraceError, match=r"`model.scale` has other values than it had"):
        losses(Scaled(), CHANGES["by_data"], True, on_change="error")


class Reads(nn.Module):
    """A layer, and a function of its results that reads tensors of the caller's."""

    def __init__(self, read: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.read = read

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.read(self.layer(x))


def test_tensors_of_the_caller_are_constants() -> None:
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

    with pytest.warns(UserWarning, match="traced again"):
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

    with pytest.warns(UserWarning, match=r"`teacher\[0\].weight` has other values than it had"):
        torch.testing.assert_close(run(True), run(False))


def taught() -> Callable[[torch.Tensor], torch.Tensor]:
    teacher = nn.Linear(3, 3)
    return lambda y: y - teacher(y)


def counted() -> Callable[[torch.Tensor], torch.Tensor]:
    count = torch.zeros(())
    return lambda y: y * count.add_(1)


REFUSED = {
    r"reads the tensor `.*weight`.*neither an argument nor state": taught,
    r"writes `.*count`, which is neither an argument nor state": counted,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_trained_or_written_elsewhere_is_refused(message: str) -> None:
    with pytest.raises(ingot.torch.TraceError, match=message):
        losses(Reads(REFUSED[message]()), lambda *_: None, True)
