"""`verify` sees what a bundle does otherwise than PyTorch, and leaves everything as it was."""

from __future__ import annotations

import pytest
import torch
from tool import TOOL
from torch import nn
from trainings import linear, usual_step

import ingot.torch

BATCHES = {"x": torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0))}


@pytest.fixture(autouse=True)
def tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))


def traced() -> ingot.torch.Program:
    torch.manual_seed(0)
    model, optimizer = linear()
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", lambda x: usual_step(model, optimizer, x), (BATCHES["x"][0],))
    return program


def test_agrees_and_changes_nothing() -> None:
    program = traced()
    before = {name: tensor.detach().clone() for name, tensor in program.state.tensors.items()}
    found = program.verify(BATCHES)
    assert found.holds, found
    assert str(found).startswith("agrees; of 1 that is allowed: losses ")
    assert set(found.tensors) == set(before)
    assert all(torch.equal(tensor, before[name]) for name, tensor in program.state.tensors.items())
    assert program.verify(BATCHES) == found


def test_rates_are_followed() -> None:
    rates = torch.tensor([0.1, 0.2, 0.05, 0.01], dtype=torch.float64)
    assert traced().verify(BATCHES | {"lr": rates}).holds


def test_another_program_differs() -> None:
    program = traced()
    text = program.texts["train_step"]
    program.texts["train_step"] = text.replace('"stablehlo.add"(%8, %a3)', '"stablehlo.subtract"(%8, %a3)')
    assert program.texts["train_step"] != text
    found = program.verify(BATCHES)
    assert not found.holds
    assert str(found).startswith("differs")
    assert found.tensors["optimizer.weight.momentum_buffer"] > 1


def test_random_ops_are_refused() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", lambda x: usual_step(model, optimizer, x), (BATCHES["x"][0],))
    with pytest.raises(ValueError, match="train_step draws random numbers"):
        program.verify(BATCHES)
