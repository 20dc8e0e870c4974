"""Numbers that code of libraries reads for a function, which names no attribute: each call has them as they are.

And functions and classes that have no file, as those that are typed, or run from a text.
"""

from __future__ import annotations

import collections
import contextvars
import decimal
import functools
import io
import itertools
import logging
import operator
import queue
import sys
import threading
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from reading import Change, Read, losses_of
from torch import nn

import ingot.torch

Made = tuple[Read, Change]


def context_variable(_: Path) -> Made:
    variable = contextvars.ContextVar("variable", default=1.0)
    return variable.get, lambda i: variable.set(float(i))


def keywords_of_a_partial(_: Path) -> Made:
    scale = functools.partial(lambda a, b: a * b, 2.0, b=1.0)
    return scale, lambda i: scale.keywords.update(b=float(i))


def counter(_: Path) -> Made:
    count = itertools.count(1)
    return lambda: float(repr(count)[6:-1]), lambda i: next(count)


def decimals(_: Path) -> Made:
    def places(i: int) -> None:
        decimal.getcontext().prec = i

    places(28)
    return lambda: float(decimal.Decimal(2) / 3), places


def order_of_keys(_: Path) -> Made:
    ordered = collections.OrderedDict(a=1.0, b=2.0)
    return lambda: next(iter(ordered.values())), lambda i: ordered.move_to_end("ab"[i // 4])


def what_makes_defaults(_: Path) -> Made:
    default = [1.0]
    made: Any = collections.defaultdict(lambda: default[0])
    return lambda: made.default_factory(), lambda i: default.__setitem__(0, float(i))


def user_dict(_: Path) -> Made:
    numbers = collections.UserDict(a=1.0)
    return lambda: numbers["a"], lambda i: numbers.update(a=float(i))


def text_in_memory(_: Path) -> Made:
    text = io.StringIO("1.5")
    return lambda: float(text.getvalue()), lambda i: (text.seek(0), text.write(f"{i}.5"))


def bytes_in_memory(_: Path) -> Made:
    held = io.BytesIO(b"1")
    return lambda: float(held.getvalue()), lambda i: held.getbuffer().__setitem__(0, ord(str(i)))


def level_of_a_parent(_: Path) -> Made:
    parent, logger = logging.getLogger("of_test"), logging.getLogger("of_test.inner")
    parent.setLevel(10)
    return lambda: logger.getEffectiveLevel() / 10, lambda i: parent.setLevel(10 * i)


def event(_: Path) -> Made:
    event = threading.Event()
    return lambda: 2.0 if event.is_set() else 1.0, lambda i: event.set()


def length_of_a_queue(_: Path) -> Made:
    waiting: Any = queue.Queue()
    return lambda: waiting.qsize() + 1.0, waiting.put


def named_in_a_text(_: Path) -> Made:
    sys.modules["of_test_elsewhere"] = types.SimpleNamespace(number=1.0)  # type: ignore[assignment]
    other = types.SimpleNamespace(number=3.0)
    return (
        lambda: sys.modules["of_test_elsewhere"].number,
        lambda i: sys.modules.__setitem__("of_test_elsewhere", other),  # type: ignore[arg-type]
    )


def mapped_file(folder: Path) -> Made:
    np.full(3, 1.0, np.float32).tofile(folder / "numbers")
    mapped = np.memmap(folder / "numbers", np.float32, "r+")
    other = np.memmap(folder / "numbers", np.float32, "r+")
    return lambda: float(mapped[1]), lambda i: other.__setitem__(1, i)


def distribution(_: Path) -> Made:
    normal = torch.distributions.Normal(0.0, 1.0)
    return lambda: float(normal.stddev), lambda i: setattr(normal, "scale", torch.tensor(float(i)))


def item(_: Path) -> Made:
    number = torch.tensor(1.0)
    return lambda: number.item(), lambda i: number.data.fill_(i)


def list_of_a_tensor(_: Path) -> Made:
    numbers = torch.ones(2)
    return lambda: numbers.tolist()[1], lambda i: numbers.numpy().__setitem__(1, i)


def array_of_a_tensor(_: Path) -> Made:
    numbers = torch.ones(2)
    return lambda: float(numbers.numpy().sum()), lambda i: numbers.numpy().__setitem__(1, i)


def number_of_times(_: Path) -> Made:
    times = torch.tensor(1)
    return lambda: float(sum(range(int(times) + 1))), lambda i: times.data.fill_(i)


def number_of_elements(_: Path) -> Made:
    held = torch.zeros(3)
    return lambda: float(held.numel()), lambda i: held.resize_(i)


def read_number(held: Any) -> Any:
    return held.number


class Settings:
    """What a step is told."""

    def __init__(self) -> None:
        self.number = 1.0

    def read(self, of: float) -> float:
        return self.number * of


class Readers:
    """Methods that are called by other names than theirs."""

    helper = staticmethod(read_number)

    def __init__(self) -> None:
        self.bound = self._bound

    def _bound(self, held: Any) -> Any:
        return held.number

    def first(self, held: Any) -> Any:
        return held.number

    second = first

    def listed(self, held: Any) -> Any:
        return held.number


READ, LISTED = read_number, [Readers.listed]


def by_another_name(call: Callable[[Readers, Any], Any]) -> Callable[[Path], Made]:
    def make(_: Path) -> Made:
        readers, held = Readers(), Settings()
        return lambda: call(readers, held), lambda i: setattr(held, "number", float(i))

    return make


OTHER_NAMES: dict[str, Callable[[Readers, Any], Any]] = {
    "a bound method": lambda readers, held: readers.bound(held),
    "either of two names": lambda readers, held: readers.first(held),
    "a global too": lambda readers, held: READ(held),
    "in a list": lambda readers, held: LISTED[0](readers, held),
}


def by_a_computed_name(call: Callable[[Any, Any], Any], found: Any = None) -> Callable[[Path], Made]:
    def make(_: Path) -> Made:
        held = Settings()

        def change(i: int) -> None:
            held.number = float(i)
            setattr(held, f"number_{i}", held.number)

        return lambda: float(call(found, held)), change

    return make


def by_its_own_method(_: Path) -> Made:
    held = Settings()
    get = held.__getattribute__
    return lambda: get("number"), lambda i: setattr(held, "number", float(i))


TEXTS = ["{0.number}"]
COMPUTED_NAMES: dict[str, Callable[[Path], Made]] = {
    "an alias": by_a_computed_name(lambda get, held: get(held, "number"), getattr),
    "a method of object": by_a_computed_name(lambda get, held: get(held, "number"), object.__getattribute__),
    "its own method": by_its_own_method,
    "a getter": by_a_computed_name(lambda get, held: get(held), operator.attrgetter("number")),
    "a caller": by_a_computed_name(lambda get, held: get(held), operator.methodcaller("read", of=2.0)),
    "whether there is one": by_a_computed_name(lambda _, held: 1.0 + sum(hasattr(held, n) for n in ("b", "number_2"))),
    "all names": by_a_computed_name(lambda _, held: 1.0 + ("number_2" in dir(held))),
    "a state": by_a_computed_name(lambda _, held: held.__reduce_ex__(2)[2]["number"]),
    "a text": by_a_computed_name(lambda _, held: "{.number}".format(held)),  # noqa: UP032
    "a text that is held": by_a_computed_name(lambda _, held: TEXTS[0].format(held)),
}


MADE = [
    *(context_variable, keywords_of_a_partial, counter, decimals, order_of_keys, what_makes_defaults, user_dict),
    *(text_in_memory, bytes_in_memory, level_of_a_parent, event, length_of_a_queue, named_in_a_text, mapped_file),
    *(distribution, item, list_of_a_tensor, array_of_a_tensor, number_of_times, number_of_elements),
    *(pytest.param(by_another_name(call), id=name) for name, call in OTHER_NAMES.items()),
    *(pytest.param(make, id=name) for name, make in COMPUTED_NAMES.items()),
]


@pytest.mark.filterwarnings("ignore:.*traced again")
@pytest.mark.parametrize("make", MADE)
def test_numbers_are_those_of_the_call(make: Callable[[Path], Made], tmp_path: Path) -> None:
    def losses(compiled: bool) -> list[torch.Tensor]:
        return losses_of(*make(tmp_path), compiled)

    torch.testing.assert_close(losses(True), losses(False))


@pytest.mark.filterwarnings("ignore:.*traced again")
@pytest.mark.parametrize("is_method", [True, False])
def test_functions_of_keywords_are_watched(is_method: bool) -> None:
    """What they reach is behind an object that calls them."""

    class Step(Settings):
        def __call__(self, x: torch.Tensor, *, factor: torch.Tensor) -> torch.Tensor:
            return (x * factor * self.number).sum()

    step, model = Step(), nn.Linear(1, 1)
    run: Any = ingot.torch.compile(step.__call__ if is_method else lambda **given: step(**given), model)
    for step.number in (1.0, 2.0):
        assert float(run(x=torch.ones(3), factor=torch.tensor(5.0))) == 15 * step.number


class Trainer:
    """A step, and the loop around it, which keeps accounts."""

    def __init__(self) -> None:
        self.model = nn.Linear(4, 3)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.losses: list[float] = []
        self.waiting: queue.Queue[torch.Tensor] = queue.Queue()
        self.callbacks = [lambda trainer: trainer.seen.append(trainer.losses[-1])]
        self.seen: list[float] = []
        self.run = ingot.torch.compile(self.step, self.model, self.optimizer)

    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self) -> None:
        for _ in range(4):
            self.waiting.put(torch.randn(5, 4))
        while not self.waiting.empty():
            self.losses.append(float(self.run(self.waiting.get())))
            for callback in self.callbacks:
                callback(self)


def test_accounts_of_the_loop_around_are_not_the_functions() -> None:
    trainer = Trainer()
    trainer.fit()
    assert trainer.run.programs == 1


TYPED = """
import torch
import ingot.torch

class Scaled(torch.nn.Linear):
    scale = 1.0
    def forward(self, x):
        return super().forward(x) * self.scale * factor

factor = 1.0
model = Scaled(4, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.0)

def step(x):
    optimizer.zero_grad()
    loss = model(x).abs().sum()
    loss.backward()
    optimizer.step()
    return loss.detach()

run = ingot.torch.compile(step, model, optimizer)
x = torch.ones(2, 4)
found = [float(run(x))]
factor = 2.0
found.append(float(run(x)))
Scaled.scale = 3.0
found.append(float(run(x)))
"""


@pytest.mark.parametrize("name", ["<stdin>", "<string>", "<ipython-input-1-0>"])
def test_typed_code_is_the_users(name: str) -> None:
    typed = types.ModuleType("typed_of_test")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setitem(sys.modules, "typed_of_test", typed)
        exec(compile(TYPED, name, "exec"), vars(typed))
    first, second, third = typed.found
    assert second / first == pytest.approx(2)
    assert third / first == pytest.approx(6)
