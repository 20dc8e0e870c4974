"""Objects, dicts and lists among arguments: their tensors are inputs, and what a step changes in them is changed."""

from __future__ import annotations

import collections
import dataclasses
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import ingot.torch
from ingot.torch.compiled import CompiledStep


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor
    y: torch.Tensor
    scale: float = 1.0


class Batch:
    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.x, self.y, self.device, self.lock = x, y, x.device, threading.Lock()

    @property
    def pair(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x, self.y


class Items(collections.UserDict):  # type: ignore[type-arg]
    """A mapping such as tokenizers give."""


Get = Callable[[Any], tuple[torch.Tensor, torch.Tensor]]
OBJECTS: dict[str, tuple[Callable[[torch.Tensor, torch.Tensor], Any], Get]] = {
    "dataclass": (Frozen, lambda b: (b.x * b.scale, b.y)),
    "object": (Batch, lambda b: b.pair),
    "namespace": (lambda x, y: types.SimpleNamespace(x=x, y=y, step=[1]), lambda b: (b.x, b.y)),
    "mapping": (lambda x, y: Items(x=x, y=y), lambda b: (b["x"], b["y"])),
    "keywords of a mapping": (lambda x, y: Items(x=x, y=y), lambda b: tuple(dict(**b).values())),
    "objects in a list": (
        lambda x, y: [Frozen(x, y), {"other": Batch(x.clone(), y.clone())}],
        lambda b: (b[0].x, b[1]["other"].y),
    ),
    "object in an object": (lambda x, y: Items(inner=Batch(x, y)), lambda b: b["inner"].pair),
    "device": (lambda x, y: (x, y, x.device, x.dtype), lambda b: (b[0].to(b[2], b[3]), b[1])),
}


def set_item(b: Any, prediction: torch.Tensor) -> None:
    b["prediction"] = prediction.detach()


def set_twice(b: Any, prediction: torch.Tensor) -> None:
    b["x"], b["n"] = prediction.detach() + 1, len(prediction)


def take_out(b: Any, _: torch.Tensor) -> None:
    b.pop("y")


def move(b: Any, _: torch.Tensor) -> None:
    b["target"] = b.pop("y")


def add(b: Any, prediction: torch.Tensor) -> None:
    b["list"].append(prediction.detach().sum())
    b["list"].append(prediction.detach().sum().item())


def insert(b: Any, prediction: torch.Tensor) -> None:
    b["list"].insert(0, prediction.detach())
    del b["list"][1]


def clear(b: Any, _: torch.Tensor) -> None:
    b["list"].clear()


def set_attribute(b: Any, prediction: torch.Tensor) -> None:
    b["object"].prediction = prediction.detach()
    del b["object"].y


WRITES = [set_item, set_twice, take_out, move, add, insert, clear, set_attribute]


def step_of(get: Get, write: Callable[[Any, torch.Tensor], None] | None, enabled: bool) -> Any:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    @ingot.torch.step(model, optimizer, enabled=enabled)
    def step(batch: Any) -> torch.Tensor:
        x, y = get(batch)
        optimizer.zero_grad()
        prediction = model(x)
        loss = (prediction - y).square().mean()
        loss.backward()
        optimizer.step()
        if write:
            write(batch, prediction)
        return loss.detach()

    return step


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    random = torch.Generator().manual_seed(1)
    return [(torch.randn(n, 3, generator=random), torch.randn(n, 1, generator=random)) for n in (4, 4, 2, 4)]


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.filterwarnings("ignore:.*traced again")
def test_tensors_of_objects_are_inputs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, get = OBJECTS[name]
    compiled, plain = (step_of(get, None, enabled) for enabled in (True, False))
    for x, y in batches():
        torch.testing.assert_close(compiled(make(x, y)), plain(make(x, y)))
    assert compiled.programs == 2
    monkeypatch.setattr(CompiledStep, "_compiled", None)
    compiled(make(*batches()[-1]))  # is seen at once to be of the last program


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.filterwarnings("ignore:.*traced again")
def test_what_a_step_changes_in_its_arguments_is_changed(write: Callable[[Any, torch.Tensor], None]) -> None:
    def get(b: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return b["x"], b["y"]

    steps = [step_of(get, write, enabled) for enabled in (True, False)]
    for x, y in batches():
        given = [{"x": x, "y": y, "list": [y], "object": Batch(x, y)} for _ in steps]
        losses = [step(batch) for step, batch in zip(steps, given, strict=True)]
        torch.testing.assert_close(*losses)
        objects = [vars(batch.pop("object")) for batch in given]
        assert [*given[0]] == [*given[1]] and [*objects[0]] == [*objects[1]]
        for values in objects:
            del values["lock"], values["device"]
        torch.testing.assert_close(*given)
        torch.testing.assert_close(*objects)
    assert steps[0].programs == 2


def test_calls_are_pytorchs_that_use_what_a_program_cannot_take() -> None:
    def get(b: Any) -> tuple[torch.Tensor, torch.Tensor]:
        with b.lock:
            return b.pair

    step, plain = (step_of(get, None, enabled) for enabled in (True, False))
    with pytest.warns(UserWarning, match="a program cannot take the lock among the arguments; give"):
        assert step(Batch(*batches()[0])) == plain(Batch(*batches()[0]))


class Attributes(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__


def caught(x: Any) -> float:
    try:
        return float(x.mean())
    except Exception:
        return 0.0


NOT_TAKEN: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "an array made a tensor of": (lambda: np.ones((4, 3), "f"), torch.from_numpy),
    "an array in arithmetic": (lambda: np.ones((4, 3), "f"), lambda x: torch.ones(4, 3) * x.mean()),
    "an array whose use is caught": (lambda: np.ones((4, 3), "f"), lambda x: torch.full((4, 3), caught(x))),
    "a class of dicts": (lambda: Attributes(x=torch.ones(4, 3)), lambda x: x.x),
    "a set": (lambda: {torch.ones(4, 3)}, lambda x: next(iter(x))),
    "a generator of numbers": (lambda: np.random.default_rng(0), lambda x: torch.full((4, 3), x.random())),
}


@pytest.mark.parametrize("name", NOT_TAKEN)
def test_calls_are_pytorchs_that_use_arguments_of_other_kinds(name: str) -> None:
    make, read = NOT_TAKEN[name]
    step, plain = (step_of(lambda b: (read(b), torch.ones(4, 1)), None, enabled) for enabled in (True, False))
    given, other = make(), make()
    with pytest.warns(UserWarning, match="a program cannot take the .* among the arguments"):
        losses = [step(given) for _ in range(2)]
    assert losses == [plain(other) for _ in range(2)]


def test_arguments_of_other_kinds_that_are_not_used_are_left_out() -> None:
    model = nn.Linear(3, 1)

    @ingot.torch.step(model)
    def step(x: torch.Tensor, keys: set[str], file: Any) -> torch.Tensor:
        return model(x).square().mean()

    for key in "ab":
        step(torch.ones(2, 3), {key}, np.ones(len(key)))
    assert step.programs == 1  # type: ignore[attr-defined]


def test_the_class_of_an_argument_that_is_left_out_is_never_another() -> None:
    model = nn.Linear(3, 1)

    @ingot.torch.step(model)
    def step(x: torch.Tensor, other: Any) -> torch.Tensor:
        return model(x).sum() * (2 if type(other) is np.ndarray else 1)

    x = torch.ones(2, 3)
    with pytest.warns(UserWarning, match="are PyTorch's from now on: step is not what PyTorch does"):
        losses = [step(x, np.ones(2)).item() for _ in range(2)]
    assert losses == [2 * model(x).sum().item()] * 2


READ: dict[str, tuple[Callable[[dict[str, Any]], bool], int]] = {
    "no text": (lambda b: False, 2),
    "its class by type": (lambda b: sum(type(value) is str for value in b.values()) == 1, 2),
    "its class": (lambda b: sum(isinstance(value, torch.Tensor) for value in b.values()) == 1, 2),
    "what it does not have": (lambda b: sum(hasattr(value, "to") for value in b.values()) == 1, 2),
    "a comparison": (lambda b: b["mode"] == "b1", 4),
    "what it contains": (lambda b: "1" in b["mode"], 4),
    "another way round": (lambda b: b["mode"] in ("b1", "b2"), 4),
    "a key": (lambda b: {"b1": True}.get(b["mode"], False), 4),
    "its class and size": (lambda b: isinstance(b["mode"], str) and len(b["mode"]) > 2, 4),
    "a text of it": (lambda b: f"{b['mode']}" == "b1", 4),
    "a method": (lambda b: b["mode"].endswith("1"), 4),
    "a path": (lambda b: b["path"].name == "1", 4),
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.filterwarnings("ignore:.*traced again", "ignore:.*PyTorch.s from now on")
def test_texts_that_change_are_left_out_where_nobody_reads_them(name: str) -> None:
    is_doubled, programs = READ[name]

    def get(b: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        return b["x"] * (2 if is_doubled(b) else 1), b["y"]

    compiled, plain = (step_of(get, None, enabled) for enabled in (True, False))
    (x, y), *_ = batches()
    for i in range(4):
        given = {"x": x, "y": y, "mode": f"b{i}", "path": Path("folder") / str(i), "names": [f"n{i}", f"m{i}"]}
        torch.testing.assert_close(compiled(given), plain(given))
    assert compiled.programs == programs


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_texts_outside_of_dicts_are_left_out_too() -> None:
    model = nn.Linear(3, 1)

    @ingot.torch.step(model)
    def step(x: torch.Tensor, name: str, pair: tuple[str, list[str]]) -> torch.Tensor:
        return model(x).square().mean()

    for i in range(4):
        step(torch.ones(2, 3), f"a{i}", (f"b{i}", [f"c{i}"]))
    assert step.programs == 2  # type: ignore[attr-defined]


def test_methods_of_objects_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, plain = (step_of(lambda b: b.pair, None, enabled) for enabled in (True, False))
    (x, y), *_ = batches()
    for _ in range(2):
        torch.testing.assert_close(compiled(Batch(x, y)), plain(Batch(x, y)))
    monkeypatch.setattr(Batch, "pair", property(lambda batch: (2 * batch.x, batch.y)))
    with pytest.warns(UserWarning, match="traced again"):
        torch.testing.assert_close(compiled(Batch(x, y)), plain(Batch(x, y)))


def test_packed_sequences_are_left_to_pytorch() -> None:
    torch.manual_seed(0)
    layer = nn.GRU(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)

    @ingot.torch.step(layer, optimizer)
    def step(packed: Any) -> torch.Tensor:
        optimizer.zero_grad()
        loss = layer(packed)[1].square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    before = layer.weight_hh_l0.detach().clone()
    with pytest.warns(UserWarning, match="this call is PyTorch's: an argument is packed"):
        step(nn.utils.rnn.pack_sequence([torch.ones(4, 3), torch.ones(2, 3)]))
    assert not torch.equal(before, layer.weight_hh_l0)


class Trainer:
    def __init__(self, scale: float) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.1)
        self.scale, self.lock, self.last = scale, threading.Lock(), torch.zeros(())

    def loss_of(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.scale * (self.model(x) - y).square().mean()


def train(trainer: Trainer, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    trainer.optimizer.zero_grad()
    loss = trainer.loss_of(x, y)
    loss.backward()
    trainer.optimizer.step()
    trainer.last = loss.detach()
    return trainer.last


def train_parts(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss_of: Callable[..., torch.Tensor], *batch: torch.Tensor
) -> torch.Tensor:
    optimizer.zero_grad()
    loss = loss_of(*batch)
    loss.backward()
    optimizer.step()
    return loss.detach()


PARTS: dict[str, tuple[Callable[..., torch.Tensor], Callable[[Trainer], Any]]] = {
    "an object that has them": (train, lambda trainer: (trainer,)),
    "each by itself": (train_parts, lambda trainer: (trainer.model, trainer.optimizer, trainer.loss_of)),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.filterwarnings("ignore:.*traced again")
def test_models_optimizers_and_methods_may_be_arguments(name: str) -> None:
    function, arguments_of = PARTS[name]
    compiled, plain = ([Trainer(1.0), Trainer(2.0)] for _ in range(2))
    models = {f"{i}": trainer.model for i, trainer in enumerate(compiled)}
    step = ingot.torch.step(models, {f"{i}": trainer.optimizer for i, trainer in enumerate(compiled)})(function)
    assert isinstance(step, CompiledStep)
    for i, (x, y) in enumerate([*batches()[:2]] * 3):
        torch.testing.assert_close(
            step(*arguments_of(compiled[i // 3]), x, y), function(*arguments_of(plain[i // 3]), x, y)
        )
    for ours, other in zip(compiled, plain, strict=True):
        torch.testing.assert_close([*ours.model.parameters()], [*other.model.parameters()])
        torch.testing.assert_close(ours.last, other.last)
    assert step.programs <= 3  # the second optimizer's state is new in the first trace


@pytest.mark.filterwarnings("ignore:.*traced again")
def test_the_lambda_of_a_call_is_not_that_of_another() -> None:
    model = nn.Linear(3, 1)

    @ingot.torch.step(model)
    def step(x: torch.Tensor, act: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        return act(x).sum() + 0 * model(x).sum()

    with pytest.warns(UserWarning, match="8 were traced: calls that are none of theirs are PyTorch's"):
        losses = [step(torch.ones(2, 3), lambda x, i=i: i * x).item() for i in range(10)]  # type: ignore[misc]
    assert losses == [6.0 * i for i in range(10)]
