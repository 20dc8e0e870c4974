"""State that has another type, shape, layout or memory in a later call, and settings of PyTorch that changed."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch
from ingot.torch import TraceError

XS = torch.randn(8, 6, 4, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Training:
    def __init__(self, is_compiled: bool, **options: Any) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.step = (
            ingot.torch.compile(self.eager, self.model, self.optimizer, **options) if is_compiled else self.eager
        )

    def eager(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.model(x.to(self.model[0].weight.dtype)).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    @property
    def weight(self) -> torch.Tensor:
        weight: torch.Tensor = self.model[0].weight
        return weight


def momentum_in_double(training: Training) -> None:
    slots = training.optimizer.state[training.weight]
    slots["momentum_buffer"].data = slots["momentum_buffer"].data.double()


CHANGES: dict[str, Callable[[Training], Any]] = {
    "bfloat16": lambda t: t.model.bfloat16(),
    "double": lambda t: t.model.double(),
    "a slot": momentum_in_double,
    "the layout": lambda t: setattr(t.weight, "data", t.weight.data.t()),
    "a layout of its own": lambda t: setattr(t.weight, "data", t.weight.data.t().contiguous().t()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_types_and_layouts_may_change(name: str) -> None:
    runs = []
    for is_compiled in (True, False):
        training = Training(is_compiled, verify=False)
        losses = [training.step(x).item() for x in XS[:2]]
        CHANGES[name](training)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            losses += [training.step(x).item() for x in XS[2:5]]
        runs.append((losses, {k: (v.dtype, v.shape) for k, v in training.model.state_dict().items()}))
    assert runs[0][0] == pytest.approx(runs[1][0], rel=2e-2 if name == "bfloat16" else 1e-4)
    assert runs[0][1] == runs[1][1]


def test_another_type_is_named_and_traced_again() -> None:
    training = Training(True, verify=False)
    training.step(XS[0])
    training.model.double()
    with pytest.warns(
        UserWarning, match=r"`0.weight` is torch.float64 \(4, 4\), and was torch.float32 .* traced again"
    ):
        training.step(XS[1])


def test_another_shape_is_refused_as_in_pytorch() -> None:
    for is_compiled in (True, False):
        training = Training(is_compiled, verify=False)
        training.step(XS[0])
        training.weight.data = torch.full((1,), 3.0)
        with warnings.catch_warnings(), pytest.raises((TraceError, RuntimeError)):
            warnings.simplefilter("ignore")
            training.step(XS[1])
        assert training.weight.shape == (1,)


def test_changes_of_types_are_refused_where_that_is_asked_for() -> None:
    training = Training(True, verify=False, on_change="error")
    training.step(XS[0])
    training.model.bfloat16()
    with pytest.raises(TraceError, match=r"is torch\.bfloat16"):
        training.step(XS[1])
    assert training.weight.dtype is torch.bfloat16


@pytest.mark.parametrize("is_first", [True, False])
def test_shared_memory_is_refused_by_name(is_first: bool) -> None:
    training = Training(True, verify=False)
    if not is_first:
        training.step(XS[0])
    training.model.share_memory()
    before = training.weight.clone()
    with pytest.raises(TraceError, match=r"`0.weight` is in shared memory.*copy.deepcopy\(model\)"):
        training.step(XS[1])
    assert torch.equal(training.weight, before)
    training.model = copy.deepcopy(training.model)
    training.optimizer = torch.optim.SGD(training.model.parameters(), lr=0.1)
    ingot.torch.compile(training.eager, training.model, training.optimizer, verify=False)(XS[1])


def test_anomalies_are_looked_for_by_pytorch() -> None:
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def function(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x) * 0).sqrt().mean()  # whose gradient is none
        loss.backward()
        return loss

    step = ingot.torch.compile(function, model, optimizer, verify=False)
    step(XS[0])
    with (
        torch.autograd.detect_anomaly(check_nan=True),
        pytest.warns(UserWarning, match="calls are PyTorch's while anomalies"),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        step(XS[0])
    step(XS[0])
    assert step.programs == 1


def test_deterministic_algorithms_are_another_program() -> None:
    training = Training(True, verify=False)
    training.step(XS[0])
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.warns(UserWarning, match="traced again"):
            training.step(XS[1])
    finally:
        torch.use_deterministic_algorithms(False)
    training.step(XS[2])
    assert training.step.programs == 2


def test_a_first_call_in_inference_mode_leaves_parameters_that_train() -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    predict = ingot.torch.compile(lambda x: model(x), model, training=False, verify=False)
    with torch.inference_mode():
        first = predict(XS[0])
    torch.testing.assert_close(first.clone(), model(XS[0]).detach())
    model(XS[0]).sum().backward()
    optimizer.step()
    with torch.inference_mode():
        torch.testing.assert_close(predict(XS[0]), model(XS[0]))
