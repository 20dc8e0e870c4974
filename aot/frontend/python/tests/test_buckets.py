"""Batches of any number of rows, padded to some."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ingot.torch

GENERATOR = torch.Generator().manual_seed(0)
XS = torch.randn(12, 6, 3, generator=GENERATOR)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def weighted(loss_of: Callable[..., torch.Tensor]) -> tuple[nn.Module, Callable[..., Any]]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model(x), w)
        loss.backward()
        optimizer.step()
        return loss

    return model, ingot.torch.compile(step, model, optimizer, buckets=ingot.torch.Buckets(["x"], "w", least=4))


def weighted_mean(out: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (w * out.square().sum(1)).sum() / w.sum()


def test_buckets_take_any_number_of_rows() -> None:
    model, step = weighted(weighted_mean)
    reference, eager = weighted(weighted_mean)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, rows in enumerate((6, 3, 5, 8, 2, 6)):
            x, w = torch.cat([XS[i], XS[i]])[:rows], torch.rand(rows, generator=GENERATOR)
            torch.testing.assert_close(step(x, w), eager.function(x, w).detach())
    assert step.programs == 2
    torch.testing.assert_close(model.weight, reference.weight)


UNPADDABLE: dict[str, Callable[..., torch.Tensor]] = {
    "is not what PyTorch does": lambda out, w: out.square().mean() + w.sum(),
    "cannot be shown to be right for padded": lambda out, w: weighted_mean(nn.functional.dropout(out), w),
}


def test_buckets_say_what_cannot_be_padded() -> None:
    _, step = weighted(weighted_mean)
    with pytest.raises(ingot.torch.TraceError, match=r"padded together, but have other rows: \{'x': 3, 'w': 4\}"):
        step(XS[0, :3], torch.ones(4))
    with pytest.raises(ingot.torch.TraceError, match="`w` is padded, but is no tensor with rows"):
        step(XS[0], 1.0)
    with pytest.raises(ValueError, match="leave verify on"):
        ingot.torch.compile(step.function, nn.Linear(3, 2), buckets=ingot.torch.Buckets(["x"], "w"), verify=False)


@pytest.mark.parametrize("why", UNPADDABLE)
def test_batches_that_padding_changes_are_pytorchs(why: str) -> None:
    _, step = weighted(UNPADDABLE[why])
    step(XS[0, :4], torch.ones(4))  # a full bucket
    with pytest.warns(UserWarning, match=f"shapes are PyTorch's from now on: .*{why}"):
        step(XS[0, :3], torch.ones(3))


@pytest.mark.parametrize("why", UNPADDABLE)
def test_a_first_batch_that_padding_changes_is_refused(why: str) -> None:
    _, step = weighted(UNPADDABLE[why])
    with pytest.raises(ingot.torch.DisagreementError, match=why):
        step(XS[0, :3], torch.ones(3))
