"""Whole models in the user's process: the bundle's losses, and PyTorch's evaluation and checkpoints in between."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from agreement import rows_by_input, traced
from bundle import Bundle, distance
from models import MODELS
from torch import nn
from torch.utils import _pytree as pytree

import ingot.torch

FEW = ("mlp", "char_gpt_bf16")
SOME_OR_ALL = [pytest.param(name, marks=() if name in FEW else pytest.mark.nightly) for name in MODELS]
EVERY = 2  # steps, after which the model is evaluated and saved
FAR = {True: 1e-3, False: 5e-2}  # from PyTorch at most, in f32 and in bf16
FURTHER = 3  # times as far from PyTorch in f64 as PyTorch in f32 is


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Trained:
    """Losses of all steps; and, after every few, a checkpoint, and what the model gives in eval()."""

    def __init__(self, name: str, compiled: bool, dtype: torch.dtype = torch.float32) -> None:
        self.losses: list[float] = []
        self.states: list[dict[str, torch.Tensor]] = []
        self.seen: list[torch.Tensor] = []
        self.training = training = MODELS[name](dtype)
        model, step = training.model, training.step
        if compiled:
            step = ingot.torch.compile(step, model, training.optimizer)
        arguments = of_forward(name, dtype)
        for i, batch in enumerate(zip(*training.batches, strict=True)):
            training.set_rate(i)
            self.losses.append(step(*batch).item())
            if i % EVERY == 0:
                self.states.append(saved(model))
                self.seen.append(evaluated(model, *arguments))
                assert all(torch.equal(x, self.states[-1][key]) for key, x in model.state_dict().items())


def of_forward(name: str, dtype: torch.dtype) -> Any:
    """What a step of a model gives to it."""
    training, called = MODELS[name](dtype), []
    training.model.register_forward_pre_hook(lambda _, *given: called.append(given), with_kwargs=True)
    training.step(*(rows[0] for rows in training.batches))
    return called[0]


def saved(model: nn.Module) -> dict[str, torch.Tensor]:
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    return torch.load(file)


def evaluated(model: nn.Module, args: Any, kwargs: Any) -> torch.Tensor:
    model.eval()
    with torch.no_grad():
        leaves = pytree.tree_leaves(model(*args, **kwargs))
    model.train()
    return torch.cat([leaf.double().flatten() for leaf in leaves if isinstance(leaf, torch.Tensor)])


@pytest.mark.parametrize("name", SOME_OR_ALL)
def test_what_is_trained_is_the_bundles_and_pytorchs(name: str, tmp_path: Path) -> None:
    mine, reference = Trained(name, compiled=True), Trained(name, compiled=False)
    program = traced(training := MODELS[name](torch.float32))
    bundle = Bundle(program, tmp_path / "bundle")
    rows = rows_by_input(training, program)
    for i, state in enumerate(mine.states):
        log, last = bundle.train({key: row[: i * EVERY + 1] for key, row in rows.items()})
        assert [row["loss"] for row in log] == mine.losses[: len(log)]
        assert all(torch.equal(x, last[key]) for key, x in state.items() if key in last)
    assert mine.losses == pytest.approx(reference.losses, rel=FAR[training.has_f64])
    if training.has_f64:
        exact = Trained(name, compiled=False, dtype=torch.float64)
        assert apart(mine, exact) < max(FAR[True], FURTHER * apart(reference, exact))
    else:
        assert apart(mine, reference) < FAR[False]


def apart(one: Trained, other: Trained) -> float:
    return max(map(distance, one.seen, other.seen))
