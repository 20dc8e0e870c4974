"""Steps that are no plain functions, and results in containers of the user's own."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from odd import XS, YS, Step, mlp, sgd


class Trainer:
    """A trainer whose method is decorated when it is made, which counts and keeps the last loss."""

    def __init__(self, step: Step) -> None:
        self.model = mlp()
        self.optimizer = sgd(self.model)
        self.calls, self.scale = 0, 1.0
        self.train_step = step(self.model, self.optimizer)(self.train_step)

    def train_step(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.loss(x, y) * self.scale
        loss.backward()
        self.optimizer.step()
        self.calls += 1
        return loss

    @staticmethod
    def smoothing() -> float:
        return 0.0

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.model(x), y, label_smoothing=self.smoothing())


def method_is_decorated_by_its_object(step: Step) -> list[Any]:
    trainer = Trainer(step)
    for i in range(6):
        trainer.scale = 1.0 + (i // 2) / 10
        if i == 3:
            trainer.smoothing = lambda: 0.2
        if i == 4:
            trainer.loss = lambda x, y: trainer.model(x).square().mean()
        trainer.train_step(XS[i], YS[i])
    return [trainer.calls]


class Trains:
    """An object that is called, whose class has slots."""

    __slots__ = ("model", "optimizer", "power")

    def __init__(self) -> None:
        self.model = mlp()
        self.optimizer, self.power = sgd(self.model), 1

    def __call__(self, x: torch.Tensor, y: torch.Tensor, /, *more: torch.Tensor, **words: Any) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y) ** self.power
        for each in more:
            loss = loss + F.mse_loss(self.model(each), self.model(x))
        (loss * words.get("scale", 1.0)).backward()
        self.optimizer.step()
        return loss


def step_is_an_object(step: Step) -> None:
    trains = Trains()
    train_step = step(trains.model, trains.optimizer)(trains)
    for i in range(6):
        trains.power = 1 + i % 2
        train_step(XS[i], YS[i], *XS[: i % 3], **({"scale": 0.5} if i > 3 else {}))


def step_is_partial(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    def train(scale: float, x: torch.Tensor, y: torch.Tensor, *, names: list[str] | None = None) -> torch.Tensor:
        optimizer.zero_grad()
        parts = {"entropy": F.cross_entropy(model(x), y), "size": model(x).square().mean()}
        loss = scale * sum(parts[name] for name in names or ["entropy"])
        loss.backward()
        optimizer.step()
        return loss

    partly = functools.partial(train, 0.5, names=["entropy"])
    train_step = step(model, optimizer)(partly)
    for i in range(6):
        if i == 3:
            partly.keywords["names"].append("size")
        train_step(XS[i], YS[i], **({"names": ["size"]} if i == 2 else {}))


def step_is_wrapped_and_has_attributes(step: Step) -> int:
    model = mlp()
    optimizer = sgd(model)

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            call.calls = getattr(call, "calls", 0) + 1
            return function(*args, **kwargs) * (1.0 + call.calls)

        return call

    @step(model, optimizer)
    @torch.enable_grad()
    @logged
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        with torch.set_grad_enabled(i % 2 == 0):
            train_step(XS[i], YS[i])


def step_is_a_generator(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> Iterator[torch.Tensor]:
        for _ in range(2):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            yield loss

    for i in range(3):
        for loss in train_step(XS[i], YS[i]):
            loss.item()


def step_is_awaited(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    async def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        await asyncio.sleep(0)
        loss.backward()
        optimizer.step()
        return loss

    async def train() -> None:
        for i in range(6):
            await train_step(XS[i], YS[i])

    asyncio.run(train())


class Losses(NamedTuple):
    """Losses by name."""

    entropy: torch.Tensor
    size: float


@dataclasses.dataclass
class Output:
    """A result with tensors, text and nothing."""

    loss: torch.Tensor
    logits: torch.Tensor
    text: str = "text"
    none: None = None


def result_is_a_list_of_ones_own(step: Step) -> None:
    class Losses(list[torch.Tensor]):
        pass

    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> Losses:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return Losses([loss])

    for i in range(6):
        train_step(XS[i], YS[i])


class Words(collections.OrderedDict):  # type: ignore[type-arg]
    """A dict whose entries are attributes, as the outputs of transformers are."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def results_are_of_other_classes(step: Step) -> list[Any]:
    model = mlp()
    optimizer = sgd(model)
    kind = "tuple"

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> Any:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        if kind == "tuple":
            return Losses(loss, loss.item())
        if kind == "dataclass":
            return Output(loss, out)
        return Words(loss=loss, more=collections.defaultdict(list, out=[out, (out, None)]), shape=out.shape)

    found: list[Any] = []
    for i, kind in enumerate(("tuple", "dataclass", "words", "dataclass", "words", "tuple")):
        result = train_step(XS[i], YS[i])
        found.append(result.loss if kind != "tuple" else result.entropy)
    return [each.detach().clone() for each in found]
