"""Odd arguments, and odd things that a step returns."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def batch_sizes_vary(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for rows in (6, 4, 6, 1, 4, 6):
        train_step(XS[0, :rows], YS[0, :rows])


def types_vary(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.float()), y)
        loss.backward()
        optimizer.step()
        return loss

    for i, dtype in enumerate((torch.float32, torch.float64, torch.int64, torch.bfloat16, torch.uint8, torch.float32)):
        train_step((3 * XS[i]).abs().to(dtype), YS[i])


def layouts_vary(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    wide = XS.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    for i in range(6):
        train_step((XS, wide)[i % 2][i], YS[i])
        train_step(XS[i].flip(0)[::2], YS[i, ::2])


def batch_is_a_dict(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(batch: dict[str, Any]) -> dict[str, Any]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch["x"]), batch["y"])
        if (weight := batch.get("weight")) is not None:
            loss = loss * weight.mean()
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "names": batch.get("names")}

    for i in range(6):
        batch = {"x": XS[i], "y": YS[i]}
        train_step(batch if i < 3 else {**batch, "weight": torch.full((6,), 0.5), "names": "some"})


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


class Batch(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor
    weight: float = 1.0


def batch_is_a_named_tuple(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(batch: Batch) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.x), batch.y) * batch.weight
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(Batch(XS[i], YS[i], 1.0 / (1 + i)))


@dataclasses.dataclass
class Example:
    x: torch.Tensor
    y: torch.Tensor


def batch_is_a_dataclass(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(batch: Example) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.x), batch.y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(Example(XS[i], YS[i]))


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


def floats_are_given(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, smoothing: float, temperature: float) -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x) / temperature, y, label_smoothing=smoothing)
        loss.backward()
        optimizer.step()
        return loss.item()

    for i in range(6):
        train_step(XS[i], YS[i], 0.02 * i, 1.0 + 0.1 * i)


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


def numbers_are_numpys(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, scale: Any) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * float(scale)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i], np.float64(0.5 * (i + 1)))


def the_same_tensor_is_given_twice(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(a), model(b) + 1) + (0.5 if a is b else 0.0)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], XS[i] if i % 2 else XS[i + 1])


def a_parameter_is_given(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean() + weight.square().sum()
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], model[0].weight)


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


def an_argument_is_returned(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> tuple[Any, ...]:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return loss.detach(), x, out.argmax(1), (out.argmax(1) == y).float().mean().item(), len(x)

    for i in range(6):
        train_step(XS[i], YS[i])


def wrong_arguments_are_given(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(3):
        train_step(XS[i], YS[i])
    for args in ((XS[0],), (XS[0], YS[0], YS[0]), (XS[0, :, :2], YS[0]), (XS[0], YS[0] + 5), (XS[0], YS[0, :3])):
        try:
            train_step(*args)
        except (TypeError, RuntimeError, ValueError, IndexError):
            pass
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


def labels_are_ignored(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y, ignore_index=-100)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i].where(torch.arange(6) > i, -100))


def targets_are_probabilities(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        assert y.max() <= 1 and y.min() >= 0, "targets are probabilities"
        optimizer.zero_grad()
        loss = F.binary_cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], (YS[i, :, None] > 0).float())
