"""What the step reads from around it is replaced: settings, functions, classes, contexts, the environment."""

from __future__ import annotations

import contextvars
import dataclasses
import enum
import functools
import itertools
import os
import threading
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, minimizer, mlp, sgd


class Loss(enum.Enum):
    """Which loss is trained."""

    PLAIN = "plain"
    SMOOTH = "smooth"


@dataclasses.dataclass
class Settings:
    """Settings of a training, with some inside of others."""

    loss: Loss = Loss.PLAIN
    weights: dict[str, list[float]] = dataclasses.field(default_factory=lambda: {"main": [1.0, 0.0]})
    smoothing: float = 0.1


def settings_change(step: Step) -> None:
    model, settings = mlp(), Settings()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        smoothing = settings.smoothing if settings.loss is Loss.SMOOTH else 0.0
        out = model(x)
        loss = F.cross_entropy(out, y, label_smoothing=smoothing)
        return settings.weights["main"][0] * loss + settings.weights["main"][1] * out.square().mean()

    train_step = minimizer(step, model, sgd(model), loss_of)
    changes: list[Any] = [
        lambda: None,
        lambda: settings.weights["main"].__setitem__(1, 0.5),
        lambda: setattr(settings, "loss", Loss.SMOOTH),
        lambda: setattr(settings, "smoothing", 0.3),
        lambda: settings.weights.update(main=[0.5, 0.1]),
        lambda: setattr(settings, "loss", Loss.PLAIN),
    ]
    for i, change in enumerate(changes):
        change()
        train_step(XS[i], YS[i])


class Bent(nn.Module):
    """A model whose activation is a method, looked up on the class, on its base or on the object."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp()

    def bend(self, x: torch.Tensor) -> torch.Tensor:
        return x.tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(self.bend(x))


class Straight(Bent):
    """The same model with another class."""

    def bend(self, x: torch.Tensor) -> torch.Tensor:
        return x * 0.5


def methods_and_classes_are_replaced(step: Step) -> None:
    class Own(Bent):
        pass

    model = Own()
    train_step = classifier(step, model, sgd(model))
    train_step(XS[0], YS[0])
    Own.bend = lambda self, x: x.sigmoid()
    train_step(XS[1], YS[1])
    model.bend = types.MethodType(lambda self, x: x * 2, model)
    train_step(XS[2], YS[2])
    del model.bend, Own.bend
    train_step(XS[3], YS[3])
    model.__class__ = Straight
    train_step(XS[4], YS[4])
    model.forward = lambda x: model.net(x)
    train_step(XS[5], YS[5])


def function_of_a_library_is_replaced(step: Step) -> None:
    model = mlp()
    model.insert(2, nn.Dropout(0.0))
    model[1] = nn.GELU()
    train_step = classifier(step, model, sgd(model))
    kept = F.gelu
    try:
        for i in range(6):
            F.gelu = (lambda x, approximate="none": x.tanh()) if i in (2, 3) else kept
            train_step(XS[i], YS[i])
    finally:
        F.gelu = kept


def helper_changes_its_defaults(step: Step) -> None:
    model = mlp()

    def bounded(x: torch.Tensor, least: float = -1.0, *, most: float = 1.0) -> torch.Tensor:
        return x.clamp(least, most)

    partly = functools.partial(bounded, least=-2.0)

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(bounded(x) + partly(x)), y)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        if i == 2:
            bounded.__defaults__ = (-0.1,)
        if i == 3:
            bounded.__kwdefaults__["most"] = 0.2
        if i == 4:
            partly.keywords["least"] = 0.1
        if i == 5:
            bounded.__code__ = (lambda x, least=0.0, *, most=0.0: x + least).__code__
        train_step(XS[i], YS[i])


VARIABLE: contextvars.ContextVar[float] = contextvars.ContextVar("VARIABLE", default=1.0)
LOCAL = threading.local()


def context_variables_are_set(step: Step) -> None:
    model = mlp()
    LOCAL.shift = 0.0

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(x * VARIABLE.get() + LOCAL.shift), y)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        token = VARIABLE.set(0.5) if i in (2, 3) else None
        LOCAL.shift = float(i // 2)
        train_step(XS[i], YS[i])
        if token:
            VARIABLE.reset(token)


def environment_is_read(step: Step) -> None:
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(x), y) * float(os.environ.get("ODD_SCALE", "1"))

    train_step = minimizer(step, model, sgd(model), loss_of)
    try:
        for i in range(6):
            if i in (2, 4):
                os.environ["ODD_SCALE"] = str(i)
            train_step(XS[i], YS[i])
    finally:
        os.environ.pop("ODD_SCALE", None)


def numbers_come_from_an_iterator(step: Step) -> int:
    model = mlp()
    counter = itertools.count(1)
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) / next(counter)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
    return next(counter)


def numbers_come_from_a_generator(step: Step) -> None:
    """A generator that has not begun cannot be put back when it has."""
    model = mlp()

    def falling() -> Iterator[float]:
        scale = 1.0
        while True:
            scale *= 0.9
            yield scale

    scales = falling()
    train_step = minimizer(step, model, sgd(model), lambda x, y: F.cross_entropy(model(x), y) * next(scales))
    for i in range(6):
        train_step(XS[i], YS[i])


def text_is_printed(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        print("rows", len(x))
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
