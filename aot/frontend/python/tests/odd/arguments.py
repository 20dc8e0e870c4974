"""Odd arguments, and odd things that a step returns."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def batch_is_a_dict_in_another_order(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(batch: dict[str, Any]) -> torch.Tensor:
        optimizer.zero_grad()
        first = next(iter(batch.values()))
        loss = F.cross_entropy(model(batch["a"]), YS[0]) + first.mean() * model[0].weight.sum()
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        batch = {"a": XS[i], "b": XS[i + 1]}
        train_step(batch if i < 3 else dict(reversed(batch.items())))


def lists_have_other_lengths(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(xs: list[torch.Tensor], ys: list[torch.Tensor]) -> list[float]:
        optimizer.zero_grad()
        losses = [F.cross_entropy(model(x), y) for x, y in zip(xs, ys, strict=True)]
        sum(losses).backward()  # type: ignore[union-attr]
        optimizer.step()
        return [loss.item() for loss in losses]

    for count in (2, 2, 1, 3, 2, 1):
        train_step([*XS[:count]], [*YS[:count]])


def arguments_may_be_none(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, *, mask: torch.Tensor | None = None, **more: Any) -> Any:
        optimizer.zero_grad()
        losses = F.cross_entropy(model(x), y, reduction="none")
        loss = losses.mean() if mask is None else (losses * mask).sum() / mask.sum()
        loss = loss * more.get("scale", 1.0)
        loss.backward()
        optimizer.step()
        return loss, mask, None

    mask = (torch.arange(6) < 4).float()
    train_step(XS[0], YS[0])
    train_step(XS[1], YS[1], mask=mask)
    train_step(XS[2], y=YS[2], mask=None)
    train_step(y=YS[3], x=XS[3], mask=mask, scale=0.5)
    train_step(XS[4], YS[4], scale=0.25)
    train_step(XS[5], YS[5], scale=2, unused="word")


def numbers_change_their_type(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, scale: Any) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * scale
        loss.backward()
        optimizer.step()
        return loss

    for i, scale in enumerate((1, 0.5, True, torch.tensor(0.5), 2, 0.25)):
        train_step(XS[i], YS[i], scale)


def an_argument_is_written(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        x.mul_(0.5)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i].clone(), YS[i])


def wrong_arguments_are_given(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(3):
        train_step(XS[i], YS[i])
    for args in ((XS[0],), (XS[0], YS[0], YS[0]), (XS[0, :, :2], YS[0]), (XS[0], YS[0] + 5), (XS[0], YS[0, :3])):
        with contextlib.suppress(TypeError, RuntimeError, ValueError, IndexError):
            train_step(*args)
    for i in range(3, 6):
        train_step(XS[i], YS[i])


def batch_is_empty(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y, reduction="sum")
        loss.backward()
        optimizer.step()
        return loss

    for rows in (6, 6, 0, 6, 0, 6):
        train_step(XS[0, :rows], YS[0, :rows])
