"""Several threads of a user's process while a step is traced, compiled and compared."""

import builtins
import collections
import copy
import gc
import io
import math
import operator
import os
import queue
import random
import re
import subprocess
import sys
import textwrap
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from at_once import switching
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn import functional as F
from trainings import Classifier

import ingot.torch
from ingot.torch import runs
from ingot.torch.base import replacements
from ingot.torch.base.replacements import exclusive, is_tracing
from ingot.torch.tracing.settings import without_collection


def make(seed: int = 0) -> tuple[torch.nn.Module, torch.optim.Optimizer, torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return model, optimizer, torch.randn(10, 6), torch.randint(0, 3, (10,))


def stepping(model: torch.nn.Module, optimizer: torch.optim.Optimizer, meanwhile: Any = lambda: None) -> Any:

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        meanwhile()
        optimizer.step()
        return loss

    return step


def in_pytorch(seed: int) -> list[float]:
    model, optimizer, x, y = make(seed)
    step = stepping(model, optimizer)
    return [float(step(x, y)) for _ in range(3)]


def test_two_threads_compile_at_once() -> None:
    """Each as in PyTorch, and what is of the process is as before."""
    trainings = [make(seed) for seed in range(2)]
    expected = [in_pytorch(seed) for seed in range(2)]
    before = attributes()
    losses: list[list[float]] = [[], []]
    errors: list[BaseException] = []

    def train(i: int) -> None:
        model, optimizer, x, y = trainings[i]
        try:
            step = ingot.torch.compile(stepping(model, optimizer), model, optimizer)
            losses[i] = [float(step(x, y)) for _ in range(3)]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=train, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for mine, theirs in zip(losses, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-4)
    assert not differing(before)


OWNERS: tuple[Any, ...] = (
    *(torch, torch.Tensor, torch.nn.Module, torch.nn.RNNBase, torch.nn.functional, torch.autograd, torch.compiler),
    *(torch.optim.Optimizer, torch.optim.Adam, torch.optim.LBFGS, sys.modules["torch.optim.adam"], torch.random),
    *(torch.optim.lr_scheduler.LRScheduler, torch.optim.lr_scheduler.StepLR, torch.utils.hooks.RemovableHandle),
    *(torch.SymInt, torch.SymFloat, torch.SymBool, FakeTensor, torch.amp.GradScaler, torch.jit.ScriptFunction),
    *(torch.utils.checkpoint, torch.utils.checkpoint.CheckpointFunction, torch.optim.swa_utils.AveragedModel),
    *(torch.fx._symbolic_trace, torch.fx.experimental.proxy_tensor, torch.fx.experimental.proxy_tensor._MakefxTracer),
    *(builtins, math, time, os, sys, operator, random, np, np.random, type(os.environ), ingot.torch.TraceError),
    sys.modules[__name__],
)


def attributes() -> dict[str, Any]:
    """All attributes of what tracing replaces, and settings of the process."""
    found = {f"{owner}.{name}": value for owner in OWNERS for name, value in [*vars(owner).items()]}
    functions = [value for value in globals().values() if isinstance(value, types.FunctionType)]
    found |= {f"{function}.__code__": function.__code__ for function in functions}
    found |= {"gc": gc.get_threshold(), "environ": dict(os.environ), "profile": sys.getprofile()}
    found |= {"trace": sys.gettrace(), "mkldnn": torch.backends.mkldnn.enabled, "anomaly": torch.is_anomaly_enabled()}
    return {name: value for name, value in found.items() if not name.endswith((".__warningregistry__", ".last_value"))}


def differing(before: dict[str, Any]) -> list[str]:
    after = attributes()
    return [name for name in {**before, **after} if not _is_same(before.get(name), after.get(name))]


def is_own(value: Any) -> bool:
    """Whether a function is one that stands in the place of others."""
    made = replacements.by_thread(len, len).__code__
    return isinstance(value, types.FunctionType) and value.__code__ is made


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, tuple | dict | int) and one == other)


@pytest.mark.parametrize("is_refused", [False, True])
def test_nothing_is_replaced_afterwards(is_refused: bool) -> None:
    model, optimizer, x, y = make()
    step = stepping(model, optimizer, (lambda: torch.save({}, "file")) if is_refused else lambda: None)
    other = make()
    ingot.torch.Program(*other[:2]).add("step", stepping(*other[:2]), other[2:])  # imports what tracing needs
    before, held = attributes(), {id(module): dict(vars(module)) for module in model.modules()}
    program = ingot.torch.Program(model, optimizer)
    if is_refused:
        with pytest.raises(ingot.torch.TraceError, match=r"torch\.save"):
            program.add("step", step, (x, y))
    else:
        program.add("step", step, (x, y))
    assert not differing(before)
    assert all(vars(module) == held[id(module)] for module in model.modules())
    assert type(optimizer.param_groups) is list
    assert "state" in vars(optimizer)


def saved(model: torch.nn.Module, *_: Any) -> None:
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    assert torch.load(file)["0.weight"].isfinite().all()


def saved_whole(model: torch.nn.Module, optimizer: torch.optim.Optimizer, *_: Any) -> None:
    file = io.BytesIO()
    torch.save({"model": model, "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    held = torch.load(file, weights_only=False)
    assert held["model"][0].weight.isfinite().all()
    assert held["optimizer"]["param_groups"][0]["lr"] == 0.01


def copied(model: torch.nn.Module, *_: Any) -> None:
    other = copy.deepcopy(model).double()
    assert other[0].weight.dtype == torch.float64
    assert all(type(parameter) is torch.nn.Parameter for parameter in other.parameters())
    assert type(vars(other[0])["_parameters"]) is dict


def logged(model: torch.nn.Module, optimizer: torch.optim.Optimizer, folder: Path) -> None:
    (folder / "log").write_text(f"{time.time()} {os.getpid()} {optimizer.param_groups[0]['lr']}", encoding="utf-8")
    with open(folder / "log", "a", encoding="utf-8") as file:
        print(time.strftime("%H:%M"), os.environ["PATH"], file=file)
    assert float(optimizer.param_groups[0]["lr"]) == 0.01
    assert os.stat(folder / "log").st_size > 0
    assert sys._getframe(0).f_code.co_name == "logged"
    norms = [float(parameter.norm()) for group in optimizer.param_groups for parameter in group["params"]]
    assert all(map(math.isfinite, norms))


def prefetched(*_: Any) -> None:
    np.random.rand(3)
    random.random()
    torch.randint(0, 5, (2,))
    torch.manual_seed(int.from_bytes(os.urandom(2), "little"))
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 2)), batch_size=4, shuffle=True)
    assert sum(len(batch) for (batch,) in data) == 8


def handled(*_: Any) -> None:
    x = torch.randn(3, requires_grad=True)
    assert x.data_ptr() and x.untyped_storage().nbytes() == 12 and x._version == 0 and x._base is None
    assert x.layout is torch.strided and not x.is_sparse and not hasattr(x, "other")
    assert {x: 1}[x] == 1 and f"{x}" and x.sum().item() == x.detach().numpy().sum()
    x.square().sum().backward()
    torch.nn.Linear(2, 2).double().zero_grad()
    assert (max(1, 2), math.sqrt(4.0), divmod(5, 2), isinstance(1, int)) == (2, 2, (2, 1), True)
    assert not torch.compiler.is_compiling()


def evaluated(model: torch.nn.Module, *_: Any) -> None:
    with torch.no_grad():
        made = (
            copy.deepcopy(model).eval()(model[0](torch.ones(4, 6)).new_ones(4, 6)),
            model[2:](model[0](torch.ones(4, 6))),
        )
    assert all(type(one) is torch.Tensor and one.isfinite().all() for one in made)


def compiled_by_dynamo(*_: Any) -> None:
    code = _computed.__code__.replace(co_firstlineno=random.randrange(1 << 20))  # Dynamo counts by code
    function = torch.compile(types.FunctionType(code, globals()), backend="eager", fullgraph=True)
    torch.testing.assert_close(function(torch.ones(2, 3)), torch.full((2, 3), 3.0))


def _computed(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (3,)) + math.sqrt(4.0) * min(1, len(x)) + isinstance(x, torch.Tensor)


TASKS = (compiled_by_dynamo, saved, saved_whole, copied, logged, prefetched, handled, evaluated)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_another_thread_works_while_a_step_is_traced(task: Callable[..., None], tmp_path: Path) -> None:
    model, optimizer, x, y = make()
    eager = [float(stepping(*make()[:2])(x, y))]
    read = torch.nn.Module.__getattr__
    task(model, optimizer, tmp_path)  # which imports what it needs: the next times are short
    with working(lambda: task(model, optimizer, tmp_path)) as times:
        step = ingot.torch.compile(stepping(model, optimizer), model, optimizer)
        losses = [float(step(x, y))]
    assert times
    assert losses == pytest.approx(eager, rel=1e-5)
    assert torch.nn.Module.__getattr__ is read
    assert not [name for name, value in attributes().items() if is_own(value)]


@contextmanager
def working(task: Callable[[], Any]) -> Iterator[list[float]]:
    """Does a task again and again in another thread; gives when, each time while a step was traced."""
    times: list[float] = []
    errors: list[BaseException] = []
    is_done = threading.Event()

    def work() -> None:
        while not is_done.is_set() and not errors:
            try:
                is_early = is_tracing()
                task()
                times.extend([time.time()] * (is_early and is_tracing()))
            except BaseException as error:
                errors.append(error)

    thread = threading.Thread(target=work)
    with switching(1e-3):
        thread.start()
        try:
            yield times
        finally:
            is_done.set()
            thread.join(60)
    if errors:
        raise errors[0]


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_another_thread_finds_the_model_as_it_was_before_training(kind: str) -> None:
    torch.manual_seed(0)
    model = make()[0] if kind == "mlp" else WithLSTM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
    held = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        expected = copy.deepcopy(model).eval()(x)
    program = ingot.torch.Program(model, optimizer)

    def look() -> None:
        assert all(torch.equal(value, held[name]) for name, value in model.state_dict().items())
        other = copy.deepcopy(model).eval()
        with torch.no_grad():
            made, also = other(x), model.eval()(x)
        for found in (made, also):
            torch.testing.assert_close(found, expected)

    model.eval()  # so that nobody changes statistics
    with working(look) as times:
        program.add("step", stepping(model, optimizer), (x, y))
        program.verify({"x": x.expand(2, 10, 6), "y": y.expand(2, 10)}, "step")
    assert len(times) > 3


def test_another_thread_finds_a_recurrent_layers_weights_amid_a_step() -> None:
    """The layer lists them anew when it finds others than it has listed: each thread has a list."""
    model = WithLSTM()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
    answered: queue.SimpleQueue[bool] = queue.SimpleQueue()
    found: list[torch.Tensor] = []

    def answer() -> None:
        while asked.get():
            found.extend(model.lstm._flat_weights)
            answered.put(True)

    def meanwhile() -> None:
        asked.put(True)
        answered.get()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    arguments = torch.randn(10, 6), torch.randint(0, 3, (10,))
    ingot.torch.Program(model, optimizer).add("step", stepping(model, optimizer, meanwhile), arguments)
    asked.put(False)
    thread.join()
    assert found
    assert {id(weight) for weight in found} == {id(parameter) for parameter in model.lstm.parameters()}


def test_the_last_of_several_threads_lets_python_collect_again() -> None:
    before = gc.get_threshold()
    first, second = without_collection(), without_collection()
    for context in (first, second):
        context.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 0
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


class WithLSTM(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.head(self.lstm(x.reshape(-1, 3, 2))[0][:, -1])
        return made


def test_random_numbers_that_another_thread_draws_are_not_the_steps() -> None:
    model, optimizer, x, y = make()
    with working(lambda: (np.random.rand(), random.random())):
        ingot.torch.Program(model, optimizer).add("step", stepping(model, optimizer), (x, y))


DRAWS = (np.random.rand, random.random, lambda: np.random.normal(), lambda: random.uniform(1, 2))


@pytest.mark.parametrize("draw", DRAWS)
def test_random_numbers_that_a_step_draws_are_refused_whatever_other_threads_do(draw: Callable[[], float]) -> None:
    model, optimizer, x, y = make()

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(x), y) * draw()

    with working(lambda: time.sleep(0.001)), pytest.raises(ingot.torch.TraceError, match="random"):
        ingot.torch.Program(model, optimizer).add("step", step, (x, y))


class Trainer(Classifier):
    """A step, and what other threads write into the same object."""

    def __init__(self) -> None:
        self.model, self.optimizer, self.x, self.y = make()
        self.written: list[int] = []
        self.waiting: collections.deque[int] = collections.deque(maxlen=50)
        self.count = 0

    def write(self) -> None:
        self.written.append(self.count)
        self.count += 1
        self.last = time.time()
        for i in range(100):
            self.waiting.append(i)
        time.sleep(1e-3)


@pytest.mark.filterwarnings("error::UserWarning:ingot")
def test_what_another_thread_writes_into_the_steps_object_stays() -> None:
    trainer = Trainer()
    step = ingot.torch.compile(trainer.step, trainer.model, trainer.optimizer)
    with working(trainer.write) as times:
        losses = [float(step(trainer.x, trainer.y)) for _ in range(3)]
    assert times
    assert trainer.written == [*range(trainer.count)]
    assert losses == pytest.approx(in_pytorch(0), rel=1e-4)


def test_a_compiled_step_runs_on_while_another_is_traced() -> None:
    model, optimizer, x, y = make()
    compiled: Any = ingot.torch.compile(stepping(model, optimizer), model, optimizer)
    compiled(x, y)
    other, others_optimizer, *_ = make()
    with warnings.catch_warnings(), working(lambda: compiled(x, y)) as times:
        warnings.simplefilter("error")
        ingot.torch.Program(other, others_optimizer).add("step", stepping(other, others_optimizer), (x, y))
    assert len(times) > 3
    assert compiled.programs == 1


def test_two_threads_make_the_first_call_of_one_step() -> None:
    model, optimizer, x, y = make()
    compiled: Any = ingot.torch.compile(stepping(model, optimizer), model, optimizer, verify=False)
    threads = [threading.Thread(target=compiled, args=(x, y)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(optimizer.state[next(model.parameters())]["step"]) == 2


def test_no_dropout_is_repeated_where_another_thread_seeds() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.Dropout())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with working(lambda: torch.manual_seed(7)):
        ingot.torch.Program(model, optimizer).add("step", stepping(model, optimizer), make()[2:])
    assert torch.initial_seed() == 7


def test_what_another_thread_has_found_before_is_saved() -> None:
    model, optimizer, x, y = make()
    stepping(model, optimizer)(x, y)
    held = optimizer.state_dict()

    def save() -> None:
        torch.save(held, file := io.BytesIO())
        file.seek(0)
        state = torch.load(file)["state"]
        assert all(value.isfinite().all() for slots in state.values() for value in slots.values())
        assert not any(type(value) is FakeTensor for i in state for value in copy.deepcopy(held["state"][i]).values())

    with working(save) as times:
        ingot.torch.Program(model, optimizer).add("step", stepping(model, optimizer), (x, y))
    assert len(times) > 3


def test_parameters_are_keys_of_what_another_thread_reads_before_and_after() -> None:
    model, optimizer, x, y = make()
    stepping(model, optimizer)(x, y)
    known = {*model.parameters()}

    def look() -> None:
        assert {*optimizer.state} == known == {p for group in optimizer.param_groups for p in group["params"]}

    program = ingot.torch.Program(model, optimizer)
    with working(look) as times:
        program.add("step", stepping(model, optimizer), (x, y))
        program.verify({"x": x.expand(2, *x.shape), "y": y.expand(2, *y.shape)}, "step")
    assert len(times) > 3


def test_one_thread_traces_at_a_time() -> None:
    order: list[str] = []

    def other() -> None:
        with exclusive():
            order.append("other")

    with exclusive():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.1)
        with exclusive():
            order.append("this")
    thread.join()
    assert order == ["this", "other"]
    assert not is_tracing()


FORKING = """
    import os
    import torch
    import ingot.torch

    torch.set_num_threads(2)
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer)
    def step(x):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(torch.ones(4, 3))
    child = os.fork()
    print([float(step(torch.ones(4, 3))) for _ in range(2)], flush=True)
    if child:
        os.waitpid(child, 0)
    else:
        os._exit(0)
"""


def test_a_forked_process_trains_on() -> None:
    """It has the programs of the process that it comes from, which run on one thread."""
    code = textwrap.dedent(FORKING)
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    first, second = re.findall(r"\[[^]]*\]", printed)  # two processes may write into one line
    assert first == second


def test_programs_with_threads_are_dropped_in_a_forked_process() -> None:
    """Their threads stay in the process that they come from: the next call compiles again."""
    torch.manual_seed(0)
    model, x = torch.nn.Linear(3, 2), torch.ones(4, 3)
    predict = ingot.torch.compile(lambda x: model(x), model, threads=2)
    first = predict(x)
    runs._drop_in_child()
    assert predict.programs == 0
    assert torch.equal(predict(x), first)
    assert predict.programs == 1
