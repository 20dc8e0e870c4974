"""What a step raises in PyTorch, or lets PyTorch raise, it raises compiled: the same type and the same text."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ingot.torch

X, Y = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 0, 1, 2])


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def made(is_compiled: bool, forward: Callable[..., Any] | None = None) -> Callable[..., Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(x: torch.Tensor, y: torch.Tensor, *, factor: float = 1.0) -> Any:
        optimizer.zero_grad()
        logits, told = forward(model, x) if forward else (model(x), None)
        loss = factor * F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        return loss, told

    return ingot.torch.compile(train, model, optimizer) if is_compiled else train


def raised(call: Callable[..., Any], *args: Any, **named: Any) -> Exception:
    with pytest.raises(Exception) as found, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(*args, **named)
    return found.value


WRONG = {
    "features": ((X[:, :2], Y), {}),
    "labels": ((X, Y[:4]), {}),
    "a type": ((X, Y.float()), {}),
    "another precision": ((X.double(), Y), {}),
    "classes": ((X, Y + 7), {}),
    "too few": ((X,), {}),
    "too many": ((X, Y, Y), {}),
    "an unknown name": ((X, Y), {"weight": 1.0}),
    "one twice": ((X, Y), {"x": X}),
    "text": ((X, Y), {"factor": "2"}),
}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_raise_as_in_pytorch(name: str, is_first: bool, capfd: pytest.CaptureFixture[str]) -> None:
    args, named = WRONG[name]
    errors = []
    for is_compiled in (False, True):
        train = made(is_compiled)
        if not is_first:
            train(X, Y)
        errors.append(raised(train, *args, **named))
    expected, error = errors
    assert (type(error), str(error)) == (type(expected), str(expected))
    assert "During handling" not in "".join(traceback.format_exception(error))
    assert not capfd.readouterr().err


def test_training_goes_on_after_an_error() -> None:
    losses = []
    for is_compiled in (False, True):
        train = made(is_compiled)
        train(X, Y, factor=1.0)
        raised(train, X[:, :2], Y, factor=1.0)
        losses.append([train(X, Y, factor=factor)[0].item() for factor in (1.0, 0.5, 2.0)])
        assert not is_compiled or train.programs == 1
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def caught(model: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, str]:
    try:
        return model(x), ""
    except RuntimeError as error:
        return model(F.pad(x, (0, 4 - x.shape[1]))), str(error)


def guarded(model: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, None]:
    return (model(x) if x.sum().item() < 1e9 else -model(x)), None


def test_a_step_catches_what_it_catches_in_pytorch() -> None:
    losses, texts = [], []
    for is_compiled in (False, True):
        train = made(is_compiled, caught)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [train(x, Y) for x in (X, X[:, :3], X, X[:, :3])]
        losses.append([loss.item() for loss, _ in results])
        texts.append([text for _, text in results])
        assert not is_compiled or train.programs == 2
    assert texts[0] == texts[1]
    assert "cannot be multiplied" in texts[0][1]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def named_wrongly(model: nn.Module, x: torch.Tensor) -> Any:
    return model(x).no_such_method(), None


def test_unknown_attributes_are_pytorchs_errors() -> None:
    expected, error = (raised(made(is_compiled, named_wrongly), X, Y) for is_compiled in (False, True))
    assert (type(error), str(error)) == (type(expected), str(expected))


def test_errors_of_steps_that_ask_for_values() -> None:
    train = made(True, guarded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(X, Y)
    error = raised(train, X[:, :2], Y)
    assert type(error) is RuntimeError
    assert "cannot be multiplied" in str(error)


def test_errors_of_tracing_alone_are_no_errors() -> None:
    """What a traced function cannot do runs in PyTorch, with a warning that names the line."""

    class Odd(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert not torch.compiler.is_compiling()
            return super().forward(x)

    losses = []
    for is_compiled in (False, True):
        torch.manual_seed(0)
        model = Odd(4, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def train(x: torch.Tensor, model: Any = model, optimizer: Any = optimizer) -> torch.Tensor:
            optimizer.zero_grad()
            loss: torch.Tensor = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        step = ingot.torch.compile(train, model, optimizer) if is_compiled else train
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            losses.append([step(X).item() for _ in range(5)])
        texts = [str(warning.message) for warning in said]
        assert [text for text in texts if "this call is PyTorch's" in text and Path(__file__).name in text] or not said
        assert bool(said) == is_compiled
        assert all(warning.filename == __file__ for warning in said)
    assert losses[0] == losses[1]
