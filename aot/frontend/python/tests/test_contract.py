"""The conditions of docs/contract.md, by their numbers: each is checked, and what is said there happens otherwise."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from tool import ROOT
from torch import nn

import ingot.torch
from ingot.torch import comparisons

XS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0))
OUTSIDE, FACTOR = torch.zeros(2), [2.0]
Step = Callable[[torch.Tensor], Any]


def made(loss: Callable[[nn.Module, torch.Tensor], torch.Tensor], **options: Any) -> tuple[Step, nn.Module]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer, **options)
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(model, x)
        value.backward()
        optimizer.step()
        return value

    return step, model


def plain(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x).square().mean()


def writes_outside(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    OUTSIDE.add_(model(x).detach().mean(0))
    return plain(model, x)


def scaled(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return plain(model, x) * FACTOR[0]


def chooses(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    rows = int(x[0, 0] > 0) + 1
    return plain(model, x[:rows])


def writes_a_file(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    with open("/dev/null", "w") as file:
        file.write("x")
    return plain(model, x)


def draws(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return plain(model, x) * random.random()


def drops(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return plain(model, nn.functional.dropout(x, 0.5))


def of_a_setting(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return plain(model, x) * (2.0 if torch.backends.cudnn.benchmark else 1.0)


def test_1_tensors_that_it_changes_are_its_state() -> None:
    with pytest.raises(ingot.torch.TraceError, match=r"OUTSIDE.*\(contract 1\)"):
        made(writes_outside)[0](XS[0])


def test_2_models_stay_as_they_are() -> None:
    step, model = made(plain)
    step(XS[0])
    model.bias.requires_grad_(False)
    with pytest.warns(UserWarning, match=r"\(contract [24]\); .* traced again"):
        step(XS[0])
    model.double()
    with pytest.raises(RuntimeError, match="dtype"):  # as PyTorch raises
        step(XS[0])
    with pytest.warns(UserWarning, match="float64"):
        step(XS[0].double())


def test_3_arguments_and_settings_stay_alike() -> None:
    step, _ = made(plain)
    step(XS[0])
    with pytest.warns(UserWarning, match=r"`x` is a float32 tensor of shape \[2, 3\].*\(contract 3\)"):
        step(XS[0, :2])
    refusing, _ = made(plain, on_change="error")
    refusing(XS[0])
    with pytest.raises(ingot.torch.TraceError, match=r"`x` is a float32 tensor of shape \[2, 3\].*\(contract 3\)"):
        refusing(XS[0, :2])


def test_4_named_values_stay_the_same() -> None:
    step, model = made(scaled)
    reference, other = made(scaled, enabled=False)
    try:
        for factor in (2.0, 4.0, 8.0):
            FACTOR[0] = factor
            said = r"`FACTOR\[0\]` is 4.0, and was 2.0 \(contract 4\).*read in each call"
            expected = pytest.warns(UserWarning, match=said)
            with expected if factor == 4.0 else nullcontext():
                torch.testing.assert_close(step(XS[0]), reference(XS[0]))
    finally:
        FACTOR[0] = 2.0
    torch.testing.assert_close(model.state_dict(), other.state_dict())


def test_5_decisions_stay_the_same() -> None:
    step, model = made(chooses)
    reference, other = made(chooses, enabled=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sign in (1, -1, 1, -1):
            torch.testing.assert_close(step(XS[0].abs() * sign), reference(XS[0].abs() * sign))
    torch.testing.assert_close(model.state_dict(), other.state_dict())


def test_6_it_only_computes() -> None:
    with pytest.raises(ingot.torch.TraceError, match=r"writes '/dev/null'.*\(contract 6\)"):
        made(writes_a_file)[0](XS[0])
    with pytest.raises(ingot.torch.TraceError, match=r"other random numbers of `random`.*\(contract 6\)"):
        made(draws)[0](XS[0])


def test_7_random_numbers_are_seeded_by_pytorch() -> None:
    found = []
    for seed in (1, 1, 2):
        step, _ = made(drops)
        torch.manual_seed(seed)
        found.append([float(step(x).detach()) for x in XS[:2]])
    assert found[0] == found[1] != found[2]


def test_8_nobody_reads_its_gradients() -> None:
    step, model = made(plain)
    step(XS[0])
    with pytest.raises(ingot.torch.TraceError, match=r"keep_gradients=True.*\(contract 8\)"):
        _ = model.weight.grad + 1
    step, model = made(plain, keep_gradients=True)
    step(XS[0])
    assert model.weight.grad.abs().sum() > 0


def test_9_all_else_is_found_by_spot_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "FIRST_CALL", 3)
    monkeypatch.setattr(comparisons, "SHARE", float("inf"))
    step, _ = made(of_a_setting)
    step(XS[0])
    with torch.backends.cudnn.flags(benchmark=True):
        step(XS[1])
        with pytest.warns(UserWarning, match=r"something changed that is not watched.*\(contract 9\)"):
            step(XS[2])


def test_the_page_has_a_test_for_each_condition() -> None:
    page = Path(ROOT, "docs/contract.md").read_text()
    conditions = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    tested = [match[1] for name in globals() if (match := re.match(r"test_(\d+)_", name))]
    assert conditions == tested
