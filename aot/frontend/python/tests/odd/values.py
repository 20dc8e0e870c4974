"""Python asks for values of tensors, or gives the step odd numbers."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, minimizer, mlp, sgd


def step_ends_early_by_a_value(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> str | torch.Tensor:
        if not x.any():
            return "empty"
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if torch.isnan(loss):
            return "not a number"
        loss.backward()
        optimizer.step()
        return loss

    for i, factor in enumerate((1.0, 1.0, 0.0, math.nan, 1.0, 0.0)):
        train_step(XS[i] * factor, YS[i])


def masked_loss_has_no_elements(step: Step) -> None:
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        picked = F.cross_entropy(model(x)[mask], y[mask])
        return torch.nan_to_num(picked) + 0.1 * F.cross_entropy(model(x), y, ignore_index=2)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i, rows in enumerate((6, 3, 0, 4, 0, 6)):
        train_step(XS[i], YS[i], torch.arange(6) < rows)


def a_loss_becomes_text(step: Step) -> None:
    """Another text in each call, as it is made for a progress bar."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> str:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return f"loss {loss.item():.3f}"

    for i in range(6):
        train_step(XS[i], YS[i])


def all_targets_are_ignored(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        train_step(XS[i], YS[i] if i < 5 else torch.full((6,), -100))


def hardest_rows_are_mined(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, count: int) -> dict[str, Any]:
        optimizer.zero_grad()
        losses = F.cross_entropy(model(x), y, reduction="none")
        hardest, which = losses.topk(count)
        hardest.mean().backward()
        optimizer.step()
        return {"which": which.sort().values, "worst": int(losses.argmax()), "hardest": hardest[0].item()}

    for i, count in enumerate((3, 3, 2, 3, 6, 1)):
        train_step(XS[i], YS[i], count)


def values_become_lists_and_text(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> dict[str, Any]:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        right = (out.argmax(1) == y).sum().item()
        classes = y.bincount(minlength=3).tolist()
        return {"right": right, "rate": right / len(y), "losses": [loss.item()], "classes": classes}

    for i in range(6):
        train_step(XS[i], YS[i])


def integers_are_large(step: Step) -> None:
    """Integers that no float holds."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, number: int) -> tuple[torch.Tensor, Any]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        hashed = (y + number) * 3 - number
        return hashed, (number + 1, hashed % 7, hashed // 5, torch.tensor(number) >> 3)

    for i, number in enumerate((3, 2**53 + 1, 2**53, 2**61 + 1, -(2**53) - 1, 0)):
        train_step(XS[i], YS[i], number)


def floats_are_odd(step: Step) -> None:
    """Numbers that are equal but not the same, or not equal to themselves."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, number: float) -> tuple[torch.Tensor, Any]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * math.copysign(1.0, number)
        loss.backward()
        optimizer.step()
        return loss, (x * number, str(number), math.copysign(2.0, number))

    for i, number in enumerate((0.0, -0.0, math.nan, math.inf, 0.0, math.nan)):
        train_step(XS[i], YS[i], number)


def numbers_are_of_numpy(step: Step) -> None:
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor, scale: Any) -> torch.Tensor:
        return F.cross_entropy(model(x), y) * scale

    train_step = minimizer(step, model, sgd(model), loss_of)
    scales = (np.float64(0.5), np.float32(0.25), np.int64(1), np.float64(2.0), np.bool_(True), np.float32(0.1))
    for i, scale in enumerate(scales):
        train_step(XS[i], YS[i], scale)


def floats_meet_bfloat16(step: Step) -> None:
    """A float of Python keeps its precision until the product is rounded."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, factor: float) -> tuple[torch.Tensor, torch.Tensor]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        low = x.bfloat16()
        return low * factor + factor, (low + factor) / 3.7 - y * factor

    for i in range(6):
        train_step(XS[i], YS[i], 1.0009765 + i / 7)


def checks_fail_in_some_calls(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        assert x.abs().max() < 100, f"too large: {x.abs().max():.0f}"
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if (model[4].bias > 0.9).any():
            raise OverflowError("bias")
        return loss

    for i, factor in enumerate((1, 1, 1000, 1, 40, 1)):
        with contextlib.suppress(AssertionError, OverflowError):
            train_step(XS[i] * factor, YS[i])


def classes_are_counted_by_unique(step: Step) -> None:
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        classes, counts = y.unique(return_counts=True)
        weights = torch.zeros(3).scatter(0, classes, 1.0 / counts)
        return F.cross_entropy(model(x), y, weight=weights) / len(classes)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i].clamp(max=2 if i < 4 else 1))


def rows_are_added_where_indices_repeat(step: Step) -> None:
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor, into: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(4, 3).index_put((into,), model(x), accumulate=True)
        out[into] = out[into] + 1.0
        return F.cross_entropy(out, y[:4]) + out.scatter_reduce(0, into[None, :3], torch.ones(1, 3), "amax").mean()

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i], (torch.arange(6) * (i + 1)) % 4)
