"""Traces that other processes kept: found where all that they depend on is as it was, and by nothing else."""

from __future__ import annotations

import abc
import builtins
import collections
import datetime
import functools
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend
from transformers import GenerationConfig

import ingot.torch
from ingot import cache
from ingot.torch.kept import TRACE, Kept
from ingot.torch.program import Added, Program
from ingot.torch.run import ENTRY
from ingot.torch.running.described import Description, Undescribed

X = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
FACTOR = 2.0
BACKENDS = SDPBackend.MATH, SDPBackend.FLASH_ATTENTION


def scaled(x: torch.Tensor) -> torch.Tensor:
    return FACTOR * x


class Net(nn.Module):
    size = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)
        self.table = torch.tensor([1.0, 2.0])
        self.rate: Any = 2.0
        self.held: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(F.gelu(self.first(x))) * self.table * self.rate * self.size


class Training:
    """A model and a function, as each process makes them."""

    def __init__(self, loss: Callable[..., Any] | None = None, model: nn.Module | None = None) -> None:
        torch.manual_seed(0)
        self.model = Net() if model is None else model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.5)
        model, optimizer = self.model, self.optimizer
        loss = loss or (lambda y: scaled(y).square().mean())

        def step(*given: Any) -> Any:
            optimizer.zero_grad()
            made = loss(model(*given))
            made.backward()
            optimizer.step()
            return made

        self.step: Callable[..., Any] = step


def found(training: Training, *given: Any) -> bool:
    """Whether a process that makes this finds a trace."""
    program = Program(training.model, training.optimizer)
    training.optimizer._opt_called = True  # as `compile` says
    try:
        kept = Kept(program, ENTRY, Added(training.step, given or (X,), True, False, True))
    except Undescribed:
        return False
    return kept.find(program)


def described(training: Training, *given: Any) -> str:
    program = Program(training.model, training.optimizer)
    added = Added(training.step, given or (X,), True, False, True)
    return Description(program.subject_of(added), added.example_args).text


def call(training: Training, *given: Any) -> Any:
    step: Any = ingot.torch.compile(training.step, training.model, training.optimizer)
    step(*(given or (X,)))
    return step


def is_traced(step: Any) -> bool:
    return bool(step._runs.latest._program.graphs)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a process kept the trace of the usual training."""
    place = tmp_path_factory.mktemp("cache")
    with patch.dict(os.environ, {"INGOT_CACHE": str(place)}):
        call(Training())
        yield place


def test_is_found_again(traced: Path) -> None:
    other = Training()
    with torch.no_grad():
        other.model.first.weight.add_(1)  # values of the state are no part of a trace
    assert found(other, X + 1)


def test_trains_as_pytorch_does(traced: Path) -> None:
    mine, reference = Training(), Training()
    step: Any = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for i in range(5):
        torch.testing.assert_close(step(X + i), reference.step(X + i))
        mine.optimizer.param_groups[0]["lr"] = reference.optimizer.param_groups[0]["lr"] = 0.01 * (i + 2)
    assert not is_traced(step)
    for name, tensor in reference.model.state_dict().items():
        torch.testing.assert_close(mine.model.state_dict()[name], tensor)


def changed(name: str, value: Any) -> Callable[[Training], None]:
    return lambda training: setattr(training.model, name, value)


def overriding(training: Training) -> None:
    class Net(type(training.model)):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) + 1

    training.model.__class__ = Net


def own_forward(training: Training) -> None:
    forward = training.model.forward
    training.model.forward = lambda x: forward(x) + 1  # type: ignore[method-assign]


def hooked(training: Training) -> None:
    training.model.first.register_forward_hook(lambda module, args, made: made + 1)


def tied(training: Training) -> None:
    training.model.first = nn.Linear(3, 4)
    training.model.second.bias = nn.Parameter(training.model.table)
    training.optimizer.add_param_group({"params": [training.model.second.bias]})


CHANGES: dict[str, Callable[[Training], Any]] = {
    "a number": changed("rate", 3.0),
    "its type": changed("rate", 2),
    "its sign": changed("held", -0.0),
    "what it is beside": changed("held", [0.0]),
    "a tensor": changed("table", torch.tensor([1.0, 3.0])),
    "a class": overriding,
    "a method of an object": own_forward,
    "a hook": hooked,
    "what is trained": lambda t: t.model.first.weight.requires_grad_(False),
    "the mode": lambda t: t.model.eval(),
    "a setting": lambda t: t.optimizer.param_groups[0].update(nesterov=True),
    "a rate": lambda t: t.optimizer.param_groups[0].update(lr=0.02),
    "memory": tied,
    "an array": changed("held", np.ones(3)),
    "the order of a dict": changed("held", {"b": 1, "a": 2}),
    "a switch of PyTorch's": lambda t: None,
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_held_is_not_found_where_it_changes(name: str, traced: Path) -> None:
    other = Training()
    CHANGES[name](other)
    with torch.autograd.set_detect_anomaly(True) if "PyTorch" in name else nullcontext():
        assert not found(other)


class Pair(NamedTuple):
    """Objects whose class is seen by itself nowhere."""

    first: float
    second: float

    def total(self) -> float:
        return self.first + self.second


def test_objects_whose_methods_are_not_seen_are_not_described() -> None:
    other = Training()
    other.model.held = Pair(1, 2)
    with pytest.raises(Undescribed, match="the class Pair"):
        described(other)


def with_constant(value: Any) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(f"def loss(y):\n    return (y * {value!r}).square().mean()", names)
    return names["loss"]


def with_default(value: float) -> Callable[..., Any]:
    def loss(y: torch.Tensor, by: float = value) -> torch.Tensor:
        return (by * y).square().mean()

    return loss


def with_cell(value: Any) -> Callable[..., Any]:
    return lambda y: (y * (value[0] if isinstance(value, list) else value)).square().mean()


def with_partial(value: Any) -> Callable[..., Any]:
    return functools.partial(lambda by, y: (y * by).square().mean(), value)


def test_what_only_tells_which_process_it_is_is_not_described() -> None:
    texts = []
    for seed in (1, 2):
        model = Net()
        model.held = GenerationConfig()
        model.held._original_object_hash = seed
        texts.append(described(Training(model=model)))
    assert texts[0] == texts[1]
    model.held.top_k = 7
    assert described(Training(model=model)) != texts[1]


def test_attributes_of_parameters_are_described(traced: Path) -> None:
    tagged = [Training() for _ in range(3)]
    for training, tag in zip(tagged, ("one", "one", "other"), strict=True):
        training.model.first.weight.tag = tag
    one, same, other = map(described, tagged)
    assert one == same != other
    assert not found(tagged[0])


@pytest.mark.parametrize("make", [with_constant, with_default, with_cell, with_partial])
@pytest.mark.parametrize("values", [(2.0, 3.0), (1.0, 1), (1, True), (2.0, [2.0])], ids=str)
def test_functions_are_described_by_what_they_do(make: Any, values: Any) -> None:
    one, same, other = (described(Training(make(value))) for value in (values[0], *values))
    assert one == same != other


@pytest.mark.parametrize("make", [with_default, with_cell, with_partial])
def test_backends_of_attention_are_described(make: Any) -> None:
    one, same, other = (described(Training(make(backend))) for backend in (BACKENDS[0], *BACKENDS))
    assert one == same != other


def patched_forward(self: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    return F.linear(x, self.weight, self.bias) + 1


REPLACED: dict[str, tuple[Any, str, Any]] = {
    "a global": (sys.modules[__name__], "FACTOR", 3.0),
    "a function": (sys.modules[__name__], "scaled", lambda x: 3 * x),
    "an attribute of a class": (Net, "size", 2.0),
    "a function of PyTorch's": (F, "gelu", F.silu),
    "a function that looks like it": (F, "gelu", functools.wraps(F.relu)(lambda x: F.silu(x))),
    "a method of PyTorch's": (nn.Linear, "forward", patched_forward),
    "a method without Python's code": (torch.Tensor, "square", lambda x: x * x * x),
    "an optimizer's": (torch.optim.SGD, "step", torch.optim.SGD.step.__wrapped__),
    "Python's own": (builtins, "isinstance", lambda x, kind, builtin=isinstance: builtin(x, kind)),
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_is_replaced_is_not_found(name: str, traced: Path) -> None:
    owner, attribute, other = REPLACED[name]
    with patch.object(owner, attribute, other):
        assert not found(Training())
    assert found(Training())


def test_arguments_are_not_found_of_other_kinds(traced: Path) -> None:
    assert not found(Training(), X[:4])
    assert not found(Training(), torch.randn(3, 6).t())
    assert not found(Training(), X.clone().requires_grad_())
    assert not found(Training(), X.double())
    assert found(Training(), X.clone())


def test_memory_that_is_shared_is_described() -> None:
    class Two(Net):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return super().forward(x) + super().forward(y)

    apart, same, shared = (described(Training(model=Two()), X, other) for other in (X + 1, X + 2, X))
    assert apart == same != shared


def test_autocast_and_default_dtypes_are_not_found(traced: Path) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert not found(Training())
    other = Training()
    with patch.object(torch, "get_default_dtype", lambda: torch.float64):
        assert not found(other)


class Kind(abc.ABC):  # noqa: B024
    pass


class Other:
    pass


def test_classes_that_are_registered_are_described() -> None:
    def loss(y: torch.Tensor) -> torch.Tensor:
        return (y * (2 if isinstance(kept, Kind) else 3)).square().mean()

    kept = Other()
    before, same = described(Training(loss)), described(Training(loss))
    Kind.register(Other)
    assert before == same != described(Training(loss))


def reads_environment(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * float(os.environ.get("INGOT_TEST_FACTOR", "1"))


def asks_for_a_file(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * (2 if os.path.exists("/nowhere") else 1)


def asks_by_another_name(y: torch.Tensor, exists: Any = os.path.exists) -> torch.Tensor:
    return y.square().mean() * (2 if next(map(exists, ["/nowhere"])) else 1)


def asks_an_object(y: torch.Tensor, file: Path = Path("/nowhere")) -> torch.Tensor:
    return y.square().mean() * (2 if file.exists() else 1)


def asks_for_the_process(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * (2 if os.getpid() % 2 else 1)


def hashes(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * (2 if hash("a") % 2 else 1)


def imports(y: torch.Tensor) -> torch.Tensor:
    import platform

    return y.square().mean() * len(platform.node())


def evaluates(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * eval("1 + 1")


@functools.cache
def known() -> float:
    return 2.0


def keeps(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * known()


def has_a_factory(y: torch.Tensor, held: Any = collections.defaultdict(lambda: 3.0)) -> torch.Tensor:  # noqa: B006
    return y.square().mean() * held.get("a", 1.0)


def by_time(y: torch.Tensor, since: Any = datetime.datetime(2020, 1, 1)) -> torch.Tensor:
    return y.square().mean() * (2 if since.year > 2000 else 1)


UNKNOWN = [reads_environment, asks_for_a_file, asks_by_another_name, asks_an_object, asks_for_the_process, hashes]
UNKNOWN += [imports, evaluates, keeps, has_a_factory, by_time]


@pytest.mark.parametrize("loss", UNKNOWN, ids=lambda loss: loss.__name__)
def test_what_depends_on_more_than_is_seen_is_traced_each_time(loss: Any) -> None:
    known()
    with pytest.raises(Undescribed):
        described(Training(loss))


def test_counters_and_dropout_are_found(own_cache: Path) -> None:
    class Counted(Net):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return F.dropout(super().forward(x) / self.calls, 0.5)

    call(Training(model=Counted()))
    mine, reference = Training(model=Counted()), Training(model=Counted())
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for _ in range(3):
        step(X)
        reference.step(X)
    assert not is_traced(step)
    assert mine.model.calls == reference.model.calls == 3
    late = Training(model=Counted())
    assert found(late)
    late.model.calls = 7
    assert not found(late)


def test_a_trace_that_is_not_the_functions_is_traced_again(own_cache: Path) -> None:
    """As if something had changed that nobody saw: the first step shows it."""
    call(Training())
    (file,) = own_cache.glob(f"*/{TRACE}")
    was = json.loads(file.read_text())
    key = (file.parent / cache.CONTENT).read_text().partition("\n")[0]
    cache.keep_text(key, TRACE, json.dumps({**was, "text": was["text"].replace("2.0", "2.5")}))
    assert json.loads(file.read_text()) != was
    assert is_traced(call(Training()))
    assert json.loads(file.read_text())["text"] == was["text"]


def test_without_comparing_nothing_is_found(traced: Path) -> None:
    training = Training()
    step: Any = ingot.torch.compile(training.step, training.model, training.optimizer, verify=False)
    step(X)
    assert is_traced(step)


RUN = """
    import runpy, sys, sysconfig

    path_of = sysconfig.get_path
    sysconfig.get_path = lambda kind: sys.argv[2] if kind == "platlib" else path_of(kind)  # it is installed
    runpy.run_path(sys.argv[1], run_name="__main__")
"""
SCRIPT = """
    import torch, {library}
    import ingot.torch

    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer)
    def step(x):
        loss = {library}.loss(model(x)) * {factor}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    step(torch.ones(4, 3))
    print("traced" if step._runs.latest._program.graphs else "found")
"""
LIBRARY = """
    import os

    def loss(y):
        return y.square().mean() * float(os.environ.get("INGOT_TEST_FACTOR", "1"))
"""


def test_processes_find_what_others_kept(tmp_path: Path) -> None:
    """Of an installed library: its file and what it reads of the environment are watched."""
    site = tmp_path / "lib/site-packages"
    site.mkdir(parents=True)

    def write(library: str) -> None:
        (site / "averaging_of_test.py").write_text(textwrap.dedent(library))
        time.sleep(0.1)  # clocks of files and of processes are coarse

    def run(*, factor: str = "1", **environment: str) -> str:
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(SCRIPT).format(library="averaging_of_test", factor=factor))
        paths = {"INGOT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
        made = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(RUN), str(script), str(site)],
            env={**os.environ, **paths, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        return made.stdout.split()[-1]

    write(LIBRARY)
    assert run() == "traced"
    assert run() == "found"
    assert run(factor="2", INGOT_TEST_FACTOR="3") == "traced"
    write(LIBRARY.replace("square", "abs"))
    assert run(factor="2", INGOT_TEST_FACTOR="3") == "traced"
