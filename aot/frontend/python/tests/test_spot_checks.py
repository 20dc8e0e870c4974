"""Later calls are compared with PyTorch at growing intervals, for what changes and is not watched."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch
from ingot.torch import comparisons

BATCHES = torch.randn(10, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second and the fourth call are compared, whatever that takes."""
    monkeypatch.setattr(comparisons, "FIRST_CALL", 2)
    monkeypatch.setattr(comparisons, "SHARE", float("inf"))


def step_of(scaled: bool, dropout: float = 0.0, **options: Any) -> tuple[Any, nn.Module]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(dropout), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters())

    @ingot.torch.step(model, optimizer, **options)
    def step(x: torch.Tensor, other: torch.Tensor | None = None) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean() * (2.0 if scaled and torch.backends.cudnn.benchmark else 1.0)
        loss.backward()
        optimizer.step()
        return loss

    return step, model


def losses(scaled: bool, given: int = 1, **options: Any) -> list[float]:
    """The losses of ten calls, `given` their batch once or more; a setting without effect changes after five calls."""
    step, _ = step_of(scaled, **options)
    found = []
    for i, x in enumerate(BATCHES):
        with torch.backends.cudnn.flags(benchmark=scaled and i > 4):
            found.append(float(step(*[x] * given).detach()))
    return found


@pytest.mark.parametrize("given", [1, 2])  # twice the same tensor is not seen at once to be of the last program
def test_what_changed_unwatched_is_found(given: int) -> None:
    plain = losses(True, given, enabled=False)
    with pytest.warns(UserWarning, match="something changed that is not watched.*traced again") as said:
        found = losses(True, given)
    assert {warning.filename for warning in said} == {__file__}
    assert found[8:] == pytest.approx(plain[8:], rel=1e-2)
    assert losses(True, spot_checks=False)[8:] == pytest.approx([x / 2 for x in plain[8:]], rel=1e-2)


def test_changes_may_be_errors() -> None:
    with pytest.raises(ingot.torch.DisagreementError):
        losses(True, on_change="error")


def test_right_programs_go_on_to_the_same_bits() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert losses(False, dropout=0.5) == losses(False, dropout=0.5, spot_checks=False)


def test_what_a_comparison_raises_ends_no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    step, model = step_of(False)
    step(BATCHES[0])

    def compare(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr("ingot.torch.run.Run.compare", compare)
    before = model[0].weight.detach().clone()
    step(BATCHES[1])
    assert not torch.equal(before, model[0].weight)


def test_intervals_double(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, step = list[int](), step_of(False)[0]
    monkeypatch.setattr("ingot.torch.run.Run.compare", lambda *_, **__: compared.append(i))
    for i in range(20):  # noqa: B007
        step(BATCHES[0])
    assert compared == [0, 1, 3, 7, 15]


def test_a_call_of_two_programs_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, model = list[int](), nn.Linear(3, 1)

    @ingot.torch.step(model)
    def step(x: torch.Tensor) -> torch.Tensor:
        return model(x).repeat(int(x[0, 0]), 1)

    monkeypatch.setattr("ingot.torch.run.Run.compare", lambda *_, **__: compared.append(i))
    for i in range(20):
        x = torch.full((2, 3), 1.0 + i // 2 % 2)
        assert len(step(x)) == 2 * x[0, 0]
    assert compared == [0, 1, 2, 3, 7, 15]  # 2 is the first of its length


def test_they_take_a_hundredth_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "SHARE", 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert losses(True)
