"""Values that scripts change between calls: one program, or one more once a value changed, is for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ingot.torch

CALLS = 6
X = torch.randn(CALLS, 6, 4, generator=torch.Generator().manual_seed(0))
Y = torch.randint(3, (CALLS, 6), generator=torch.Generator().manual_seed(0))
FALLING = [0.5 / (i + 1) for i in range(CALLS)]
Loss = Callable[[torch.Tensor, torch.Tensor, Any], torch.Tensor]


def trained(loss: Loss, values: Sequence[Any], is_argument: bool, compiled: bool, **hooks: Any) -> Any:
    """The losses of calls with a value each, what is left in the model, and the number of programs."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.5)
    held = SimpleNamespace(value=values[0])

    def step(x: torch.Tensor, y: torch.Tensor, *given: Any) -> torch.Tensor:
        value = given[0] if given else held.value
        optimizer.zero_grad()
        made = loss(model(x), y, value)
        made.backward()  # type: ignore[no-untyped-call]
        if "clip" in hooks:
            hooks["clip"](model.parameters(), value)
        optimizer.step()
        return made.detach()

    called: Any = ingot.torch.compile(step, model, optimizer) if compiled else step
    losses = []
    for x, y, value in zip(X, Y, values, strict=True):
        if not is_argument:
            held.value = value
        if "change" in hooks:
            hooks["change"](model, value)
        losses.append(called(x, y, value) if is_argument else called(x, y))
    return [*losses, *model.state_dict().values()], called.programs if compiled else 0


def agree(loss: Loss, values: Sequence[Any], is_argument: bool, most: int, **hooks: Any) -> None:
    """Compares with PyTorch, by at most so many programs."""
    expected, _ = trained(loss, values, is_argument, False, **hooks)
    got, programs = trained(loss, values, is_argument, True, **hooks)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    assert programs <= most


def weighted(out: torch.Tensor, y: torch.Tensor, weight: Any) -> torch.Tensor:
    return F.cross_entropy(out, y) + weight * out.square().mean()


LOSSES: dict[str, Loss] = {
    "weight": weighted,
    "temperature": lambda out, y, value: F.cross_entropy(out / value, y),
    "label_smoothing": lambda out, y, value: F.cross_entropy(out, y, label_smoothing=value),
    "of_probabilities": lambda out, y, value: F.cross_entropy(out, out.detach().softmax(1), label_smoothing=value),
    "clamped": lambda out, y, value: F.cross_entropy(out.clamp(-value, value), y),
    "between": lambda out, y, value: F.cross_entropy(out.lerp(out.detach().square(), value), y),
    "moved": lambda out, y, value: F.cross_entropy(out.clone().lerp_(out.detach().square(), weight=value), y),
    "annealed": lambda out, y, value: weighted(out, y, 1 - np.exp(-3 * value) + np.float64(0.5) * value),
    "in_cycles": lambda out, y, value: weighted(out, y, 0.5 * (1 + np.cos(np.pi * np.minimum(value, 1.0)))),
    "of_an_array": lambda out, y, value: weighted(out, y, (np.array([1.0, 2.0]) * value)[1]),
    "mixed": lambda out, y, value: F.cross_entropy(value * out + (1 - value) * F.one_hot(y, 3), y),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_floats_in_losses_are_inputs(loss: Loss) -> None:
    agree(loss, FALLING, is_argument=True, most=1)


def test_weights_between_narrow_numbers_are_not_rounded() -> None:
    x, end = torch.tensor([-128.0, 128.0], dtype=torch.bfloat16)[:, None]  # of the weight's bfloat16 it would be 127
    step = ingot.torch.compile(lambda x, end, weight: x.lerp(end, weight), nn.Identity())
    assert step(x, end, 0.998).tolist() == x.lerp(end, 0.998).tolist() == [127.5]


@pytest.mark.filterwarnings("ignore:.*read in each call from now on")
def test_those_of_attributes_are_inputs_once_they_changed() -> None:
    agree(LOSSES["label_smoothing"], FALLING, is_argument=False, most=2)


@pytest.mark.filterwarnings("ignore:.*read in each call from now on")
@pytest.mark.parametrize("clip", [nn.utils.clip_grad_norm_, nn.utils.clip_grad_value_])
def test_limits_of_gradients_are_inputs(clip: Any) -> None:
    agree(lambda out, y, _: F.cross_entropy(out, y), FALLING, is_argument=False, most=2, clip=clip)


@pytest.mark.filterwarnings("ignore:.*read in each call from now on")
def test_a_momentum_of_averages_is_an_input() -> None:
    def change(model: Any, value: float) -> None:
        model[1].momentum = value

    agree(lambda out, y, _: F.cross_entropy(out, y), FALLING, is_argument=False, most=2, change=change)


def by_time(out: torch.Tensor, y: torch.Tensor, epoch: Any) -> torch.Tensor:
    """What grows by a formula and by steps, and is there from an epoch on."""
    weight = 2 / (1 + math.exp(-10 * epoch / CALLS)) - 1 + 0.9**epoch + (0.1 if epoch % 2 else 0.0)
    loss = weighted(out, y, weight)
    return loss + out.abs().mean() if epoch > 3 else loss


@pytest.mark.filterwarnings("ignore:.*read in each call from now on")
@pytest.mark.parametrize("is_argument", [True, False])
def test_integers_are_inputs_once_they_changed(is_argument: bool) -> None:
    agree(by_time, range(CALLS), is_argument, most=2)


@pytest.mark.filterwarnings("error", "ignore:.*traced again")
@pytest.mark.parametrize("is_argument", [True, False])
def test_integers_that_are_sizes_and_keys_are_fixed(is_argument: bool) -> None:
    table = {1: 0.5, 2: 1.5}

    def loss(out: torch.Tensor, y: torch.Tensor, size: int) -> torch.Tensor:
        return F.cross_entropy(out[: 2 * size], y[: 2 * size]) * table[size]

    agree(loss, [1, 2, 1, 2, 1, 2], is_argument, most=2)


@pytest.mark.filterwarnings("error", "ignore:.*traced again")
@pytest.mark.parametrize("is_argument", [True, False])
def test_texts_and_loops_of_integers_are_as_in_python(is_argument: bool) -> None:
    weights = {"stage 1": 0.5, "stage 2": 1.5}

    def loss(out: torch.Tensor, y: torch.Tensor, stage: int) -> torch.Tensor:
        made = F.cross_entropy(out, y) * weights.get(f"stage {stage}", 9.0)
        return made if out.shape[0] > 6 else made * 0.5

    agree(loss, [1, 2, 2, 1, 1, 2], is_argument, most=2)


@pytest.mark.filterwarnings("ignore:.*read in each call from now on")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("is_argument", [True, False])
def test_floats_of_numpy_are_floats(kind: Any, is_argument: bool) -> None:
    agree(weighted, [*map(kind, FALLING)], is_argument, most=1 if is_argument else 2)


def test_label_smoothing_may_be_0_at_times() -> None:
    agree(LOSSES["label_smoothing"], [0.1, 0.0, 0.2, 0.0, 0.1, 0.3], is_argument=True, most=1)


def test_dropout_by_a_probability_that_changes() -> None:
    """Programs draw numbers of their own: how many elements are left is as it should be."""
    torch.manual_seed(0)
    drop, model = nn.Dropout(0.1), nn.Linear(4, 1)

    def step(x: torch.Tensor) -> torch.Tensor:
        return drop(x) * 1.0

    called: Any = ingot.torch.compile(step, nn.ModuleList([model, drop]))
    x = torch.ones(20000)
    with pytest.warns(UserWarning, match="read in each call from now on"):
        for value in (0.1, 0.3, 0.5, 0.8):
            drop.p = value
            left = called(x)
            assert (left != 0).float().mean().item() == pytest.approx(1 - value, abs=0.02)
            assert left.max().item() == pytest.approx(1 / (1 - value))
    assert called.programs == 2


def test_a_value_that_must_be_fixed_is_not_said_to_be_read() -> None:
    held = SimpleNamespace(eps=1e-5)
    model = nn.Linear(4, 3)
    called: Any = ingot.torch.compile(lambda x: F.layer_norm(model(x), (3,), eps=held.eps), model)
    called(X[0])
    held.eps = 1e-4
    with pytest.warns(UserWarning, match=r"`held.eps` is 0.0001.*as it will be for each other one"):
        called(X[1])


def test_a_place_is_the_users_line() -> None:
    model = nn.Linear(4, 3)
    called: Any = ingot.torch.compile(lambda x, eps: F.layer_norm(model(x), (3,), eps=eps), model)
    with pytest.warns(UserWarning, match=r"test_changed_values\.py:\d+"):
        called(X[0], 1e-5)


def test_numbers_that_stay_fixed_have_a_way_out() -> None:
    step = ingot.torch.compile(lambda x, rows: x[:rows].sum(), nn.Identity(), verify=False)
    step(X[0], 3)
    with pytest.warns(
        UserWarning, match=r"`rows` is 2, and was 3 .*as it will be for each other one; a tensor of it is"
    ):
        step(X[0], 2)
