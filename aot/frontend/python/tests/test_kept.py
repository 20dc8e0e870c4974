"""Traces that other processes kept: found where all that they depend on is as it was, and by nothing else."""

from __future__ import annotations

import abc
import functools
import json
import os
import platform
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
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
from ingot.judge import Agreement
from ingot.torch.kept import TRACE, Kept
from ingot.torch.program import Added, Program
from ingot.torch.run import ENTRY
from ingot.torch.running.trace_key import NoKey, TraceKey

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
    except NoKey:
        return False
    return kept.find(program)


def key_of(training: Training, *given: Any) -> str:
    program = Program(training.model, training.optimizer)
    added = Added(training.step, given or (X,), True, False, True)
    return TraceKey(program.subjects.of(added), added.example_args).text


def call(training: Training, *given: Any) -> Any:
    step: Any = ingot.torch.compile(training.step, training.model, training.optimizer)
    step(*(given or (X,)))
    return step


def is_traced(step: Any) -> bool:
    return bool(step._runs.latest._program.traced["step"].graphs)


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
    "its sign": changed("rate", -2.0),
    "what it is beside": changed("rate", [2.0]),
    "a tensor": changed("table", torch.tensor([1.0, 3.0])),
    "a class": overriding,
    "a method of an object": own_forward,
    "a hook": hooked,
    "what is trained": lambda t: t.model.first.weight.requires_grad_(False),
    "the mode": lambda t: t.model.eval(),
    "a setting": lambda t: t.optimizer.param_groups[0].update(nesterov=True),
    "a rate": lambda t: t.optimizer.param_groups[0].update(lr=0.02),
    "memory": tied,
    "an array": changed("rate", np.full(2, 2.0)),
    "a switch of PyTorch's": lambda t: None,
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_held_is_not_found_where_it_changes(name: str, traced: Path) -> None:
    other = Training()
    CHANGES[name](other)
    with torch.autograd.set_detect_anomaly(True) if "PyTorch" in name else nullcontext():
        assert not found(other)


def test_attributes_that_no_code_names_change_nothing(traced: Path) -> None:
    other = Training()
    other.model.held = [time.time()]
    assert found(other)


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


class Configured(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) * self.held.top_k


def test_numbers_that_libraries_draw_for_each_object_are_not_in_the_key() -> None:
    texts = []
    for seed in (1, 2):
        model = Configured()
        model.held = GenerationConfig(top_k=5)
        model.held._original_object_hash = seed
        texts.append(key_of(Training(model=model)))
    assert texts[0] == texts[1]
    model.held.top_k = 7
    assert key_of(Training(model=model)) != texts[1]


def test_attributes_of_parameters_are_in_the_key(traced: Path) -> None:
    tagged = [Training() for _ in range(3)]
    for training, tag in zip(tagged, ("one", "one", "other"), strict=True):
        training.model.first.weight.tag = tag
    one, same, other = map(key_of, tagged)
    assert one == same != other
    assert not found(tagged[0])


@pytest.mark.parametrize("make", [with_constant, with_default, with_cell, with_partial])
@pytest.mark.parametrize("values", [(2.0, 3.0), (1.0, 1), (1, True), (2.0, [2.0])], ids=str)
def test_what_functions_do_is_in_the_key(make: Any, values: Any) -> None:
    one, same, other = (key_of(Training(make(value))) for value in (values[0], *values))
    assert one == same != other


@pytest.mark.parametrize("make", [with_default, with_cell, with_partial])
def test_backends_of_attention_are_in_the_key(make: Any) -> None:
    one, same, other = (key_of(Training(make(backend))) for backend in (BACKENDS[0], *BACKENDS))
    assert one == same != other


def patched_forward(self: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    return F.linear(x, self.weight, self.bias) + 1


REPLACED: dict[str, tuple[Any, str, Any]] = {
    "a global": (sys.modules[__name__], "FACTOR", 3.0),
    "a function": (sys.modules[__name__], "scaled", lambda x: 3 * x),
    "an attribute of a class": (Net, "size", 2.0),
}
COMPARED: dict[str, tuple[Any, str, Any]] = {
    "a function of PyTorch's": (F, "gelu", F.silu),
    "a function that looks like it": (F, "gelu", functools.wraps(F.relu)(lambda x: F.silu(x))),
    "a method of PyTorch's": (nn.Linear, "forward", patched_forward),
    "a method without Python's code": (torch.Tensor, "square", lambda x: x * x * x),
    "the process": (os, "getpid", functools.partial(int, os.getpid() + 1)),
    "the machine": (platform, "node", lambda: "a" * 99),
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_is_replaced_is_not_found(name: str, traced: Path) -> None:
    owner, attribute, other = REPLACED[name]
    with patch.object(owner, attribute, other):
        assert not found(Training())
    assert found(Training())


def of_the_process(y: torch.Tensor) -> torch.Tensor:
    return scaled(y).square().mean() * (1 + os.getpid() % 7) * len(platform.node())


@pytest.mark.parametrize("name", COMPARED)
def test_what_no_key_has_is_compared(name: str, own_cache: Path) -> None:
    call(Training(of_the_process))
    owner, attribute, other = COMPARED[name]
    with patch.object(owner, attribute, other):
        mine, reference = Training(of_the_process), Training(of_the_process)
        step: Any = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
        torch.testing.assert_close(step(X), reference.step(X))
    assert is_traced(step)


def reads_environment(y: torch.Tensor) -> torch.Tensor:
    return y.square().mean() * float(os.environ.get("INGOT_TEST_FACTOR", "1"))


def test_variables_that_code_names_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for name, value in [("INGOT_TEST_OTHER", "1"), ("INGOT_TEST_OTHER", "2"), ("INGOT_TEST_FACTOR", "2")]:
        monkeypatch.setenv(name, value)
        texts.append(key_of(Training(reads_environment)))
    assert texts[0] == texts[1] != texts[2]


def test_arguments_are_not_found_of_other_kinds(traced: Path) -> None:
    assert not found(Training(), X[:4])
    assert not found(Training(), torch.randn(3, 6).t())
    assert not found(Training(), X.clone().requires_grad_())
    assert not found(Training(), X.double())
    assert found(Training(), X.clone())


def test_shared_memory_is_in_the_key() -> None:
    class Two(Net):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return super().forward(x) + super().forward(y)

    apart, same, shared = (key_of(Training(model=Two()), X, other) for other in (X + 1, X + 2, X))
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


def test_registered_classes_are_in_the_key() -> None:
    def loss(y: torch.Tensor) -> torch.Tensor:
        return (y * (2 if isinstance(kept, Kind) else 3)).square().mean()

    kept = Other()
    before, same = key_of(Training(loss)), key_of(Training(loss))
    Kind.register(Other)
    assert before == same != key_of(Training(loss))


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


@pytest.mark.parametrize(("far", "is_again"), [(50.0, False), (500.0, True), (float("nan"), True)])
def test_rounding_may_be_more_where_no_graph_tells(
    far: float, is_again: bool, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(Training())
    verify, given = ingot.torch.program.verify, [Agreement(0.1, {"first.bias": far})]
    monkeypatch.setattr(ingot.torch.program, "verify", lambda case: given.pop() if given else verify(case))
    assert is_traced(call(Training())) == is_again


def test_without_comparing_nothing_is_found(traced: Path) -> None:
    training = Training()
    step: Any = ingot.torch.compile(training.step, training.model, training.optimizer, verify=False)
    step(X)
    assert is_traced(step)


RUN = """
    import runpy, sys, sysconfig

    path_of = sysconfig.get_path
    sysconfig.get_path = lambda kind: sys.argv[2] if kind == "platlib" else path_of(kind)  # it is installed
    import ingot.torch
    sysconfig.get_path = path_of
    runpy.run_path(sys.argv[1], run_name="__main__")
"""
SCRIPT = """
    import shutil, sys, torch, helper, library_of_test
    import ingot.torch

    if "inductor" in sys.argv:
        backend = "inductor" if shutil.which("g++") else "eager"
        torch.compile(lambda x: x.sin() + 1, backend=backend)(torch.ones(1000))

    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer)
    def step(x):
        loss = library_of_test.loss(model(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    step(torch.ones(4, 3))
    print("traced" if step._runs.latest._program.traced["step"].graphs else "found")
"""
LIBRARY = """
    import os

    def loss(y):
        return y.square().mean() * float(os.environ.get("INGOT_TEST_FACTOR", "1"))
"""


def test_processes_find_what_others_kept(tmp_path: Path) -> None:
    """Versions of libraries and the user's files are in the key; what a library reads is compared."""
    site = tmp_path / "lib/site-packages"
    site.mkdir(parents=True)

    def run(*arguments: str, **environment: str) -> str:
        paths = {"INGOT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": f"{site}{os.pathsep}{tmp_path}"}
        made = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(RUN), str(tmp_path / "train.py"), str(site), *arguments],
            env={**os.environ, **paths, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        return made.stdout.split()[-1]

    (tmp_path / "train.py").write_text(textwrap.dedent(SCRIPT))
    (tmp_path / "helper.py").write_text("scale = 1")
    (site / "library_of_test.py").write_text(textwrap.dedent(LIBRARY))
    assert [run(), run(), run("inductor")] == ["traced", "found", "found"]
    assert run(INGOT_TEST_FACTOR="3") == "traced"
    (tmp_path / "helper.py").write_text("scale = 2")
    assert run() == "traced"
    (site / "library_of_test-2.0.dist-info").mkdir()
    assert [run(), run()] == ["traced", "found"]
